"""A user's own experiment, end to end."""

import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from tacit.experiments import Experiment, UsageError, swept
from tacit.reproduction import (
    ReproductionError,
    _run,
    find_experiment,
    last_result,
    reproduce,
    results_folder,
)
from tacit.store import StoreError


@pytest.mark.drawn
def test_end_to_end(run, tmp_path):
    result = run()
    folder = tmp_path / "results" / "toy" / "die"
    assert result.path == folder
    written = {"claims.json", "run.json", "page.json", "figure.png", "figure.svg", "store"}
    assert set(os.listdir(folder)) == written
    assert dict(result.dataset.sizes) == {"throws": 2, "kind": 1, "seed": 8, "horizon": 2}
    assert result.dataset["throws"].attrs == {"long_name": "throws a run", "units": "1"}
    assert result.dataset.attrs["sides"] == 6
    assert result.outcomes == {"converged": 16}
    assert [(c.name, c.verdict) for c in result.claims] == [
        ("small", "holds"),
        ("all end", "holds"),
    ]
    assert result.as_expected is not False
    assert result.figure().notice is None
    assert result.figure().caption == "Of dice. Outcomes: 16 converged."
    assert result.warnings == ()

    record = json.loads((folder / "claims.json").read_text())
    assert record == json.loads(json.dumps(result.record()))
    assert result.to_dict() == {**result.record(), **result.costs()}
    assert list(record) == [
        "experiment",
        "title",
        "paper",
        "figure",
        "preset",
        "finding",
        "claims",
        "outcomes",
        "verdicts",
        "as_expected",
        "parameters",
        "remarks",
        "digest",
        "rounding",
    ]
    assert (record["paper"], record["title"]) == ("A book on dice", result.experiment.summary)
    run_record = json.loads((folder / "run.json").read_text())
    assert run_record == {"seconds": pytest.approx(result.seconds, abs=1e-3), "efforts": {}}
    assert last_result("toy/die", tmp_path / "results") == record
    assert last_result("toy/other", tmp_path / "results") is None
    (folder / "claims.json").write_text("{")
    assert last_result("toy/die", tmp_path / "results") is None


def test_runs_extend_what_is_there(run):
    assert run(preset="smoke").summary.computed_cells == 4
    assert run().summary.computed_cells == 16 - 4
    more = run(seeds=10)
    assert more.summary.computed_cells == 4
    assert more.dataset.sizes["seed"] == 10
    other = run(throws=[10, 50])
    assert other.summary.computed_cells == 8
    assert list(other.dataset["throws"].values) == [10, 50]  # this run's grid only
    assert run(sides=8).summary.computed_cells == 16
    assert run().summary.computed_cells == 0


def test_another_analysis_needs_no_new_cells(run):
    assert run().claims[0].verdict == "holds"
    stricter = run(bound=0.0)
    assert stricter.summary.computed_cells == 0
    assert (stricter.claims[0].bound, stricter.claims[0].verdict) == (0.0, "fails")


def test_a_figure_says_what_is_undecided_and_what_is_unexpected(run):
    few = run(seeds=2)
    assert [c.verdict for c in few.claims] == ["undecided", "undecided"]
    assert few.as_expected is None
    assert few.figure().notice == "Undecided: small, all end"
    bad = run(throws=[1, 2], sides=100)
    assert not bad.as_expected
    assert bad.figure().notice == "Not as expected: small"
    assert bad.to_dict()["as_expected"] is False


def test_a_poisoned_batch_ends_as_failed(run):
    result = run(throws=[13, 1000])
    assert result.outcomes == {"converged": 8, "failed": 8}
    assert set(result.dataset["outcome"].sel(throws=13).values.ravel()) == {"failed"}
    assert len(result.summary.failed) == 2
    assert "thirteen is unlucky" in result.summary.failed[0].message
    with pytest.raises(ReproductionError, match=r"every batch failed.*thirteen") as caught:
        run(throws=13)
    assert "in cell" in caught.value.__notes__[0]


def test_unknown_outcomes_are_refused(run, toy):
    toy.write_text(toy.read_text().replace('["converged"] *', '["finished"] *'))
    with pytest.raises(ReproductionError, match=r"outcome: received \['finished'\]"):
        run()


def test_another_version_is_refused_and_fresh_moves_it_aside(run, toy):
    before = run()
    toy.write_text(toy.read_text().replace("version = 1", "version = 2"))
    with pytest.raises(StoreError, match=r"version 1 \(now 2\): --fresh"):
        run()
    after = run(fresh=True)
    assert after.summary.computed_cells == 16
    assert sorted(n for n in os.listdir(after.path) if n.startswith("store")) == [
        "store",
        "store.old-1",
    ]
    assert len(os.listdir(before.path / "store.old-1" / "parts")) == 4
    assert run().summary.computed_cells == 0


