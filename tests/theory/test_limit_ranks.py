"""Ranks of Theorem 3.3's limits, against their spectra."""

import math

import numpy as np
import pytest

from tacit.measures import effective_rank_from_singular_values
from tacit.theory.depth import (
    halfway_ratio,
    limit_effective_rank,
    limit_factor_effective_rank,
    limit_singular_values,
)


@pytest.mark.parametrize("depth", [3, 4, 7, 10])
@pytest.mark.parametrize("blocks", [2, 5])
def test_the_boundary_in_closed_form_is_half_way(depth, blocks):
    scale = 1e-25
    edge = float(halfway_ratio(depth=depth, product_scale=scale, blocks=blocks, target=2.0))
    limit = limit_singular_values(
        depth=depth, scale=scale ** (1 / depth), ratio=edge, blocks=blocks, target=2.0
    )
    rank = 1 + (blocks - 1) * (limit.others / limit.first) ** 2
    np.testing.assert_allclose(rank, (1 + blocks) / 2, rtol=1e-3)


def test_two_factors_have_no_boundary():
    with pytest.raises(ValueError, match="depth: received 2, it must be at least 3"):
        halfway_ratio(depth=2, product_scale=1e-3, blocks=3)


@pytest.mark.parametrize("depth", [2, 3, 5])
@pytest.mark.parametrize("block_size", [1, 2])
def test_the_effective_rank_is_that_of_the_spectrum(depth, block_size):
    family = {"depth": depth, "scale": 0.1, "blocks": 4, "block_size": block_size, "target": 7.0}
    ratios = np.array([1.0, 2.0, 1e3, math.inf])
    found = limit_effective_rank(ratio=ratios, **family)
    for rank, ratio in zip(found, ratios, strict=True):
        limit = limit_singular_values(ratio=ratio, **family)
        spectrum = np.array([limit.first, *[limit.others] * 3])
        assert rank == pytest.approx(effective_rank_from_singular_values(spectrum), rel=1e-12)
    assert found[0] == pytest.approx(1)
    assert found[-1] == pytest.approx(4)


@pytest.mark.parametrize("depth", [2, 3, 11, 101])
def test_a_factor_has_the_roots_of_the_products_singular_values(depth):
    family = {"depth": depth, "scale": 1e-5 ** (1 / depth), "ratio": 100.0, "blocks": 10}
    logs = limit_singular_values(**family, log=True)
    roots = np.exp(np.array([logs.first] + 9 * [logs.others]) / depth)
    found = limit_factor_effective_rank(**family)
    assert float(found) == pytest.approx(effective_rank_from_singular_values(roots), rel=1e-9)
