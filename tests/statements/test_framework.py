"""The framework around statements: what it refuses, what counts as a failure, what it saves."""

import dataclasses
import json
import math
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import tacit
from tacit._tensors import ArrayFile, encoded
from tacit.statements import (
    Erratum,
    Instance,
    Statement,
    StatementError,
    UsageError,
    complex_step,
    draw_instance,
    find_statements,
    paper_names,
    read_instance,
    replay,
    residual,
    slack,
    statement,
    statement_ids,
    try_statement,
    verify,
)


def draw_sides(rng):
    return {"a": rng.uniform(1, 2), "b": rng.uniform(1, 2), "name": "right-angled"}


def make(check, **options):
    """A statement that is not registered."""
    defaults = {
        "place": "Elements I.47",
        "words": "the square on the long side is the sum of the others",
        "draw": draw_sides,
        "tolerance": 1e-12,
        "hypotheses": {"a > 0": lambda a: a > 0},
        "mutations": [{"power": 3}],
    }
    return Statement(id="euclid/pythagoras", check=check, **{**defaults, **options})


def pythagoras(a, b, *, power=2):
    return residual(np.hypot(a, b) ** power, a**power + b**power)


def test_the_decorator_makes_a_statement_of_its_check():
    options = {"place": "I.47", "words": "squares", "draw": draw_sides, "tolerance": 1e-12}
    made = statement("euclid/decorated", mutations=[{"power": 3}], **options)(pythagoras)
    assert isinstance(made, Statement)
    assert (made.paper, made.check, made.constants) == ("euclid", pythagoras, {"power": 2})
    (taken,) = find_statements("memoryless/lemma3.1")
    register = statement(taken.id, mutations=[{"power": 3}], **options)
    with pytest.raises(ValueError, match=r"id: received 'memoryless/lemma3\.1'"):
        register(pythagoras)


def test_a_statement_is_tried_and_mutated():
    made = make(pythagoras)
    assert made(3.0, 4.0) < 1e-12
    trial = try_statement(made, instances=5)
    assert trial.met
    assert trial.instances == 5
    assert not try_statement(made, constants={"power": 3}).met


def test_the_slack_of_an_inequality_may_be_any_positive_number():
    made = make(
        lambda a, b, *, power=1: slack(np.hypot(a, b), (a + b) ** power),
        kind="inequality",
        mutations=[{"power": 0}],
    )
    assert made.bound == -1e-12
    assert 0 < try_statement(made).margin < 1
    assert try_statement(made, constants={"power": 0}).margin < 0


@pytest.mark.parametrize(("kind", "worst"), [("equality", math.inf), ("inequality", -math.inf)])
def test_nan_is_a_failure(kind, worst):
    made = make(lambda a, *, power=2: math.nan, kind=kind)
    trial = try_statement(made, instances=2)
    assert not trial.met
    assert trial.margin == worst


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draw": lambda rng: {"a": -1.0, "b": 1.0}}, "breaks \\['a > 0'\\]"),
        ({"draw": lambda rng: {"a": 1.0}}, "needs \\['b'\\]"),
        ({"draw": lambda rng: {"a": 1.0, "b": [None]}}, "for the field 'b', allowed is"),
        ({"draw": lambda rng: {"a": 1.0, "b": 1 / 0}}, "generator raised ZeroDivisionError"),
        ({"hypotheses": {"c > 0": lambda c: c > 0}}, "the hypothesis 'c > 0' needs"),
        ({"hypotheses": {"odd": lambda a: a.size}}, "raised AttributeError"),
    ],
)
def test_a_mistake_in_a_statement_is_an_error_and_no_verdict(options, words):
    with pytest.raises(StatementError, match=words):
        try_statement(make(pythagoras, **options))


