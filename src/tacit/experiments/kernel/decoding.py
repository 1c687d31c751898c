"""Decoding movement from a recording by three models: what fig4 and table1 share."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

from tacit.data import (
    M1_FLINT,
    S1_CHOWDHURY,
    DataMissingError,
    Recording,
    motor_cortex,
    read_recording,
    somatosensory_cortex,
    synthetic_recording,
)
from tacit.descent import DescentResult, Lanes, Stop, descend
from tacit.experiments import Batch, UsageError, Variable, fixed, swept
from tacit.experiments.kernel.wide import WideExperiment
from tacit.models import ScaledConv
from tacit.problems import SequenceBatches, filter_sequences
from tacit.theory.kernel import lag_weights

MODELS = {"rnn": "linear RNN", "scaled": "scaled convolution", "plain": "plain convolution"}
COLOURS = {name: place for place, name in enumerate(MODELS)}
DIRECTIONS = ("x", "y")
PORTIONS = {
    "whole": "all training data",
    "minutes": "4.5 minutes",
    "share": "the paper's share, 9%",
}
MINUTES = 4.5
PAPER_SHARE = 0.09  # 4.5 of 51 minutes
PAPERS = "s1"  # the recording of the paper
RECORDINGS: dict[str, tuple[str, Callable[[], Recording]]] = {
    "synthetic": (
        "a synthetic recording (52 Poisson neurons tuned to a smooth random velocity, 51 minutes)",
        synthetic_recording,
    ),
    "m1": (f"13 minutes of motor cortex, M1 ({M1_FLINT.credit})", motor_cortex),
    PAPERS: (f"the paper's recording of S1 ({S1_CHOWDHURY.credit})", somatosensory_cortex),
}
SOURCES = {"m1": M1_FLINT, PAPERS: S1_CHOWDHURY}
FILES = (".npz", ".csv")


class DecodingExperiment(WideExperiment):
    """A linear RNN, a scaled and a plain convolution that decode velocity from activity.

    Seed s holds out block s of the recording for tests (from `blocks` on they come again), with a
    start and batches of its own: the spread over seeds is that of data and of starts. The defaults
    are the paper's where it says.
    """

    recording: tuple[str, ...] = swept(
        ("synthetic",), "what is decoded: synthetic, m1, s1, or a file (.npz, .csv)"
    )
    portion: tuple[str, ...] = swept(
        tuple(PORTIONS), "how much of the data is for training", choices=tuple(PORTIONS)
    )
    seed: tuple[int, ...] = swept(range(20), "seed of start, batches and test block", low=0)
    blocks: int = fixed(20, "equal stretches, one of them for tests", low=2, high=1000)
    width: int = fixed(1000, "hidden units n of the RNN", low=2, high=10_000)
    steps: tuple[int, ...] = fixed(
        (0, 3, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 1000),
        "gradient steps at which the models are looked at",
        low=0,
        high=10**7,
    )
    length: int = fixed(15, "time steps T of a sequence", low=1, high=200, units="bins")
    batch: int = fixed(128, "sequences a step", low=1, high=100_000)
    nu_w: float = fixed(0.3, "variance ν_W of the RNN", low=0.0, high=1.0)
    rate: float = 5e-5

    version = 2
    published = dict(portion=("whole", "minutes"), seed=range(1))
    batch_by = ("recording", "portion")
    chunk = {"seed": 4}

    @property
    def depends_on(self) -> tuple[str, ...]:  # type: ignore[override]
        """The recordings that any file may be, as far as they are here."""
        own = [name for name in self.recording if name not in RECORDINGS]
        for name in set(self.recording) & SOURCES.keys():
            unchecked = (f for f, checksum in SOURCES[name].files.items() if checksum is None)
            own += [str(SOURCES[name].place() / file) for file in unchecked]
        return tuple(str(Path(file).resolve()) for file in own if Path(file).is_file())

    def check(self) -> None:
        if self.steps[0] != 0 or list(self.steps) != sorted(set(self.steps)):
            raise UsageError(f"steps: received {list(self.steps)}, they must increase from 0")
        for name in self.recording:
            if name not in RECORDINGS and not name.endswith(FILES):
                raise UsageError(
                    f"recording: received {name!r}, allowed is {', '.join(RECORDINGS)}, or a file "
                    f"that ends in {' or '.join(FILES)}"
                )

    def missing(self) -> str | None:
        for name in self.recording:
            if name in SOURCES and (sentence := SOURCES[name].missing()) is not None:
                return f"{sentence} (recording=synthetic needs no data)"
            if name not in RECORDINGS:
                try:
                    self.sequences(self.read(name))
                except (DataMissingError, UsageError) as error:
                    return str(error)
        return None

    def read(self, name: str) -> Recording:
        """The recording of this name."""
        return RECORDINGS[name][1]() if name in RECORDINGS else read_recording(name)

    def variables(self) -> dict[str, Variable]:
        dims = ("model", "step", "direction")
        return {
            "r2": Variable("R² on the test sequences", *dims),
            "train_r2": Variable("R² on the training sequences", *dims),
            "train_sequences": Variable("training sequences", dtype="int64"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"model": tuple(MODELS), "step": self.steps, "direction": DIRECTIONS}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        """One portion of a recording: three models from one start, on the same batches."""
        x, y, seconds = self.sequences(self.read(batch.one("recording")))
        seeds = batch.column("seed")
        splits = [self.split(len(x), seconds, batch.one("portion"), int(seed)) for seed in seeds]
        keys = Lanes(jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(6), seed))(seeds))
        # The velocity is brought to mean zero and variance one using the training data.
        outputs = [(y - y[t].mean(axis=(0, 1))) / y[t].std(axis=(0, 1)) for t, _ in splits]
        problems = Lanes.stack(
            [
                SequenceBatches.of(x[train], out[train], size=self.batch)
                for (train, _), out in zip(splits, outputs, strict=True)
            ]
        )

        def train(models: Lanes[Any], words: str) -> DescentResult:
            return descend(
                models,
                problems,
                optax.sgd(1.0),
                rate=self.step,
                key=keys,
                stop=Stop(self.steps[-1]),
                record=self.record(self.steps),
                title=f"{batch.label}, {words}",
            )

        sizes = dict(inputs=x.shape[2], outputs=y.shape[2])
        rnn = self.students(seeds, self.width, nu_w=self.nu_w, salt=5, **sizes)
        results = [train(rnn, "RNN")]
        for weights in (lag_weights(self.length, nu_w=self.nu_w), np.ones(self.length)):
            # The plain convolution starts where the scaled one does, at the RNN's response.
            starts = np.asarray(results[-1].records["response"])[:, 0]
            convolutions = [ScaledConv.from_impulse_response(start, weights) for start in starts]
            results.append(train(Lanes.stack(convolutions), "convolution"))
        responses = np.stack([np.asarray(one.records["response"]) for one in results], axis=1)
        ended = np.stack([one.outcome for one in results])
        lanes = list(zip(responses, splits, outputs, strict=True))
        return {
            # A cell has diverged if one of its three models has.
            "outcome": np.where((ended == "diverged").any(axis=0), "diverged", ended[0]),
            "r2": np.stack([_scores(r, x[test], out[test]) for r, (_, test), out in lanes]),
            "train_r2": np.stack([_scores(r, x[t], out[t]) for r, (t, _), out in lanes]),
            "train_sequences": np.array([len(rows) for rows, _ in splits]),
        }

    def sequences(self, recording: Recording) -> tuple[np.ndarray, np.ndarray, float]:
        """Activity and velocity cut into sequences, in order of time, and a sequence's seconds.

        Every channel has mean zero and variance one over the recording.
        """
        x, z, seconds = recording
        spread = x.std(axis=0)
        x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        count, seconds = len(x) // self.length, seconds * self.length
        for portion in self.portion:
            self.split(count, seconds, portion, 0)
        x, z = (part[: count * self.length].reshape(count, self.length, -1) for part in (x, z))
        return x, z, seconds

    def split(
        self, count: int, seconds: float, portion: str, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The sequences for training and for tests.

        A limited portion is one stretch, as far from the test block on a circle as can be.
        """
        held = count // self.blocks
        order = np.roll(np.arange(count), -held * (seed % self.blocks))
        test, rest = order[:held], order[held:]
        used = {
            "whole": len(rest),
            "minutes": round(60 * MINUTES / seconds),
            "share": round(PAPER_SHARE * count),
        }[portion]
        if held < 1 or not 1 <= used <= len(rest):
            raise UsageError(
                f"recording: it has {count} sequences of {seconds:g} s; {self.blocks} blocks and "
                f"the portion {portion!r} need more (set blocks, length or portion)"
            )
        first = (len(rest) - used) // 2
        return rest[first : first + used], test

    def told(self, name: str) -> str:
        """The recording in words, and how it is used."""
        return RECORDINGS[name][0] if name in RECORDINGS else f"the recording {name}"

    def caption(self) -> str:
        """What every caption says of the data."""
        found = "; ".join(f"{name}: {self.told(name)}" for name in self.recording)
        papers = (
            "" if PAPERS in self.recording else " The paper's recording (S1) is not among them."
        )
        return (
            f"Decoded: {found}.{papers} Each seed holds out one of {self.blocks} blocks for tests "
            "and has a start of its own."
        )


def _scores(responses: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """R² of each output over all sequences and times: (model, step, direction)."""
    spread = np.sum((y - y.mean(axis=(0, 1))) ** 2, axis=(0, 1))
    found = np.empty((*responses.shape[:2], y.shape[2]))
    for place in np.ndindex(found.shape[:2]):
        with np.errstate(over="ignore", invalid="ignore"):
            missed = np.sum((filter_sequences(responses[place], x) - y) ** 2, axis=(0, 1))
        found[place] = np.where(np.isnan(missed), -np.inf, 1 - missed / spread)
    return found
