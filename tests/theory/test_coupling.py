"""Coupling: the formula against finite differences, the groups against what flow does."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.theory.depth import coupled_group_count, coupled_groups, coupling

DIAGONAL = np.eye(3, dtype=bool)


def product(factors):
    whole = factors[0]
    for factor in factors[1:]:
        whole = factor @ whole
    return whole


def gradients(factors, mask):
    """∇w_ij of every observed entry by the chain rule's basis: central differences."""
    step, rows = 1e-6, []
    for layer, factor in enumerate(factors):
        for place in np.ndindex(factor.shape):
            ends = []
            for sign in (1, -1):
                moved = [f.copy() for f in factors]
                moved[layer][place] += sign * step
                ends.append(product(moved)[mask])
            rows.append((ends[0] - ends[1]) / (2 * step))
    return np.array(rows).T


@settings(max_examples=25, deadline=None, derandomize=True)
@given(depth=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_coupling_is_the_gram_matrix_of_the_gradients(depth, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=depth + 1)
    factors = [rng.normal(size=(b, a)) for a, b in itertools.pairwise(sizes)]
    mask = rng.random((sizes[-1], sizes[0])) < 0.6
    mask[0, 0] = True
    jacobian = gradients(factors, mask)
    np.testing.assert_allclose(coupling(factors, mask), jacobian @ jacobian.T, atol=1e-7, rtol=1e-7)


def flow(factors, mask, target, *, steps=400, rate=0.02):
    """A plain descent with its path of factors: zeros that are kept are kept exactly."""
    factors, path = [f.copy() for f in factors], []
    for _ in range(steps):
        path.append([f.copy() for f in factors])
        error = np.where(mask, product(factors) - target, 0.0)
        slopes = []
        for layer in range(len(factors)):
            above = product([np.eye(3), *factors[layer + 1 :]])
            below = product([np.eye(3), *factors[:layer]])
            slopes.append(above.T @ error @ below.T)
        factors = [f - rate * s for f, s in zip(factors, slopes, strict=True)]
    return path


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    depth=st.integers(2, 4),
    bits=st.integers(1, 511),
    kind=st.sampled_from(["identity", "dense", "sparse"]),
    seed=st.integers(0, 10**6),
)
def test_groups_are_those_that_a_trained_path_keeps_apart(depth, bits, kind, seed):
    """Across groups the coupling is exactly zero all along; within, links form at some time."""
    rng = np.random.default_rng(seed)
    mask = np.array([bits >> k & 1 for k in range(9)], bool).reshape(3, 3)
    dense = rng.normal(size=(depth, 3, 3))
    keep = {"identity": np.eye(3, dtype=bool), "dense": True, "sparse": rng.random((3, 3)) < 0.4}
    factors = list(np.where(keep[kind], dense, 0.0))
    groups = coupled_groups(factors, mask)
    label = groups[mask]
    assert (groups[~mask] == -1).all()
    assert list(dict.fromkeys(label.tolist())) == list(range(label.max() + 1))
    # Entries of very different sizes fade below rounding: look for a link at any time.
    path = flow(factors, mask, rng.normal(size=(3, 3)), steps=30, rate=0.01)
    seen = sum(np.abs(coupling(step, mask)) for step in path) > 0
    assert not seen[label[:, None] != label[None, :]].any()
    for group in range(label.max() + 1):
        members = np.flatnonzero(label == group)
        front, found = [members[0]], {members[0]}
        while front:
            here = front.pop()
            new = [k for k in members if seen[here, k] and k not in found]
            found |= set(new)
            front += new
        assert len(found) == len(members)


def test_groups_of_the_paper():
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(2), np.ones((2, 2))).astype(bool)
    for depth in (2, 3, 5):
        gaussian = rng.normal(size=(depth, 4, 4))
        identity = [np.eye(4)] * depth
        ratio = [np.full((4, 4), 0.1) + 0.9 * np.eye(4)] * depth
        # Proposition 3.2: decoupled for L = 2, and for m = ∞ at any depth; Proposition B.1.
        wanted = np.kron([[0, -1], [-1, 1]], np.ones((2, 2))) if depth == 2 else None
        for start in (gaussian, ratio):
            found = coupled_groups(start, blocks)
            assert found.max() == (1 if depth == 2 else 0)
            if wanted is not None:
                np.testing.assert_array_equal(found[blocks], wanted[blocks])
        assert coupled_groups(identity, blocks).max() == 1
    # At the start α I looks more decoupled than it is: (0, 1) and (1, 2) meet once they have grown.
    chain = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)
    assert coupled_groups([np.eye(3)] * 3, chain).max() == 0
    start = coupling([np.eye(3)] * 3, chain)
    assert np.count_nonzero(start - np.diag(np.diag(start))) == 0
    # Zero factors never move.
    assert coupled_groups([np.zeros((3, 3))] * 3, DIAGONAL).max() == 2


def test_a_pattern_object_is_taken_for_its_mask():
    from tacit.problems import Pattern

    factors = np.random.default_rng(1).normal(size=(2, 3, 3))
    pattern = Pattern.diagonal(3)
    np.testing.assert_array_equal(coupling(factors, pattern), coupling(factors, DIAGONAL))
    np.testing.assert_array_equal(
        coupled_groups(factors, pattern), coupled_groups(factors, DIAGONAL)
    )


@pytest.mark.parametrize("function", [coupling, coupled_groups])
@pytest.mark.parametrize(
    ("factors", "mask", "words"),
    [
        ([], DIAGONAL, ["factors", "none"]),
        ([np.ones((2, 3, 3))], DIAGONAL, ["factors[0]", "(2, 3, 3)"]),
        ([np.eye(3), np.ones((3, 2))], DIAGONAL, ["factors[1]", "3 columns", "(3, 2)"]),
        ([np.full((3, 3), np.nan)], DIAGONAL, ["factors[0]", "finite"]),
        ([np.eye(3)], np.eye(3), ["observed", "float64"]),
        ([np.eye(3)], np.zeros((3, 3), bool), ["observed", "at least one"]),
    ],
)
def test_refusals(function, factors, mask, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        function(factors, mask)
    assert all(word in str(caught.value) for word in words)


def test_groups_at_these_factors_are_counted_by_their_numbers():
    assert coupled_group_count([np.eye(3)] * 3, DIAGONAL) == 3
    block = np.eye(3)
    block[0, 1] = block[1, 0] = 1e-3  # two of the three entries share a coupling of 1e-6
    assert coupled_group_count([block] * 3, DIAGONAL) == 2
    assert coupled_group_count([block] * 3, DIAGONAL, tolerance=1e-2) == 3
    dense = np.random.default_rng(0).normal(size=(2, 3, 3))
    assert coupled_group_count(dense, DIAGONAL) == 3  # two dense factors: components
    assert coupled_group_count([*dense, dense[0]], DIAGONAL) == 1
