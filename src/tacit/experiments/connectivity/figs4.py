"""connectivity, Figure S4: the gradient explodes where an eigenvalue crosses one.

The comparison: loss, gradient and leading eigenvalues of W while a linear network learns a value by
plain gradient descent with a finite rate, for two targets and two strengths of the initial
connectivity. Gradient flow stops before an eigenvalue reaches one; a finite step may leap over it.
What follows is a matter of chance, so that shares of networks are counted.
"""

import numpy as np
import xarray

from tacit.claims import Finding, fraction_interval
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points, Shade, VerticalRule
from tacit.experiments import Batch, Claims, Variable, fixed, stacked
from tacit.experiments.connectivity.linear import SHOWN, SUBSCRIPTS, LinearExperiment
from tacit.measures import leading_real_parts
from tacit.theory.connectivity import DescentCurve, LinearNetwork, SimulatedTrial, gradient_descent

FATES = {"smooth": 0, "recovered": 2, "stuck": 4, "diverged": 1}  # with their colours
JUMP = 0.1  # of L₀: a rise of the loss in one epoch by more breaks the smooth descent
LAST = 20  # epochs whose median loss is the final one: descent may end in an oscillation
HARD = (4.0, 0.8)  # the target and strength at which the paper's learning stops
OSCILLATES = (4.0, 0.6)  # and those at which the network that the paper shows oscillates
LOOK = 10  # epochs from look to look at a network whose eigenvalues stay below one
RIPPLE = 0.01  # of L₀: the loss comes back to several times that in the paper's panel (b)


