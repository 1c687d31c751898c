"""depth, beyond the paper: do coupling groups predict the rank for every pattern?

The comparison: for every pattern of a 3 × 3 (or 4 × 4) matrix with a target of rank one, the number
of groups into which Definition 2 divides its entries, predicted from the zeros of the start alone,
against the rank and the coupling at the end of gradient flow from small scales. Each coupled group
can meet its entries with rank one; uncoupled groups have no reason to align. Gaussian starts couple
everything for L ≥ 3; a multiple of the identity need not, at any depth. At depth 2 the limit of
vanishing starts is known in closed form, and smaller starts show how slowly some get there.
"""

import itertools

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.draw import Axis, Figure, Mark, Panel, Points, lines
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.depth.completion import LEFT_OUT, share_by_seed
from tacit.experiments.depth.gaussian import GaussianExperiment
from tacit.measures import singular_values_or_nan
from tacit.problems import Pattern
from tacit.theory.depth import coupled_group_count, coupled_groups, vanishing_limit

STARTS = {"gaussian": "Gaussian start", "identity": "start α I, positive target"}
KINDS = tuple(STARTS)
_SLOW = (
    "The prediction is of vanishing starts, and some patterns need far smaller ones than 1e-8. A "
    "small value between two large ones is met last, in a time of their product over its square, "
    "while a second direction grows exponentially: where it wins, a connected group ends at rank "
    "two. The target decides: one with small values misses many patterns at once, in their rank or "
    "by a loss that is still large. In the closed-form limit a decoupled block may be too small to "
    "count."
)


