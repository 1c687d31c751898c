"""regimes/ssm-measured (ours): a stack on windows of a measured record, shorter than its memory.

The comparison: the stack of regimes/ssm-practice, with the usual recipe and with the map's, learns
a hair dryer and a heat exchanger (DaISy) from windows of 8 samples cut out of their records, each
from states of zero, as sequence models are trained. A quarter of the record is kept for tests on
sequences up to 16 windows. Beside both stand two filters by least squares: one of 8 lags from the
same windows, which says zero beyond them, and one of 32 lags from the record, for what can be had.
The dryer remembers some 20 samples; the exchanger 12, and much of it is noise, so that there is
little to gain. `synthetic` is a system like the dryer, for machines without the data. In a record
a window begins at whatever state the past has left, and a stack at zero. `rest` is the control:
the synthetic system once more, at rest before each window and each test.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.data import DAISY, daisy
from tacit.draw import Figure, Line
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.stacks import BEYOND, RECIPES, TIMES, StackExperiment
from tacit.experiments.regimes.state_space import PLACE
from tacit.problems import CutRecord, cut_record, filter_sequences, with_noise
from tacit.store import Variable

SYSTEMS = {
    "rest": "a synthetic dryer from rest",
    "synthetic": "a synthetic dryer",
    "dryer": "a hair dryer",
    "exchanger": "a heat exchanger",
}
MEASURED = ("dryer", "exchanger")
PAST = (
    "a window begins at a state that the past has left and that the stack is not given: it starts "
    "each from zero. From rest (system=rest) the same stack does several times better. Giving it "
    "the state that it reaches on the inputs before was not tried here"
)
LASTING = (
    "modes of LRU's ring, with |λ| up to 0.999, outlast the window, and what the fit leaves in "
    "them goes on"
)
AT_THE_BOUND = "the median is at the bound, over 400 starts too"
TESTS = 8  # sequences in the quarter for tests
LONG = 4  # windows whose lags the long filter has


class SSMMeasured(StackExperiment):
    """Error of a small stack up to 16 windows of a measured record, by recipe."""

    id, figure = "regimes/ssm-measured", "ours: a measured system beyond its window"
    finding = Finding(
        "Trained from states of zero on windows that were cut out of a record, neither recipe "
        "holds beyond them: a filter of one window's lags has {short|fails} of the error of the "
        "map's recipe on a synthetic system.",
        "On the hair dryer it has {dryer|fails} of it.",
        "From rest the same stack has {past|holds|.1f} times less error. Passing the state from "
        "window to window was not tried.",
        short="synthetic: beyond the window",
        dryer="dryer: beyond the window",
        past="the past is what hurts",
    )

    system: tuple[str, ...] = swept(
        tuple(SYSTEMS), "whose record is learned", choices=tuple(SYSTEMS)
    )
    seed: tuple[int, ...] = tuple(range(280, 320))
    # 16 windows for tests leave pieces for a filter of four windows' lags in 1,000 samples.
    window: int = fixed(8, "steps k of a training window", low=8, high=40)
    windows: int = 128
    layers: int = 1
    steps: int = 3_000

    presets = {
        "smoke": dict(system=("rest", "synthetic"), seed=range(200, 202), steps=40, windows=8),
        "quick": dict(system=("rest", "synthetic"), seed=range(240, 260), steps=1_500),
        "paper": {},
    }
    batch_by = "system"

    def missing(self) -> str | None:
        sentence = DAISY.missing() if set(self.system) & set(MEASURED) else None
        return sentence and f"{sentence} (system=synthetic needs no data)"

    def variables(self) -> dict[str, Variable]:
        return {
            "error": Variable("squared error over the output's variance, by stretch", "times"),
            "short_error": Variable("the same of a filter of one window's lags", "times"),
            "long_error": Variable("the same of a filter of four windows' lags", "times"),
            "train_error": Variable("the same on the training windows"),
        }

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        problems, cuts, system = [], [], batch.one("system")
        for recipe, seed in zip(batch.column("recipe"), batch.column("seed"), strict=True):
            rng = np.random.default_rng([2026, int(seed)])
            inputs, outputs = record(system, rng)
            made = cut_record(
                inputs,
                outputs,
                window=self.window,
                windows=self.windows,
                horizon=TIMES[-1] * self.window,
                tests=TESTS,
                rng=rng,
            )
            made = from_rest(made, rng) if system == "rest" else made
            problems.append(self.problem(str(recipe), int(seed), made.inputs, made.outputs))
            cuts.append(made)
        found = self.trained(problems, [(c.test_inputs, c.test_outputs) for c in cuts], batch.label)
        answers = np.stack([made.test_outputs for made in cuts])
        for name, fit in (("short_error", self._short), ("long_error", self._long)):
            filtered = [filter_sequences(fit(c)[:, None, None], c.test_inputs) for c in cuts]
            found[name] = self.by_stretch(np.stack(filtered)[..., 0], answers)
        return found

    def _short(self, cut: CutRecord) -> np.ndarray:
        """The best filter of k lags on the windows, each from states of zero."""
        return fitted(cut.inputs[..., 0], cut.outputs, self.window)

    def _long(self, cut: CutRecord) -> np.ndarray:
        """The best filter of 4 k lags on the stretches that the windows were cut from."""
        lags = LONG * self.window
        pieces = [(u[:, 0], y) for u, y in cut.pieces if len(y) >= lags]
        rows = [np.lib.stride_tricks.sliding_window_view(u, lags)[:, ::-1] for u, _ in pieces]
        wanted = np.concatenate([y[lags - 1 :] for _, y in pieces])
        return np.linalg.lstsq(np.concatenate(rows), wanted, rcond=None)[0]

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims(PLACE)
        for system in self.system:
            one = runs.sel(system=system, times=TIMES[-1])
            error = self.counted(one, "error").reindex(recipe=list(RECIPES))
            ratio, words = error.sel(recipe="usual") / error.sel(recipe="map"), SYSTEMS[system]
            if system == "exchanger":
                claim.between(
                    f"{system}: the recipe matters little",
                    ratio,
                    at_least=1 / 3,
                    at_most=3,
                    says=f"{BEYOND} of {words}, the two errors are within a factor of 3.",
                )
                continue
            rested = system == "rest"
            claim.median(
                f"{system}: the map's recipe does better",
                ratio,
                at_least=1.5,
                says=f"{BEYOND} of {words}, the usual recipe's error is at least {{bound}} times "
                "that of the map's recipe.",
                fails_because="" if rested else PAST,
                note=AT_THE_BOUND if rested else "",
            )
            claim.median(
                f"{system}: beyond the window",
                one["short_error"].isel(recipe=0) / error.sel(recipe="map"),
                at_least=1.25,
                says=f"{BEYOND} of {words}, the best filter of {self.window} lags on the same "
                "windows has at least {bound} times the error of the map's recipe.",
                fails_because=LASTING if rested else PAST,
            )
        if {"rest", "synthetic"} <= set(self.system):
            mapped = self.counted(runs, "error").sel(times=TIMES[-1]).reindex(recipe=["map"])
            claim.median(
                "the past is what hurts",
                mapped.sel(system="synthetic", recipe="map")
                / mapped.sel(system="rest", recipe="map"),
                at_least=2,
                says=f"{BEYOND} of a synthetic dryer, the map's recipe has at least {{bound}} "
                "times the error when windows are cut out of a record as when they begin at rest.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        error, panels = self.counted(runs, "error"), []
        for system in self.system:
            filters = runs[["short_error", "long_error"]].sel(system=system).isel(recipe=0)
            lines = [
                Line(
                    np.array(TIMES, float),
                    filters[f"{name}_error"].median("seed").values,
                    label=f"filter of {lags} lags",
                    colour="ink",
                    style=style,
                )
                for name, lags, style in (
                    ("short", self.window, "dashed"),
                    ("long", LONG * self.window, "dotted"),
                )
            ]
            panels.append(self.panel(SYSTEMS[system], error.sel(system=system), *lines))
        return Figure(
            "A measured system from windows shorter than its memory, with two recipes",
            panels,
            columns=2,
            caption=f"{self.caption()} Windows begin at states of zero, whatever came before them, "
            "and so do the tests. Filters by least squares: of one window's lags from the same "
            "windows, of four windows' lags from the whole training record.",
            size=(10.8, 1.2 + 3.8 * ((len(panels) + 1) // 2)),
        )


def record(system: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (time, 1) and outputs (time,); the synthetic ones are drawn."""
    if system in MEASURED:
        found = daisy(system)
        return found.inputs, found.outputs[:, 0]
    switched = rng.random(1000) < 0.2
    inputs = np.where(np.cumsum(switched) % 2, 1.0, -1.0)[:, None]
    outputs = filter_sequences(synthetic_response(), inputs[None])[0, :, 0]
    return inputs, with_noise(outputs, decibels=20, rng=rng)


