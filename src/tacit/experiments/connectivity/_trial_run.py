"""Numbers of an earlier implementation at N = 256, and claims that ours are the same."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_median
from tacit.experiments.connectivity._tasks import finished
from tacit.store import SEED, SINGULAR_VALUE, STRENGTH, TASK

if TYPE_CHECKING:
    import xarray

WIDTH = 256


class Trial(NamedTuple):
    """One task and strength: epochs to 5%, ‖ΔW‖, leading singular values, functional rank."""

    epochs: tuple[float, float]
    norm: float
    singular: tuple[float, ...]
    rank: tuple[int, int]


TRIALS = {
    ("flip-flop", 0.0): Trial((60, 90), 2.0, (1.4, 1.4, 0.33, 0.24), (2, 2)),
    ("flip-flop", 0.9): Trial((20, 40), 1.3, (0.82, 0.75, 0.39, 0.33), (4, 8)),
    ("mante", 0.0): Trial((439, 919), 2.7, (1.9, 1.0, 1.0, 0.85, 0.6), (5, 6)),
    ("mante", 0.9): Trial((35, 55), 1.06, (0.74, 0.38, 0.35), (3, 5)),
    ("romo", 0.0): Trial((2156, 2156), 4.0, (2.6, 1.8, 1.5, 1.3), (10, 10)),
    ("romo", 0.9): Trial((192, 192), 2.6, (1.2, 1.1, 1.0), (8, 8)),
}
"""From one to three networks each; the flip-flop's epochs are rounded outwards."""
FACTOR = 2.0  # on epochs, for the two tasks of which few networks were seen
NEAR = 0.2  # relative distance of norms and leading singular values
RANKS = 2  # beyond the range of functional ranks


def as_in_the_trial(dataset: "xarray.Dataset", task: str, g: float) -> list[Claim]:
    """Norm, leading singular value, rank and epochs of networks of 256 units."""
    if (task, g) not in TRIALS:
        return []
    trial = TRIALS[task, g]
    runs, every = finished(dataset, task, g), dataset.sel({TASK: task, STRENGTH: g})
    name, where = f"{task}, g = {g:g}", f"On {task} with g = {g:g}"
    values = runs["change_singular"].transpose(SEED, SINGULAR_VALUE).values
    found = [
        claim_about_mean(
            np.abs(runs["change_norm"].values / trial.norm - 1),
            name=f"{name}: norm of ΔW",
            statement=f"{where}, ‖ΔW‖ is {trial.norm:g}, to a fifth on average.",
            place="Figure 2(b)",
            at_most=NEAR,
        ),
        claim_about_mean(
            np.abs(values[:, 0] / trial.singular[0] - 1),
            name=f"{name}: leading singular value",
            statement=f"{where}, the largest singular value of ΔW is {trial.singular[0]:g}, to a "
            "fifth on average.",
            place="Figure 1(g)–(i)",
            at_most=NEAR,
        ),
        claim_about_median(
            runs["rank_text"].values,
            name=f"{name}: functional rank as before",
            statement=f"{where}, the median functional rank is {trial.rank[1] + RANKS} at most "
            f"(it was {trial.rank[0]} to {trial.rank[1]} before).",
            place="Figure 1(j)–(l)",
            at_most=trial.rank[1] + RANKS,
        ),
    ]
    wide = 1.0 if task == "flip-flop" else FACTOR
    low, high = trial.epochs[0] / wide, trial.epochs[1] * wide
    needed, first = (
        np.nan_to_num(every[key].values, nan=np.inf, posinf=np.inf)
        for key in ("epochs_needed", "epochs_first")
    )
    found += [
        claim_about_median(
            needed,
            name=f"{name}: at most {high:g} epochs",
            statement=f"{where}, the median network needs at most {high:g} epochs to 5%, kept for "
            "ten epochs.",
            place="Figure 1(d)–(f)",
            at_most=high,
        ),
        claim_about_median(
            needed,
            name=f"{name}: at least {low:g} epochs",
            statement=f"{where}, the median network needs at least {low:g} epochs to 5%, kept for "
            "ten epochs.",
            place="Figure 1(d)–(f)",
            at_least=low,
        ),
        claim_about_median(
            first,
            name=f"{name}: first below within {high:g} epochs",
            statement=f"{where}, the median network's smoothed loss is first below 5% after at "
            f"most {high:g} epochs, whether or not it is thrown back afterwards.",
            place="Figure 1(d)–(f)",
            at_most=high,
        ),
    ]
    return found
