"""connectivity, Figure S1: learning and change against the size of the network.

The comparison: epochs to 5% of the initial loss, norms of ΔW and of W, and functional rank against
N, for three strengths of the initial connectivity. The paper chose N = 256 since learning no longer
depends on N there: epochs are compared from there on.
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Panel, mean_lines, run_points
from tacit.experiments import Batch, Claims, Variable, swept
from tacit.experiments.connectivity.tasks import TaskExperiment

QUANTITIES = {
    "epochs_raw": "epochs to learn",
    "change_norm": "norm of ΔW",
    "weight_norm": "norm of W",
    "rank_code": "functional rank",
}
# Factors between N and 2N that still count as no dependence: the published epochs vary so much; a
# norm that grew like √N, as that of W₀ does, would change by twice this in the logarithm.
CHOSEN = 256  # the paper's N, "large enough"
SAME = {"epochs_raw": 1.5, "change_norm": 2**0.25}


class FigS1(TaskExperiment):
    """Three tasks against the size of the network, for three strengths of connectivity."""

    id, figure, version = "connectivity/figs1", "Figure S1", 2
    published = dict(seed=range(5))
    finding = Finding(
        "Doubled in size, the largest networks change by as much in norm: {flip|holds} times on "
        "the flip-flop with initial connectivity.",
        "On Mante it is {mante|holds} and on Romo {romo|holds} times.",
        "They need {least|holds|.2f} times the epochs on the flip-flop without initial "
        "connectivity, and {most|holds|.2f} times on Mante with it.",
        flip="norm of ΔW, flip-flop, g = 0.9: not more",
        mante="norm of ΔW, mante, g = 0.9: not more",
        romo="norm of ΔW, romo, g = 0.9: not more",
        least="epochs to learn, flip-flop, g = 0: not more",
        most="epochs to learn, mante, g = 0.9: not less",
    )
    unspecific = {
        "norm of ΔW, *": "that it does not depend on N is the claim itself; the norm of W, which "
        "does, is claimed beside it",
    }

    width: tuple[int, ...] = swept(  # type: ignore[assignment]  # other figures have one size
        (64, 128, 256, 512, 1024), "number N of units", low=4, high=4096
    )
    g: tuple[float, ...] = (0.0, 0.9, 1.8)

    presets = {
        "smoke": dict(task="flip-flop", width=(12, 24), g=(0.0, 0.9), effort=0.04, trials=32,
                      ranks=4, seed=range(2)),
        "quick": dict(task="flip-flop", width=(32, 64, 128), g=(0.0, 0.9), effort=0.21,
                      trials=128, ranks=12, seed=range(12)),
        "paper": {},
    }  # fmt: skip
    batch_by = ("task", "width", "g")

    def variables(self) -> dict[str, Variable]:
        return {name: Variable(words) for name, words in QUANTITIES.items()}

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        found = self.networks(batch, batch.one("width"))
        return {name: found[name] for name in ("outcome", *QUANTITIES)}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S1(a)–(f)")
        if len(self.width) < 2:
            return claim
        small, large = sorted(self.width)[-2:]
        for task, g in ((task, g) for task in self.task for g in self.g):
            if not self.long_enough(task, g):
                continue
            for name in SAME:
                if name == "change_norm" or small >= CHOSEN:
                    self._claim_same(claim, runs.sel(task=task, g=g), name, small, large)
                if CHOSEN in self.width and small > CHOSEN:
                    self._claim_same(claim, runs.sel(task=task, g=g), name, CHOSEN, large)
            if g > 0:
                norm = self.counted(runs, "weight_norm").sel(task=task, g=g)
                claim.median(
                    f"norm of W, {task}, g = {g:g}: grows",
                    norm.sel(width=large) / norm.sel(width=small),
                    at_least=(large / small) ** 0.25,
                    place="Figure S1(g)–(i), section 2",
                    says=f"On {task} with g = {g:g}, the norm of W grows like √N, as that of W₀ "
                    f"does: from N = {small} to {large} by a factor of {{bound:.3g}} or more in "
                    "the median, half the way to √N on a logarithm.",
                )
        return claim

    def _claim_same(
        self, claim: Claims, runs: xarray.Dataset, name: str, small: int, large: int
    ) -> None:
        """That a quantity does not depend on N, for one task and strength."""
        same, words = SAME[name] ** np.log2(large / small), QUANTITIES[name]
        where = f"{runs['task'].item()}, g = {runs['g'].item():g}"
        few, many = (self.counted(runs, name).sel(width=N) for N in (small, large))
        since = "" if large == 2 * small else f", from N = {small}"
        claim.between(
            f"{words}, {where}{since}", many / few, at_least=1 / same, at_most=same,
            says=f"On {where}, {words} at N = {large} over that at N = {small}, seed by seed: the "
            f"median ratio lies between {1 / same:.3g} and {same:.3g}.",
        )  # fmt: skip

    def draw(self, runs: xarray.Dataset) -> Figure:
        missing = (~self.counts(runs)).sum().item()
        return Figure(
            "The change is as small in networks of any size, beside a W₀ that grows",
            [self._panel(runs, name, task) for name in QUANTITIES for task in self.task],
            columns=max(2, len(self.task)),
            caption=f"{len(self.seed)} networks for each N and g: mean and standard deviation over "
            f"those that learned the task, points: each of them. {missing} of "
            f"{runs['outcome'].size} networks did not learn within {self.budget}.",
        )

    def _panel(self, runs: xarray.Dataset, name: str, task: str) -> Panel:
        values = self.counted(runs, name).sel(task=task)
        values = values.where(np.isfinite(values))
        marks = mean_lines(values, "width", by="g", label="g = {g:g}")
        return Panel(
            f"{task}: {QUANTITIES[name]}",
            Axis("N", scale="log", ticks={float(width): str(width) for width in self.width}),
            Axis(QUANTITIES[name], limits=(0, None)),
            marks,
            ours=run_points(values, "width", by="g"),
        )
