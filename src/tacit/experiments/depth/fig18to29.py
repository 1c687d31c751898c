"""depth, Figures 18 to 29: does depth lower the rank of what image networks learn?

The comparison: the effective rank of convolutions, averaged over layers without the last, against
the depth of ResNets and VGGs, after training with SGD, Adam and RMSProp. Beside it, ours: the same
before training and over the largest rank possible, since deeper networks have other widths; the
public code's rank (p ∝ σ², outputs as rows); and deep matrix completion of the same depths in
closed form, whose factors are what a layer of a network is.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import xarray

from tacit.data import IMAGE_SETS
from tacit.descent import COUPLED, cosine, coupled_decay
from tacit.draw import Axis, Figure, Line, Panel, Shade, mean_lines
from tacit.experiments import Batch, Claims, Grid, fixed, swept
from tacit.experiments.depth.trained_networks import TrainedNetworks
from tacit.models import ARITHMETICS, IMAGE_NETWORKS, image_network
from tacit.theory.depth import limit_effective_rank, limit_factor_effective_rank

NETWORKS, FAMILIES = tuple(IMAGE_NETWORKS), ("resnet", "vgg")
FIRST = dict(zip(COUPLED, (18, 22, 26), strict=True))  # the optimiser's first figure; it has four
TEXT = {"matrix": "inputs", "measure": "effective"}
CODE = {"matrix": "outputs", "measure": "effective of squares"}
SCALE = 1e-5  # αᴸ of the linear control
EARLY = (
    "After so few epochs the rank is still that of the start, which the shapes of the layers make "
    "higher in the deepest network."
)


class Fig18To29(TrainedNetworks):
    """Mean effective rank of layers against depth: ResNets and VGGs on CIFAR."""

    id, figure = "depth/fig18-29", "Figures 18 to 29"
    published = dict(seed=range(5))

    network: tuple[str, ...] = swept(NETWORKS, "the network", choices=NETWORKS)
    optimiser: tuple[str, ...] = swept(COUPLED, "the optimiser", choices=COUPLED)
    data: tuple[str, ...] = ("cifar10", "cifar100")
    width: float = fixed(1.0, "factor on all numbers of channels", low=1 / 64, high=4.0)
    protocol: str = fixed("code", "optimisers as in text or code", choices=("text", "code"))
    sgd_rate: float = fixed(0.1, "first learning rate of SGD", low=0.0)
    sgd_decay: float = fixed(5e-4, "weight decay of SGD", low=0.0)
    other_rate: float = fixed(1e-3, "first learning rate of Adam and RMSProp", low=0.0)
    other_decay: float = fixed(1e-5, "weight decay of Adam and RMSProp", low=0.0)
    learnt: float = fixed(0.9, "test accuracy of a network that learns", low=0.0, analysis=True)

    presets = {
        "smoke": dict(network=("vgg11", "vgg13"), data="waves", optimiser="sgd", seed=range(2),
                      width=1 / 32, images=200, side=4, batch=20, epochs=0.5, watched=50, points=2,
                      precision="float32", learnt=0.1),
        "quick": dict(network=("vgg11", "vgg13", "vgg19"), data="cifar10", optimiser="sgd",
                      seed=range(7), width=1 / 8, images=2000, side=8, batch=50, epochs=6.0,
                      watched=500, points=4, precision="float32", learnt=0.2),
        "gpu": dict(data="cifar10", optimiser="sgd", seed=range(1), epochs=30.0,
                    precision="bfloat16"),
        "paper": {},
    }  # fmt: skip

    def grid(self) -> Grid:
        """Narrow networks of one shape are lanes of one program; a wide one fills a device."""
        by = ("data", "network", "optimiser")
        return Grid(self.axes(), batch_by=by, chunk={"seed": 8 if self.width <= 0.25 else 1})

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        numbers = replace(ARITHMETICS[self.precision], by_products=len(batch) > 1)
        draw = partial(image_network, batch.one("network"), width=self.width, arithmetic=numbers,
                       classes=IMAGE_SETS[batch.one("data")])  # fmt: skip
        name, code = batch.one("optimiser"), self.protocol == "code"
        own = self.sgd_rate, self.sgd_decay
        rate, decay = own if name == "sgd" else (self.other_rate, self.other_decay)
        method = coupled_decay(name, cosine(rate, self.steps), decay,
                               momentum=0.9 if code or name != "rmsprop" else 0.0,
                               nesterov=code and name == "sgd",
                               second=0.99 if code else 0.999)  # fmt: skip
        shift = self.side // 8  # four pixels of 32
        return self.trained(batch, draw, method, shift=shift, mirror=True)

    def figures(self, runs: xarray.Dataset) -> list[tuple[str, xarray.Dataset, str]]:
        """What each figure of the paper shows: its words, its runs by depth, and its place."""
        found, counted = [], runs.where(self.counts(runs))
        for family, optimiser in ((f, o) for o in self.optimiser for f in FAMILIES):
            names = sorted((n for n in self.network if n.startswith(family)), key=_depth)
            for data in self.data if len(names) > 1 else ():
                number = FIRST[optimiser] + 2 * (family == "vgg") + (data == "cifar100")
                part = counted.sel(data=data, optimiser=optimiser, network=names)
                found.append((f"{family}, {data}, {optimiser}", part, f"Figure {number}"))
        return found

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims()
        for words, part, place in self.figures(runs):
            trained, before = _at(part["rank"], "trained"), _at(part["rank"], "untrained")
            self.never_rises(claim, f"{words}: mean effective rank", trained, "network",
                             place=f"{place}, appendix C.1.1",
                             fails_because=EARLY if self.epochs < 10 else "")  # fmt: skip
            for name, values in {
                "rank over the largest possible": _at(part["share"], "trained"),
                "rank of the public code": _at(part["rank"], "trained", CODE),
                "share of the rank that training leaves": trained / before,
            }.items():
                self.never_rises(claim, f"{words}: {name}", values, "network")
            first, last = part["network"].values[[0, -1]]
            claim.median(f"{words}: shapes do not lower it",
                         before.sel(network=last) / before.sel(network=first), at_least=1.0,
                         says=f"{words}: before training the mean effective rank of {last} is not "
                         f"below that of {first}.")  # fmt: skip
            right = part["accuracy"].sel(split="test", point=self.points)
            claim.median(f"{words}: networks learn", right.min("network", skipna=False),
                         at_least=self.learnt, says=f"{words}: every network tells "
                         f"{self.learnt:g} of the test images right.")  # fmt: skip
        depths, product, factor = self._linear()
        claim.value("linear control: product", product[-1] / product[0], at_most=1.0,
                    says="Deep matrix completion: the effective rank of the product is not higher "
                    f"at {depths[-1]} factors than at {depths[0]}.",
                    place="Theorem 3.3")  # fmt: skip
        claim.value("linear control: factors", factor[-1] / factor[0], at_least=1.0,
                    says="That of each factor, which is what is measured in networks, is not "
                    "lower there.")  # fmt: skip
        return claim

    def _linear(self) -> tuple[list[int], list[float], list[float]]:
        """Depths, and the limits of Theorem 3.3 there: rank of the product and of each factor."""
        depths = sorted({_depth(name) for name in self.network})
        product, factor = (
            [float(rank(blocks=10, ratio=100.0, depth=d, scale=SCALE ** (1 / d))) for d in depths]
            for rank in (limit_effective_rank, limit_factor_effective_rank)
        )
        return depths, product, factor

    def draw(self, runs: xarray.Dataset) -> Figure:
        panels = []
        for words, part, _ in self.figures(runs):
            shades = Shade.by_value(part["network"].values.tolist())
            curves = part["accuracy"].assign_coords(point=self.epochs_of(runs))
            panels += [
                Panel(f"{words}: {split} accuracy", Axis("epoch"), Axis("accuracy"),
                      mean_lines(curves.sel(split=split), "point", by="network", colour=shades),
                      legend="best")
                for split in ("train", "test")
            ]  # fmt: skip
            part = part.assign_coords(network=[_depth(name) for name in shades])
            rank, share = part["rank"], part["share"]
            x = Axis("depth", ticks=part["network"].values)
            panels += [
                Panel(f"{words}: mean effective rank", x, Axis("effective rank"),
                      mean_lines(_at(rank, "trained"), "network", label="trained"),
                      ours=mean_lines(_at(rank, "untrained"), "network", label="untrained",
                                      colour="reference")),
                Panel("over the largest possible", x, Axis("share", limits=(0, 1)), [],
                      ours=[*mean_lines(_at(share, "trained"), "network", label="p ∝ σ"),
                            *mean_lines(_at(share, "trained", CODE), "network", colour=1,
                                        label="p ∝ σ², rows are outputs")]),
            ]  # fmt: skip
        depths, product, factor = self._linear()
        linear = [Line(depths, product, label="product", marker="o"),
                  Line(depths, factor, label="each factor", colour=1, marker="o")]  # fmt: skip
        panels.append(Panel("deep matrix completion, closed form", Axis("number of factors"),
                            Axis("effective rank", limits=(0, 10.5)), [], ours=linear))  # fmt: skip
        return Figure(
            "Trained networks: mean effective rank of the layers against depth",
            panels,
            columns=4,
            caption=f"{self.images:,} images of side {self.side}, {self.epochs:g} epochs, width "
            f"× {self.width:g}, {self.precision}; means over {len(self.seed)} runs, bands of a "
            f"standard deviation. Linear: n = 10, m = 100, αᴸ = {SCALE:g}.",
        )


def _depth(network: str) -> int:
    return IMAGE_NETWORKS[network][1]


def _at(values: xarray.DataArray, state: str, how: dict[str, str] = TEXT) -> xarray.DataArray:
    return values.sel({"state": state, **how})