def test_a_draw_without_a_hypothesis_must_break_that_one_alone():
    both = {"a > 0": lambda a: a > 0, "b > 0": lambda b: b > 0}
    for draw, words in (
        (draw_sides, "it breaks \\[\\]"),
        (lambda rng: {"a": -1.0, "b": -1.0}, "it breaks \\['a > 0', 'b > 0'\\]"),
    ):
        made = make(pythagoras, hypotheses=both, without={"a > 0": draw})
        with pytest.raises(StatementError, match=words):
            try_statement(made, without="a > 0")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mutations": []}, "nothing shows that it can fail"),
        ({"mutations": [{"factor": 1}]}, "received \\['factor'\\] .* keyword-only arguments"),
        ({"without": {"b > 0": draw_sides}}, "received \\['b > 0'\\] .* its hypotheses"),
        ({"kind": "similar"}, "kind: received 'similar'"),
        ({"tolerance": -1.0}, "tolerance: received -1.0"),
        ({"instances": 0}, "instances: received 0"),
        ({"expected": "fails"}, "say why"),
        (
            {"errata": [Erratum(as_printed="x", as_corrected="y", without="a > 0")]},
            "errata: received without=\\['a > 0'\\]",
        ),
    ],
)
def test_wrong_declarations(options, words):
    with pytest.raises(ValueError, match=words):
        make(pythagoras, **options)


def test_an_erratum_needs_something_that_shows_it():
    with pytest.raises(ValueError, match="exactly one of the two"):
        Erratum(as_printed="x", as_corrected="y")


def test_an_erratum_is_of_a_known_gravity():
    with pytest.raises(ValueError, match="gravity: received 'sin', allowed is one of 'misprint'"):
        Erratum(as_printed="x", as_corrected="y", constants={"power": 3}, gravity="sin")


def result_of(made, **options):
    (one,) = verify(made, **options).statements
    return one


def test_the_three_verdicts():
    wrong = Erratum(as_printed="cubes", as_corrected="squares", constants={"power": 3})
    for check, options, verdict, as_expected in (
        (pythagoras, {}, "holds", True),
        (pythagoras, {"errata": [wrong]}, "holds with a correction", True),
        (lambda a, b, *, power=2: abs(a - b), {}, "fails", False),
    ):
        one = result_of(make(check, **options))
        assert (one.verdict, one.as_expected) == (verdict, as_expected)


def test_a_replayed_instance_without_a_number_is_no_success():
    one = dataclasses.replace(result_of(make(pythagoras)), replayed=True)
    assert one.as_expected
    nothing = dataclasses.replace(one.claim, measured=math.nan, low=math.nan, high=math.nan)
    assert not dataclasses.replace(one, claim=nothing).as_expected


def test_an_erratum_that_is_not_shown_is_unexpected():
    fine = Erratum(as_printed="squares", as_corrected="squares", constants={"power": 2})
    one = result_of(make(pythagoras, errata=[fine]))
    assert one.verdict == "holds"
    assert not one.as_expected


def test_a_failure_may_be_expected_and_says_why():
    def cubes(a, b, *, power=3):
        return pythagoras(a, b, power=power)

    made = make(cubes, mutations=[{"power": 4}], expected="fails", because="cubes do not add up")
    one = result_of(made)
    assert (one.verdict, one.as_expected) == ("fails", True)
    assert one.to_dict()["because"] == "cubes do not add up"


def test_a_mutant_that_is_not_caught_is_unexpected():
    made = make(lambda a, b, *, power=2: 0.0)
    assert result_of(made).as_expected
    one = result_of(made, mutations=True)
    assert one.mutants == (("power=3", False),)
    assert not one.as_expected


def test_a_printed_form_is_tried_on_more_instances_until_it_fails():
    def seldom(a, b, *, power=2):
        return 0.0 if power == 2 or a < 1.8 else 1.0

    wrong = Erratum(as_printed="cubes", as_corrected="squares", constants={"power": 3})
    made = make(seldom, errata=[wrong], instances=50)
    assert try_statement(made, instances=1, constants={"power": 3}).met
    assert result_of(made, instances=1).verdict == "holds with a correction"


def test_each_instance_is_drawn_once():
    draws = []

    def counted(rng):
        draws.append(None)
        return draw_sides(rng)

    wrong = Erratum(as_printed="cubes", as_corrected="squares", constants={"power": 3})
    made = make(pythagoras, draw=counted, errata=[wrong], instances=5)
    assert result_of(made, mutations=True).as_expected
    assert len(draws) == 5


def test_checks_share_instances_and_cannot_change_them():
    def careless(a, b, *, power=2):
        a *= 2
        return 0.0

    made = make(careless, draw=lambda rng: {"a": rng.normal(size=2), "b": 1.0}, hypotheses={})
    with pytest.raises(StatementError, match="read-only"):
        try_statement(made)


