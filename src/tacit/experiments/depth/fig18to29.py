"""depth, Figures 18 to 29: does depth lower the rank of what image networks learn?

The comparison: the effective rank of convolutions, averaged over layers without the last, against
the depth of ResNets and VGGs, after training with SGD, Adam and RMSProp. Beside it, ours: the same
before training and over the largest rank possible, since deeper networks have other widths; the
public code's rank (p ∝ σ², outputs as rows); and deep matrix completion of the same depths in
closed form, whose factors are what a layer of a network is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import optax
import xarray

from tacit.data import IMAGE_SETS
from tacit.descent import Lanes, cosine
from tacit.draw import Axis, Figure, Line, Panel, Shade, mean_lines
from tacit.experiments import Batch, Claims, Grid, fixed, swept
from tacit.experiments.depth.trained_networks import TrainedNetworks
from tacit.models import ARITHMETICS, VGG, ResNet
from tacit.theory.depth import limit_effective_rank, limit_factor_effective_rank

DRAWS: dict[str, Callable[..., Any]] = {"resnet": ResNet.random, "vgg": VGG.random}
DEPTHS = {"resnet": (18, 34, 50, 101), "vgg": (11, 13, 16, 19)}
FAMILY = {f"{name}{depth}": name for name, depths in DEPTHS.items() for depth in depths}
FIRST = {"sgd": 18, "adam": 22, "rmsprop": 26}  # the optimiser's first figure; it has four
TEXT = {"matrix": "inputs", "measure": "effective"}
CODE = {"matrix": "outputs", "measure": "effective of squares"}
LINEAR: dict[str, Any] = {"blocks": 10, "ratio": 100.0}  # of the control, with αᴸ = SCALE
SCALE = 1e-5
EARLY = (
    "After so few epochs the rank is still that of the start, which the shapes of the layers make "
    "higher in the deepest network."
)


class Fig18To29(TrainedNetworks):
    """Mean effective rank of layers against depth: ResNets and VGGs on CIFAR."""

    id, figure = "depth/fig18-29", "Figures 18 to 29"
    published = dict(seed=range(5))

    network: tuple[str, ...] = swept(tuple(FAMILY), "the network", choices=tuple(FAMILY))
    optimiser: tuple[str, ...] = swept(tuple(FIRST), "the optimiser", choices=tuple(FIRST))
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
        "quick": dict(network=("vgg11", "vgg19"), data="cifar10", optimiser="sgd",
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
        name, classes = batch.one("network"), IMAGE_SETS[batch.one("data")]
        draw, arithmetic = DRAWS[FAMILY[name]], ARITHMETICS[self.precision]
        made = dict(classes=classes, width=self.width, arithmetic=arithmetic)
        starts = Lanes.stack(draw(_depth(name), **made, key=key) for key in self.keys(batch))
        method = self.method(batch.one("optimiser"))
        shift = self.side // 8  # four pixels of 32
        return self.trained(starts, method, batch, shift=shift, mirror=True)

    def method(self, name: str) -> optax.GradientTransformation:
        """The optimiser as PyTorch writes it: weight decay is a part of the gradient."""
        code, sgd = self.protocol == "code", name == "sgd"
        rms = optax.scale_by_rms(decay=0.99, eps=1e-8, eps_in_sqrt=False)
        inner = {
            "sgd": optax.trace(0.9, nesterov=code),
            "adam": optax.scale_by_adam(b2=0.99 if code else 0.999),
            "rmsprop": optax.chain(rms, optax.trace(0.9)) if code else rms,
        }[name]
        decay = optax.add_decayed_weights(self.sgd_decay if sgd else self.other_decay)
        rate = cosine(self.sgd_rate if sgd else self.other_rate, self.steps)
        return optax.chain(decay, inner, optax.scale_by_learning_rate(rate))

    def figures(self, runs: xarray.Dataset) -> list[tuple[str, xarray.Dataset, str]]:
        """What each figure of the paper shows: its words, its runs by depth, and its place."""
        found, counted = [], runs.where(self.counts(runs))
        for family, optimiser in ((f, o) for o in self.optimiser for f in DEPTHS):
            names = sorted((n for n in self.network if FAMILY[n] == family), key=_depth)
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
            claim.median(
                f"{words}: shapes do not lower it",
                before.sel(network=last) / before.sel(network=first),
                at_least=1.0,
                says=f"{words}: before training the mean effective rank of {last} is not below "
                f"that of {first}.",
            )
            right = part["accuracy"].sel(split="test", point=self.points)
            claim.median(
                f"{words}: networks learn",
                right.min("network", skipna=False),
                at_least=self.learnt,
                says=f"{words}: every network tells {self.learnt:g} of the test images right.",
            )
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
        at = [dict(LINEAR, depth=depth, scale=SCALE ** (1 / depth)) for depth in depths]
        product = [float(limit_effective_rank(**each)) for each in at]
        return depths, product, [float(limit_factor_effective_rank(**each)) for each in at]

    def draw(self, runs: xarray.Dataset) -> Figure:
        panels = []
        for words, part, _ in self.figures(runs):
            shades = Shade.by_value(part["network"].values.tolist())
            curves = part["accuracy"].assign_coords(point=self.epochs_of(runs))
            for split in ("train", "test"):
                lines = mean_lines(curves.sel(split=split), "point", by="network", colour=shades)
                title = f"{words}: {split} accuracy"
                panels.append(Panel(title, Axis("epoch"), Axis("accuracy"), lines, legend="best"))
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
    return int(network.removeprefix(FAMILY[network]))


def _at(values: xarray.DataArray, state: str, how: dict[str, str] = TEXT) -> xarray.DataArray:
    return values.sel({"state": state, **how})
