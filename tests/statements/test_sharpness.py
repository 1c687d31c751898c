"""How sharp checks are: which numbers count, what is noticed, and the record in the package."""

from pathlib import Path

import numpy as np
import pytest

from tacit.statements import Statement, UsageError, find_statements, residual, slack
from tacit.statements._sharpness import (
    CHANGES,
    digest_of,
    measure_statement,
    read_record,
    sharpness_of,
    sharpness_page,
    stale_statements,
)

PAGE = Path(__file__).parents[2] / "docs" / "sharpness.md"
AGAIN = "measure again: tacit verify --sharpness src/tacit/statements/_sharpness/sharpness.json {}"
STATEMENTS = find_statements()
_COUNT = 3


def make(check, **options):
    """A statement that is not registered, with sides a and b."""
    defaults = {
        "place": "nowhere",
        "words": "made for these tests",
        "draw": lambda rng: {"a": rng.uniform(1, 2), "b": rng.uniform(2, 3)},
        "tolerance": 1e-12,
        "mutations": [{"power": 3}],
        "instances": 4,
    }
    return Statement(id="test/made", check=check, **{**defaults, **options})


def pythagoras(a, b, *, power=2, unused=0, sign=1.0, name="c", whole=True):
    """Many numbers, of which those of the formula count."""
    sides = np.zeros((2 * 1, _COUNT))
    sides[0, 0], sides[1, 1] = a, b
    if a > 100:
        sides = sides * 7.0
    long = np.linalg.norm(sides, 2) if power == 2000 else np.hypot(a, b)
    near = 1e-9 * a + 0.25 * a  # chosen
    for step in (0.5, 1.5):
        near = near + step
    factors = [np.sqrt(4) * a**2 / 2, 1.0 * b**power]
    return residual(long**2, sum(factors), scale=3 * near)


def test_the_numbers_of_the_formula_count_and_no_others():
    place = f"{__name__}.pythagoras"
    first = "[np.sqrt(4) * a**2 / 2, 1.0 * b**power]"
    assert set(measure_statement(make(pythagoras))) == {
        "power",
        f"{place}: 4 in {first}",
        f"{place}: 2 in {first}",
        f"{place}: 2 in {first} (2)",
        f"{place}: 1 in {first}",
        f"{place}: 2 in residual(long**2, sum(factors), scale=3 * near)",
    }


def test_the_smallest_change_that_is_noticed():
    def noticed(check):
        found = measure_statement(make(check, kind="inequality", mutations=[{"factor": 0}]))
        return found["factor"]

    for room, expected in ((0, 0.001), (0.02, 0.03), (0.06, 0.1), (0.2, 0.3), (0.8, 1.0)):
        assert noticed(lambda a, *, factor=1.0, r=room: slack(a * (1 - r), factor * a)) == expected
    assert noticed(lambda a, *, factor=1.0: slack(0.0, factor * a)) is None
    assert noticed(lambda a, *, factor=-1.0: slack(factor * a, 0.0)) is None
    # from above as well as from below, and where the check breaks
    assert noticed(lambda a, *, factor=1.0: slack(factor * a, 1.02 * a)) == 0.03
    assert noticed(lambda a, *, factor=0.95: float(np.arctanh(factor)) and 1 / (factor < 1)) == 0.1


def test_a_change_leaves_no_trace():
    made = make(pythagoras)
    before = made(1.5, 2.5)
    assert measure_statement(made) == measure_statement(made)
    assert made(1.5, 2.5) == before


def test_what_another_check_notices_best_is_not_measured_again():
    name = f"{__name__}.pythagoras: 2 in residual(long**2, sum(factors), scale=3 * near)"
    assert name in measure_statement(make(pythagoras))
    assert name not in measure_statement(make(pythagoras), skip={name})


def test_the_digest_follows_the_check_and_its_bound():
    made = make(pythagoras)
    assert digest_of(made) == digest_of(make(pythagoras))
    assert digest_of(made) != digest_of(make(pythagoras, tolerance=1e-9))
    assert digest_of(made) != digest_of(make(pythagoras, instances=5))


def test_the_record_has_every_statement_as_it_is_now():
    record = read_record()
    assert record["changes"] == list(CHANGES)
    assert list(record["statements"]) == [one.id for one in STATEMENTS]
    stale = stale_statements()
    assert not stale, AGAIN.format(" ".join(stale))


RECHECKED = [
    "memoryless/lemma6.3",
    "lowdim/equationC.76",
    "depth/lemmaD.5",
    "connectivity/equation15",
]


@pytest.mark.parametrize("name", RECHECKED)
def test_what_is_measured_now_is_in_the_record(name):
    (statement,) = find_statements(name)
    recorded = read_record()["statements"][name]["constants"]
    assert recorded
    # the record lacks what another check was known to notice at the smallest change
    found = measure_statement(statement)
    assert {one: found[one] for one in recorded} == recorded


def test_nine_tenths_of_the_constants_are_sharp():
    constants = [one for s in STATEMENTS for one in sharpness_of(s).constants]
    assert len(constants) > 600
    assert sum(one.is_sharp for one in constants) >= 0.9 * len(constants)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.id)
def test_what_is_not_sharp_has_a_reason_and_every_reason_is_needed(statement):
    loose = [one for one in sharpness_of(statement).constants if not one.is_sharp]
    assert [one.name for one in loose if not one.because] == []
    reasons = {one.because for one in loose}
    assert set(statement.loose.values()) == reasons


def test_the_least_sharp_constant_comes_first():
    (made,) = find_statements("depth/theorem4.3")
    found = sharpness_of(made)
    order = [one.noticed or 2 for one in found.constants]
    assert order == sorted(order, reverse=True)
    assert found.worst == found.constants[0].noticed
    assert sharpness_of(make(pythagoras)) is None


def test_the_committed_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == sharpness_page(), (
        "generate it again: tacit verify --sharpness docs/sharpness.md"
    )


def test_a_file_that_is_no_record(tmp_path):
    path = tmp_path / "record.json"
    for content in ("", "[]", '{"statements": 3}'):
        path.write_text(content)
        with pytest.raises(UsageError, match="cannot be read as a record of sharpness"):
            read_record(path)
