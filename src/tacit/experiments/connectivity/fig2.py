"""connectivity, Figure 2: how the strength of initial connectivity changes learning.

The comparison: epochs to 5% of the initial loss, norm of ΔW, loss after shuffling W₀ and functional
rank against g, on three tasks, from no connectivity into the chaotic phase. Networks that did not
learn are counted, and left out of the others, which say nothing about a task that was not learned.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, HorizontalRule, Panel, Points, mean_lines, run_points
from tacit.experiments import Claims
from tacit.experiments.connectivity.tasks import NEEDED, WeightsExperiment

QUANTITIES = {
    "epochs_raw": "epochs to learn",
    "change_norm": "norm of ΔW",
    "shuffled_loss": "loss with W₀ shuffled / initial loss",
    "rank_code": "functional rank (of the loss at rank 0)",
    "rank_text": "functional rank (of the initial loss)",
}
# Read off the published figure, from g = 0 in steps of 0.3. A point is the mean of five networks.
# Its ranks are relative to the loss at rank 0, as in the public code.
NONE = np.nan  # no point
PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {
    "flip-flop": {
        "epochs_raw": (105, 102, 65, 42, 42, 52, 185),
        "change_norm": (1.9, 1.85, 1.57, 1.2, 0.8, 0.6, 0.66),
        "rank_code": (2, 3.5, 4, 5.1, 5.9, 7.7, 8.5),
    },
    "mante": {
        "epochs_raw": (360, 158, 95, 50, 40, 47, 57, 117),
        "change_norm": (2.05, 1.65, 1.27, 0.96, 0.74, 0.74, 0.71, 0.74, 0.89),
        "rank_code": (4.7, 4.7, 4.4, 4, 4.4, 5.3, 5.3, 5, 8),
    },
    "romo": {
        "epochs_raw": (NONE, NONE, NONE, 320, 137, 80, 65, 60, 75, 82, 85),
        "change_norm": (3.45, 3.3, NONE, 2.2, 1.6, 1.2, 0.98, 0.96, 0.92, 0.86, 0.96),
        "rank_code": (6.3, 6.8, NONE, 6, 7, 5.3, 6.9, 6.5, 6.6, 6.3, 7.1),
    },
}
AGAIN = {"flip-flop": (1.89, 1.21, 0.7), "mante": (2.08, 0.95, 0.8), "romo": (4.2, 2.8, 1.0)}
"""‖ΔW‖ at N = 256 for g = 0, 0.9 and 1.8 in Figure S1(d)–(f), from other networks."""
BEST = 0.9  # up to about here networks are not chaotic
SLOW = {"flip-flop": (1.2, 1.8), "mante": (1.5, 2.4), "romo": (2.1, 3.0)}
"""Where learning is fastest in the published figure, and its last point: slower again."""


class Fig2(WeightsExperiment):
    """Three tasks against the strength of initial connectivity, into the chaotic phase."""

    id, figure = "connectivity/fig2", "Figure 2"
    published = dict(seed=range(5))
    finding = Finding(
        "From the weakest initial connectivity to the edge of chaos the flip-flop is learned in "
        "{flip|holds} of the epochs with {change|holds} of the change.",
        "Mante takes {mante|holds} and Romo {romo|holds} of the epochs.",
        "In the chaotic phase the flip-flop slows down again, {slow|holds}-fold from its fastest "
        "point to the last published one.",
        "Networks here need fewer epochs than the published ones, from {least|holds} of them on "
        "the flip-flop in chaos to as many ({most|holds}) on Romo without connectivity, and "
        "change {norm|at the bound} times as much where they differ most.",
        flip="flip-flop: faster",
        change="flip-flop: smaller change",
        mante="mante: faster",
        romo="romo: faster",
        slow="flip-flop: slower again",
        least="flip-flop, g = 1.8: 185 epochs: not more",
        most="romo, g = 0: 2900 epochs: not more",
        norm="flip-flop, g = 1.8: norm 0.66 to 0.7: not more",
    )

    g: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0)

    presets = {
        "smoke": dict(task="flip-flop", g=(0.0, 0.9), width=24, effort=0.04, trials=32, ranks=4,
                      shown=8, seed=range(2)),
        "quick": dict(task="flip-flop", g=(0.0, 0.6, 0.9, 1.2, 1.8), width=64, effort=0.2,
                      trials=128, ranks=12, seed=range(8)),
        "paper": {},
    }  # fmt: skip

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 2(a)")
        strengths = [g for g in self.g if g <= BEST]
        weak, strong = min(strengths, default=BEST), max(strengths, default=0.0)
        for task in self.task:
            if weak < strong:
                claim.extend(self._weaker(runs, task, weak, strong))
            fast, slow = SLOW[task]
            if {fast, slow} <= set(self.g):
                claim.median(
                    f"{task}: slower again",
                    self.epoch_ratios(runs, task, fast, slow),
                    at_least=1.0,
                    says=f"On {task}, learning slows down in the chaotic phase: networks with g = "
                    f"{slow:g} need more epochs than with g = {fast:g}, or do not learn.",
                )
        settings = [(task, g) for task in self.task for g in self.g if (task, g) in NEEDED]
        if self.width == 256 and self.effort >= 1 and settings:
            self._claim_published(claim, runs, settings)
        return claim

    def _claim_published(
        self, claim: Claims, runs: xarray.Dataset, settings: list[tuple[str, float]]
    ) -> None:
        """The numbers that were read off, one by one, and on which side of them ours lie."""
        needed, norm = self.epochs_to_learn(runs), self.counted(runs, "change_norm")
        here = [dict(task=task, g=g) for task, g in settings]
        epochs, norms = (
            xarray.concat([values.sel(one, drop=True) / of for one, of in pairs], "setting")
            for values, pairs in (
                (needed, zip(here, (NEEDED[each] for each in settings), strict=True)),
                (norm, zip(here, (np.sqrt(np.prod(_norms(*each))) for each in settings),
                           strict=True)),
            )
        )  # fmt: skip
        low, high, less, more = (
            float(found) for each in (epochs, norms)
            for found in (each.median("seed").min(), each.median("seed").max())
        )  # fmt: skip
        note = (
            f"Of these settings the median network needs {low:.2f} to {high:.2f} times the "
            f"published epochs, and ‖ΔW‖ is {less:.2f} to {more:.2f} times the published one."
        )
        for task, g in settings:
            claim.extend(self._as_published(runs, task, g, note))
        claim.median(
            "fewer epochs than published", epochs.median("setting"), at_most=1,
            says="Over the tasks and strengths whose epochs were read off, a seed's networks need "
            "fewer than the published ones: {bound} times as many or less, in the median setting.",
        )  # fmt: skip
        claim.median(
            "a larger change than published", norms.median("setting"), at_least=1,
            place="Figure 2(b), Figure S1(d)–(f)",
            says="There ‖ΔW‖ is larger than the published one, {bound} times or more in the median "
            "setting.",
        )  # fmt: skip

    def _weaker(self, runs: xarray.Dataset, task: str, weak: float, strong: float) -> Claims:
        """Up to the edge of chaos; and the rank, beyond it too."""
        claim = Claims("Figure 2(a)")
        norm, shuffled, rank = (
            self.counted(runs, name).sel(task=task)
            for name in ("change_norm", "shuffled_loss", "rank_code")
        )
        where = f"On {task}, from g = {weak:g} to g = {strong:g}"
        claim.median(
            f"{task}: faster", self.epoch_ratios(runs, task, weak, strong), at_most=1.0,
            says=f"{where}, learning gets faster: the median ratio of epochs is at most {{bound}}.",
        )  # fmt: skip
        claim.median(
            f"{task}: smaller change",
            norm.sel(g=strong, drop=True) / norm.sel(g=weak, drop=True),
            at_most=1.0,
            place="Figure 2(b)",
            says=f"{where}, the norm of ΔW shrinks: the median ratio is at most {{bound}}.",
        )
        claim.median(
            f"{task}: shuffled", shuffled.sel(g=strong), at_least=0.5, place="Figure 2(c)",
            says=f"On {task} with g = {strong:g}, shuffling W₀ brings the loss back: the median is "
            "{bound} of the initial loss or more.",
        )  # fmt: skip
        if weak == 0 and 1.2 in self.g:
            change = rank.sel(g=1.2, drop=True) - rank.sel(g=0.0, drop=True)
            said = f"On {task}, from g = 0 to g = 1.2 the functional rank"
            if task == "flip-flop":
                claim.median(f"{task}: functional rank", change, at_least=1, place="Figure 2(d)",
                             says=f"{said} increases: by {{bound}} or more.")  # fmt: skip
            else:
                claim.median(f"{task}: functional rank", abs(change), at_most=2,
                             place="Figure 2(d)",
                             says=f"{said} is less affected: by {{bound}} at most.")  # fmt: skip
        return claim

    def _as_published(self, runs: xarray.Dataset, task: str, g: float, note: str = "") -> Claims:
        """Numbers at one of three strengths beside those read off the figures."""
        claim, here = Claims("Figure 2(b), Figure S1(d)–(f)"), dict(task=task, g=g)
        epochs = NEEDED[task, g]
        low, high = _norms(task, g)
        norm = self.counted(runs, "change_norm").sel(here)
        claim.between(
            f"{task}, g = {g:g}: {epochs} epochs",
            self.epochs_to_learn(runs).sel(here) / epochs, at_least=1 / 1.5, at_most=1.5,
            place="Figure S1(c)" if epochs > 1000 else "Figure 2(a)",
            says=f"On {task} with g = {g:g}, the median network needs {epochs} epochs to 5% (read "
            "off the figure, a mean of five), to a factor of 1.5.",
            note=note,
        )  # fmt: skip
        claim.between(
            f"{task}, g = {g:g}: norm {low:g} to {high:g}",
            norm / np.sqrt(low * high), at_least=np.sqrt(low / high) / 1.2,
            at_most=1.2 * np.sqrt(high / low),
            says=f"On {task} with g = {g:g}, ‖ΔW‖ of the median network is {low:g} to {high:g} "
            "(read off two figures, means of five), to a fifth.",
            note=note,
        )  # fmt: skip
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "Initial connectivity makes learning faster and the change smaller, up to a point",
            [self._panel(runs, name) for name in QUANTITIES if name != "rank_text"],
            ours=[self._panel(runs, "rank_text")],
            columns=3,
            caption=f"N = {self.width}, {len(self.seed)} networks for each g: mean and standard "
            "deviation over those that learned the task, points: each of them; crosses: read off "
            f"the paper's figure (N = 256). {self._left_out(runs)}{self.lost_again(runs)}",
        )

    def _panel(self, runs: xarray.Dataset, name: str) -> Panel:
        values = self.counted(runs, name)
        values = values.where(np.isfinite(values))
        marks, ours = mean_lines(values, "g", by="task"), run_points(values, "g", by="task")
        if name == "shuffled_loss":
            ours.append(HorizontalRule(1.0, label="before training"))
        for colour, task in enumerate(self.task):
            y = np.array(PUBLISHED[task].get(name, ()), float)
            x = 0.3 * np.arange(y.size)
            shown = np.isfinite(y) & (x <= max(self.g) + 1e-9)
            if shown.any():
                ours.append(Points(x[shown], y[shown], colour=colour, marker="x", size=6.0))
        log = name == "epochs_raw"
        look = dict(scale="log") if log else dict(limits=(0, None))
        words = QUANTITIES[name]
        return Panel(words, Axis("g"), Axis(words.partition(" (")[0], **look), marks, ours=ours)

    def _left_out(self, runs: xarray.Dataset) -> str:
        """The networks that did not learn, by task and g, and how many have no functional rank."""
        missing = (~self.counts(runs)).sum("seed")
        words = [
            f"{count} of {task} at g = {g:g}"
            for task in self.task
            for g in sorted(self.g)
            if (count := missing.sel(task=task, g=g).item())
        ]
        found = f"Did not learn: {', '.join(words)}." if words else "Every network learned."
        endless = int((self.counts(runs) & np.isinf(runs["rank_text"])).sum())
        if endless:
            found += (
                f" {endless} of the others are below {self.fraction:.0%} on the fixed trials at no "
                f"rank up to {self.ranks}: not drawn in the last panel."
            )
        return found


def _norms(task: str, g: float) -> tuple[float, float]:
    """The two published ‖ΔW‖ of a setting, from two figures, the smaller first."""
    first, again = PUBLISHED[task]["change_norm"][round(g / 0.3)], AGAIN[task][round(g / 0.9)]
    return min(first, again), max(first, again)
