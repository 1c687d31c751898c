"""What regimes/map claims, decided from its stored dataset.

A student extrapolates if its relative error on the lags after k is below ½. The sides of the border
are taken with room: κ ≤ 0.3 is the kernel side and κ ≥ 1.3 the rich one, between which a trial saw
the error pass ½ in nine settings.
"""

from typing import TYPE_CHECKING

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_median
from tacit.experiments.regimes._setting import KERNEL, LEVEL, ORDER, RICH
from tacit.experiments.regimes._summary import counted, limit, present
from tacit.store import GAMMA0, LENGTH, SEED

if TYPE_CHECKING:
    import xarray

    from tacit.experiments.regimes.map import MapConfig

PLACE = "regimes (ours)"
EDGE = 2 * ORDER


def map_claims(dataset: "xarray.Dataset", config: "MapConfig") -> list[Claim]:
    """Both are needed; the ranks; the threshold; how many runs converged."""
    error, kappa = counted(dataset, "error"), dataset["kappa"]
    cells = (LENGTH, GAMMA0)
    longer, rich, kernel = error[LENGTH] > EDGE, kappa >= RICH, kappa <= KERNEL
    converged = dataset["outcome"] == "converged"
    return [
        claim_about_median(
            present(error.where(longer & rich).median(cells, skipna=True)),
            name="long and rich: extrapolates",
            statement=f"With k > 2d̂ = {EDGE} and κ ≥ {RICH}, the median relative error over all "
            f"such cells is at most {LEVEL}, in the median over seeds.",
            place=PLACE,
            at_most=LEVEL,
        ),
        claim_about_median(
            present(error.where(longer & rich).max(cells)),
            name="long and rich: everywhere",
            statement=f"With k > 2d̂ = {EDGE} and κ ≥ {RICH}, the worst relative error over all "
            f"such cells is at most {LEVEL}, in the median over seeds.",
            place=PLACE,
            at_most=LEVEL,
        ),
        claim_about_median(
            present(error.where(longer & kernel).min(cells)),
            name="long but kernel: does not",
            statement=f"With k > 2d̂ but κ ≤ {KERNEL}, the best relative error over all such cells "
            f"is at least {LEVEL}.",
            place=PLACE,
            at_least=LEVEL,
        ),
        claim_about_median(
            present(error.where(error[LENGTH] < EDGE).min(cells)),
            name="short: does not, at any γ₀",
            statement=f"With k < 2d̂, the best relative error over all γ₀ is at least {LEVEL}.",
            place=PLACE,
            at_least=LEVEL,
        ),
        claim_about_median(
            present(error.where(error[LENGTH] == EDGE).min(cells)),
            name="k = 2d̂: does not, at any γ₀",
            statement=f"With k = 2d̂ exactly, the best relative error over all γ₀ is at least "
            f"{LEVEL}.",
            place=PLACE,
            at_least=LEVEL,
        ),
        *_falls(error, config),
        *_ranks(dataset, config),
        *_threshold(dataset),
        claim_about_fraction(
            int(converged.sum()),
            int(converged.size),
            name="runs converge",
            statement=f"Runs reach a relative train error of {config.goal:g} within "
            f"{config.steps:,} steps.",
            place=PLACE,
            at_least=0.9,
        ),
    ]


def _falls(error: "xarray.DataArray", config: "MapConfig") -> list[Claim]:
    """From k = 2d̂ to the longest: a fall on the rich side, none on the kernel side."""
    longest = max(config.length)
    if EDGE not in config.length or longest <= EDGE:
        return []
    ratio = error.sel({LENGTH: EDGE}) / error.sel({LENGTH: longest})
    ends = {"rich": max(config.gamma0), "kernel": min(config.gamma0)}
    return [
        claim_about_median(
            present(ratio.sel({GAMMA0: ends["rich"]})),
            name="rich: length helps",
            statement=f"At γ₀ = {ends['rich']:g} the error falls at least fivefold from k = 2d̂ to "
            f"k = {longest}.",
            place=PLACE,
            at_least=5,
        ),
        claim_about_median(
            present(ratio.sel({GAMMA0: ends["kernel"]})),
            name="kernel: length does not help",
            statement=f"At γ₀ = {ends['kernel']:g} the error at k = 2d̂ is at most 1.25 times that "
            f"at k = {longest}.",
            place=PLACE,
            at_most=1.25,
        ),
    ]


def _ranks(dataset: "xarray.Dataset", config: "MapConfig") -> list[Claim]:
    """The teacher's order on the rich side, the filter's length on the kernel side."""
    rank = counted(dataset, "rank")
    rank = rank.where(rank[LENGTH] > EDGE, drop=True)
    rich, kernel = (rank.sel({GAMMA0: end(config.gamma0)}) for end in (max, min))
    low, high = present(rich), present(kernel - kernel[LENGTH])
    return [
        claim_about_fraction(
            int(np.sum(low == ORDER)),
            low.size,
            name="rich: the teacher's order",
            statement=f"At γ₀ = {max(config.gamma0):g} and k > 2d̂ most students have Hankel rank "
            f"{ORDER}.",
            place=PLACE,
            at_least=0.5,
        ),
        claim_about_fraction(
            int(np.sum(high >= -1)),
            high.size,
            name="kernel: a filter of k taps",
            statement=f"At γ₀ = {min(config.gamma0):g} and k > 2d̂ most students have a Hankel rank "
            "of k − 1 or more.",
            place=PLACE,
            at_least=0.5,
        ),
    ]


def _threshold(dataset: "xarray.Dataset") -> list[Claim]:
    """κ where the error passes ½, for the lengths that extrapolate, in the mean over them."""
    crossing = crossings(dataset)
    seeds = crossing.median(LENGTH, skipna=True)
    words = "For k > 2d̂ the error passes ½ at a κ of order one: in the median over lengths it is"
    return [
        claim_about_median(
            present(seeds),
            name=f"threshold: κ {'above' if name == 'at_least' else 'below'} {bound}",
            statement=f"{words} {'at least' if name == 'at_least' else 'at most'} {bound}.",
            place=PLACE,
            **limit(name, bound),
        )
        for name, bound in (("at_least", KERNEL), ("at_most", RICH))
    ]


def crossings(dataset: "xarray.Dataset") -> "xarray.DataArray":
    """κ at which the error first falls to ½ along γ₀, by (length, seed); NaN if it never does.

    The logarithm of κ is interpolated between the two neighbours on the grid.
    """
    ordered = dataset.sortby(GAMMA0)
    error = counted(ordered, "error")
    error = error.where(error[LENGTH] > EDGE, drop=True).transpose(LENGTH, SEED, GAMMA0)
    kappa = ordered["kappa"].sel({LENGTH: error[LENGTH]}).transpose(LENGTH, SEED, GAMMA0)
    found = np.full(error.shape[:2], np.nan)
    for place in np.ndindex(found.shape):
        row, scale = error.values[place], np.log(kappa.values[place])
        kept = ~np.isnan(row)
        row, scale = row[kept], scale[kept]
        below = np.flatnonzero(row <= LEVEL)
        if below.size and below[0] > 0:
            i = below[0]
            part = (row[i - 1] - LEVEL) / (row[i - 1] - row[i])
            found[place] = np.exp(scale[i - 1] + part * (scale[i] - scale[i - 1]))
    return error.isel({GAMMA0: 0}, drop=True).copy(data=found)