def test_a_damaged_part_is_reported_and_computed_again(run):
    first = run()
    part = first.path / "store" / "parts" / first.summary.parts[0]
    part.write_bytes(part.read_bytes()[:100])
    again = run()
    assert part.name in again.warnings[0]
    assert again.summary.computed_cells == 4
    assert again.dataset.identical(first.dataset)


def test_in_a_process_of_its_own(run, toy):
    # The class lives in a file that no worker can import by name: it is found again by its path.
    here = run()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        there = run(executor=executor, fresh=True)
    assert there.summary.failed == []
    assert there.summary.computed_cells == 16
    assert there.dataset.identical(here.dataset)


def test_batches_in_threads_on_an_accelerator(run, toy, monkeypatch):
    here = run()
    # A batch waits for another one that runs at the same time, for a minute at most.
    together = "import threading\nMEETING = threading.Barrier(2, timeout=60)\n"
    text = toy.read_text().replace("import numpy as np", f"{together}import numpy as np")
    text = text.replace("version = 1", "version = 1\n    at_once = 2")
    toy.write_text(
        text.replace("        errors = []", "        MEETING.wait()\n        errors = []")
    )
    monkeypatch.setattr(_run, "accelerated", lambda: True)
    beside = run(fresh=True)
    assert beside.summary.failed == []
    assert beside.summary.computed_cells == 16
    assert beside.dataset.identical(here.dataset)
    monkeypatch.setattr(_run, "accelerated", lambda: False)
    toy.write_text(toy.read_text().replace("timeout=60", "timeout=0.01"))
    with pytest.raises(ReproductionError, match="BrokenBarrierError"):
        run(fresh=True)  # without one, they come one after another


def test_claims_are_the_same_bytes_from_run_to_run(run):
    first = run()
    written = (first.path / "claims.json").read_bytes()
    assert (run().path / "claims.json").read_bytes() == written  # from what is stored
    assert (run(fresh=True).path / "claims.json").read_bytes() == written
    assert b"seconds" not in written


def test_a_class(toy, tmp_path):
    kind = find_experiment(str(toy))
    assert reproduce(kind, preset="smoke", results=tmp_path).summary.computed_cells == 4
    quick = reproduce(kind, results=tmp_path, seeds=3)  # quick by default
    assert (quick.preset, quick.experiment) == ("quick", kind(seed=range(3)))
    assert quick.summary.computed_cells == 2