class FigS4(LinearExperiment):
    """The gradient explodes where an eigenvalue of W crosses one: who survives it."""

    id, figure, version = "connectivity/figs4", "Figure S4", 3
    published = dict(seed=range(1))
    finding = Finding(
        "At the larger target with the stronger connectivity {failed|holds|.0%} of the networks "
        "fail, where with the weaker one {learned|holds|.0%} learn.",
        "All that diverge have had an eigenvalue of W cross one: {diverge|satisfied|holds} of "
        "{diverge|samples} seeds of which a network diverges.",
        "With the weaker connectivity {ripple|holds|.0%} end in an oscillation about the target.",
        failed="failed, ẑ = 4, g = 0.8",
        learned="learned, ẑ = 4, g = 0.6",
        diverge="divergence needs a crossing",
        ripple="oscillation, ẑ = 4, g = 0.6",
    )
    unspecific = {
        "learned, *": "networks fail in one of the four settings; that they learn in the others "
        "is true of any three, and that they fail there is a claim of its own",
        "divergence needs a crossing": "fate and crossing of a network change places together; "
        "networks that do not diverge are not in it",
    }

    target: tuple[float, ...] = (2.0, 4.0)
    g: tuple[float, ...] = (0.6, 0.8)
    seed: tuple[int, ...] = tuple(range(24))
    width: int = fixed(256, "number N of units", low=16, high=8192)
    batch_by = ("target", "g")
    duration: int = fixed(201, "length T of a trial", low=10, high=10_000)
    rate: float = fixed(0.004, "η₀ẑ: the rate is this times (1 − g²)²/ẑ", low=1e-6, high=1.0)

    presets = {
        "smoke": dict(width=48, target=4.0, g=(0.0, 0.8), epochs=120, duration=101, seed=range(3)),
        "quick": dict(width=96, seed=range(40)),  # few networks cross one
        "paper": {},
    }

    def variables(self) -> dict[str, Variable]:
        return {
            "fate": Variable("smooth, recovered, stuck or diverged", dtype="str"),
            "loss": Variable("loss / initial loss", "step"),
            "gradient": Variable("norm of the gradient / initial norm", "step"),
            "real_parts": Variable("largest real parts of W's eigenvalues", "step", "mode"),
            "crossing": Variable("first epoch with a real eigenvalue above one"),
            "peak": Variable("epoch of the largest finite gradient"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {"step": np.arange(self.epochs + 1), "mode": np.arange(1, SHOWN + 1)}

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        target, g = batch.one("target"), batch.one("g")
        rate = self.rate / target * (1 - g**2) ** 2
        rows = []
        for seed in batch.values("seed"):
            network = LinearNetwork.random(self.width, g, seed=seed).astype(np.float32)
            trial = SimulatedTrial(network, target, steps=2 * self.duration)
            with np.errstate(over="ignore", invalid="ignore"):  # what may happen is an outcome
                run = gradient_descent(trial, rate, self.epochs, lost=np.inf, watch=lambda t: t.W)
                # The gradient has its pole where det(I − W) changes its sign.
                signs = [np.linalg.slogdet(np.eye(self.width) - W)[0] for W in run.watched]
            beyond = np.flatnonzero(np.array(signs) < 0)
            leading = np.full((self.epochs + 1, SHOWN), np.nan)
            for epoch in range(0, len(run.watched), 1 if beyond.size else LOOK):
                leading[epoch] = leading_real_parts(run.watched[epoch], SHOWN)
            fate = self.fate(run)
            row = {
                "outcome": {"diverged": "diverged", "stuck": "stopped"}.get(fate, "converged"),
                "fate": fate,
                "loss": run.losses / run.losses[0],
                "gradient": run.gradients / run.gradients[0],
                "real_parts": leading,
                "crossing": float(beyond[0]) if beyond.size else np.inf,
                "peak": float(-1 if np.isnan(run.gradients).all() else np.nanargmax(run.gradients)),
            }
            rows.append(row)
        return stacked(rows)

    def fate(self, run: DescentCurve) -> str:
        """What became of a network; the figure's caption says what the words mean."""
        if run.diverged:
            return "diverged"
        losses = run.losses / run.losses[0]
        if not np.median(losses[-LAST:]) <= self.fraction:
            return "stuck"
        return "recovered" if np.diff(losses).max() > JUMP else "smooth"

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S4")
        for name, cell in self.settings(runs):
            learned = cell["fate"].isin(["smooth", "recovered"])
            setting = float(cell["target"]), float(cell["g"])
            claim.fraction(
                f"failed, {name}" if setting == HARD else f"learned, {name}",
                ~learned if setting == HARD else learned,
                at_least=0.5,
                place="Figure S4(a), (b)",
                says=f"For {name}, half of the networks or more have "
                f"{'diverged or are stuck' if setting == HARD else 'learned'} after {self.epochs} "
                f"epochs{', for whatever reason' if setting == HARD else ''}.",
            )
            if setting == HARD:
                jumps = cell["loss"].diff("step").max("step") > JUMP
                claim.fraction(
                    f"thrown off, {name}",
                    (jumps | (cell["fate"] == "diverged")).where(~learned),
                    at_least=0.5,
                    place="Figure S4(b)",
                    says=f"For {name}, most networks that fail were thrown off: they diverged, or "
                    f"their loss jumped by more than {JUMP:g} of L₀ in an epoch. The others are "
                    "slow.",
                )
            if setting == OSCILLATES:
                claim.fraction(
                    f"oscillation, {name}",
                    learned & (cell["loss"].isel(step=slice(-LAST, None)).max("step") >= RIPPLE),
                    at_least=0.1,
                    place="Figure S4(b)",
                    says=f"For {name}, learning ends in an oscillation about the target, as in the "
                    f"network shown there: in the last {LAST} epochs, the loss of "
                    f"{{bound:.0%}} of the networks or more comes back to {RIPPLE:.0%} of L₀, "
                    "though they have learned.",
                )
        crossed, diverged = runs["crossing"] < np.inf, runs["fate"] == "diverged"
        within = ["target", "g"]
        claim.median(
            "divergence needs a crossing",
            crossed.where(diverged).mean(within),
            at_least=1.0,
            says="In a seed's networks that diverge, an eigenvalue of W has crossed one before, in "
            "all of them: the median over the seeds of which a network diverges.",
        )
        claim.median(
            "explosion at the crossing",
            abs(runs["peak"] - runs["crossing"]).where(crossed).median(within),
            at_most=2,
            says="In networks with a crossing, the gradient is largest within {bound} epochs of "
            "it: the median over the seeds of which a network has one.",
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        ends = [runs.sel(target=max(self.target), g=g) for g in (min(self.g), max(self.g))]
        return Figure(
            "A large target and a strong start throw a linear network off its way",
            [
                *(_loss_panel(each) for each in ends),
                self._share_panel(runs),
                *(_eigenvalue_panel(each) for each in ends),
                _crossing_panel(runs),
            ],
            main=2,
            caption=f"N = {self.width}, T = {self.duration}, plain gradient descent on W in single "
            f"precision, η = {self.rate:g}(1 − g²)²/ẑ, {len(self.seed)} seeds. Diverged: beyond "
            "the range of the numbers. Stuck: the loss of the last epochs is above "
            f"{self.fraction:.0%} of the initial one; {self._slow(runs)}. Recovered: learned after "
            "a jump of the loss. Smooth: learned without one.",
        )

    def _slow(self, runs: xarray.Dataset) -> str:
        """How many of the networks that are stuck were never thrown off, in words."""
        stuck = runs["fate"] == "stuck"
        slow = stuck & (runs["loss"].diff("step").max("step") <= JUMP)
        return f"{slow.sum().item()} of these {stuck.sum().item()} never jumped and are slow"

    def draw_paper(self, runs: xarray.Dataset) -> Figure:
        """One network a setting: the losses of each target, and all eigenvalues."""
        y = Axis("loss / initial loss", scale="log", limits=(1e-6, None))
        loss, curves = runs["loss"].isel(seed=0), dict[float, list[Mark]]()
        for z in self.target:
            curves[z] = [
                Line(runs["step"], loss.sel(target=z, g=g), label=f"g = {g:g}", colour=colour)
                for colour, g in enumerate(self.g)
            ]
        losses = [Panel(f"loss, ẑ = {z:g}", Axis("epoch"), y, each) for z, each in curves.items()]
        eigenvalues = [
            _eigenvalue_panel(runs.sel(target=z, g=g)) for g in self.g for z in self.target
        ]
        return Figure("", [*losses, *eigenvalues], columns=len(self.target))

    def _share_panel(self, runs: xarray.Dataset) -> Panel:
        """The share of each fate, with its interval, at every target and strength."""
        settings = [(target, g) for target in self.target for g in self.g]
        marks: list[Mark] = []
        for shift, (fate, colour) in enumerate(FATES.items()):
            found = [(runs["fate"].sel(target=z, g=g) == fate).values for z, g in settings]
            xs = np.arange(len(settings)) + 0.16 * (shift - 1.5)
            for x, each in zip(xs, found, strict=True):
                interval = fraction_interval(int(each.sum()), each.size, confidence=0.95)
                marks.append(Line([x, x], interval, colour=colour, width=1.2, opacity=0.6))
            marks.append(Points(xs, np.mean(found, axis=1), label=fate, colour=colour, size=6.0))
        words = "{:g}, {:g}" if len(settings) > 4 else "ẑ={:g}, g={:g}"
        return Panel(
            "what became of the networks",
            Axis("ẑ, g", ticks={float(k): words.format(*each) for k, each in enumerate(settings)}),
            Axis("share of the networks", limits=(-0.02, 1.02)),
            marks,
            note="bars: 95% intervals",
        )


def _loss_panel(runs: xarray.Dataset) -> Panel:
    fates, epochs = runs["fate"].values, runs["step"].values
    losses = runs["loss"].transpose("seed", "step").values
    marks: list[Mark] = []
    for fate, colour in FATES.items():
        chosen = losses[fates == fate]
        label = f"{fate} ({len(chosen)} of {len(fates)})"
        for curve in chosen:
            marks.append(Line(epochs, curve, label=label, colour=colour, width=1.2, opacity=0.7))
        if fate == "diverged":
            last = np.isfinite(chosen).sum(axis=1) - 1
            heights = chosen[np.arange(len(chosen)), last]
            marks.append(Points(last, heights, colour=colour, marker="x", size=6.0))
    return Panel(
        f"loss, ẑ = {runs['target']:g}, g = {runs['g']:g}",
        Axis("epoch"),
        Axis("loss / initial loss", scale="log", limits=(1e-6, None)),
        marks,
        note="crosses: the last finite loss" if (fates == "diverged").any() else None,
    )


def _eigenvalue_panel(runs: xarray.Dataset) -> Panel:
    """Leading real parts of one network, the first that diverged if there is one."""
    run = runs.isel(seed=int(np.argmax(runs["fate"].values == "diverged")))
    marks: list[Mark] = [HorizontalRule(1.0, label="one")]
    for mode, (name, shade) in enumerate(zip(SUBSCRIPTS, Shade.family(SHOWN), strict=True)):
        curve = run["real_parts"].isel(mode=mode).dropna("step")
        marks.append(Line(curve["step"], curve, label=f"λ{name}", colour=shade))
    ours: list[Mark] = []
    if np.isfinite(run["crossing"]):
        ours.append(VerticalRule(run["crossing"], label="crossing", style="dotted"))
    title = f"eigenvalues, ẑ = {run['target']:g}, g = {run['g']:g}"
    axes, note = (Axis("epoch"), Axis("real part")), f"one network ({run['fate'].item()})"
    return Panel(title, *axes, marks, ours=ours, note=note)


def _crossing_panel(runs: xarray.Dataset) -> Panel:
    """Gradients from 30 epochs before the one at which an eigenvalue crossed one to 10 after."""
    fates, crossing = (runs[name].values.ravel() for name in ("fate", "crossing"))
    gradients = runs["gradient"].transpose(..., "step").values.reshape(len(fates), -1)
    marks: list[Mark] = [VerticalRule(0.0, label="Re λ₁ crosses 1")]
    for fate, colour in FATES.items():
        chosen = np.flatnonzero((fates == fate) & np.isfinite(crossing))
        label = f"{fate} ({len(chosen)})"
        for row, first in zip(chosen, crossing[chosen].astype(int), strict=True):
            near = np.arange(max(0, first - 30), min(gradients.shape[1], first + 11))
            curve = (near - first, gradients[row, near])
            marks.append(Line(*curve, label=label, colour=colour, width=1.2, opacity=0.7))
    return Panel(
        "gradients of the networks with a crossing",
        Axis("epochs after the crossing"),
        Axis("norm of the gradient / initial norm", scale="log"),
        marks,
        note=f"{int(np.isfinite(crossing).sum())} of {len(crossing)} networks, all targets and g",
    )
