"""connectivity, Figure S5: a task that is learned only with initial connectivity.

The comparison: a linear network is to go on as a cosine after one kick, with one vector for input
and output, with and without initial connectivity. Gradient descent adds outer products of
vectors that are there: without W₀ that is one direction, and an oscillation needs two. Ours: any
g > 0 is enough, after a time that grows like ln(1/g), and a largest rate that descent bears.
"""

import equinox as eqx
import jax
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.claims import Finding
from tacit.descent import FirstBelow, Lanes, Record, Stop, descend
from tacit.draw import Axis, Figure, HorizontalRule, Line, Panel, lines, median_lines, range_lines
from tacit.experiments import Batch, Claims, Experiment, Variable, fixed, stacked, swept
from tacit.models import RateRNN, identity
from tacit.problems import Cosine, TaskLoss
from tacit.theory import connectivity

DT, DURATION, PAPER_EPOCHS = 0.1, 20.0, 1000
RATES = {0.0: 0.2, 0.4: 0.15, 0.8: 0.05}  # the paper's, by g; between these straight lines
PUBLISHED = 400  # epochs by which its two curves are below 5%, read off Figure S5(b)


class FigS5(Experiment):
    """An oscillation through one vector: learned only with initial connectivity."""

    id, figure, version = "connectivity/figs5", "Figure S5", 3
    published = dict(g=tuple(RATES), seed=range(1))
    finding = Finding(
        "As in the paper, no network learns without initial connectivity ({none|holds|.0%}), and "
        "with it {some|holds|.0%} do.",
        "Without it the loss ends where a single direction must, to {floor|holds}.",
        "Weak connectivity is enough: it takes longer by ln(1/g) over the instability of the best "
        "such network, to {law|holds|.1%} in the median.",
        none="g = 0: not learned",
        some="g = 0.4: learned",
        floor="g = 0: as well as one direction can",
        law="weak connectivity: ln(1/g)",
    )
    unspecific = {
        "g = *: the rate is small enough": "the largest stable rates of all strengths lie close "
        "together, and above the rates of the paper",
    }

    g: tuple[float, ...] = swept(
        (0.0, 0.001, 0.01, 0.1, 0.4, 0.8), "strength of W₀", low=0.0, high=0.95
    )
    seed: tuple[int, ...] = swept(range(10), "seed of W₀ and w", low=0)
    width: int = fixed(256, "number N of units", low=4, high=4096)
    epochs: int = fixed(4 * PAPER_EPOCHS, "steps of gradient descent", low=40, high=1_000_000)
    periods: float = fixed(2.0, "periods on which the loss counts; 4 are all", low=0.1, high=4.0)
    slower: float = fixed(1.0, "what the paper's rates (0.2, 0.15, 0.05) are divided by", low=0.01)
    frequency: float = fixed(0.2, "frequency f of the cosine", low=0.01, high=2.0)
    fraction: float = fixed(0.05, "of the initial loss: learned", low=1e-6, high=0.9)

    presets = {
        "smoke": dict(width=16, epochs=100, seed=range(2), g=(0.0, 0.8)),
        "quick": dict(width=64, g=(0.0, 0.01, 0.1, 0.4, 0.8), epochs=2200, seed=range(8)),
        "paper": {},
    }
    chunk = {"seed": 5}

    def variables(self) -> dict[str, Variable]:
        return {
            "loss": Variable("loss / initial loss", "step"),
            "epochs_needed": Variable("epochs until the loss is first that low"),
            "leading": Variable("eigenvalue of largest imaginary part", "step", dtype="complex128"),
            "largest_real": Variable("largest real part of W's eigenvalues", "step"),
            "stable_rate": Variable("largest rate that descent bears where it ended"),
            "output": Variable("output of the trained network", "time"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {"step": self.stored_epochs, "time": np.arange(round(DURATION / DT)) * DT}

    @property
    def stored_epochs(self) -> np.ndarray:
        """The epochs whose networks are stored, most of them among the paper's."""
        early = np.linspace(0, min(self.epochs, PAPER_EPOCHS), 41)
        return np.unique(np.concatenate([early, np.linspace(0, self.epochs, 9)]).astype(int))

    def task(self, duration: float = DURATION) -> Cosine:
        """The task; steps on which no loss counts change nothing in training."""
        return Cosine(duration=duration, frequency=self.frequency, periods=self.periods)

    def rates(self, g: float | np.ndarray) -> np.ndarray:
        """The learning rates."""
        return np.asarray(np.interp(g, list(RATES), list(RATES.values()))) / self.slower

    def network(self, g: float, seed: int) -> RateRNN:
        """A linear network whose input vector is its output vector."""
        key = jax.random.key(seed)
        network = RateRNN.random(self.width, g=g, dt=DT, nonlinearity=identity, key=key)
        # W_i = √N m has entries of order 1, and W_o = w/√N of order 1/N.
        return eqx.tree_at(lambda model: model.outputs, network, network.inputs.T / self.width)

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        steps, shown = self.task().counted, min(self.epochs, PAPER_EPOCHS)
        starts = [self.network(cell["g"], cell["seed"]) for cell in batch.cells]
        result = descend(
            Lanes.stack(starts),
            TaskLoss(self.task(steps * DT), 1, train_maps=False),
            FirstBelow(optax.sgd(1.0), fraction=self.fraction),
            stop=Stop(self.epochs),
            record=Record(self.stored_epochs.tolist(), {"W": _connectivity}),
            key=jax.random.key(0),  # nothing is random in the task
            rate=self.rates(batch.column("g")),
            title=batch.label,
        )
        trials = self.task().sample(jax.random.key(0), 1)
        rows: list[dict[str, ArrayLike]] = []
        for lane, start in enumerate(starts):
            losses = np.asarray(result.records["loss"][lane], np.float64)
            W, needed = result.records["W"][lane], result.records["first_below"][lane, -1]
            spectra = [_spectrum(each) for each in W]
            w = np.asarray(start.inputs[:, 0], np.float64) / np.sqrt(self.width)
            then = eqx.tree_at(lambda m: m.W, start, W[list(self.stored_epochs).index(shown)])
            finite = result.outcome[lane] != "diverged"
            stable = connectivity.largest_stable_rate(W[-1], w, steps=steps) if finite else np.nan
            ended = "converged" if np.isfinite(needed) else "stopped"
            rows.append({
                "outcome": ended if finite else "diverged",
                "loss": losses / losses[0],
                "epochs_needed": needed,
                "leading": [values[np.argmax(values.imag)] for values in spectra],
                "largest_real": [values.real.max() for values in spectra],
                "stable_rate": stable,
                "output": then.run(trials.inputs)[0, :, 0],
            })  # fmt: skip
        return stacked(rows)

    @property
    def theory(self) -> connectivity.OneVector:
        """What one direction can do, and how fast weak connectivity leaves it."""
        return connectivity.one_vector(frequency=self.frequency, steps=self.task().counted)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("ours")
        if (self.periods, self.slower, self.frequency, self.fraction) == (2, 1, 0.2, 0.05):
            claim.extend(self._as_published(runs))
        if 0 in self.g:
            floor = self.theory.loss
            claim.median(
                "g = 0: as well as one direction can",
                abs(runs["loss"].sel(g=0.0).isel(step=-1) / floor - 1), at_most=0.001,
                says="Without initial connectivity W stays a multiple of wwᵀ, and the output a "
                f"power: the loss ends at the lowest of these, {floor:.4f} of the initial one, to "
                "a thousandth in the median network.",
            )  # fmt: skip
        weak = sorted(g for g in self.g if 0 < g <= 0.1)[:2]
        if len(weak) == 2:
            less, more = (self.rates(g) * runs["epochs_needed"].sel(g=g, drop=True) for g in weak)
            predicted = np.log(weak[1] / weak[0]) / self.theory.growth
            claim.median(
                "weak connectivity: ln(1/g)", abs((less - more) / predicted - 1), at_most=0.1,
                says="Any g > 0 learns, later by ln(1/g)/κ in rate × epochs: from g = "
                f"{weak[1]:g} to {weak[0]:g} by {predicted:.0f}, to a tenth in the median "
                "network. κ is the instability of the best network of one direction.",
            )  # fmt: skip
        for g in (g for g in self.g if g in RATES and g > 0):
            claim.median(
                f"g = {g:g}: the rate is small enough",
                float(self.rates(g)) / self.counted(runs, "stable_rate").sel(g=g), at_most=1.0,
                says=f"With g = {g:g}, the rate is below 2/λ, the largest that descent bears "
                "where it ended; λ is the largest eigenvalue of the Hessian there.",
            )  # fmt: skip
        return claim

    def _as_published(self, runs: xarray.Dataset) -> Claims:
        """What the paper says of its three strengths, at its rates and after its epochs."""
        claim = Claims("Figure S5(a), (b)")
        for g in (g for g in self.g if g in RATES):
            here, name = runs.sel(g=g), f"g = {g:g}"
            learned = here["epochs_needed"] <= PAPER_EPOCHS
            which = f"With g = {g:g}, within {PAPER_EPOCHS} epochs"
            if g == 0:
                claim.fraction(f"{name}: not learned", learned, at_most=0.5,
                               says=f"{which}, learning fails in most networks.")  # fmt: skip
                continue
            claim.fraction(f"{name}: learned", learned, at_least=0.5,
                           says=f"{which}, most networks learn: their loss falls below 5% of the "
                           "initial one.")  # fmt: skip
            if self.width == 256:
                claim.median(
                    f"{name}: when", abs(here["epochs_needed"] / PUBLISHED - 1), at_most=0.25,
                    says=f"With g = {g:g}, the loss is below 5% from about epoch {PUBLISHED} on, "
                    "as read off the figure: to a quarter in the median network.",
                )  # fmt: skip
            if self.epochs < PAPER_EPOCHS:
                continue
            end = here["leading"].sel(step=PAPER_EPOCHS)
            claim.median(
                f"{name}: eigenvalue", abs(end - self.theory.marginal).where(learned), at_most=0.1,
                place="Figure S5(c), (d)",
                says=f"{which}, a pair of eigenvalues comes to within 0.1 of the one that "
                "oscillates for ever in Euler steps, λ = 1 + (exp(2πif dt) − 1)/dt.",
            )  # fmt: skip
            claim.fraction(
                f"{name}: slightly unstable", (abs(1 + DT * (end - 1)) > 1).where(learned),
                at_least=0.5, place="Figure S5",
                says=f"{which}, most networks that learn find an oscillation that grows.",
            )  # fmt: skip
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        some = runs.sel(g=[g for g in self.g if g in RATES] or list(self.g))
        last = min(self.epochs, PAPER_EPOCHS)
        epoch, strength = Axis("epoch", limits=(0, last)), Axis("g", scale="log")
        target, marginal = np.cos(2 * np.pi * self.frequency * runs["time"]), self.theory.marginal
        learned = (runs["outcome"] == "converged").sum("seed")
        outputs = lines(some["output"].isel(seed=0), "time", by="g", label="g = {g:g}")
        losses = range_lines(some["loss"], "step", by="g", label=lambda g: f"g = {g:g}" + (
            f" ({learned.sel(g=g).item()} of {len(self.seed)})" if len(self.seed) > 1 else ""
        ))  # fmt: skip
        parts = [range_lines(part, "step", by="g", label="g = {g:g}")
                 for part in (some["leading"].imag, some["leading"].real)]  # fmt: skip
        largest = lines(some["largest_real"].median("seed"), "step", by="g", style="dashed",
                        label=lambda g: None)  # fmt: skip
        turn = [HorizontalRule(z, label="of the cosine") for z in (marginal.imag, marginal.real)]
        positive = runs.sel(g=[g for g in sorted(self.g) if g > 0] or list(self.g))
        g, needed = positive["g"], positive["epochs_needed"]
        rates = g.copy(data=self.rates(g.values))
        needed = (rates * needed).where(np.isfinite(needed))
        law = float(needed.isel(g=0).median()) - np.log(g / g[0]) / self.theory.growth
        return Figure(
            "An oscillation through one vector is learned only with initial connectivity",
            [
                Panel(f"output after {last} epochs", Axis("time"), Axis("output", limits=(-2, 2)),
                      [*outputs,
                       Line(runs["time"], target, label="target", colour="ink", style="dashed")]),
                Panel("loss", epoch, Axis("loss / initial loss", limits=(0, 1.1)), losses),
                Panel("imaginary part of λ", epoch, Axis("imaginary part"), [*parts[0], turn[0]]),
                Panel("real part of λ (dashed: the largest)", epoch, Axis("real part"),
                      [*parts[1], *largest, turn[1]]),
            ],
            ours=[
                Panel("ours: any g > 0 learns", strength,
                      Axis("rate × epochs to 5%", limits=(0, None)),
                      [*median_lines(needed, "g", label="networks"),
                       Line(g, law, label="slope 1/κ", colour="ink", style="dashed")]),
                Panel("ours: how fast one may go", strength, Axis("rate", limits=(0, None)),
                      [*median_lines(positive["stable_rate"].where(np.isfinite(needed)), "g",
                                     label="largest stable"),
                       Line(g, rates, label="used", colour="ink", style="dashed")]),
            ],
            columns=3,
            caption=f"N = {self.width}, linear units, dt = {DT:g}, plain gradient descent on W, "
            f"the loss on the first {self.periods:g} periods, {len(self.seed)} seeds: median and "
            f"range; in brackets how many fell below {self.fraction:.0%} of the initial loss in "
            f"{self.epochs} epochs. λ: the eigenvalue with the largest imaginary part. Outputs: "
            "the first seed.",
        )  # fmt: skip


def _connectivity(model: RateRNN) -> jax.Array:
    return model.W


def _spectrum(W: np.ndarray) -> np.ndarray:
    return measures.eigenvalues(W) if np.isfinite(W).all() else np.full(len(W), np.nan + 0j)
