"""What figures 18 to 30 share: networks learn to tell images apart; ranks of their weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import optax
import xarray

from tacit.data import IMAGE_SETS, image_set, image_set_missing
from tacit.descent import Checkpoint, Lanes, Record, Stop, descend, lane_keys
from tacit.experiments import Batch, Claims, Experiment, Variable, fixed, swept
from tacit.measures import MATRICES, RANKS, mean_layer_ranks
from tacit.models import ARITHMETICS
from tacit.problems import ImageBatches, Images, split_means

STARTS, BATCHES = 30, 31  # what keys are for; a seed gives other numbers for each
TEXT, CODE = "p ∝ σ", "p ∝ σ²"  # the text's effective rank, and the public code's
_DEFINITIONS = {TEXT: {"matrix": "inputs", "measure": "effective"},
                CODE: {"matrix": "outputs", "measure": "effective of squares"}}  # fmt: skip


class TrainedNetworks(Experiment):
    """Networks that learn images, and the mean ranks of their layers but the last."""

    data: tuple[str, ...] = swept(("cifar10",), "images to tell apart", choices=tuple(IMAGE_SETS))
    seed: tuple[int, ...] = swept(range(5), "seed of network and batches", low=0)
    images: int = fixed(50_000, "images to train on", low=1, high=50_000)
    side: int = fixed(32, "height and width of an image", choices=(4, 8, 16, 32), units="pixels")
    batch: int = fixed(128, "images a step", low=1, high=50_000)
    epochs: float = fixed(200.0, "passes through the images", low=0.01, high=1e5)
    watched: int = fixed(10_000, "images of each split that curves are of", low=1, high=10_000)
    points: int = fixed(10, "points of the curves after the start", low=1, high=1000)
    precision: str = fixed("tf32", "numbers of the products", choices=tuple(ARITHMETICS))

    def missing(self) -> str | None:
        return next(filter(None, map(image_set_missing, self.data)), None)

    def variables(self) -> dict[str, Variable]:
        at = ("state", "matrix", "measure")
        return {
            "rank": Variable("rank, mean over layers without the last", *at),
            "share": Variable("rank over the largest possible, mean likewise", *at),
            "epoch": Variable("epochs", "point"),
            "loss": Variable("cross-entropy of the watched images", "split", "point"),
            "accuracy": Variable("share of them told right", "split", "point"),
        }

    def coordinates(self) -> dict[str, Any]:
        ranks = {"matrix": tuple(MATRICES), "measure": tuple(RANKS)}
        curves = {"split": ("train", "test"), "point": np.arange(self.points + 1)}
        return {"state": ("untrained", "trained")} | ranks | curves

    @property
    def steps(self) -> int:
        """Updates in all; an epoch has whole batches only."""
        return max(1, round(self.epochs * (self.images // self.batch)))

    def trained(
        self, batch: Batch, draw: Callable[..., Any], method: optax.GradientTransformation,
        *, shift: int, mirror: bool,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """What `variables` declares, of networks `draw(key=…)` that are lanes of one program."""
        found = image_set(batch.one("data"), train=self.images, test=self.watched, side=self.side)
        scales = dict(mean=found.mean, deviation=found.deviation)
        train, test = (Images.of(*part, **scales) for part in (found.train, found.test))
        seeds = batch.column("seed")
        starts = Lanes.stack(draw(key=key) for key in lane_keys(STARTS, seeds))
        steps = np.unique(np.linspace(0, self.steps, self.points + 1).round().astype(int))
        result = descend(
            starts,
            ImageBatches(train, self.batch, shift, mirror),
            method,
            stop=Stop(self.steps),
            record=Record(steps.tolist(), {"seen": split_means(train, test, self.watched)}),
            key=lane_keys(BATCHES, seeds),
            checkpoint=None
            if batch.scratch is None
            else Checkpoint(batch.scratch / "run.safetensors"),
            title=batch.label,
        )
        # Fewer steps than points: the curve stands still at its end.
        places = np.minimum(np.arange(self.points + 1), len(steps) - 1)
        seen = np.moveaxis(result.records["seen"][:, places], 1, -1)  # (lane, split, what, point)
        pairs = zip(starts, result.model, strict=True)
        ranks = np.array([[mean_layer_ranks(net.weights()[:-1]) for net in two] for two in pairs])
        epochs = np.tile(steps[places] / (self.images // self.batch), (len(batch), 1))
        return {"outcome": result.outcome, "epoch": epochs, "loss": seen[:, :, 0],
                "accuracy": seen[:, :, 1], "rank": ranks[:, :, 0],
                "share": ranks[:, :, 1]}  # fmt: skip

    def epochs_of(self, runs: xarray.Dataset) -> np.ndarray:
        """The epochs at the points of the curves, which all runs share."""
        return runs["epoch"].max([dim for dim in runs["epoch"].dims if dim != "point"]).values

    def never_rises(
        self, claim: Claims, name: str, values: xarray.DataArray, along: str, **terms: Any
    ) -> None:
        """Claim that a number of each network is at most that of the next shallower one."""
        steps = (values / values.shift({along: 1})).isel({along: slice(1, None)})
        labels = ", ".join(str(label) for label in values[along].values)
        self.of_runs(claim, name, steps.max(along, skipna=False), at_most=1.0,
                     says=f"{name}: it does not rise along {labels}.", **terms)  # fmt: skip

    def of_runs(
        self, claim: Claims, name: str, values: xarray.DataArray, *, says: str, **terms: Any
    ) -> None:
        """A claim about the median over seeds; if there is one run, about that run alone."""
        if len(self.seed) > 1:
            claim.median(name, values, says=says, **terms)
        else:
            claim.value(f"{name}, one run", values.item(), says=f"{says} Of one run.", **terms)

    def reduced(self) -> str:
        """What is less than in the paper, in a sentence; nothing if nothing is."""
        few, many = self, self.from_preset("paper")
        counts = {"epochs": (few.epochs, many.epochs), "images": (few.images, many.images)}
        for words, axis in ("runs", "seed"), ("data sets", "data"), ("optimisers", "optimiser"):
            here, there = (len(getattr(one, axis, ())) for one in (few, many))
            counts[words] = here, there
        less = [f"{here:,g} of {there:,g} {words}" for words, (here, there) in counts.items()
                if here < there]  # fmt: skip
        return f"Reduced: {', '.join(less)}. " if less else ""


def by_definition(runs: xarray.Dataset) -> xarray.Dataset:
    """The ranks along `definition`, TEXT and CODE, instead of by matrix and measure."""
    ways = xarray.Variable("definition", list(_DEFINITIONS))
    return runs.assign({
        name: xarray.concat([runs[name].sel(at, drop=True) for at in _DEFINITIONS.values()], ways)
        for name in ("rank", "share")
    })  # fmt: skip
