"""Results that other code has computed: said, refused, accepted or computed again."""

import json

import pytest

from tacit.reproduction._cell import ExperimentCell
from tacit.store import Store

SMOKE = ["reproduce", "lamp.py", "--preset", "smoke"]
WORDS = "stored cells were computed by other code than it has now"


def edit(tacit, old, new):
    file = tacit.folder / "lamp.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def row(tacit, *arguments):
    return json.loads(tacit("status", *arguments, "--json").stdout)["stores"][0]


def test_changed_code_is_refused_until_it_is_accepted_or_run_afresh(tacit):
    assert tacit(*SMOKE).returncode == 0
    assert len(row(tacit)["codes"]) == 1
    edit(tacit, "np.array(burnt)", "np.array(burnt)  # in hours")
    edit(tacit, 'says="lamps burn"', 'says="lamps shine"')
    tacit.log.unlink()
    assert "1 of 1 batch was stored already" in tacit(*SMOKE).stdout
    edit(tacit, "np.array(burnt)", "2 * np.array(burnt)")
    for arguments in (SMOKE, [*SMOKE, "--seeds", "6"]):
        done = tacit(*arguments)
        assert done.returncode == 2
        assert f"mine/lamp: 4 of 4 {WORDS}: --fresh" in done.stderr
        assert "--accept-changed" in done.stderr
        assert done.stderr.strip().count("\n") == 0
    assert not tacit.log.exists()
    assert WORDS in tacit("status", "lamp.py").stdout
    assert WORDS in tacit("figure", "lamp.py").stderr
    # Kept, beside new ones, and remembered.
    assert tacit(*SMOKE, "--seeds", "6", "--accept-changed").returncode == 0
    assert tacit(*SMOKE, "--seeds", "6").returncode == 0
    assert sorted(row(tacit)["codes"].values()) == [2, 4]
    assert "computed by 2 codes" in tacit("status").stdout
    assert WORDS not in tacit("status", "lamp.py").stdout
    edit(tacit, "2 * np.array(burnt)", "3 * np.array(burnt)")
    done = tacit(*SMOKE, "--seeds", "6")
    assert f"mine/lamp: 6 of 6 {WORDS}" in done.stderr
    assert tacit(*SMOKE, "--fresh").returncode == 0
    assert list(row(tacit)["codes"].values()) == [4]


def test_results_that_do_not_tell_their_code_stay_readable(tacit, monkeypatch):
    monkeypatch.setattr("tacit.reproduction._run.fingerprint", lambda kind: None)
    assert tacit(*SMOKE).returncode == 0
    monkeypatch.undo()
    monkeypatch.chdir(tacit.folder)
    assert row(tacit)["codes"] == {"unknown": 4}
    done = tacit(*SMOKE)
    assert done.returncode == 0
    assert "1 of 1 batch was stored already" in done.stdout
    part = Store.existing(tacit.folder / "results/mine/lamp/store", read_only=True)
    assert part.provenance(part.parts()[0])["code"] is None


def test_a_worker_with_other_code_says_so(tacit):
    cell = ExperimentCell(str(tacit.folder / "lamp.py"), 1, {}, "0" * 32)
    with pytest.raises(ValueError, match="this worker has other code of mine/lamp"):
        cell(None, {})


OLD = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("stored", "now", "words"),
    [
        (
            OLD,
            "code-2:aa",
            "4 of 4 stored cells were computed by tacit 0.2.0, which told code in a",
        ),
        ("code-2:bb", "code-2:aa", WORDS),
        ("code-2:aa f1:1", "code-2:aa f1:2", "4 of 4 stored cells were computed from other files"),
        ("tacit 0.2.0 code-2:bb", "tacit 0.2.0 code-2:aa", WORDS),
        ("tacit 0.2.0 code-2:bb", "tacit 0.3.0 code-2:aa", WORDS),
        ("tacit 0.2.0 f1:1", "tacit 0.2.0 f1:2", "computed from other files"),
    ],
)
def test_other_code_is_refused_in_a_sentence_of_its_own(tacit, monkeypatch, stored, now, words):
    told = "tacit.reproduction._run.fingerprint"
    monkeypatch.setattr(told, lambda kind: stored)
    assert tacit(*SMOKE).returncode == 0
    monkeypatch.setattr(told, lambda kind: now)
    done = tacit(*SMOKE)
    assert done.returncode == 2
    assert words in done.stderr
    assert "--accept-changed" in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert tacit(*SMOKE, "--accept-changed").returncode == 0
    assert tacit(*SMOKE).returncode == 0


@pytest.mark.parametrize(
    ("stored", "now", "said"),
    [
        ("tacit 0.1.0", "tacit 0.2.0", True),
        ("tacit 0.1.0", "tacit 0.2.0 code-2:aa", True),
        ("tacit 0.1.0 code-2:aa", "tacit 0.2.0 code-2:aa", True),
        ("tacit 0.2.0", "tacit 0.2.0 code-2:aa", False),  # a release, and a clone of it
        ("tacit 0.2.0", "tacit 0.2.0 f1:1", False),
    ],
)
def test_another_version_of_tacit_is_said_and_goes_on(tacit, monkeypatch, stored, now, said):
    told = "tacit.reproduction._run.fingerprint"
    monkeypatch.setattr(told, lambda kind: stored)
    assert tacit(*SMOKE).returncode == 0
    monkeypatch.setattr(told, lambda kind: now)
    done = tacit(*SMOKE)
    assert done.returncode == 0
    assert "1 of 1 batch was stored already" in done.stdout
    words = "computed by tacit 0.1.0, this is tacit 0.2.0; version 1 of the experiment is the same"
    assert (words in " ".join((done.stdout + done.stderr).split())) == said