def test_the_python_door():
    done = tacit.verify("memoryless/lemma3.1", instances=4, seed=3)
    (one,) = done.statements
    assert done.as_expected
    assert one.claim.samples == 4
    assert one.worst.seed == 3
    assert done.to_dict()["statements"][0]["id"] == "memoryless/lemma3.1"


def test_several_statements_by_name():
    ids = tuple(one.id for one in find_statements("memoryless"))[:6]
    assert [one.statement.id for one in verify(*ids, instances=1).statements] == list(ids)
    with pytest.raises(ValueError, match="instances: received 0"):
        verify(*ids, instances=0)


def test_worst_instance_is_the_worst_and_does_not_depend_on_how_many_follow():
    (made,) = find_statements("memoryless/lemma3.1")
    margins = [try_statement(made, instances=n).margin for n in (1, 2, 10)]
    assert margins == sorted(margins)
    ten = try_statement(made, instances=10)
    one = draw_instance(made, 0, ten.worst.index)
    assert all(np.array_equal(one.fields[k], ten.worst.fields[k]) for k in one.fields)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: verify("memoryles"), "did you mean 'memoryless'"),
        (lambda: verify("memoryless/lema3.1"), "did you mean 'memoryless/lemma3.1'"),
        (lambda: verify("nowhere/lemma1"), "'nowhere/lemma1' is not known"),
        (lambda: verify(""), "'' is not known"),
        (lambda: verify("memoryless", instances=0), "instances: received 0"),
        (lambda: verify("memoryless", instances=True), "instances: received True"),
        (lambda: verify("memoryless", seed=-1), "seed: received -1"),
        (lambda: verify(3), "statement: received 3, allowed is a paper"),
        (lambda: try_statement(make(pythagoras), instances=0), "instances: received 0"),
    ],
)
def test_wrong_use(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_targets_count_once():
    ids = [one.id for one in find_statements("memoryless/lemma3.2", "memoryless")]
    assert sorted(ids) == sorted(statement_ids("memoryless"))
    assert len(ids) == len(set(ids))


def test_every_package_of_the_room_is_a_paper():
    assert "memoryless" in paper_names()
    assert all(statement_ids(paper) for paper in paper_names())


def test_a_paper_is_imported_when_one_of_its_statements_is_asked_for():
    code = """
import sys
from tacit.statements import find_statements, paper_names
def imported():
    return [name for name in paper_names() if f"tacit.statements.{name}" in sys.modules]
print(imported())
find_statements("memoryless/lemma3.1")
print(imported())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['memoryless']"]


class TestReplay:
    @pytest.fixture
    def kept(self, tmp_path):
        (made,) = find_statements("memoryless/theorem4.1")
        return draw_instance(made, 0, 0).save(tmp_path / "kept.safetensors")

    def rewritten(self, kept, **changes):
        """The file with other fields, or with another header where a name of it is given."""
        with kept.open("rb", buffering=0) as file, ArrayFile(file, ValueError) as stored:
            header, fields = json.loads(stored.metadata["instance"]), stored.arrays()
        for name, value in changes.items():
            (header if name in header else fields)[name] = value
        header, fields = ({n: v for n, v in said.items() if v is not None}
                          for said in (header, fields))  # fmt: skip
        kept.write_bytes(encoded(fields, {"instance": json.dumps(header)}))
        return kept

    def test_it_is_the_same_instance(self, kept):
        (one,) = replay(kept).statements
        (made,) = find_statements("memoryless/theorem4.1")
        assert one.claim.measured == try_statement(made, instances=1).margin
        assert one.verdict == "holds"

    def test_an_instance_without_a_hypothesis_fails_again(self, tmp_path):
        (made,) = find_statements("memoryless/theorem4.1")
        path = draw_instance(made, 0, 0, "k > d").save(tmp_path / "kept.safetensors")
        done = replay(path)
        assert done.statements[0].verdict == "fails"
        assert not done.as_expected

    def test_hypotheses_are_checked(self, kept):
        self.rewritten(kept, **{"length": np.asarray(1)})
        with pytest.raises(UsageError, match="breaks the hypothesis 'k > d'"):
            replay(kept)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"statement": None}, "allowed is an instance of a statement"),
            ({"seed": "zero"}, "allowed is an instance of a statement"),
            ({"statement": "memoryless"}, "allowed is an instance of one statement"),
            ({"statement": "memoryless/lemma9"}, "is not known"),
            ({"without": "luck"}, "without 'luck', allowed are the hypotheses"),
        ],
    )
    def test_files_that_are_not_instances(self, kept, changes, words):
        with pytest.raises(UsageError, match=words):
            replay(self.rewritten(kept, **changes))

    def test_lacking_fields_are_an_error(self, kept):
        with pytest.raises(StatementError, match="needs \\['A'\\]"):
            replay(self.rewritten(kept, **{"A": None}))

    @pytest.mark.parametrize("content", [b"", b"not a zip", b"\x80\x04N."])
    def test_unreadable_files(self, tmp_path, content):
        path = tmp_path / "kept.safetensors"
        path.write_bytes(content)
        with pytest.raises(UsageError, match="cannot be read as an instance"):
            read_instance(path)
        with pytest.raises(UsageError, match="there is no file"):
            read_instance(tmp_path / "none.npz")

    @pytest.mark.parametrize("content", [{"A": np.array([{"a": 1}])}, {"A": np.zeros(3)}])
    def test_archives_of_numpy_are_refused(self, tmp_path, content):
        path = tmp_path / "kept.safetensors"
        with path.open("wb") as file:
            np.savez(file, **content)
        with pytest.raises(UsageError, match=r"cannot be read as an instance: .* no safetensors"):
            read_instance(path)

    @pytest.mark.parametrize("kind", ["a bomb", "no arrays", "announced", "sparse", "texts"])
    def test_hostile_files_are_one_sentence_at_little_cost(self, tmp_path, kind):
        path = tmp_path / "kept.safetensors"
        if kind == "sparse":
            with path.open("wb") as file:
                file.truncate(2**36)
        elif kind == "announced":
            path.write_bytes(encoded({"A": np.zeros(2)}, {}).replace(b"[2]", b"[%d]" % 2**40))
        elif kind == "texts":
            path.write_bytes(encoded({"A": np.zeros(2)}, {"instance": "[" * 100_000}))
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("seed.txt", b"no array")
                archive.writestr("field.A.npy", bytes(10 if kind == "no arrays" else 100_000_000))
        tracemalloc.start()
        try:
            with pytest.raises(UsageError, match="cannot be read as an instance") as error:
                read_instance(path)
            assert tracemalloc.get_traced_memory()[1] < 20e6
        finally:
            tracemalloc.stop()
        assert "\n" not in str(error.value)

    def test_a_cut_file_is_refused(self, kept):
        kept.write_bytes(kept.read_bytes()[:-40])
        with pytest.raises(UsageError, match="cannot be read"):
            read_instance(kept)


def test_all_kinds_of_fields_come_back(tmp_path):
    fields = {"x": np.arange(3), "z": np.array([1j]), "n": 3, "y": 0.5, "s": "a", "b": True}
    again = read_instance(
        Instance("p/s", 1, 2, "", fields).save(tmp_path / "deep" / "kept.safetensors")
    )
    assert (again.seed, again.index) == (1, 2)
    assert {k: type(v) for k, v in again.fields.items()} == {k: type(v) for k, v in fields.items()}


def test_numbers():
    assert residual([1.0, 2.0], [1.0, 2.2]) == pytest.approx(0.2 / 2.2)
    assert residual(0.0, 0.0) == 0
    assert residual([np.nan, 0.0], [1.0, 0.0]) == residual(np.inf, np.inf) == math.inf
    with pytest.raises(ValueError, match="shapes"):
        residual([1.0], 1.0)
    assert slack(1.0, 2.0) == 0.5
    assert slack([1.0, 3.0], [2.0, 2.0]) == pytest.approx(-1 / 3)
    assert slack(0.0, 0.0) == 0
    assert slack(np.nan, 1.0) == slack([0.0, 1.0], [1.0, np.nan]) == slack(np.inf, 1) == -math.inf
    assert slack([1.0, 1.0], [2.0, np.inf]) == 0.5
    assert slack(1.0, np.inf) == 1.0
    x = np.array([0.3, -2.0])
    np.testing.assert_allclose(complex_step(lambda v: np.sum(np.sin(v)), x), np.cos(x), rtol=1e-15)
