"""What the figures on the three tasks share: rate networks are trained, truncated and shuffled."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.descent import FirstBelow, Lanes, Record, Stop, descend
from tacit.experiments import Batch, Experiment, Grid, Variable, accelerated, fixed, stacked, swept
from tacit.experiments.connectivity.change import change_measured, loss, spectra
from tacit.experiments.connectivity.threads import in_threads
from tacit.models import BY_MAPS, BY_VECTORS, RateRNN
from tacit.problems import FlipFlop, Mante, Romo, Task, TaskLoss, Trials

EPOCHS = {"flip-flop": 1000, "mante": 2000, "romo": 6000}
"""The paper's number of epochs for each task."""
NEEDED = {
    ("flip-flop", 0.0): 105, ("flip-flop", 0.9): 42, ("flip-flop", 1.8): 185,
    ("mante", 0.0): 360, ("mante", 0.9): 50, ("mante", 1.8): 57,
    ("romo", 0.0): 2900, ("romo", 0.9): 320, ("romo", 1.8): 65,
}  # fmt: skip
"""Published epochs to 5% at N = 256: read off Figure 2(a), for Romo at g = 0 off Figure S1(c)."""
POINTS, DURATION, CHANNELS = 200, 100.0, 4  # of a stored curve; of a stored trial
_SMOOTH = 5  # epochs