def test_an_experiment_with_its_parameters(toy, tmp_path):
    kind = find_experiment(str(toy))
    mine = kind(throws=(10, 50), seed=range(2))
    result = reproduce(mine, results=tmp_path)
    assert (result.preset, result.experiment) == ("own", mine)
    assert list(result.dataset["throws"].values) == [10, 50]
    assert result.summary.computed_cells == 4
    assert result.compare().unable == "there is no reference for toy/die at own"
    more = reproduce(mine, results=tmp_path, seeds=3, sides=6)
    assert more.experiment == kind(throws=(10, 50), seed=range(3))
    assert more.summary.computed_cells == 2
    assert reproduce(kind, results=tmp_path, seeds=2).summary.computed_cells == 2  # 1000 throws


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preset": "smoke"}, "preset: received 'smoke' with an experiment that has its param"),
        ({"throw": 1}, "throw: there is no such parameter, did you mean 'throws'"),
        ({"seeds": 0}, "seeds: received 0"),
    ],
)
def test_what_an_experiment_with_its_parameters_does_not_take(toy, tmp_path, options, words):
    with pytest.raises(UsageError, match=words) as caught:
        reproduce(find_experiment(str(toy))(), results=tmp_path / "results", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("thing", [3, None, dict, object()])
def test_what_is_no_experiment(thing, tmp_path):
    with pytest.raises(UsageError, match=r"experiment: received .*, give an id, a file, or an"):
        reproduce(thing, results=tmp_path)


def test_a_class_that_declares_too_little(tmp_path):
    class Bare(Experiment):
        seed: tuple[int, ...] = swept(range(2), "seed")

        def variables(self):
            return {}

        def cell(self, batch):
            return {}

    for thing in (Bare, Bare()):
        with pytest.raises(UsageError, match=r"Bare lacks the class attributes \['id', 'figure'"):
            reproduce(thing, results=tmp_path)


def test_a_cell_that_names_no_outcome_has_converged(run, toy):
    toy.write_text(toy.read_text().replace(', "outcome": ["converged"] * len(batch)', ""))
    assert run().outcomes == {"converged": 16}


def test_what_is_missing_is_said_before_anything_runs(run, toy, tmp_path):
    missing = '    def missing(self):\n        return "there are no dice"\n\n    def cell('
    toy.write_text(toy.read_text().replace("    def cell(", missing))
    with pytest.raises(UsageError, match="toy/die: there are no dice"):
        run()
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preset": "quik"}, "preset: toy/die has no preset 'quik', did you mean 'quick'"),
        ({"seeds": 0}, "seeds: received 0, allowed is an integer from 1"),
        ({"seeds": 3, "seed": [1]}, "give one of the two"),
        ({"throw": [1]}, "throw: there is no such parameter, did you mean 'throws'"),
        ({"throws": [0]}, "throws: received 0"),
        ({"kind": "fare"}, "did you mean 'fair'"),
    ],
)
def test_wrong_options_are_one_sentence_and_write_nothing(run, tmp_path, options, words):
    with pytest.raises(UsageError, match=words) as caught:
        run(**options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


def test_a_results_folder_that_cannot_be(toy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"results: the folder .* cannot be created"):
        reproduce(str(toy), preset="smoke", results=tmp_path / "file")


def test_the_results_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("TACIT_RESULTS", raising=False)
    assert str(results_folder()) == "results"
    monkeypatch.setenv("TACIT_RESULTS", str(tmp_path))
    assert results_folder() == tmp_path
    assert str(results_folder("elsewhere")) == "elsewhere"


def test_two_claims_of_one_name_are_refused(run, toy):
    toy.write_text(toy.read_text().replace('"all end"', '"small"'))
    with pytest.raises(UsageError, match="toy/die: two claims have one name, 'small'; rename"):
        run(preset="smoke")


@pytest.mark.parametrize(
    ("method", "value", "words"),
    [
        ("claims", "None", r"toy/die: claims\(\) gave None, return the Claims that it makes"),
        ("claims", "['small']", r"claims\(\) gave 'small', return the Claims"),
        ("draw", "None", r"toy/die: draw\(\) returned None, give a Figure"),
    ],
)
def test_methods_that_return_something_else(run, toy, method, value, words):
    toy.write_text(f"{toy.read_text()}\n    def {method}(self, runs): return {value}\n")
    with pytest.raises(UsageError, match=words):
        run(preset="smoke")


def test_a_cell_returns_arrays_by_name(run, toy):
    toy.write_text(f"{toy.read_text()}\n    def cell(self, batch): return [1.0]\n")
    with pytest.raises(ReproductionError, match="cell: returned list, give a dict of arrays"):
        run(preset="smoke")


def test_an_outcome_is_one_word(run, toy):
    toy.write_text(
        toy.read_text().replace(
            'return {"error"', 'return {"outcome": Variable("end", "horizon", dtype="str"), "error"'
        )
    )
    with pytest.raises(UsageError, match="'outcome' is one word per cell"):
        run(preset="smoke")


def test_parameters_are_checked_as_a_whole_and_not_batch_by_batch(run, toy):
    check = (
        "    def check(self):\n"
        "        if len(self.throws) < 2 or self.bound == 0.3:\n"
        '            raise UsageError("throws: give two, and a bound of your own")\n\n'
        "    def cell("
    )
    text = (
        toy.read_text()
        .replace("    def cell(", check)
        .replace("import Claims", "import UsageError, Claims")
    )
    toy.write_text(
        text.replace(
            'dict(seed=range(2)), "quick": {}, "paper": dict(',
            'dict(bound=1, seed=range(2)), "quick": dict(bound=1), "paper": dict(bound=1, ',
        )
    )
    assert run(preset="smoke").outcomes == {"converged": 4}
    with pytest.raises(UsageError, match="throws: give two"):
        run(throws=10)


def test_names_are_checked_before_anything_is_computed(run, toy, tmp_path):
    toy.write_text(toy.read_text().replace('"horizon"', '"sides"'))
    with pytest.raises(UsageError, match=r"\['sides'\] are used twice among the names of"):
        run()
    assert not (tmp_path / "results").exists()


def test_the_same_parameters_give_the_same_numbers_in_any_batch(run):
    whole = run().dataset
    run(fresh=True, seeds=1)
    assert np.array_equal(run().dataset["error"].values, whole["error"].values)
