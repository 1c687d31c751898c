"""Observation patterns: masks, connectivity against a search of its own, nesting, refusals."""

import itertools
import re

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit.problems import Pattern

masks = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7)).filter(
    np.any
)


def entry_components(mask):
    """Components of the entries, two of which are neighbours in one row or one column."""
    entries = [tuple(e) for e in np.argwhere(mask)]
    labels, count = {}, 0
    for entry in entries:
        if entry in labels:
            continue
        front = [entry]
        while front:
            here = front.pop()
            labels[here] = count
            front += [
                e for e in entries if e not in labels and (e[0] == here[0] or e[1] == here[1])
            ]
        count += 1
    return labels, count


@settings(max_examples=100, deadline=None, derandomize=True)
@given(mask=masks)
def test_components_are_those_of_a_plain_search(mask):
    pattern = Pattern(mask)
    labels, count = entry_components(mask)
    assert pattern.component_count == count
    assert pattern.is_connected == (count == 1)
    found = pattern.components()
    assert (found[~mask] == -1).all()
    assert {entry: found[entry] for entry in labels} == labels


@settings(max_examples=50, deadline=None, derandomize=True)
@given(mask=masks, seed=st.integers(0, 99))
def test_connectivity_does_not_see_permutation_and_transpose(mask, seed):
    rng = np.random.default_rng(seed)
    moved = mask[rng.permutation(mask.shape[0])][:, rng.permutation(mask.shape[1])]
    assert Pattern(moved).component_count == Pattern(mask).component_count
    assert Pattern(mask.T).component_count == Pattern(mask).component_count


def images(mask):
    """Every order of rows and columns, and of the transpose if it is square."""
    rows, columns = mask.shape
    for m in (mask, mask.T) if rows == columns else (mask,):
        for r in itertools.permutations(range(rows)):
            for c in itertools.permutations(range(columns)):
                yield m[list(r)][:, list(c)]


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 3), (2, 4), (3, 2), (1, 5)])
def test_classes_are_the_orbits_of_all_masks(rows, columns):
    orbits = set()
    for bits in itertools.product([False, True], repeat=rows * columns):
        if any(bits):
            mask = np.array(bits).reshape(rows, columns)
            orbits.add(min(image.tobytes() for image in images(mask)))
    found = Pattern.classes(rows, columns)
    assert len(found) == len(orbits)
    assert {min(i.tobytes() for i in images(p.mask)) for p in found} == orbits
    assert [p.count for p in found] == sorted(p.count for p in found)
    assert all(p.canonical() == p for p in found)


def test_3_by_3_patterns_are_17_connected_and_6_disconnected():
    """Up to row and column permutations and transpose, 2 ≤ |Ω| ≤ 8 (depth, appendix C.1)."""
    kinds = Pattern.classes(3, 3, least=2, most=8)
    assert len(kinds) == 23
    assert sum(kind.is_connected for kind in kinds) == 17


def test_4_by_4_patterns_are_counted_by_burnside():
    """The number of orbits is the mean number of fixed masks: 2^cycles of each group element."""
    cells = np.arange(16).reshape(4, 4)
    total = 0
    for image in images(cells):
        order, seen, cycles = image.ravel(), set(), 0
        for start in range(16):
            cycles += start not in seen
            while start not in seen:
                seen.add(start)
                start = int(order[start])
        total += 2**cycles
    assert len(Pattern.classes(4, 4)) == total // (2 * 24 * 24) - 1  # less the empty one


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    mask=hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=4)).filter(np.any),
    seed=st.integers(0, 99),
)
def test_canonical_forms_do_not_see_order(mask, seed):
    rng = np.random.default_rng(seed)
    moved = mask[rng.permutation(mask.shape[0])][:, rng.permutation(mask.shape[1])]
    if mask.shape[0] == mask.shape[1] and seed % 2:
        moved = moved.T
    form = Pattern(mask).canonical()
    assert form == Pattern(moved).canonical()
    assert form.count == mask.sum()
    assert Pattern.named(form.name) == form


