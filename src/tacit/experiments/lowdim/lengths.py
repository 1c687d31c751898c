"""What lowdim's linear figures share: students learn k lags of a teacher, and are asked for more.

A student sees the first k lags of a teacher's impulse response. Its error is taken on the tail, the
lags k … horizon − 1, which the loss does not see.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import DescentResult, GaussNewton, GradientFlow
from tacit.draw import Axis, Figure, Mark, Panel, VerticalRule, mean_lines
from tacit.experiments import Claims, Experiment, UsageError, Variable, fixed, swept
from tacit.measures import tail_errors
from tacit.models import impulse_responses
from tacit.problems import MaskedTargets

TEACHERS = {
    "even": "literal teacher, even spectrum",
    "random": "literal teacher, random spectrum",
    "well-conditioned": "well-conditioned teacher",
}
ITERATES = {"last": "last", "best": "lowest-loss iterate"}
METHODS = {"adam": "Adam", "gd": "gradient descent", "flow": "gradient flow"}
FLOW_STEPS = 100_000  # attempts of the solver; a lane that needs more is reported as stopped early
NEARLY_KNOWN = (
    "fewer than 2d̂ lags tell most of these tails: the first modes matter most, and are learned "
    "first, so that a student is better than zero well before it is good"
)
GRADUAL = (
    "for the literal teachers the decline is gradual, and whether it is by half depends on the "
    "teacher's random weights: with one teacher for all seeds (teacher_seed) it is soon decided"
)
BY_HALF = 0.5
STEEPER = 2.0  # an even decline, of whatever steepness, gives 1
ALL = ("low", "worse", "better")  # of the claims below, what the paper says
PAPER_SEEDS = 3  # over which Figures 1 and 3 of the paper are averaged
PUBLISHED = dict(teacher=("even", "random"), method="adam", seed=range(PAPER_SEEDS))
"""What Figures 1(a) and 3(a) show: two readings of their teacher, and Adam (appendix B.1)."""
AS_IN_THE_PAPER = "as in the paper: "


def gauss_newton_flow(*, until: float, tolerance: float) -> GradientFlow:
    """Gradient flow to a time, by linearly implicit steps."""
    return GradientFlow(GaussNewton(), rtol=tolerance, atol=1e-3 * tolerance, until=until)


def training_lengths(values: Collection[int]) -> Any:
    """The training lengths k of a figure, swept."""
    return swept(values, "training length k", low=1, high=200, units="lags")


def claim_transition(
    claim: Claims,
    error: xarray.DataArray,
    beside_zero: xarray.DataArray,
    *,
    edge: int,
    setting: str,
    reasons: Mapping[str, str] | None = None,
    parts: Sequence[str] = ALL,
    note: str = "",
) -> None:
    """The paper's transition in its own words and metric: one number for each seed.

    Section 5.1: "when k > 2d̂ extrapolation error is low, whereas when k falls below 2d̂
    extrapolation error is high". Appendix B.3: a model "is considered non-extrapolating" if it is
    worse than the zero response. Neither says anything of k = 2d̂ itself: Figure 5 has it fail,
    Figure 6 succeed. Over lengths the median is taken: the size of an error that explodes says
    nothing (B.3).

    **Arguments:**

    - `error`, `beside_zero`: absolute errors, and relative to the zero response's, by seed and
      length.
    - `edge`: the critical length; `setting`: of these runs, in words.
    - `parts`: which are claimed: errors are "low" above 2d̂ against below, so are the means over
      three seeds that the paper draws ("drawn"), they fall "fastest" at 2d̂ (any decline is low
      above and high below, at any edge), errors are "worse" than zero's below, "better" than its
      above; `reasons`: why one of them fails; `note`: on "low".
    """
    k = error["length"]
    worse = (beside_zero > 1).where(beside_zero.notnull() & (k < edge)).mean("length")
    terms: dict[str, dict[str, Any]] = {
        "low": dict(
            name="high below, low above",
            values=_fall(error, edge),
            at_most=BY_HALF,
            says=f"the absolute error at k > {edge} is at most {{bound}} of that at k < {edge} "
            "(medians over these lengths).",
            note=note,
            **(dict(place="(ours, seed by seed)") if "drawn" in parts else {}),
        ),
        "drawn": dict(
            name="as drawn, high below, low above",
            values=_fall(error.coarsen(seed=PAPER_SEEDS, boundary="trim").mean(), edge),
            at_most=BY_HALF,
            says=f"the mean of {PAPER_SEEDS} seeds, as the paper draws it, is at k > {edge} at "
            f"most {{bound}} of that at k < {edge} (medians over these lengths); each "
            f"{PAPER_SEEDS} seeds count once.",
            unit=PAPER_SEEDS,
        ),
        "fastest": dict(
            name="falls fastest at the threshold",
            values=_steepness(error, edge),
            at_least=STEEPER,
            says=f"to or from k = {edge} the error falls, per lag, by at least {{bound}} times the "
            "factor between any two other neighbouring lengths.",
            place="(ours: what no even decline does)",
        ),
        "worse": dict(
            name="below, worse than zero",
            values=worse,
            at_least=BY_HALF,
            says=f"at a share of {{bound}} or more of the lengths k < {edge} the student is worse "
            "than the zero response, so that it does not extrapolate.",
            place="appendix B.3",
        ),
        "better": dict(
            name="above, better than zero",
            values=beside_zero.where(k > edge).max("length"),
            at_most=1,
            says=f"at no length k > {edge} is the student worse than the zero response.",
            place="appendix B.3",
        ),
    }
    for part in parts:
        terms[part] |= {key: f"{setting}: {terms[part][key]}" for key in ("name", "says")}
        claim.median(**terms[part], fails_because=(reasons or {}).get(part, ""))


def _fall(error: xarray.DataArray, edge: int) -> xarray.DataArray:
    """Error above the edge over that below it, by medians over the lengths."""
    k = error["length"]
    above, below = (error.where(side).median("length") for side in (k > edge, k < edge))
    return above / below


def _steepness(error: xarray.DataArray, edge: int) -> xarray.DataArray:
    """The factor per lag by which errors fall beside the edge, over the largest one elsewhere."""
    log = xarray.DataArray(np.log(error.where(error > 0))).sortby("length")
    k = log["length"].values
    if k.size < 3:  # nothing to compare with
        return xarray.full_like(log.isel(length=0, drop=True), np.nan)
    fall = -log.diff("length") / xarray.DataArray(np.diff(k), {"length": k[1:]})
    beside = xarray.DataArray((k[:-1] <= edge) & (k[1:] >= edge), {"length": k[1:]})
    gain = fall.where(beside).max("length") - fall.where(~beside).max("length")
    return xarray.DataArray(np.exp(gain))


class LengthsExperiment(Experiment):
    """A figure that sweeps the training length: what it stores, which runs count, their tails."""

    order: int = fixed(5, "order of the teacher", low=1, high=20)
    adam_rate: float = fixed(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    goal: float = fixed(1e-28, "loss at which a run has converged", low=0.0, high=1.0)
    gate: float = fixed(
        1e-4, "runs of larger loss, relative to zero's, do not count", low=0, high=1, analysis=True
    )
    horizons: tuple[int, ...] = fixed(
        (40, 25, 60), "errors are taken to these lags; the first is drawn", low=2, high=500
    )

    iterates: ClassVar[tuple[str, ...]] = ("last", "best")
    from_theory = ("target", "zero_loss", "hankel")

    def check(self) -> None:
        """Every horizon must leave a lag to extrapolate to."""
        longest = max(self.axes()["length"])
        if min(self.horizons) <= longest:
            raise UsageError(
                f"horizons: received {list(self.horizons)}, each must exceed the largest length, "
                f"{longest}"
            )

    def variables(self) -> dict[str, Variable]:
        """Responses are kept whole: errors at other horizons need no new training."""
        return {
            "steps_taken": Variable("steps of the descent", dtype="int64"),
            "target": Variable("teacher's impulse response", "lag"),
            "response": Variable("student's impulse response", "iterate", "lag"),
            "train_loss": Variable("loss over the first k lags", "iterate"),
            "zero_loss": Variable("loss of the zero response over the first k lags"),
            "error": Variable("extrapolation error, ℓ∞ on the tail", "iterate", "horizon"),
            "relative_error": Variable(
                "extrapolation error relative to the zero response", "iterate", "horizon"
            ),
        }

    def coordinates(self) -> dict[str, Any]:
        return {
            "iterate": self.iterates,
            "lag": np.arange(max(self.horizons)),
            "horizon": self.horizons,
        }

    def measured(
        self, targets: MaskedTargets, result: DescentResult, *further: DescentResult
    ) -> dict[str, ArrayLike]:
        """The declared variables of a descent, and of those that followed it.

        The iterates are the last and the best of the first descent, and the last of each other.
        """
        iterates = result.model, result.best, *(later.model for later in further)
        losses = result.loss, result.best_loss, *(later.loss for later in further)
        lags = targets.responses.shape[1]
        responses = np.stack([impulse_responses(lanes.tree, lags) for lanes in iterates], axis=1)
        error, relative = tail_errors(
            responses, targets.responses, lengths=targets.lengths, horizons=self.horizons
        )
        found = {
            "outcome": result.outcome,
            "steps_taken": result.steps,
            "target": targets.responses[..., 0, 0],
            "response": responses[..., 0, 0],
            "train_loss": np.stack(losses, axis=1),
            "zero_loss": targets.zero_loss(),
            "error": error,
            "relative_error": relative,
        }
        return {name: value for name, value in found.items() if name in self.stored()}

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Which runs trained: their loss is at most `gate` times that of the zero response.

        Where the target is zero over the training length (a delay line's is at first), the zero
        response has no loss to compare with: the energy of the whole target takes its place.
        """
        scale = runs["zero_loss"]
        if "target" in runs:
            scale = scale.where(scale > 0, (runs["target"] ** 2).sum("lag"))
        return runs["train_loss"] <= self.gate * scale

    def share_at_goal(self, runs: xarray.Dataset, lengths: xarray.DataArray) -> xarray.DataArray:
        """Of these training lengths of a seed, the share at which the polish reached the goal."""
        ends = runs["polish_outcome"]
        reached = (ends == "converged").astype(float)
        return reached.where((ends != "") & lengths).mean("length")

    def transition(
        self,
        claim: Claims,
        runs: xarray.Dataset,
        setting: str,
        reasons: Mapping[str, str] | None = None,
        *,
        counted: bool = True,
        literal: bool = False,
        parts: Sequence[str] = ALL,
    ) -> None:
        """The paper's claims on these runs (by seed and length), see `claim_transition`.

        Of a `literal` teacher single seeds differ, and means are claimed as the paper draws them.
        Both are asked along the figure's axis, not at a few of its lengths: a few do not decide it.
        """
        drawn: tuple[str, ...] = ()
        if literal and "low" in parts:
            if (np.diff(np.sort(runs["length"])) == 1).all():
                drawn = ("drawn",)
            else:
                parts = [part for part in parts if part != "low"]
        claim_transition(
            claim,
            self.counted(runs, "error") if counted else runs["error"],
            self.beside_zero(runs),
            edge=2 * self.order,
            setting=setting,
            reasons=reasons,
            parts=(*parts, *drawn),
            note=GRADUAL if literal else "",
        )

    def beside_zero(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The error over the zero response's, of the runs that count."""
        return self.counted(runs, "relative_error")

    def panel(self, title: str, y: str | Axis, marks: Sequence[Mark]) -> Panel:
        """A panel against the training length, with a rule at twice the teacher's order."""
        rule = VerticalRule(2.0 * self.order, label="k = 2 × teacher order")
        axis = y if isinstance(y, Axis) else Axis(y, scale="log")
        return Panel(title, Axis("training length k"), axis, [rule, *marks])

    def draw_paper(self, runs: xarray.Dataset) -> Figure:
        return first_panel(self.draw(runs))

    def paper_panel(self, runs: xarray.Dataset, *, scale: str = "linear", **look: Any) -> Panel:
        """The paper's own panel: absolute errors, mean and deviation over as many seeds.

        Of several teachers it shows those of the paper, if there are any among them.
        """
        few = runs.isel(seed=slice(PAPER_SEEDS))
        if "teacher" in few.dims:
            theirs = [t for t in few["teacher"].values if t in self.published.get("teacher", ())]
            few = few.sel(teacher=theirs or few["teacher"].values)
        marks = mean_lines(self.counted(few, "error"), "length", **look)
        y = Axis("extrapolation error (ℓ∞)", scale=scale, threshold=1e-3, limits=(0, None))
        return self.panel(f"{AS_IN_THE_PAPER}mean ± deviation, {few.sizes['seed']} seeds", y, marks)


def first_panel(figure: Figure) -> Figure:
    """The first panel alone: the paper's."""
    first = figure.panels[0]
    return Figure("", [replace(first, title=first.title.removeprefix(AS_IN_THE_PAPER))])


class RandomTeachers(LengthsExperiment):
    """A figure whose teachers are drawn: one for each seed, or one for all."""

    teacher_seed: int = fixed(
        -1, "seed of the one teacher of all students; −1: each seed has its own", low=-1
    )

    def teacher_seeds(self, seeds: np.ndarray) -> np.ndarray:
        """The seed of each lane's teacher."""
        return seeds if self.teacher_seed < 0 else np.full_like(seeds, self.teacher_seed)
