"""depth, Figure 1: which depth and which observations lead to rank one?

The comparison: the effective rank of the completed 2 × 2 matrix against the initial scale, for
depths 2, 3, 4, when the diagonal is observed (disconnected) and when the first column is
(connected). Gradient flow is the default; gradient descent and Adam are options. At depth 2 the
limit of each run on the diagonal has a closed form, and Theorem 3.1 bounds that on the column. The
text draws every factor's entries from N(0, α²); the public code draws one matrix from N(0, α²/d)
and starts all factors there (`protocol`).
"""

import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Stop, descend
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points, mean_lines
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.depth.completion import PROTOCOLS, graph_panel
from tacit.experiments.depth.gaussian import GaussianExperiment
from tacit.measures import effective_ranks, singular_values_or_nan
from tacit.problems import Pattern
from tacit.theory.depth import alignment_bound, disconnected_limit

PATTERNS = {
    "diagonal": "diagonal observed (disconnected)",
    "column": "first column observed (connected)",
}
METHODS = {"flow": "gradient flow", "gd": "gradient descent", "adam": "Adam"}

ONE = 1.05
"""The effective rank that separates one from two: there σ₂/σ₁ is about a hundredth."""

NEARLY_ALL = 0.95
"""With so many of the trials at rank one, and the rest at two, their mean is `ONE`."""

_SPREAD = (
    "Over 4,000 trials the closed-form limit has an effective rank with the median 1.22 and the "
    "mean 1.31."
)


