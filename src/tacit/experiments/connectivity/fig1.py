"""connectivity, Figure 1: learning three tasks, with and without initial connectivity.

The comparison: example trials, loss, singular values of ΔW and the loss when ΔW is truncated at a
rank, for the flip-flop, Mante and Romo tasks, at g = 0 and g = 0.9. At the paper's size, the
numbers of an earlier implementation of ours are compared as well.
"""

from typing import NamedTuple

import numpy as np
import xarray

from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, range_lines
from tacit.experiments import Claims
from tacit.experiments.connectivity.tasks import WeightsExperiment


class Earlier(NamedTuple):
    """Earlier networks on one task at one g: epochs to 5%, ‖ΔW‖, s₁, functional rank."""

    epochs: tuple[float, float]
    norm: float
    leading: float
    rank: tuple[int, int]


EARLIER = {
    ("flip-flop", 0.0): Earlier((60, 90), 2.0, 1.4, (2, 2)),
    ("flip-flop", 0.9): Earlier((20, 40), 1.3, 0.82, (4, 8)),
    ("mante", 0.0): Earlier((439, 919), 2.7, 1.9, (5, 6)),
    ("mante", 0.9): Earlier((35, 55), 1.06, 0.74, (3, 5)),
    ("romo", 0.0): Earlier((2156, 2156), 4.0, 2.6, (10, 10)),
    ("romo", 0.9): Earlier((192, 192), 2.6, 1.2, (8, 8)),
}
"""From one to three networks of 256 units each; the flip-flop's epochs are rounded outwards."""
FACTOR = 2.0  # on epochs, for the two tasks of which few networks were seen


