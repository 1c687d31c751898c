"""connectivity, Figure 1: learning three tasks, with and without initial connectivity.

The comparison: example trials, loss, singular values of ΔW and the loss when ΔW is truncated at a
rank, for the flip-flop, Mante and Romo tasks, at g = 0 and g = 0.9.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, range_lines
from tacit.experiments import Claims
from tacit.experiments.connectivity.tasks import WeightsExperiment

# Of the paper's text, at g = 0: singular values that stand out, and how far the next falls short
# at least ("much larger", "discernibly larger"); the rank at which the truncated loss is low.
STAND_OUT = {"flip-flop": (2, 0.5), "mante": (6, 0.8), "romo": (6, 0.8)}
RANKS = {"flip-flop": 2, "mante": 4, "romo": 6}
GRADUAL = {
    "romo": "In 40 networks of 256 units the truncated loss is low from rank 5 to 10 on, in the "
    "median from 7; each singular value is about 0.8 of the one before, and none marks an end."
}


class Fig1(WeightsExperiment):
    """Three tasks with and without initial connectivity: loss, low-rank change, truncation."""

    id, figure = "connectivity/fig1", "Figure 1"
    published = dict(seed=range(1))
    finding = Finding(
        "With initial connectivity networks learn the flip-flop in {flip|holds} of the epochs.",
        "Mante takes {mante|holds} of them and Romo {romo|holds|.2f}.",
        "The change is of low rank: truncated at rank {few|holds} (flip-flop), {some|holds} "
        "(Mante) and {more|holds} (Romo) it keeps the task.",
        "That six singular values stand out without initial connectivity holds for Mante, and is "
        "open for Romo, whose values fall gradually{?six|holds}{?gradual|undecided}.",
        "The change relies on W₀: once that is shuffled, the loss on the flip-flop is {lost|holds} "
        "of what it was before training.",
        flip="flip-flop: faster with connectivity",
        mante="mante: faster with connectivity",
        romo="romo: faster with connectivity",
        few="flip-flop, g = 0.9: functional rank",
        some="mante, g = 0.9: functional rank",
        more="romo, g = 0.9: functional rank",
        six="mante, g = 0: 6 singular values stand out",
        gradual="romo, g = 0: 6 singular values stand out",
        lost="flip-flop, g = 0.9: shuffled",
    )
    unspecific = {
        "flip-flop, g = 0.9: functional rank": "the paper says it of every task and strength "
        "alike: below rank 10",
    }

    presets = {
        "smoke": dict(
            task="flip-flop", width=24, effort=0.04, trials=32, ranks=4, shown=8, seed=range(2)
        ),
        "quick": dict(width=64, effort=0.25, trials=128, ranks=12, seed=range(12)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 1(d)–(f)")
        weak, strong = min(self.g), max(self.g)
        for task in self.task:
            if 0 in self.g and self.long_enough(task, 0.0):
                claim.extend(self._without(runs, task))
            for g in (g for g in self.g if g > 0 and self.long_enough(task, g)):
                shuffled = runs["shuffled_loss"].fillna(np.inf).where(self.counts(runs))
                claim.median(
                    f"{task}, g = {g:g}: shuffled",
                    shuffled.sel(task=task, g=g),
                    at_least=0.8,
                    place="Figure 2(c)",
                    says=f"On {task} with g = {g:g}, shuffling W₀ after training brings the loss "
                    "back: the median is {bound} of the initial loss or more.",
                )
                claim.median(
                    f"{task}, g = {g:g}: functional rank",
                    self.counted(runs, "rank_code").sel(task=task, g=g),
                    at_most=9,
                    place="Figure 1(j)–(l)",
                    says=f"On {task} with g = {g:g}, the truncated loss is close to zero before "
                    "rank 10 (below 5% of that at rank 0).",
                )
            if strong > weak:
                claim.median(
                    f"{task}: faster with connectivity",
                    self.epoch_ratios(runs, task, weak, strong),
                    at_most=1.0,
                    says=f"On {task}, networks with g = {strong:g} need fewer epochs than those "
                    f"with g = {weak:g}: the median ratio is at most {{bound}}.",
                )
        return claim

    def _without(self, runs: xarray.Dataset, task: str) -> Claims:
        """What the paper counts without initial connectivity."""
        claim = Claims("Figure 1(g)–(i), section 2")
        (count, short), rank = STAND_OUT[task], RANKS[task]
        note = GRADUAL.get(task, "") if self.width >= 256 else ""
        values, found = (
            self.counted(runs, name).sel(task=task, g=0.0)
            for name in ("change_singular", "rank_code")
        )
        claim.median(
            f"{task}, g = 0: {count} singular values stand out",
            values.sel(singular_value=count + 1) / values.sel(singular_value=count),
            at_most=short,
            note=note,
            says=f"On {task} with g = 0, the first {count} singular values of ΔW are larger than "
            "the others: the next is {bound} of the last of them at most, in the median.",
        )
        claim.median(
            f"{task}, g = 0: functional rank {rank}",
            abs(found - rank),
            at_most=1,
            note=note,
            place="Figure 1(j)–(l), section 2",
            says=f"On {task} with g = 0, the truncated loss is low (below 5% of that at rank 0) "
            f"from rank {rank} on, to one in the median network.",
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        makers = (self._trial_panel, self._loss_panel, self._singular_panel, self._truncation_panel)
        return Figure(
            "Training changes the connectivity by a matrix of low rank",
            [maker(runs.sel(task=task), task) for maker in makers for task in self.task],
            columns=2 if len(self.task) == 1 else len(self.task),
            main=3 * len(self.task),
            caption=f"N = {self.width}, {self.method}, rate {self.rate:g}/N, {self.batch} fresh "
            f"trials an epoch, {len(self.seed)} seeds: medians and ranges, of all networks for the "
            f"loss, below of those that learned; {self.trials} trials.{self.lost_again(runs)}",
        )

    def _trial_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        """One trial of the first network that learned: inputs above, outputs and targets below."""
        run = runs.sel(g=self.g[-1])
        run = run.isel(seed=int(self.counts(run).values.argmax()))
        inputs, targets, outputs = (
            run[f"trial_{name}"].transpose("channel", "time").values
            for name in ("inputs", "targets", "outputs")
        )
        count_in, count_out = (np.isfinite(each).any(axis=1).sum() for each in (inputs, outputs))
        time, marks = run["time"].values, list[Mark]()
        ends = float(time[np.isfinite(inputs).any(axis=0)].max())
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
            Axis("time", limits=(0, ends)),
            Axis("channels, shifted", ticks=[]),
            marks,
            note="outputs and targets twice as large",
        )

    def _loss_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        kept, learned = runs["outcome"] != "diverged", self.counts(runs).sum("seed")
        several = len(self.seed) > 1
        epochs = runs["epoch"].isel(g=0, seed=0).values
        losses = runs["loss"].where(kept).assign_coords(step=epochs)

        def label(g: float) -> str:
            words = f" ({learned.sel(g=g).item()} of {len(self.seed)})" if several else ""
            return f"g = {g:g}{words}"

        furthest = 2.5 * float(runs["epochs_needed"].where(kept).max().fillna(0))
        return Panel(
            f"{task}: loss{' (in brackets: networks that learned it)' if several else ''}",
            Axis("epoch", limits=(0, min(max(1.0, furthest), self.epochs(task)))),
            Axis("loss / initial loss", limits=(0, 1.25)),
            range_lines(losses, "step", by="g", label=label),
            ours=[self._level()],
        )

    def _singular_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        values = self.counted(runs, "change_singular").isel(singular_value=slice(11))
        drops = (values / values.shift(singular_value=-1)).fillna(0.0)
        count = (1 + drops.argmax("singular_value")).where(self.counts(runs)).median("seed")

        def label(g: float) -> str | None:
            if len(self.seed) == 1:
                return f"g = {g:g}"
            found = count.sel(g=g)
            return f"g = {g:g}: {found:g} before the largest drop" if np.isfinite(found) else None

        return Panel(
            f"{task}: singular values of ΔW",
            Axis("number"),
            Axis("singular value", limits=(0, None)),
            range_lines(values, "singular_value", by="g", label=label),
        )

    def _truncation_panel(self, runs: xarray.Dataset, task: str) -> Panel:
        losses = self.counted(runs, "truncated_loss")
        return Panel(
            f"{task}: ΔW truncated",
            Axis("rank kept"),
            Axis("loss / initial loss", limits=(0, 2.0)),
            range_lines(losses, "rank", by="g", label="g = {g:g}"),
            ours=[self._level()],
        )

    def _level(self) -> Mark:
        return HorizontalRule(self.fraction, label=f"{self.fraction:.0%}")