class TaskExperiment(Experiment):
    """Rate networks trained on the tasks; the defaults are the paper's, but for three more seeds.

    Five seeds decide no claim; seven are the fewest that can.
    """

    task: tuple[str, ...] = swept(tuple(EPOCHS), "what is learned", choices=tuple(EPOCHS))
    width: int = fixed(256, "number N of units", low=4, high=4096)
    g: tuple[float, ...] = swept(
        (0.0, 0.9), "strength of the initial connectivity", low=0.0, high=3.0
    )
    seed: tuple[int, ...] = swept(range(8), "seed of network and trials", low=0)
    effort: float = fixed(
        1.0, "epochs, relative to the paper's 1000, 2000 and 6000", low=0.001, high=100.0
    )
    trials: int = fixed(512, "trials of the fixed batch that truncation is judged on", low=1)
    ranks: int = fixed(25, "the largest rank at which ΔW is truncated", low=1, high=200)
    method: str = fixed("adam", "optimiser", choices=("adam", "sgd"))
    trained: str = fixed("all", "W and the maps (all), or W alone", choices=("all", "W"))
    dt: float = fixed(0.5, "length of an Euler step", low=0.05, high=1.0)

    at_once = 3  # a task trains while another compiles and a third is measured

    # Parameters of `WeightsExperiment`; an experiment without them trains with the same values.
    rate, batch, shown, fraction, coherences, parametrisation = 0.05, 32, 40, 0.05, "code", "code"

    def grid(self) -> Grid:
        """On an accelerator all strengths are one batch; else each is one."""
        by = [name for name in self.batch_by if name != "g" or not accelerated()]
        return Grid(self.axes(), batch_by=tuple(by))

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The networks that learned their task."""
        return runs["outcome"] == "converged"

    def epochs_to_learn(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The paper's: when one batch's loss is first below 5%; infinite where nothing is learned.

        A lucky batch is not enough: the smoothed loss has to stay low for ten epochs, at any time.
        """
        return runs["epochs_raw"].where(self.counts(runs), np.inf)

    def problem(self, task: str) -> Task:
        """A task by its name."""
        coherences = Mante().coherences if self.coherences == "code" else (1.0,)
        if task == "mante":
            return Mante(coherences=coherences, dt=self.dt)
        return FlipFlop(dt=self.dt) if task == "flip-flop" else Romo(dt=self.dt)

    def epochs(self, task: str) -> int:
        """The budget of a task."""
        return max(20, round(self.effort * EPOCHS[task]))

    @property
    def budget(self) -> str:
        """How long a network may learn, in words."""
        return f"{'' if self.effort == 1 else f'{self.effort:g} of '}the paper's epochs"

    def long_enough(self, task: str, g: float) -> bool:
        """Whether networks have twice the published epochs: with fewer many have not learned."""
        return self.epochs(task) >= 2 * NEEDED.get((task, g), np.inf)

    def keys(self, seed: int) -> jax.Array:
        """A network's keys: its start, training, the fixed trials, and the one that is shown."""
        return jax.random.split(jax.random.key(int(seed)), 4)

    def start(self, task: Task, width: int, g: float, key: jax.Array) -> RateRNN:
        """An untrained network."""
        return RateRNN.random(
            width,
            inputs=task.inputs,
            outputs=task.outputs,
            g=g,
            dt=task.dt,
            parametrisation=BY_MAPS if self.parametrisation == "code" else BY_VECTORS,
            key=key,
        )

    def networks(self, batch: Batch, width: int) -> dict[str, np.ndarray]:
        """Train networks on one task, of any strengths and seeds, as lanes of one program.

        Some lose the task again, long after they learned it. Their best iterates are measured.
        """
        task, epochs = self.problem(batch.one("task")), self.epochs(batch.one("task"))
        keys = [self.keys(seed) for seed in batch.column("seed")]
        starts = [
            self.start(task, width, float(g), key[0])
            for g, key in zip(batch.column("g"), keys, strict=True)
        ]
        result = descend(
            Lanes.stack(starts),
            TaskLoss(task, self.batch, train_maps=self.trained == "all"),
            FirstBelow(getattr(optax, self.method)(1.0), fraction=self.fraction),
            stop=Stop(epochs),
            record=Record(_recorded(epochs)),
            key=Lanes(jnp.stack([key[1] for key in keys])),
            rate=self.rate / width,
            title=batch.label,
        )
        # Random numbers are drawn here: JAX's settings of this thread do not hold in others.
        fixed_trials = [task.sample(key[2], self.trials) for key in keys]
        shown_trials = [self.longer(task).sample(key[3], 64) for key in keys]
        eigenvalues = "change_eigenvalues" in self.variables()

        def measured(lane: int) -> dict[str, ArrayLike]:
            start, trials = starts[lane], fixed_trials[lane]
            seen = np.asarray(result.records["loss"][lane], np.float64)
            losses = np.interp(np.arange(epochs + 1), result.record_steps, seen)
            first, needed = (
                measures.epochs_to_fraction(losses, fraction=self.fraction, sustained=count)
                for count in (1, 10)
            )
            last = result.model[lane]
            ended = float(loss(last, trials)) / float(loss(start, trials))
            kept = ended <= self.fraction
            trained = last if kept else result.best[lane]
            arrived = "converged" if np.isfinite(needed) else "stopped"
            diverged = result.outcome[lane] == "diverged"
            return {
                **change_measured(
                    start,
                    trained,
                    trials,
                    seed=int(batch.column("seed")[lane]),
                    ranks=self.ranks,
                    fraction=self.fraction,
                ),
                **spectra(start, trained, shown=self.shown, eigenvalues=eigenvalues),
                **self.one_trial(trained, shown_trials[lane]),
                **smoothed_curve(losses),
                "outcome": "diverged" if diverged else arrived,
                "epochs_needed": needed,
                "epochs_first": first,
                "epochs_raw": result.records["first_below"][lane, -1],
                "final_loss": ended,
                "iterate": "last" if kept else "best",
            }

        return stacked(in_threads(measured, range(len(starts))))

    def longer(self, task: Task) -> Task:
        """The task of the trial that is shown: a flip-flop's is twice as long as in training.

        So it is in the paper's Figure 1.
        """
        return FlipFlop(dt=task.dt, duration=DURATION) if isinstance(task, FlipFlop) else task

    def one_trial(self, trained: RateRNN, trials: Trials) -> dict[str, np.ndarray]:
        """The most telling of some fresh trials, padded to a common shape with NaN.

        It has the most channels and signs among its inputs, and among those the widest range of
        signals, so that Mante's two disagree.
        """
        inputs = np.asarray(trials.inputs)
        kinds = ((inputs > 0.3).any(axis=1) + 1.0 * (inputs < -0.3).any(axis=1)).sum(axis=1)
        chosen = int(np.argmax(kinds + np.ptp(inputs[:, :, -2:], axis=(1, 2))))
        judged = np.where(np.asarray(trials.mask)[:, :, None] > 0, trials.targets, np.nan)
        values = {"inputs": trials.inputs, "targets": judged, "outputs": trained.run(trials.inputs)}
        found = {}
        for name, table in values.items():
            trial = np.asarray(table)[chosen]
            room = [(0, round(DURATION / self.dt) - trial.shape[0]), (0, CHANNELS - trial.shape[1])]
            found[f"trial_{name}"] = np.pad(trial.astype(float), room, constant_values=np.nan)
        return found


