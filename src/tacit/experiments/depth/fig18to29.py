"""depth, Figures 18 to 29: does depth lower the rank of what image networks learn?

The comparison: the effective rank of convolutions, averaged over layers without the last, against
the depth of ResNets and VGGs, after training with SGD, Adam and RMSProp. Beside it, ours: the same
before training and over the largest rank possible, since deeper networks have other widths; the
public code's rank (p ∝ σ², outputs as rows); and a linear control of the same depths.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray

from tacit.data import IMAGE_SETS
from tacit.descent import COUPLED, cosine, coupled_decay
from tacit.draw import Axis, Figure, Line, Panel, Shade, mean_lines
from tacit.experiments import Batch, Claims, Finding, Grid, fixed, swept
from tacit.experiments.depth.trained_networks import CODE, TEXT, TrainedNetworks, by_definition
from tacit.models import ARITHMETICS, IMAGE_NETWORKS, image_network
from tacit.theory.depth import limit_effective_rank, limit_factor_effective_rank

NETWORKS, FAMILIES = tuple(IMAGE_NETWORKS), ("resnet", "vgg")
FIRST = dict(zip(COUPLED, (18, 22, 26), strict=True))  # the optimiser's first figure; it has four
RANK, SHARE = "mean effective rank", "rank over the largest possible"
OF_CODE, LEFT, LEARN = "rank of the public code", "share that training leaves", "networks learn"
SHAPES = "Before training it follows from the shapes of the layers, which do not fall with depth."
EARLY = "After so few epochs the mean still follows the shapes of the layers."
UNORDERED = "It has no order in depth in the runs that there are, of at most 30 epochs."
SHORT = "Fewer epochs than 200 leave the least of the VGGs short of it."


class Fig18To29(TrainedNetworks):
    """Mean effective rank of layers against depth: ResNets and VGGs on CIFAR."""

    id, figure = "depth/fig18-29", "Figures 18 to 29"
    published = dict(seed=range(5))
    finding = Finding(
        "In one run of each network, with fewer epochs than the paper's, the mean effective rank "
        "of the layers does not fall with depth: a ResNet has up to {resnet|.2f|fails} times that "
        "of the next shallower one, a VGG up to {vgg|.2f|fails} times, and before training "
        "{resnet_before|.2f|fails} and {vgg_before|.2f|fails} times.",
        "By the public code's definition it falls in VGGs at every step, to {code|.2f|holds} of "
        "the one before or less.",
        resnet="resnet, cifar10, sgd: mean effective rank, one run",
        vgg="vgg, cifar10, sgd: mean effective rank, one run",
        resnet_before="resnet, cifar10, sgd: untrained mean effective rank, one run",
        vgg_before="vgg, cifar10, sgd: untrained mean effective rank, one run",
        code="vgg, cifar10, sgd: rank of the public code, one run",
    )

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
        "gpu": dict(data="cifar10", optimiser="sgd", seed=0, epochs=30.0, precision="bfloat16"),
        "paper": {},
    }  # fmt: skip

    def grid(self) -> Grid:
        """Narrow networks of one shape are lanes of one program; a wide one fills a device."""
        return Grid(self.axes(), batch_by=("data", "network", "optimiser"),
                    chunk={"seed": 8 if self.width <= 0.25 else 1})  # fmt: skip

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
        found, counted = [], by_definition(runs.where(self.counts(runs)))
        for family, optimiser in ((f, o) for o in self.optimiser for f in FAMILIES):
            names = sorted((n for n in self.network if n.startswith(family)), key=_depth)
            for data in self.data if names else ():
                number = FIRST[optimiser] + 2 * (family == "vgg") + (data == "cifar100")
                part = counted.sel(data=data, optimiser=optimiser, network=names)
                found.append((f"{family}, {data}, {optimiser}", part, f"Figure {number}"))
        return found

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims()
        for words, part, place in self.figures(runs):
            if part.sizes["network"] < 2:
                continue
            text, code = (part.sel(state="trained", definition=way) for way in (TEXT, CODE))
            start = part.sel(state="untrained", definition=TEXT)
            for name, values in {
                RANK: text["rank"], f"untrained {RANK}": start["rank"],
                SHARE: text["share"], f"untrained {SHARE}": start["share"],
                OF_CODE: code["rank"], LEFT: text["rank"] / start["rank"],
            }.items():  # fmt: skip
                where = f"{place}, appendix C.1.1" if name == RANK else "ours"
                self.never_rises(claim, f"{words}: {name}", values, "network", place=where,
                                 fails_because=self.because(name, words))  # fmt: skip
            right = part["accuracy"].sel(split="test", point=self.points)
            self.of_runs(claim, f"{words}: {LEARN}", right.min("network", skipna=False),
                         at_least=self.learnt, fails_because=self.because(LEARN, words),
                         says=f"{words}: every network tells {{bound}} of the test images "
                         "right.")  # fmt: skip
        return claim

    def because(self, name: str, words: str) -> str:
        """Why a claim about a figure is expected to fail; nothing where it is to hold."""
        vgg = words.startswith("vgg")
        if name.startswith("untrained"):
            return SHAPES if RANK in name or not vgg else ""
        if self.epochs >= 200 or (name == OF_CODE and vgg and self.epochs >= 30):
            return ""
        if name == LEARN:
            return SHORT if vgg and self.epochs >= 10 else ""
        return EARLY if name == RANK else UNORDERED

    def draw(self, runs: xarray.Dataset) -> Figure:
        lines: Any = partial(mean_lines, x="network", by=("definition", "state"),
                             label="{definition}, {state}", colour={TEXT: 0, CODE: 1},
                             style={"trained": "solid", "untrained": "dashed"})  # fmt: skip
        panels = []
        for words, part, _ in self.figures(runs):
            family, names = words.partition(",")[0], part["network"].values.tolist()
            depths, shades = list(map(_depth, names)), Shade.by_value(names)
            curves = part["accuracy"].assign_coords(point=self.epochs_of(runs))
            rank, share = (part[name].assign_coords(network=depths) for name in ("rank", "share"))
            after, x, ends = rank.sel(state=["trained"]), Axis("depth", ticks=depths), (0, 1)
            panels += [
                *(Panel(f"{words}: {split} accuracy", Axis("epoch"), Axis("accuracy", limits=ends),
                        mean_lines(curves.sel(split=split), "point", by="network", colour=shades),
                        legend="best") for split in ("train", "test")),
                Panel(f"{words}: {RANK}", x, Axis("effective rank", limits=(0, None)),
                      lines(after.sel(definition=[TEXT])),
                      ours=[*lines(rank.sel(definition=[TEXT], state=["untrained"])),
                            *lines(rank.sel(definition=[CODE]))]),
                Panel(f"{family}: {SHARE}", x, Axis("share", limits=ends), [], ours=lines(share)),
                Panel(f"{family}: {LEFT}", x, Axis("trained over untrained", limits=ends), [],
                      ours=lines(after / rank.sel(state="untrained", drop=True))),
                _control_panel(depths),
            ]  # fmt: skip
        return Figure(
            "Mean effective rank of the layers against depth, before and after training",
            panels, columns=3, main=2,
            caption=f"{self.images:,} images of side {self.side}, {self.epochs:g} epochs, width × "
            f"{self.width:g}, {self.precision}, seeds: {len(self.seed)} (mean, deviation as band). "
            f"{self.reduced()}{TEXT}: the text's rank, {CODE}: the public code's.",
        )  # fmt: skip


def _depth(network: str) -> int:
    return IMAGE_NETWORKS[network][1]


def control_ranks(depths: Sequence[int]) -> dict[str, list[float]]:
    """Effective ranks of deep matrix completion at its limit: of the product, of each factor.

    Theorem 3.3 in closed form, with ten blocks, m = 100 and αᴸ = 1e-5.
    """
    kinds = {"product": limit_effective_rank, "each factor": limit_factor_effective_rank}
    return {name: [float(rank(blocks=10, ratio=100.0, depth=depth, scale=1e-5 ** (1 / depth)))
                   for depth in depths] for name, rank in kinds.items()}  # fmt: skip


def _control_panel(depths: Sequence[int]) -> Panel:
    """Both ranks against the number of factors."""
    return Panel("linear control, closed form", Axis("factors", ticks=depths),
                 Axis("effective rank", limits=(0, 10.5)), [],
                 ours=[Line(depths, ranks, label=name, colour=colour, marker="s")
                       for colour, (name, ranks) in enumerate(control_ranks(depths).items(), 2)],
                 note="n = 10, m = 100, αᴸ = 1e-5")  # fmt: skip
