"""Students between the two regimes: what the experiments of regimes train, measure and draw."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import xarray

from tacit.descent import GaussNewton, GradientFlow, Lanes, Stop, descend
from tacit.draw import Axis, Heatmap, Line, Mark, Panel, VerticalRule, median_lines
from tacit.experiments import Batch, Experiment, Variable, fixed
from tacit.measures import hankel, kernel_rotation, numerical_rank, relative_change
from tacit.models import ScaledLinearRNN
from tacit.problems import CentredResponse, mode_response
from tacit.theory.kernel import finite_width_gram, finite_width_response
from tacit.theory.regimes import WideFlow, extrapolation_scale, kappa, wide_flow

LIMIT = {
    "distance": Variable("distance beyond k from an infinitely wide student, over the teacher"),
    "wide_error": Variable("relative error of that student on the lags after k"),
    "wide_rotation": Variable("1 − cosine between the kernels of start and end of that student"),
}
PLACE = "regimes (ours)"
LONGEST = 14  # lags that all runs compute, whatever they train on: they share one program
LEVEL = 0.5  # a student with less relative error than this is said to extrapolate
KERNEL, RICH = 0.25, 4.0  # χ on the two sides of the border, with room
NEAR = 0.25  # a response this near the limit's, half the level, is on its side of the border
ORDERS = {"modes": 3, "two": 2, "close": 3, "five": 5}
ORDER = ORDERS["modes"]  # d̂
TEACHERS = {"modes": "three modes", "two": "two modes", "close": "three close modes"}
TEACHERS |= {"five": "five modes", "delay": "a delay of 3", "average": "an average over 4 lags"}

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]  # W, F and C


class RegimeExperiment(Experiment):
    """Linear RNNs with their output divided by γ = γ₀ √n and centred, trained on k lags."""

    from_theory = ("kappa", "chi", "gamma0", "wide_error", "wide_rotation")

    nu_w: float = fixed(0.5, "variance ν_W of the entries of W at the start", low=0.01, high=1)
    goal: float = fixed(
        2e-3, "relative error on the trained lags at which a run ends", low=1e-8, high=0.5
    )
    steps: int = fixed(2_000, "cap on the steps of the flow's solver", low=1, high=10_000_000)
    rtol: float = fixed(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)
    tail: int = fixed(24, "lags after k on which a student is judged", low=1, high=200)
    tolerance: float = fixed(
        0.01, "Hankel singular values above this part of the largest are counted", low=0, high=0.5
    )

    def variables(self) -> dict[str, Variable]:
        return {
            "train_error": Variable("relative error on the trained lags"),
            "error": Variable("relative error on the lags after k"),
            "tail_error": Variable("error on the lags after k, relative to the whole teacher"),
            "rank": Variable("Hankel rank of what was learned", dtype="int64"),
            "rotation": Variable("1 − cosine between the kernels of start and end"),
            "change": Variable("relative change of the kernel, ‖G − G⁰‖/‖G⁰‖"),
            "kappa": Variable("κ = γ₀ ‖L*‖_K, predicted"),
            "steps_made": Variable("steps made", dtype="int64"),
            "time": Variable("time of the gradient flow"),
            "response": Variable("what was learned, L", "lag"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"lag": np.arange(LONGEST + self.tail)}

    def train(
        self,
        batch: Batch,
        *,
        width: int,
        gamma0: np.ndarray,
        length: np.ndarray,
        teacher: np.ndarray | str = "modes",
        nu_w: np.ndarray | float | None = None,
        goal: np.ndarray | None = None,
    ) -> dict[str, Any]:
        """Students of one width, one for each cell, flow as one program, and what came of them.

        Those of one seed start at the same numbers, whatever γ₀, length and teacher are, and W at
        the same ones times √ν_W.
        """
        cells, lags = range(len(batch)), LONGEST + self.tail
        nu_w = self.nu_w if nu_w is None else nu_w
        names, nus = (np.broadcast_to(each, len(batch)) for each in (teacher, nu_w))
        target = np.stack([mode_response(str(name), lags) for name in names])
        keys = list(zip(batch.column("seed").tolist(), nus.tolist(), strict=True))
        starts = {key: self.start(width, *key) for key in keys}
        initial = {key: finite_width_response(*starts[key], lags)[:, 0, 0] for key in starts}
        gamma, goals = gamma0 * np.sqrt(width), self.goal if goal is None else goal
        problems = [
            CentredResponse.of(
                target[i, :LONGEST],
                initial[keys[i]][:LONGEST],
                length=int(length[i]),
                gamma=gamma[i],
            )
            for i in cells
        ]
        trained = np.arange(lags) < length[:, None]
        size = np.sqrt(np.sum(np.where(trained, target, 0) ** 2, axis=1))
        result = descend(
            Lanes.stack([ScaledLinearRNN(*starts[key]) for key in keys]),
            Lanes.stack(problems),
            GradientFlow(GaussNewton(), rtol=self.rtol, atol=self.rtol),
            rate=gamma**2,
            stop=Stop(self.steps, loss=0.5 * (goals * size) ** 2, diverged=1e6),
            title=batch.label,
        )
        W, F, C = (np.asarray(getattr(result.model.tree, name)) for name in "WFC")
        ends = list(zip(W, F, C, strict=True))
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.stack([finite_width_response(*end, lags)[:, 0, 0] for end in ends])
            learned = (moved - np.stack([initial[key] for key in keys])) / gamma[:, None]
        grams = {key: _gram(start, LONGEST) for key, start in starts.items()}
        kernels = [(grams[keys[i]][:k, :k], _gram(ends[i], k)) for i, k in enumerate(length)]
        return {
            "outcome": result.outcome,
            "steps_made": result.steps,
            "time": result.report["time"],
            "kappa": [
                kappa(target[i], gamma0[i], length=int(length[i]), nu_w=nus[i]) for i in cells
            ],
            "rotation": [kernel_rotation(*pair) for pair in kernels],
            "change": [relative_change(*pair) for pair in kernels],
            "response": learned,
            **self.judge(learned, target, length),
        }

    def beside_the_limit(
        self,
        response: np.ndarray,
        *,
        gamma0: np.ndarray,
        length: np.ndarray,
        teacher: np.ndarray | str = "modes",
        nu_w: np.ndarray | float | None = None,
    ) -> dict[str, np.ndarray]:
        """`LIMIT` for each learned response; the rest as for `train`."""
        nu_w = self.nu_w if nu_w is None else nu_w
        settings = np.broadcast_arrays(teacher, length, nu_w, gamma0)
        rows = []
        for row, name, k, nu, scale in zip(
            response, *(each.tolist() for each in settings), strict=True
        ):
            wide, beyond = wide_student(name, k, nu, scale, self.tail, self.goal), k + self.tail
            target, limit = mode_response(name, beyond)[k:], wide.response[k:]
            size = np.linalg.norm(target)
            with np.errstate(over="ignore", invalid="ignore"):
                far = np.linalg.norm(row[k:beyond] - limit) / size
            wrong = np.linalg.norm(limit - target) / size
            rows.append((far, wrong, kernel_rotation(wide.start, wide.end)))
        return dict(zip(LIMIT, np.array(rows).T, strict=True))

    def start(self, width: int, seed: int, nu_w: float) -> Parameters:
        """W, F and C before training; W with the same numbers for all ν_W, times its root."""
        rng = np.random.default_rng([2026, seed, width])
        W = np.sqrt(nu_w) * rng.normal(size=(width, width))
        return W, rng.normal(size=(width, 1)), rng.normal(size=(1, width))

    def judge(
        self, learned: np.ndarray, target: np.ndarray, length: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Errors and Hankel ranks of learned responses (run, lag); overflow is infinitely wrong."""
        lags, first = np.arange(learned.shape[1]), length[:, None]
        head, whole = lags < first, lags < first + self.tail
        tail = whole & ~head

        def norm(values: np.ndarray, where: np.ndarray) -> np.ndarray:
            with np.errstate(over="ignore", invalid="ignore"):
                found = np.sqrt(np.sum(np.where(where, values, 0.0) ** 2, axis=1))
            return np.where(np.isnan(found), np.inf, found)

        def rank(response: np.ndarray, k: int) -> int:
            if not np.isfinite(response).all():
                return -1
            return int(numerical_rank(hankel(response[: k + self.tail]), tolerance=self.tolerance))

        with np.errstate(invalid="ignore"):
            gap = learned - target
        wrong, scale = norm(gap, tail), norm(target, tail)
        return {
            "train_error": norm(gap, head) / norm(target, head),
            # A filter has no tail to compare with: no error is small relative to none.
            "error": np.divide(wrong, scale, out=np.full_like(wrong, np.inf), where=scale > 0),
            "tail_error": wrong / norm(target, whole),
            "rank": np.array([rank(row, k) for row, k in zip(learned, length, strict=True)]),
        }

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Those that reached the train error asked for."""
        return runs["outcome"] == "converged"

    def medians(self, runs: xarray.Dataset, name: str, *dims: str) -> np.ndarray:
        """Medians over seeds, by `dims`; NaN where fewer than half of the seeds converged."""
        values = self.counted(runs, name)
        enough = 2 * values.notnull().sum("seed") >= runs.sizes["seed"]
        return values.median("seed", skipna=True).where(enough).transpose(*dims).values

    def unconverged(self, runs: xarray.Dataset) -> str:
        """How many runs ended otherwise, in words after a caption; empty if none."""
        lost, total = int((~self.counts(runs)).sum()), runs["outcome"].size
        return f" {lost} of {total} runs did not converge and are left out" if lost else ""

    def plane(
        self, runs: xarray.Dataset, name: str, title: str, marks: Sequence[Mark] = (), **look: Any
    ) -> Panel:
        """Medians on the plane of γ₀ and k; rows by their order, so that cells have one height."""
        gamma0, lengths = runs["gamma0"].values, runs["length"].values
        rows = np.arange(len(lengths), dtype=float)
        table = np.round(self.medians(runs, name, "length", "gamma0"), 2)  # as it is written
        return Panel(
            title,
            Axis("γ₀ = γ/√n", scale="log", ticks={float(g): f"{g:g}" for g in gamma0}),
            Axis("training length k", ticks=dict(zip(rows, map(str, lengths), strict=True))),
            [Heatmap(gamma0, rows, table, **look), *marks],
        )

    def responses(self, runs: xarray.Dataset, k: int, title: str, teacher: str = "modes") -> Panel:
        """What students of one length learned at both ends of γ₀, beside the teacher."""
        lags, ends = np.arange(k + self.tail), runs["gamma0"].values[[0, -1]]
        words = dict(zip(ends.tolist(), ("kernel", "rich"), strict=True))
        target = mode_response(teacher, len(lags))
        marks = [
            VerticalRule(k - 0.5, label=f"trained up to here, k = {k}"),
            *median_lines(
                self.counted(runs, "response").sel(length=k, gamma0=np.unique(ends), lag=lags),
                "lag",
                by="gamma0",
                label=lambda gamma0: f"{words[gamma0]}, γ₀ = {gamma0:g}",
                marker=None,
            ),
            Line(lags, target, label="teacher", colour="ink", style="dotted", width=2.0),
        ]
        return Panel(title, Axis("lag"), Axis("impulse response"), marks)


@lru_cache(maxsize=4096)
def border(teacher: str, length: int, nu_w: float, tail: int, goal: float) -> float:
    """γ₀*, at which an infinitely wide student of a teacher passes ½; ∞ if it never does."""
    target = mode_response(teacher, length + tail)
    return extrapolation_scale(target, length=length, nu_w=nu_w, level=LEVEL, goal=goal)


@lru_cache(maxsize=4096)
def wide_student(
    teacher: str, length: int, nu_w: float, gamma0: float, tail: int, goal: float
) -> WideFlow:
    """An infinitely wide student at the end of its training."""
    target = mode_response(teacher, length + tail)
    return wide_flow(target, gamma0, length=length, nu_w=nu_w, goal=goal)


def _gram(parameters: Parameters, length: int) -> np.ndarray:
    """The kernel, or NaN where the parameters overflowed."""
    if not all(np.isfinite(part).all() for part in parameters):
        return np.full((length, length), np.nan)
    return finite_width_gram(*parameters, int(length))