class AnyPattern(GaussianExperiment):
    """Predicted coupling groups against the rank that flow reaches, for every pattern."""

    id, figure, version = "depth/any-pattern", "beyond the paper", 2

    depth: tuple[int, ...] = swept((2, 3, 4), "number L of factors", low=2, high=8)
    start: tuple[str, ...] = swept(KINDS, "the start of every factor", choices=KINDS)
    pattern: tuple[int, ...] = swept(
        range(25), "number in the list of all patterns of this size", low=0
    )
    scale: tuple[float, ...] = swept(
        (1e-2, 1e-5, 1e-8), "initial scale αᴸ of the product", low=1e-30, high=1.0
    )
    seed: tuple[int, ...] = swept(range(10), "trial: target and start", low=0)
    smaller_scale: tuple[float, ...] = fixed((1e-16, 1e-32, 1e-64), "further scales αᴸ, depth 2")
    size: int = fixed(3, "rows and columns of the matrix", low=2, high=4)
    cut: float = fixed(0.01, "smallest σ/σ₁ that counts as rank", low=0, high=1, analysis=True)
    tail_attempts: int = 2_000

    finding = Finding(
        "The zeros of the start alone predict which entries couple, in {groups|satisfied|holds} of "
        "{groups|samples} seeds over all patterns and depths. From Gaussian starts of three "
        "factors the rank is the number of groups for at least {three|bound|.0%} of the patterns "
        "in {three|satisfied|holds} of {three|samples} seeds.",
        "Two factors are slow to get there: from the smallest start so many patterns have the rank "
        "of the limit in closed form in {two|satisfied|holds} of {two|samples} seeds.",
        groups="groups are as predicted",
        three="rank = groups: gaussian, depth 3",
        two="rank = limit's, from 1e-64: gaussian, depth 2",
    )
    unspecific = {
        **LEFT_OUT,
        "the limit has the groups' rank: *": "Both sides are theory, a limit in closed form and "
        "groups that follow from zeros; beside it stands the claim on runs.",
    }
    from_theory = ("target_norm", "groups", "limit_spectrum", "components", "entries")

    presets = {
        "smoke": dict(depth=(2, 3), pattern=(1, 6, 12, 18), scale=(1e-2, 1e-5), seed=range(2),
                      smaller_scale=(1e-16,)),
        "quick": dict(scale=(1e-8,), seed=range(12)),
        "paper": dict(size=4, pattern=range(191), scale=(1e-8,), seed=range(8)),
    }  # fmt: skip
    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        return {
            **super().variables(),
            "target_norm": Variable("Frobenius norm of the target"),
            "spectrum": Variable("singular values of the product", "singular_value"),
            "limit_spectrum": Variable(
                "singular values of the limit of vanishing starts, depth 2", "singular_value"
            ),
            "smaller_spectrum": Variable(
                "singular values from smaller starts, depth 2", "smaller", "singular_value"
            ),
            "smaller_loss": Variable("loss at the end from smaller starts", "smaller"),
            "groups": Variable("coupling groups predicted from the start", dtype="int64"),
            "groups_seen": Variable("coupling groups seen at the end", dtype="int64"),
            "components": Variable("connected components of the pattern", dtype="int64"),
            "entries": Variable("observed entries", dtype="int64"),
        }

    def coordinates(self) -> dict[str, np.ndarray | tuple[float, ...]]:
        return {"singular_value": np.arange(1, self.size + 1), "smaller": self.smaller_scale}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        depth, scales, count = batch.one("depth"), batch.column("scale"), len(batch)
        identity = batch.column("start") == "identity"
        chosen = Pattern.numbered(self.size, self.size, numbers=batch.column("pattern"))
        patterns = [
            p.most_diagonal() if own else p for p, own in zip(chosen, identity, strict=True)
        ]
        masks = np.stack([pattern.mask for pattern in patterns])
        targets, factors = self.draw_trials(depth, batch.column("seed"), scales, identity)

        # Lanes that differ in their scale alone share the limit and still smaller starts.
        trials = [(cell["start"], cell["pattern"], cell["seed"]) for cell in batch.cells]
        distinct = list(dict.fromkeys(trials))
        first, shared = [trials.index(t) for t in distinct], [distinct.index(t) for t in trials]
        more = [(s, lane) for s in self.smaller_scale for lane in first if depth == 2]
        again = np.array([lane for _, lane in more], dtype=int)
        shrink = np.array([(scale / scales[lane]) ** (1 / depth) for scale, lane in more])
        starts = np.concatenate([factors, shrink[:, None, None, None] * factors[again]])
        lanes = np.concatenate([np.arange(count), again])

        starts = self.skip_linear_phase(starts, targets[lanes], masks[lanes])
        result = self.run_flow(starts, targets[lanes], masks[lanes], batch.label)
        spectra = singular_values_or_nan(self.products(result.model))
        ends = np.stack([np.asarray(f)[:count] for f in result.model.tree.factors], axis=1)
        limits = np.full((len(first), self.size), np.nan)
        lower = np.full((len(self.smaller_scale), len(first), self.size), np.nan)
        losses = np.full(lower.shape[:2], np.nan)
        if depth == 2:
            each = zip(factors[first], masks[first], targets[first], strict=True)
            found = [vanishing_limit(B, A, *problem).product for (A, B), *problem in each]
            limits, lower = singular_values_or_nan(found), spectra[count:].reshape(lower.shape)
            losses = result.loss[count:].reshape(losses.shape)
        groups = [coupled_groups(f, mask).max() + 1 for f, mask in zip(factors, masks, strict=True)]
        return {
            **{name: values[:count] for name, values in self.measure(result).items()},
            "target_norm": np.linalg.norm(targets, axis=(1, 2)),
            "spectrum": spectra[:count],
            "limit_spectrum": limits[shared],
            "smaller_spectrum": np.moveaxis(lower, 0, 1)[shared],
            "smaller_loss": losses.T[shared],
            "groups": groups,
            "groups_seen": [
                coupled_group_count(end, mask) if np.isfinite(end).all() else -1
                for end, mask in zip(ends, masks, strict=True)
            ],
            "components": [pattern.component_count for pattern in patterns],
            "entries": masks.sum(axis=(1, 2)),
        }

    def _rank(self, spectra: xarray.DataArray) -> xarray.DataArray:
        return (spectra > self.cut * spectra.max("singular_value")).sum("singular_value")

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, smallest, counts = Claims("Section 3"), min(self.scale), self.counts(runs)
        claim.median(
            "groups are as predicted",
            share_by_seed(runs["groups_seen"] == runs["groups"], counts),
            says="In most seeds, at the end of at least {bound:.0%} of its runs the coupling has "
            "exactly the groups that the zeros of the start predict.",
            at_least=0.99,
            place="Definition 2, Lemma B.1",
        )
        hits = self._rank(runs["spectrum"]) == runs["groups"]
        # Two factors are slow to align: what is claimed of them is from far smaller starts.
        deep = [depth for depth in self.depth if depth > 2]
        for start, depth in itertools.product(self.start, deep):
            cells = {"start": start, "depth": depth, "scale": smallest}
            claim.median(
                f"rank = groups: {start}, depth {depth}",
                share_by_seed(hits.sel(cells), counts.sel(cells)),
                says=f"{STARTS[start]}, depth {depth}, from αᴸ = {smallest:g}: in most seeds the "
                "numerical rank is the number of groups for at least {bound:.0%} of the patterns.",
                at_least=0.9,
            )
        if 2 in self.depth:
            two = runs.sel(depth=2)
            claim.median(
                "groups are the components, depth 2",
                share_by_seed(two["groups_seen"] == two["components"], counts.sel(depth=2)),
                says="Depth 2: in most seeds, at the end of at least {bound:.0%} of its runs the "
                "entries that are coupled are those of a connected component of the pattern.",
                at_least=0.99,
                place="section 3, after Definition 2",
            )
        if 2 in self.depth and self.smaller_scale:
            self._claim_about_vanishing_starts(claim, runs.sel(depth=2, scale=smallest))
        self.claim_that_runs_count(claim, runs, share=0.95, loss=self.gate)
        return claim

    def _claim_about_vanishing_starts(self, claim: Claims, runs: xarray.Dataset) -> None:
        # Patterns that are slow to align are slow to converge too: a run above the gate is a miss.
        least = min(self.smaller_scale)
        runs = runs.sel(smaller=least)
        counts = runs["smaller_loss"] <= self.gate
        reached, limit = (self._rank(runs[f"{name}_spectrum"]) for name in ("smaller", "limit"))
        shares = {
            "the limit has the groups' rank": (
                limit == runs["groups"],
                "the closed-form limit of vanishing starts has the number of groups as its rank",
            ),
            f"rank = limit's, from {least:g}": (
                (reached == limit) & counts,
                f"the loss from αᴸ = {least:g} is at most {self.gate:g} and the numerical rank is "
                "that of the limit of vanishing starts in closed form",
            ),
        }
        for start, (name, (did, words)) in itertools.product(self.start, shares.items()):
            claim.median(
                f"{name}: {start}, depth 2",
                share_by_seed(did.sel(start=start)),
                says=f"{STARTS[start]}, depth 2: in most seeds, for {{bound:.0%}} of the patterns, "
                f"{words}.",
                at_least=0.9,
                note=_SLOW,
                place="(ours)",
            )
        claim.median(
            "no rank is lost, depth 2",
            share_by_seed(reached >= limit, counts),
            says=f"Depth 2, from αᴸ = {least:g}: in most seeds the numerical rank is not below "
            "that of the limit of vanishing starts in at least {{bound:.0%}} of its runs.",
            at_least=0.99,
            place="(ours)",
        )

    def draw(self, runs: xarray.Dataset) -> Figure:
        smallest, patterns = min(self.scale), np.array(self.pattern, dtype=float)
        rank = self.counted(runs, "effective_rank")
        x, y = Axis("pattern, by number of entries"), Axis("groups, mean effective rank")
        panels = []
        for start in self.start:
            marks: list[Mark] = []
            for colour, depth in enumerate(self.depth):
                cells = {"start": start, "depth": depth, "scale": smallest}
                places = patterns + 0.25 * (colour - (len(self.depth) - 1) / 2)
                groups, mean = runs["groups"].sel(cells).isel(seed=0), rank.sel(cells).mean("seed")
                marks += [
                    Points(places, groups, colour=colour, marker="s", filled=False),
                    Points(places, mean, colour=colour, label=f"L = {depth}", size=4.0),
                ]
            panels.append(Panel(f"{STARTS[start]}, αᴸ = {smallest:g}", x, y, marks))
        if len(self.scale) > 1 or (2 in self.depth and self.smaller_scale):
            panels.append(self._agreement_panel(runs))
        return Figure(
            f"Coupling groups and ranks, every pattern of a {self.size} × {self.size} matrix",
            panels,
            columns=len(panels),
            caption="Squares: groups predicted; dots: mean effective rank reached. Targets of rank "
            f"one, {len(self.seed)} trials for each pattern, gradient flow to a loss of "
            f"{self.goal:g}. A singular value counts above {self.cut:g} of the largest. "
            f"{self.left_out(runs)} for a loss above {self.gate:g}; from still smaller starts, at "
            "depth 2, they are misses.",
        )

    def _agreement_panel(self, runs: xarray.Dataset) -> Panel:
        """How often the rank is the number of groups, by scale; smaller scales at depth 2 only."""
        names = ("spectrum", "limit_spectrum", "smaller_spectrum")
        rank, limit, lower = (self._rank(runs[name]) for name in names)
        counts, arrived = self.counts(runs), runs["smaller_loss"] <= self.gate

        def share(wanted: xarray.DataArray) -> xarray.DataArray:
            trials = ("pattern", "seed")
            near = ((rank == wanted) & counts).sum(trials) / counts.sum(trials)
            far = ((lower == wanted) & arrived).mean(trials).where(runs["depth"] == 2)
            far = far.sel(scale=min(self.scale), drop=True).rename(smaller="scale")
            return xarray.concat([far, near], "scale")

        as_groups, as_limit = share(runs["groups"]), share(limit)
        marks: list[Mark] = []
        for start, style in zip(self.start, ("solid", "dashed"), strict=False):
            curves, label = as_groups.sel(start=start), f"L = {{depth}}, {start}"
            marks += lines(curves, "scale", by="depth", label=label, style=style, marker="o")
            if 2 in self.depth:
                curve, label = as_limit.sel(start=start, depth=2), f"L = 2, {start}: as the limit"
                marks += lines(curve, "scale", label=label, colour=len(self.depth), style=style)
        x, y = Axis("initial scale αᴸ", scale="log"), Axis("fraction of runs", limits=(0, 1.05))
        return Panel("runs whose rank is the number of groups", x, y, marks)