def test_patterns_grow():
    before = Pattern.diagonal(3)
    after = before.with_entries([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert before <= after
    assert after.name == "110.010.001"
    assert after.count == 4


def test_named_patterns():
    np.testing.assert_array_equal(Pattern.diagonal(3).mask, np.eye(3, dtype=bool))
    assert Pattern.diagonal(3).component_count == 3
    column = Pattern.column(3, 2, index=1)
    np.testing.assert_array_equal(column.mask, [[False, True]] * 3)
    assert column.is_connected  # column 0 is isolated and is left out
    blocks = Pattern.block_diagonal(2, 3)
    np.testing.assert_array_equal(blocks.mask, np.kron(np.eye(2), np.ones((3, 3))).astype(bool))
    assert blocks.component_count == 2
    assert blocks.count == 18
    assert Pattern.block_diagonal(4, 1) == Pattern.diagonal(4)
    assert len({Pattern.diagonal(2), Pattern.diagonal(2), Pattern.column(2, 2)}) == 2


def test_random_patterns_are_nested_uniform_and_repeatable():
    key = jax.random.key(0)
    before, after = Pattern.nested(100, 80, counts=(2000, 3000), key=key)
    assert (before.count, after.count, before.shape) == (2000, 3000, (100, 80))
    assert before <= after
    assert not after <= before
    assert Pattern.random(100, 80, count=2000, key=key) == before
    assert Pattern.random(100, 80, count=2000, key=jax.random.key(1)) != before
    # 3000 of 8000 entries: rows hold 30 of 80 on average.
    assert np.abs(after.mask.sum(axis=1) - 30).max() < 20
    assert Pattern.random(3, 3, count=9, key=key).mask.all()


def test_a_pattern_is_frozen():
    mask = np.eye(2, dtype=bool)
    pattern = Pattern(mask)
    mask[0, 1] = True
    assert pattern == Pattern.diagonal(2)
    with pytest.raises(ValueError, match="read-only"):
        pattern.mask[0, 1] = True
    assert Pattern.of(pattern) is pattern
    assert Pattern.of([[1, 0], [0, 1]]) == pattern


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Pattern(np.ones(3, bool)), ["mask", "(3,)"]),
        (lambda: Pattern(np.zeros((2, 2), bool)), ["at least one"]),
        (lambda: Pattern(np.array([[0, 2]])), ["booleans", "int64"]),
        (lambda: Pattern.diagonal(0), ["size", "0"]),
        (lambda: Pattern.column(2, 2, index=2), ["index", "2"]),
        (lambda: Pattern.block_diagonal(2, 0), ["block_size", "0"]),
        (lambda: Pattern.random(2, 2, count=5, key=jax.random.key(0)), ["counts", "4", "5"]),
        (lambda: Pattern.random(2, 2, count=0, key=jax.random.key(0)), ["counts[0]", "0"]),
        (lambda: Pattern.classes(5, 5), ["rows", "20", "5 × 5"]),
        (lambda: Pattern.classes(2, 2, least=3, most=2), ["most", "3", "2"]),
        (lambda: Pattern.classes(2, 2, least=0), ["least", "0"]),
        (lambda: Pattern(np.ones((2, 9), bool)).canonical(), ["canonical", "7", "(2, 9)"]),
        (lambda: Pattern.named("10.1"), ["name", "10.1"]),
        (lambda: Pattern.diagonal(2).with_entries(np.eye(3)), ["observed", "(2, 2)", "(3, 3)"]),
        (
            lambda: Pattern.nested(2, 2, counts=(3, 2), key=jax.random.key(0)),
            ["counts", "(3, 2)"],
        ),
    ],
)
def test_refusals_name_argument_value_and_remedy(make, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_most_diagonal_orders_rows_alone():
    mask = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]], bool)
    turned = Pattern(mask).most_diagonal()
    assert np.trace(turned.mask) == 3
    assert sorted(turned.mask.tolist()) == sorted(mask.tolist())
    with pytest.raises(
        ValueError, match=r"mask: received the shape \(8, 8\), it must have at most 7 rows"
    ):
        Pattern(np.eye(8, dtype=bool)).most_diagonal()


def test_patterns_have_numbers():
    diagonal, one = Pattern.numbered(3, 3, numbers=(6, 0))
    assert diagonal == Pattern.diagonal(3).canonical()
    assert one.count == 1
    assert Pattern.numbered(3, 3, numbers=range(25)) == list(Pattern.classes(3, 3))
    with pytest.raises(ValueError, match="numbers: received 25, there are 25 patterns of a 3 × 3"):
        Pattern.numbered(3, 3, numbers=(0, 25))
