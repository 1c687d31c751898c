"""What the cells on the tasks do: train rate networks, truncate, shuffle, decompose."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit import measures
from tacit.descent import Lanes, Record, Stop, descend
from tacit.experiments.connectivity._tasks import CHANNELS, LONGEST, POINTS, TaskConfig
from tacit.models import BY_MAPS, BY_VECTORS, RateRNN
from tacit.problems import FlipFlop, Mante, Romo, Task, TaskLoss, Trials
from tacit.sweep import Batch

_SMOOTH = 5  # epochs


def the_task(name: str, config: TaskConfig) -> Task:
    """A task by its name in the config."""
    coherences = {"code": Mante().coherences, "text": (1.0,)}[config.coherences]
    return {"flip-flop": FlipFlop(), "mante": Mante(coherences=coherences), "romo": Romo()}[name]


def task_runs(batch: Batch, config: TaskConfig) -> Mapping[str, Any]:
    """Networks on one task, of any strengths and seeds, as lanes of one program.

    Some lose the task again, long after they learned it. Those are looked at where they were best.
    """
    task = the_task(batch.one("task"), config)
    epochs = config.epochs(batch.one("task"))
    keys = [jax.random.split(jax.random.key(int(seed)), 4) for seed in batch.column("seed")]
    kind = {"code": BY_MAPS, "paper": BY_VECTORS}[config.parametrisation]
    starts = [
        RateRNN.random(
            config.width,
            inputs=task.inputs,
            outputs=task.outputs,
            g=float(g),
            dt=task.dt,
            parametrisation=kind,
            key=own[0],
        )
        for g, own in zip(batch.column("g"), keys, strict=True)
    ]
    result = descend(
        Lanes.stack(starts),
        TaskLoss(task, config.batch),
        _adam(),
        stop=Stop(epochs),
        record=Record(_recorded(epochs)),
        key=Lanes(jnp.stack([own[1] for own in keys])),
        rate=config.rate / config.width,
        title=batch.label,
    )
    rows = []
    for lane, start in enumerate(starts):
        last, best = (
            jax.tree.map(lambda leaf, lane=lane: leaf[lane], model.tree)
            for model in (result.model, result.best)
        )
        seen = np.asarray(result.records["loss"][lane], np.float64)
        losses = np.interp(np.arange(epochs + 1), result.record_steps, seen)
        trials = task.sample(keys[lane][2], config.trials)
        ended = float(_loss(last, trials)) / float(_loss(start, trials))
        kept = ended <= config.fraction
        trained = last if kept else best
        row = _looked_at(start, trained, trials, int(batch.column("seed")[lane]), config)
        needed = measures.epochs_to_fraction(losses, fraction=config.fraction)
        diverged = result.outcome[lane] == "diverged"
        words = "converged" if np.isfinite(needed) else "stopped"
        rows.append(
            {
                **row,
                **_one_trial(trained, task, keys[lane][3]),
                **_curve(losses),
                "outcome": "diverged" if diverged else words,
                "epochs_needed": needed,
                "epochs_first": measures.epochs_to_fraction(
                    losses, fraction=config.fraction, sustained=1
                ),
                "final_loss": ended,
                "iterate": "last" if kept else "best",
            }
        )
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def _recorded(epochs: int) -> list[int]:
    """Epochs at which the loss is noted: dense at first, where strong connectivity is quick.

    Each costs an evaluation beside the training step; between them the loss is interpolated.
    """
    dense, wide = np.arange(0, min(epochs, 200) + 1, 2), np.arange(210, epochs + 1, 10)
    return sorted({*dense.tolist(), *wide.tolist(), epochs})


@functools.cache
def _adam() -> optax.GradientTransformation:
    return optax.adam(1.0)


@eqx.filter_jit
def _loss(model: RateRNN, trials: Trials) -> jax.Array:
    return trials.loss(model.run(trials.inputs))


def _looked_at(
    start: RateRNN, trained: RateRNN, trials: Trials, seed: int, config: TaskConfig
) -> dict[str, Any]:
    """Spectra, truncations and the control, on one fixed batch of trials."""
    before, after = (np.asarray(model.W, np.float64) for model in (start, trained))
    width, shown = config.width, min(config.shown, config.width)
    initial = float(_loss(start, trials))

    def loss(matrix: np.ndarray) -> float:
        changed = eqx.tree_at(lambda m: m.W, trained, jnp.asarray(matrix, jnp.float32))
        return float(_loss(changed, trials))

    if not np.isfinite(after).all():
        nothing = np.full(width, np.nan + 0j)
        return {
            "initial_loss": initial,
            **dict.fromkeys(
                ("looked_loss", "change_norm", "weight_norm", "shuffled_loss", "rank_text",
                 "rank_code"), np.nan
            ),
            "change_singular": nothing[:shown].real,
            "final_singular": nothing[:shown].real,
            "change_eigenvalues": nothing,
            "final_eigenvalues": nothing,
            "truncated_loss": np.full(min(config.ranks, width) + 1, np.nan),
        }  # fmt: skip
    change = after - before
    truncated = measures.truncation_losses(loss, before, after, range(min(config.ranks, width) + 1))
    ranks = (
        measures.functional_rank(truncated, initial=initial, fraction=config.fraction),
        measures.functional_rank(truncated, fraction=config.fraction),
    )
    return {
        "initial_loss": initial,
        "looked_loss": loss(after) / initial,
        "change_norm": np.linalg.norm(change),
        "weight_norm": np.linalg.norm(after),
        "change_singular": measures.singular_values(change)[:shown],
        "final_singular": measures.singular_values(after)[:shown],
        "change_eigenvalues": measures.eigenvalues(change),
        "final_eigenvalues": measures.eigenvalues(after),
        "truncated_loss": truncated / initial,
        "shuffled_loss": loss(np.asarray(measures.shuffled(before, seed=seed)) + change) / initial,
        "rank_text": np.inf if ranks[0] is None else ranks[0],
        "rank_code": np.inf if ranks[1] is None else ranks[1],
    }


def _curve(losses: np.ndarray) -> dict[str, np.ndarray]:
    """The loss at evenly spaced epochs, smoothed as `epochs_to_fraction` does."""
    weights = np.ones(min(_SMOOTH, losses.size))
    counts = np.convolve(np.ones(losses.size), weights, "same")
    smooth = np.convolve(losses, weights, "same") / counts / losses[0]
    places = np.linspace(0, losses.size - 1, POINTS + 1)
    return {"epoch": places, "loss": np.interp(places, np.arange(losses.size), smooth)}


def _one_trial(trained: RateRNN, task: Task, key: jax.Array) -> dict[str, np.ndarray]:
    """One fresh trial, padded to a common shape with NaN."""
    trials = task.sample(key, 1)
    outputs = trained.run(trials.inputs)
    judged = np.where(
        np.asarray(trials.mask)[0, :, None] > 0, np.asarray(trials.targets)[0], np.nan
    )
    found = {}
    for name, values in (
        ("trial_inputs", np.asarray(trials.inputs)[0]),
        ("trial_targets", judged),
        ("trial_outputs", np.asarray(outputs)[0]),
    ):
        padded = np.full((LONGEST, CHANNELS), np.nan)
        padded[: values.shape[0], : values.shape[1]] = values
        found[name] = padded
    return found