class Fig1(GaussianExperiment):
    """Effective rank of a completed 2 × 2 matrix against initial scale and depth."""

    id, figure, version = "depth/fig1", "Figure 1", 2
    published = dict(seed=range(300))
    finding = Finding(
        "From the smallest scale three factors end at rank one, in {joined|satisfied|holds} of "
        "{joined|samples} trials where the observations connect and in {apart|satisfied|holds} "
        "where they do not; two do so where they connect ({two|satisfied|holds}), and elsewhere "
        "stay above it from every scale in {stay|satisfied|holds}.",
        "Two factors end at their closed form in {closed|satisfied|holds} of {closed|samples} "
        "trials, and as near to alignment as the paper's bound says in {align|satisfied|holds}.",
        apart="rank one: disconnected, depth 3",
        joined="rank one: connected, depth 3",
        two="rank one: connected, depth 2",
        stay="disconnected, depth 2",
        closed="closed form, depth 2",
        align="rows align, depth 2",
    )
    from_theory = ("target_norm", "predicted_rank")

    depth: tuple[int, ...] = swept((2, 3, 4), "number L of factors", low=1, high=12)
    method: tuple[str, ...] = swept(("flow",), "how the factors descend", choices=tuple(METHODS))
    pattern: tuple[str, ...] = swept(
        tuple(PATTERNS), "the entries observed", choices=tuple(PATTERNS)
    )
    scale: tuple[float, ...] = swept(
        (1e-1, 1e-3, 1e-5, 1e-7), "initial scale αᴸ of the product", low=1e-40, high=10.0
    )
    seed: tuple[int, ...] = swept(range(300), "trial: target and start", low=0)
    protocol: str = fixed("text", "whose start: text's or public code's", choices=PROTOCOLS)
    steps: int = fixed(200_000, "steps of gradient descent or Adam", low=1)
    gd_rate: float = fixed(0.02, "gradient descent's learning rate", low=1e-8, high=1.0)
    adam_rate: float = fixed(1e-3, "Adam's learning rate", low=1e-8, high=1.0)

    presets = {
        "smoke": dict(depth=(2, 3), scale=(1e-1, 1e-5), seed=range(3)),
        "quick": dict(seed=range(150)),
        "paper": {},
    }
    batch_by = ("depth", "method")
    chunk = {"seed": 150}

    def variables(self) -> dict[str, Variable]:
        return {
            **super().variables(),
            "target_norm": Variable("Frobenius norm of the target"),
            "predicted_rank": Variable("effective rank of the closed-form limit"),
            "gap": Variable("largest entry of |product − closed-form limit|"),
            "misaligned": Variable("|a⊥|²/|a|² of a row over Theorem 3.1's bound, the largest"),
        }

    def _pattern(self, name: str) -> Pattern:
        diagonal, size = name == "diagonal", self.size
        return Pattern.diagonal(size) if diagonal else Pattern.column(size, size)

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth, method = batch.one("depth"), batch.one("method")
        masks = np.stack([self._pattern(name).mask for name in batch.column("pattern")])
        targets, factors = self.draw_trials(depth, batch.column("seed"), batch.column("scale"))
        if self.protocol == "code":
            factors = np.repeat(factors[:, :1], depth, axis=1) / np.sqrt(self.size)
        if method == "flow":
            result = self.run_flow(factors, targets, masks, batch.label)
        else:
            problems = self.completions(targets, masks)
            optimiser = optax.sgd(1.0) if method == "gd" else optax.adam(1.0)
            result = descend(
                self.factorisations(tuple(np.moveaxis(factors, 1, 0))),
                problems,
                optimiser,
                stop=Stop(self.steps, loss=self.goals(problems)),
                rate=self.gd_rate if method == "gd" else self.adam_rate,
                title=batch.label,
            )
        gap, predicted, misaligned = np.full((3, len(batch)), np.nan)
        alone = batch.column("pattern") == "diagonal"
        if depth == 2 and not alone.all():
            begin, end = factors[~alone], [np.asarray(f) for f in result.model.tree.factors]
            rows, column = end[1][~alone], end[0][~alone][:, :, :1]
            column = column / np.linalg.norm(column, axis=1, keepdims=True)
            across = rows - rows @ column @ column.transpose(0, 2, 1)
            share = (across**2).sum(axis=2) / (rows**2).sum(axis=2)
            seen = targets[~alone][:, :, 0]
            bound = alignment_bound(begin[:, 1], begin[:, 0, :, 0], seen)
            misaligned[~alone] = (share / bound).max(axis=1)
        if depth == 2 and alone.any():
            first, second = np.moveaxis(factors[alone], 1, 0)
            diagonal = self._pattern("diagonal").mask
            limit = disconnected_limit(second, first, diagonal, targets[alone]).product
            gap[alone] = np.abs(self.products(result.model)[alone] - limit).max(axis=(1, 2))
            predicted[alone] = effective_ranks(singular_values_or_nan(limit))
        return {
            **self.measure(result),
            "target_norm": np.linalg.norm(targets, axis=(1, 2)),
            "predicted_rank": predicted,
            "gap": gap,
            "misaligned": misaligned,
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, method, smallest = Claims("Figure 1(b), (c)"), self.method[0], min(self.scale)
        runs = runs.sel({"method": method})
        rank = self.counted(runs, "effective_rank")
        ends = rank.sel(scale=smallest)
        for depth in self.depth:
            whence = f"depth {depth}, from αᴸ = {smallest:g}: in"
            words = f"of the trials the effective rank is one (at most {ONE:g})."
            one = (ends <= ONE).where(ends.notnull()).sel(depth=depth)
            if "diagonal" in self.pattern and depth >= 3:
                claim.fraction(
                    f"rank one: disconnected, depth {depth}",
                    one.sel(pattern="diagonal"),
                    says=f"Disconnected, {whence} {{bound:.0%}} {words}",
                    at_least=NEARLY_ALL,
                )
            elif "diagonal" in self.pattern:
                claim.median(
                    f"disconnected, depth {depth}",
                    rank.sel(pattern="diagonal", depth=depth).min("scale"),
                    says=f"Disconnected, depth {depth}: in most trials the effective rank is not "
                    "one from any initial scale; it is at least {bound} from all of them.",
                    at_least=ONE,
                    note=_SPREAD if depth == 2 and self.size == 2 else "",
                    place="Figure 1(b), section 1",
                )
            if "column" in self.pattern:
                claim.fraction(
                    f"rank one: connected, depth {depth}",
                    one.sel(pattern="column"),
                    says=f"Connected, {whence} {{bound:.0%}} {words}",
                    at_least=NEARLY_ALL,
                )
        self.claim_that_runs_count(claim, runs, share=0.99, loss=self.gate)
        if 2 in self.depth and "diagonal" in self.pattern and method == "flow":
            gap = self.counted(runs, "gap").sel(depth=2, pattern="diagonal")
            claim.median(
                "closed form, depth 2",
                gap.max("scale"),
                at_most=1e-5,
                place="Proposition 4.1",
                says="In most trials every disconnected run of depth 2 ends at its own closed-form "
                "limit, to {bound} in every entry.",
            )
        if 2 in self.depth and "column" in self.pattern and method == "flow":
            claim.median(
                "rows align, depth 2",
                self.counted(runs, "misaligned").sel(depth=2, pattern="column").max("scale"),
                at_most=1.0,
                place="Theorem 3.1",
                says="In most trials every connected run of depth 2 ends with rows of A that are "
                "as close to the observed column of B as Theorem 3.1 says, or closer: |a⊥|²/|a|² "
                "over the bound is at most {bound}, from every scale.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        x, y = Axis("initial scale αᴸ", scale="log"), Axis("mean effective rank")
        ranks = self.counted(runs, "effective_rank")
        colours = {depth: colour for colour, depth in enumerate(self.depth)}
        styles = dict(zip(self.method, ("solid", "dashed", "dotted"), strict=False))

        def label(method: str, depth: int) -> str:
            return f"L = {depth}" + (f", {METHODS[method]}" if method != self.method[0] else "")

        panels = [graph_panel({name: self._pattern(name) for name in self.pattern})]
        for pattern in self.pattern:
            lines = mean_lines(
                ranks.sel(pattern=pattern),
                "scale",
                by=("method", "depth"),
                label=label,
                colour=colours,
                style=styles,
                errors=3,
            )
            marks = [HorizontalRule(1.0, label="rank one"), *lines]
            panels.append(Panel(PATTERNS[pattern], x, y, marks, legend="best"))
        first = runs.isel(method=0)
        ours = [self._norm_panel(first, x)]
        if 2 in self.depth and "diagonal" in self.pattern:
            ours.insert(0, self._closed_form_panel(first))
        return Figure(
            "Depth makes disconnected observations behave as connected ones",
            panels,
            ours=ours,
            main=1,
            caption=f"{self.size} × {self.size} targets of rank one, Gaussian factors, "
            f"{len(self.seed)} trials for each point, {METHODS[self.method[0]]} to a loss of "
            f"{self.goal:g}. Bands: three standard errors of the mean. "
            f"{self.left_out(runs)} for a loss above {self.gate:g}.",
        )

    def _closed_form_panel(self, runs: xarray.Dataset) -> Panel:
        runs = runs.sel(depth=2, pattern="diagonal")
        marks: list[Mark] = [
            Line([1.0, 2.0], [1.0, 2.0], label="equal", colour="reference", style="dashed")
        ]
        for colour, scale in enumerate(sorted(self.scale)):
            at = runs.sel(scale=scale)
            ranks, label = (at["predicted_rank"], at["effective_rank"]), f"αᴸ = {scale:g}"
            marks.append(Points(*ranks, label=label, colour=colour, size=3.0, opacity=0.6))
        return Panel(
            "depth 2, disconnected: run by run",
            Axis("effective rank of the closed-form limit"),
            Axis("effective rank reached"),
            marks,
            legend="best",
            note=f"largest difference in any entry of any run: {float(runs['gap'].max()):.1e}",
        )

    def _norm_panel(self, runs: xarray.Dataset, x: Axis) -> Panel:
        marks: list[Mark] = [HorizontalRule(1.0, label="the target's norm")]
        ratio = (runs["norm"] / runs["target_norm"]).sortby("scale")
        for colour, depth in enumerate(self.depth):
            for style, pattern in zip(("solid", "dashed"), self.pattern, strict=False):
                at, label = ratio.sel(depth=depth, pattern=pattern), f"L = {depth}, {pattern}"
                scales, middle, top = at["scale"], at.median("seed"), at.max("seed")
                marks += [
                    Line(scales, middle, label=label, colour=colour, style=style),
                    Points(scales, top, colour=colour, marker="^"),
                ]
        return Panel(
            "norm of what was completed (lines: median, triangles: largest)",
            x,
            Axis("norm / norm of the target", scale="log"),
            marks,
        )