class Fig1(WeightsExperiment):
    """Three tasks with and without initial connectivity: loss, low-rank change, truncation."""

    id, figure = "connectivity/fig1", "Figure 1"

    presets = {
        "smoke": dict(
            task="flip-flop", width=24, effort=0.04, trials=32, ranks=4, shown=8, seed=range(2)
        ),
        "quick": dict(
            task="flip-flop", width=128, effort=0.2, trials=128, ranks=12, seed=range(10)
        ),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 1(d)–(f)")
        weak, strong = min(self.g), max(self.g)
        for task in self.task:
            for g in self.g:
                if self.width == 256 and self.effort == 1:
                    claim.extend(self.as_before(runs, task, g))
                claim.extend(self._change(runs, task, g))
            if strong > weak:
                claim.median(
                    f"{task}: faster with connectivity",
                    self.epoch_ratios(runs, task, weak, strong),
                    at_most=1.0,
                    says=f"On {task}, networks with g = {strong:g} need fewer epochs than those "
                    f"with g = {weak:g}: the median ratio is at most 1.",
                )
        return claim

    def _change(self, runs: xarray.Dataset, task: str, g: float) -> Claims:
        """What the change is on one task and strength."""
        claim = Claims("Figure 1(j)–(l)")
        name, where = f"{task}, g = {g:g}", f"On {task} with g = {g:g}"
        two = task == "flip-flop" and g == 0
        singular, rank = (
            self.counted(runs, each).sel(task=task, g=g)
            for each in ("change_singular", "rank_text")
        )
        if two:
            claim.median(
                f"{name}: two stand out",
                singular.isel(singular_value=2) / singular.isel(singular_value=1),
                at_most=0.5,
                place="Figure 1(g)",
                says=f"{where}, two singular values of ΔW stand out: the third is half of the "
                "second at most, in the median.",
            )
        claim.median(
            f"{name}: functional rank",
            rank,
            at_most=2 if two else 10,
            says=f"{where}, the median functional rank (relative to the initial loss) is "
            f"{2 if two else 10} at most.",
        )
        if g > 0:
            shuffled = runs["shuffled_loss"].fillna(np.inf).where(self.counts(runs))
            claim.median(
                f"{name}: shuffled",
                shuffled.sel(task=task, g=g),
                at_least=0.8,
                place="Figure 2(c)",
                says=f"{where}, shuffling W₀ after training brings the loss back: the median is "
                "0.8 of the initial loss or more.",
            )
        return claim

    def as_before(self, runs: xarray.Dataset, task: str, g: float) -> Claims:
        """That networks of 256 units are as they were: to a fifth, and two ranks."""
        claim = Claims("Figure 1(d)–(f)")
        if (task, g) not in EARLIER:
            return claim
        then, here = EARLIER[task, g], dict(task=task, g=g)
        name, where = f"{task}, g = {g:g}", f"On {task} with g = {g:g}"
        norm, singular, rank = (
            self.counted(runs, each).sel(here)
            for each in ("change_norm", "change_singular", "rank_text")
        )
        needed, first = (
            runs[each].sel(here).fillna(np.inf) for each in ("epochs_needed", "epochs_first")
        )
        claim.median(
            f"{name}: norm of ΔW",
            abs(norm / then.norm - 1),
            at_most=0.2,
            place="Figure 2(b)",
            says=f"{where}, ‖ΔW‖ is {then.norm:g}, to a fifth in the median network.",
        )
        claim.median(
            f"{name}: leading singular value",
            abs(singular.isel(singular_value=0) / then.leading - 1),
            at_most=0.2,
            place="Figure 1(g)–(i)",
            says=f"{where}, the largest singular value of ΔW is {then.leading:g}, to a fifth in "
            "the median network.",
        )
        claim.median(
            f"{name}: functional rank as before",
            rank,
            at_most=then.rank[1] + 2,
            place="Figure 1(j)–(l)",
            says=f"{where}, the median functional rank is {then.rank[1] + 2} at most (it was "
            f"{then.rank[0]} to {then.rank[1]} before).",
        )
        wide = 1.0 if task == "flip-flop" else FACTOR
        low, high = then.epochs[0] / wide, then.epochs[1] * wide
        claim.median(
            f"{name}: at most {high:g} epochs",
            needed,
            at_most=high,
            says=f"{where}, the median network needs at most {high:g} epochs to 5%, kept for ten "
            "epochs.",
        )
        claim.median(
            f"{name}: at least {low:g} epochs",
            needed,
            at_least=low,
            says=f"{where}, the median network needs at least {low:g} epochs to 5%, kept for ten "
            "epochs.",
        )
        claim.median(
            f"{name}: first below within {high:g} epochs",
            first,
            at_most=high,
            says=f"{where}, the median network's smoothed loss is first below 5% after at most "
            f"{high:g} epochs, whether or not it is thrown back afterwards.",
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        makers = (self._trial_panel, self._loss_panel, self._singular_panel, self._truncation_panel)
        return Figure(
            "Training changes the connectivity by a matrix of low rank",
            [maker(runs.sel(task=task), task) for maker in makers for task in self.task],
            columns=2 if len(self.task) == 1 else len(self.task),
            caption=f"N = {self.width}, Adam with rate {self.rate:g}/N, {self.batch} fresh trials "
            f"an epoch, {len(self.seed)} seeds: lines are medians, bands ranges, of all networks "
            "for the loss and of those that learned the task below; truncation on "
            f"{self.trials} fixed trials.{self.lost_again(runs)}",
        )

    def _trial_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        """One trial of the first network: inputs above, outputs and targets below."""
        run = runs.sel(g=self.g[-1]).isel(seed=0)
        inputs, targets, outputs = (
            run[f"trial_{name}"].transpose("channel", "time").values
            for name in ("inputs", "targets", "outputs")
        )
        count_in, count_out = (np.isfinite(each).any(axis=1).sum() for each in (inputs, outputs))
        time, marks = run["time"].values, list[Mark]()
        for place in range(count_in):
            height, words = 2.5 * (count_in - place), None if place else "inputs"
            marks.append(Line(time, height + inputs[place], label=words, colour="muted", width=1.2))
        for place in range(count_out):
            target, output = (2 * each[place] - 2.5 * place for each in (targets, outputs))
            words = None if place else "targets"
            marks += [
                Line(time, target, label=words, colour="ink", width=4.0, opacity=0.35),
                Line(time, output, label=f"output {place + 1}", colour=place),
            ]
        return Panel(
            f"{task}: one trial, g = {self.g[-1]:g}",
            Axis("step"),
            Axis("channels, shifted", ticks=[]),
            marks,
            note="outputs and targets twice as large",
        )

    def _loss_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        kept, learned = runs["outcome"] != "diverged", self.counts(runs).sum("seed")
        epochs = runs["epoch"].isel(g=0, seed=0).values
        losses = runs["loss"].where(kept).assign_coords(step=epochs)

        def label(g: float) -> str:
            return f"g = {g:g} ({learned.sel(g=g).item()} of {len(self.seed)})"

        furthest = 2.5 * float(runs["epochs_needed"].where(kept).max().fillna(0))
        return Panel(
            f"{task}: loss (in brackets: networks that learned it)",
            Axis("epoch", limits=(0, min(max(1.0, furthest), self.epochs(task)))),
            Axis("loss / initial loss", limits=(0, 1.25)),
            [self._level(), *range_lines(losses, "step", by="g", label=label)],
        )

    def _singular_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        values = self.counted(runs, "change_singular").isel(singular_value=slice(11))
        return Panel(
            f"{task}: singular values of ΔW",
            Axis("number"),
            Axis("singular value", limits=(0, None)),
            range_lines(values, "singular_value", by="g", label="g = {g:g}"),
        )

    def _truncation_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        losses = self.counted(runs, "truncated_loss")
        return Panel(
            f"{task}: ΔW truncated",
            Axis("rank kept"),
            Axis("loss / initial loss", limits=(0, 2.0)),
            [self._level(), *range_lines(losses, "rank", by="g", label="g = {g:g}")],
        )

    def _level(self) -> Mark:
        return HorizontalRule(self.fraction, label=f"{self.fraction:.0%}")
