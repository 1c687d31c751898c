"""depth, Figure 30: does coupling, or the start itself, make the weights of a network low-rank?

The comparison: training loss and stable rank, averaged over layers without the last, of ReLU
networks whose hidden layers start Gaussian (coupled) or at a multiple of the identity (decoupled).
Beside it, ours: the same before training, and how much of it training leaves. Depth counts hidden
layers, as in the public code: with two layers in all there would be no square one.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import optax
import xarray

from tacit.data import IMAGE_SETS
from tacit.draw import Axis, Figure, Panel, Shade, mean_lines
from tacit.experiments import Batch, Claims, Finding, Grid, fixed, swept
from tacit.experiments.depth.trained_networks import TrainedNetworks
from tacit.models import ARITHMETICS, ReLUNet

BELOW = 0.8  # Gaussian over identity: a stable rank up to this is substantially lower
UNSETTLED = (
    "At the constant rate the loss of Gaussian networks with two hidden layers goes up and down "
    "about 0.2 from epoch 50 on, and one in seven comes to rest by epoch 100."
)
TAKES_MORE = "training takes more from Gaussian"
FROM_FULL = (
    "Trained to the end, identity networks, which begin near full rank, lose the larger share at "
    "two and three hidden layers, Gaussian ones at five only."
)


class Fig30(TrainedNetworks):
    """Mean stable rank of ReLU networks: Gaussian against identity hidden layers."""

    id, figure = "depth/fig30", "Figure 30"
    finding = Finding(
        "Trained Gaussian networks have at most {over|.2f|holds} of the mean stable rank of "
        "identity ones, but before training they had {before|.2f|holds}. The share that training "
        "leaves them falls with depth in {share|satisfied|holds} of {share|samples} seeds.",
        "That it takes the larger share from Gaussian networks at every depth is so in "
        "{takes|satisfied|fails} of {takes|samples} seeds.",
        "Gaussian networks with two hidden layers end at a low training loss in "
        "{loss|satisfied|fails} of {loss|samples} seeds only.",
        over="trained: Gaussian over identity",
        before="untrained: Gaussian over identity",
        share="share that training leaves, Gaussian",
        takes=TAKES_MORE,
        loss="gaussian, L = 2: low training loss",
    )

    depth: tuple[int, ...] = swept((2, 3, 5), "number L of hidden layers", low=1, high=50)
    start: tuple[str, ...] = swept(
        ("gaussian", "identity"), "square layers at the start", choices=("gaussian", "identity")
    )
    seed: tuple[int, ...] = tuple(range(7))
    batch: int = 256
    epochs: float = 100.0
    width: int = fixed(512, "units of a hidden layer", low=2, high=8192)
    deviation: float = fixed(0.01, "standard deviation of Gaussian weights", low=0.0)
    identity: float = fixed(1.0, "multiple of the identity", low=0.0)
    protocol: str = fixed("code", "code: no ReLU after the first layer", choices=("text", "code"))
    rate: float = fixed(0.01, "learning rate of SGD with momentum 0.9", low=0.0)
    low: float = fixed(0.1, "a low training loss", low=0.0, analysis=True)

    presets = {
        "smoke": dict(data="waves", depth=(2, 3), seed=range(2), images=200, side=4, batch=20,
                      epochs=2.0, watched=50, points=2, width=16, deviation=0.06, low=2.3,
                      precision="float32"),
        "quick": dict(depth=(2, 3), images=2000, side=8, batch=50, epochs=20.0, watched=500,
                      points=5, width=64, deviation=0.028, low=2.2, precision="float32"),
        "paper": {},
    }  # fmt: skip

    def grid(self) -> Grid:
        """All seeds of one shape are lanes of one program."""
        return Grid(self.axes(), batch_by=("data", "depth", "start"))

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        identity = self.identity if batch.one("start") == "identity" else None
        draw = partial(ReLUNet.random, batch.one("depth"), inputs=3 * self.side**2,
                       width=self.width, outputs=IMAGE_SETS[batch.one("data")],
                       deviation=self.deviation, identity=identity,
                       first_is_linear=self.protocol == "code",
                       arithmetic=ARITHMETICS[self.precision])  # fmt: skip
        method = optax.sgd(self.rate, momentum=0.9)
        return self.trained(batch, draw, method, shift=0, mirror=False)

    def stable(self, runs: xarray.Dataset, state: str) -> xarray.DataArray:
        """The mean stable rank of each network."""
        at = {"matrix": "inputs", "measure": "stable", "state": state, "data": self.data[0]}
        return self.counted(runs, "rank").sel(at).sortby("depth")

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, place = Claims(), "Figure 30, appendix C.1.1"
        if len(self.depth) < 2 or len(self.start) < 2:
            return claim
        trained, untrained = self.stable(runs, "trained"), self.stable(runs, "untrained")
        for state, rank, where in (("trained", trained, place), ("untrained", untrained, "ours")):
            gaussian, identity = rank.sel(start="gaussian"), rank.sel(start="identity")
            claim.median(f"{state}: Gaussian over identity",
                         (gaussian / identity).max("depth", skipna=False), at_most=BELOW,
                         says=f"{state}: at every depth the mean stable rank of Gaussian networks "
                         "is at most {bound} of that of identity ones.",
                         place=where)  # fmt: skip
            name = f"{state}: mean stable rank"
            self.never_rises(claim, f"{name}, Gaussian", gaussian, "depth", place=where)
            self.never_rises(claim, f"1 / {name}, identity", 1 / identity, "depth", place=where)
        kept = trained / untrained
        gaussian, identity = kept.sel(start="gaussian"), kept.sel(start="identity")
        self.never_rises(claim, "share that training leaves, Gaussian", gaussian, "depth")
        claim.median(TAKES_MORE, (gaussian / identity).max("depth", skipna=False), at_most=1.0,
                     says="At every depth training leaves Gaussian networks no larger a share of "
                     "the mean stable rank that they began with than identity ones.",
                     fails_because=FROM_FULL if self.epochs >= 50 else "")  # fmt: skip
        loss = runs["loss"].sel(split="train", point=self.points, data=self.data[0])
        for start, depth in product(self.start, sorted(self.depth)):
            unsettled = start == "gaussian" and depth == 2 and self.epochs >= 50
            claim.median(f"{start}, L = {depth}: low training loss",
                         loss.sel(start=start, depth=depth), at_most=self.low,
                         says=f"{start}, {depth} hidden layers: the training loss ends at "
                         "{bound} or below.",
                         fails_because=UNSETTLED if unsettled else "", place=place)  # fmt: skip
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        loss = runs["loss"].sel(split="train", data=self.data[0]).sortby("depth")
        curves = loss.assign_coords(point=self.epochs_of(runs))
        trained, untrained = self.stable(runs, "trained"), self.stable(runs, "untrained")
        x, y = Axis("hidden layers L", ticks=sorted(self.depth)), Axis("stable rank")
        by: dict[str, Any] = dict(by="start", colour={"gaussian": 0, "identity": 1})
        return Figure(
            "ReLU networks: stable rank from Gaussian and from identity layers",
            [
                Panel("training loss", Axis("epoch"), Axis("cross-entropy", scale="log"),
                      mean_lines(curves, "point", by=("depth", "start"), band=False,
                                 label="{start}, L = {depth}",
                                 colour=Shade.by_value(sorted(self.depth)),
                                 style={"gaussian": "solid", "identity": "dashed"})),
                Panel("mean stable rank, trained", x, y, mean_lines(trained, "depth", **by)),
                Panel("mean stable rank, untrained", x, y, [],
                      ours=mean_lines(untrained, "depth", **by)),
                Panel("share that training leaves", x, Axis("trained over untrained"), [],
                      ours=mean_lines(trained / untrained, "depth", **by)),
            ],
            caption=f"Width {self.width}, {self.images:,} images of side {self.side}, "
            f"{self.epochs:g} epochs, SGD with momentum, rate {self.rate:g}; means over "
            f"{len(self.seed)} seeds, bands of a standard deviation.",
        )  # fmt: skip