def synthetic_response() -> np.ndarray:
    """Two real modes after a dead time of two samples, (lags, 1, 1)."""
    lags = np.arange(200)
    return np.concatenate([np.zeros(2), 0.8**lags - 0.6**lags])[:, None, None]


def from_rest(cut: CutRecord, rng: np.random.Generator) -> CutRecord:
    """The synthetic system's outputs to the same inputs, from rest at the start of each."""
    sequences = [cut.inputs, cut.test_inputs, *(u[None] for u, _ in cut.pieces if len(u))]
    outputs, tests, *others = (
        with_noise(filter_sequences(synthetic_response(), x)[..., 0], decibels=20, rng=rng)
        for x in sequences
    )
    size = tests.std()
    pieces = tuple((x[0], y[0] / size) for x, y in zip(sequences[2:], others, strict=True))
    return cut._replace(outputs=outputs / size, test_outputs=tests / size, pieces=pieces)


def fitted(x: np.ndarray, y: np.ndarray, lags: int) -> np.ndarray:
    """The filter of so many lags with the least squared error on sequences from zero states."""
    padded = np.pad(x, ((0, 0), (lags - 1, 0)))
    rows = np.lib.stride_tricks.sliding_window_view(padded, lags, axis=1)[..., ::-1]
    return np.linalg.lstsq(rows.reshape(-1, lags), y.ravel(), rcond=None)[0]
