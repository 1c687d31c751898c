"""`tacit verify`: the table, the JSON object, what is kept, and the doors."""

import json

import pytest

from tacit.statements import draw_instance, find_statements
from tacit.statements.memoryless import gradients


def test_one_statement(tacit):
    done = tacit("verify", "memoryless/lemma3.2", "--instances", "2")
    assert done.returncode == 0, done.stderr
    assert "memoryless/lemma3.2" in done.stdout
    assert "1 holds" in done.stdout


def test_the_json_object(tacit):
    done = tacit("verify", "memoryless/lemma3.1", "memoryless/lemma3.2", "--seed", "5", "--json")
    record = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert record["as_expected"] is True
    first, second = record["statements"]
    assert {
        "id", "words", "instances", "worst_margin", "verdict", "place", "expected", "seconds",
        "correction", "because", "instance", "claim",
    } <= set(first)  # fmt: skip
    assert first["verdict"] == "holds with a correction"
    assert first["correction"][0]["worst_margin_as_printed"] > 0.01
    assert second["verdict"] == "holds"
    assert 0 < second["worst_margin"] <= second["claim"]["bound"]


def test_mutations(tacit):
    done = tacit("verify", "memoryless/lemma3.1", "--mutations", "--json")
    (record,) = json.loads(done.stdout)["statements"]
    assert record["mutants"] == {"half=1.0": True, "first=2": True, "without: E[x xᵀ] = I": True}


def test_a_failure_is_kept_and_replayed(tacit, monkeypatch):
    right = gradients.population_gradients

    def doubled(*args):
        return [2 * part for part in right(*args)]

    monkeypatch.setattr(gradients, "population_gradients", doubled)
    done = tacit("verify", "memoryless/equations5-7", "--json")
    assert done.returncode == 1
    (record,) = json.loads(done.stdout)["statements"]
    assert record["verdict"] == "fails"
    assert record["as_expected"] is False
    assert record["instance"].startswith("results/verify/memoryless/equations5-7-seed0-")
    assert f"--replay {record['instance']}" in done.stderr
    again = tacit("verify", "--replay", record["instance"], "--json")
    assert again.returncode == 1
    (replayed,) = json.loads(again.stdout)["statements"]
    assert replayed["worst_margin"] == record["worst_margin"]
    monkeypatch.undo()
    monkeypatch.chdir(tacit.folder)
    assert tacit("verify", "--replay", record["instance"]).returncode == 0


def test_a_broken_statement_is_no_verdict(tacit, monkeypatch):
    def broken(*args):
        raise ArithmeticError("out of ink")

    monkeypatch.setattr(gradients, "population_gradients", broken)
    done = tacit("verify", "memoryless/equations5-7")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "the check raised ArithmeticError: out of ink" in done.stderr


def test_a_narrow_terminal(tacit, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = tacit("verify", "memoryless/lemma3.2")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "holds" in done.stdout


def test_errata_are_written(tacit, monkeypatch):
    monkeypatch.setattr("tacit.statements.errata_page", lambda: "# Errata\n")
    done = tacit("verify", "--errata", "errata.md")
    assert done.returncode == 0
    assert (tacit.folder / "errata.md").read_text() == "# Errata\n"
    (tacit.folder / "kept").write_text("mine")
    (tacit.folder / "link.md").symlink_to(tacit.folder / "kept")
    assert tacit("verify", "--errata", "link.md").returncode == 0
    assert (tacit.folder / "kept").read_text() == "mine"  # the name was replaced, whole
    done = tacit("verify", "--errata", "no/such/folder/errata.md")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def test_sharpness_is_a_column_and_in_the_object(tacit):
    done = tacit("verify", "memoryless/lemma6.3", "depth/theorem4.3", "--instances", "1", "--json")
    exact, loose = (one["sharpness"] for one in json.loads(done.stdout)["statements"])
    assert exact["worst"] == 0.001
    assert (exact["constants"], exact["loose"]) == (exact["sharp"], [])
    assert {one["constant"] for one in loose["loose"]} >= {"rate", "movement"}
    assert all(one["because"] for one in loose["loose"])
    assert "sharp to" in done.stderr
    assert "0.1%" in done.stderr


def test_sharpness_is_written_and_measured(tacit):
    done = tacit("verify", "--sharpness", "page.md")
    assert done.returncode == 0, done.stderr
    assert (tacit.folder / "page.md").read_text().startswith("# How sharp the checks are")
    record = tacit.folder / "record.json"
    for name in ("memoryless/lemma3.2", "lowdim/equationC.61"):
        assert tacit("verify", name, "--sharpness", "record.json").returncode == 0
    found = json.loads(record.read_text())["statements"]
    assert list(found) == ["lowdim/equationC.61", "memoryless/lemma3.2"]
    assert found["lowdim/equationC.61"]["constants"] == {"factor": 0.001}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["memoryless/lemma31"], "did you mean 'memoryless/lemma3.1'"),
        (["memoryles"], "did you mean 'memoryless'"),
        (["memoryless", "--instances", "0"], "instances: received 0"),
        (["memoryless", "--instances", "few"], "received 'few', allowed is an integer"),
        (["memoryless", "--seed", "-1"], "seed: received -1"),
        (["--replay", "none.safetensors"], "there is no file 'none.safetensors'"),
        (["--replay", "lamp.py"], "cannot be read as an instance"),
        (["--replay", "."], "there is no file '.'"),
        (["--replay", "none.safetensors", "memoryless"], "--replay: it stands alone"),
        (["--errata", "x.md", "--replay", "y.safetensors"], "it stands alone"),
        (["--sharpness", "x.md", "memoryless"], "it stands alone"),
        (["--sharpness", "x.txt"], "allowed is a file that ends in .md or in .json"),
        (["--sharpness", "lamp.json", "memoryless/none"], "'memoryless/none' is not known"),
    ],
)
def test_wrong_use_is_one_sentence(tacit, arguments, words):
    done = tacit("verify", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_an_instance_that_breaks_a_hypothesis_is_wrong_use(tacit):
    (made,) = find_statements("memoryless/theorem4.1")
    instance = draw_instance(made, 0, 0)
    fields = {**instance.fields, "length": 1}
    path = type(instance)(made.id, 0, 0, "", fields).save(tacit.folder / "kept.safetensors")
    done = tacit("verify", "--replay", str(path))
    assert done.returncode == 2
    assert "breaks the hypothesis 'k > d'" in done.stderr