class WeightsExperiment(TaskExperiment):
    """Networks of one size: how they learned, and what their connectivity became."""

    version = 4

    rate: float = fixed(0.05, "Adam's learning rate, times N", low=1e-6, high=10.0)
    batch: int = fixed(32, "trials an epoch", low=1, high=4096)
    shown: int = fixed(40, "singular values stored", low=2, high=400)
    fraction: float = fixed(0.05, "of the initial loss: when a task is learned", low=1e-4, high=0.9)
    coherences: str = fixed(
        "code", "Mante's coherences: ±1/8 … ±1 (code) or ±1 (text)", choices=("code", "text")
    )
    parametrisation: str = fixed(
        "code", "what Adam trains: W_i, W_o (code) or m, w (paper)", choices=("code", "paper")
    )

    batch_by = ("task", "g")

    def variables(self) -> dict[str, Variable]:
        return {
            "epoch": Variable("epochs", "step"),
            "loss": Variable("loss on fresh trials, smoothed / initial loss", "step"),
            "initial_loss": Variable("loss before training, fixed trials"),
            "final_loss": Variable("loss after training, fixed trials / initial loss"),
            "iterate": Variable("which iterate is looked at: last, or best", dtype="str"),
            "looked_loss": Variable("its loss, fixed trials / initial loss"),
            "epochs_needed": Variable("epochs until the loss is that low for ten epochs"),
            "epochs_first": Variable("epochs until the loss is first that low, smoothed"),
            "epochs_raw": Variable("epochs until one batch's loss is that low, as in the paper"),
            "change_norm": Variable("Frobenius norm of ΔW"),
            "weight_norm": Variable("Frobenius norm of W"),
            "change_singular": Variable("singular values of ΔW", "singular_value"),
            "final_singular": Variable("singular values of W", "singular_value"),
            "change_eigenvalues": Variable("eigenvalues of ΔW", "unit", dtype="complex128"),
            "final_eigenvalues": Variable("eigenvalues of W", "unit", dtype="complex128"),
            "truncated_loss": Variable("loss with ΔW truncated / initial loss", "rank"),
            "shuffled_loss": Variable("loss with W₀ shuffled / initial loss"),
            "rank_text": Variable("functional rank, relative to the initial loss"),
            "rank_code": Variable("functional rank, relative to the loss at rank 0"),
            "trial_inputs": Variable("inputs of one trial", "time", "channel"),
            "trial_targets": Variable(
                "targets of that trial, where it is judged", "time", "channel"
            ),
            "trial_outputs": Variable("outputs of the trained network", "time", "channel"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {
            "step": np.arange(POINTS + 1),
            "singular_value": np.arange(1, min(self.shown, self.width) + 1),
            "unit": np.arange(self.width),
            "rank": np.arange(min(self.ranks, self.width) + 1),
            "time": np.arange(round(DURATION / self.dt)) * self.dt,
            "channel": np.arange(CHANNELS),
        }

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        return self.networks(batch, self.width)

    def lost_again(self, runs: xarray.Dataset) -> str:
        """How many networks learned their task and lost it again, in a sentence."""
        learned = self.counts(runs).values
        lost = learned & (runs["iterate"].values == "best")
        if not lost.any():
            return ""
        return (
            f" {lost.sum()} of the {learned.sum()} networks that learned lost the task again by "
            "the end and are shown where they were best."
        )

    def epoch_ratios(
        self, runs: xarray.Dataset, task: str, weak: float, strong: float
    ) -> xarray.DataArray:
        """Epochs with strong connectivity over those with weak, seed by seed.

        Zero where only the strong network learned, infinite where it did not.
        """
        needed = self.epochs_to_learn(runs)
        slow, fast = (needed.sel(task=task, g=g, drop=True) for g in (weak, strong))
        ratios = (fast / slow).where(np.isfinite(slow), 0.0)
        return ratios.where(np.isfinite(fast), np.inf)


def _recorded(epochs: int) -> list[int]:
    """Epochs at which the loss is noted: dense at first, where strong connectivity is quick.

    Each costs an evaluation beside the training step; between them the loss is interpolated.
    """
    dense, wide = np.arange(0, min(epochs, 200) + 1, 2), np.arange(210, epochs + 1, 10)
    return sorted({*dense.tolist(), *wide.tolist(), epochs})


def smoothed_curve(losses: np.ndarray) -> dict[str, np.ndarray]:
    """The loss at evenly spaced epochs, smoothed as `epochs_to_fraction` does."""
    weights = np.ones(min(_SMOOTH, losses.size))
    counts = np.convolve(np.ones(losses.size), weights, "same")
    smooth = np.convolve(losses, weights, "same") / counts / losses[0]
    places = np.linspace(0, losses.size - 1, POINTS + 1)
    return {"epoch": places, "loss": np.interp(places, np.arange(losses.size), smooth)}
