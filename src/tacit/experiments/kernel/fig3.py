"""kernel, Figure 3: what does a delay between input and target cost?

The comparison: test error against the delay, for a wide linear RNN, a scaled convolution and a
plain convolution, all started from the same impulse response, after several numbers of epochs:
where the curves cross depends on them. The convolutions are closed forms at any epoch; the RNN is
trained, and stands beside its own kernel at the start, to tell what the kernel's distance from its
limit does from what its movement does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Band, Figure, HorizontalRule, Line, Mark, Panel
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import DELAY, MODEL, SEED, STEP, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

MODELS = {
    "rnn": "linear RNN",
    "scaled": "scaled convolution",
    "plain": "plain convolution",
    "start": "the RNN's own kernel at start",
}
STYLES = {"rnn": "solid", "scaled": "dashed", "plain": "solid", "start": "dotted"}


@dataclass(frozen=True, kw_only=True)
class Fig3Config(Config):
    """Parameters of kernel/fig3; the defaults are the paper's where it says (not the epochs)."""

    delay: tuple[int, ...] = parameter(
        (0, 2, 4, 6, 8, 10), "delay of the targets", low=0, high=1000, units="steps", swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of teacher, sequences and student", low=0, swept=True
    )
    width: int = parameter(1000, "hidden units n of the RNN", low=2, high=10_000)
    epochs: tuple[int, ...] = parameter(
        (100, 1000, 10_000), "epochs at which the models are looked at", low=0, high=10**9
    )
    rnn_epochs: int = parameter(1000, "the RNN is trained so far", low=1, high=10**7)
    shown: int = parameter(
        1000, "epochs that the claims are about", low=0, high=10**9, analysis=True
    )
    length: int = parameter(20, "time steps T of a sequence", low=1, high=200, units="steps")
    sequences: int = parameter(10, "training sequences, and as many for tests", low=1, high=10_000)
    inputs: int = parameter(15, "inputs", low=1, high=1000)
    units: int = parameter(4, "hidden units of the teacher", low=1, high=1000)
    nu_w: float = parameter(0.3, "variance ν_W of teacher and student", low=0.0, high=1.0)
    decibels: float = parameter(20.0, "signal-to-noise ratio", low=-100, high=200, units="dB")
    rate: float = parameter(
        1e-4, "learning rate on the squared error summed over all outputs", low=1e-12, high=10.0
    )


class Fig3(Experiment):
    """Test error against delay for three models, after several numbers of epochs."""

    id = "kernel/fig3"
    paper = "kernel"
    figure = "Figure 3"
    summary = "test error against the targets' delay: RNN, scaled and plain convolution"
    version = 1
    Config = Fig3Config
    presets: ClassVar[Mapping[str, Fig3Config]] = {
        "smoke": Fig3Config(
            delay=(0, 8), seed=(0, 1), width=60, epochs=(10, 40), rnn_epochs=40, shown=40
        ),
        "quick": Fig3Config(width=300),
        "paper": Fig3Config(),
    }
    batch_by = (DELAY,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: Fig3Config) -> dict[str, Variable]:
        """The errors; the RNN's are missing at epochs to which it was not trained."""
        return {
            "outcome": OUTCOME,
            "error": Variable(
                (MODEL, STEP), "1", "mean squared test error over that of predicting zero"
            ),
        }

    def coordinates(self, config: Fig3Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """The models and the epochs."""
        return {MODEL: tuple(MODELS), STEP: config.epochs}

    def cell(self, batch: Batch, config: Fig3Config) -> Mapping[str, Any]:
        """Train one delay, all seeds at once."""
        from tacit.experiments.kernel._delay import train_delayed

        return train_delayed(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig3Config) -> list[Claim]:
        """The RNN goes with the scaled convolution; that one and the plain one cross."""
        if config.shown not in config.epochs:
            return []
        error = dataset["error"].sel({STEP: config.shown})
        first, last = min(config.delay), max(config.delay)
        words = f"after {config.shown:,} epochs"

        def at(model: str, delay: int) -> np.ndarray:
            return error.sel({MODEL: model, DELAY: delay}).values

        found = [
            claim_about_median(
                abs(at("rnn", delay) - at("scaled", delay)) / at("scaled", delay),
                name=f"RNN and scaled convolution agree at delay {delay}",
                statement=f"At delay {delay}, {words}, the RNN's test error differs from the "
                "scaled convolution's by at most a quarter.",
                place="Figure 3",
                at_most=0.25,
            )
            for delay in (first, last)
        ]
        ratio = error.sel({MODEL: "rnn"}) / error.sel({MODEL: "scaled"})
        apart = abs(np.log(ratio.transpose(SEED, DELAY).values)).max(axis=1)
        still = error.sel({MODEL: "start"}) / error.sel({MODEL: "rnn"})
        gained = still.transpose(SEED, DELAY).values.max(axis=1)
        found += [
            claim_about_median(
                apart,
                name="RNN and scaled convolution agree at every delay",
                statement=f"{words[0].upper()}{words[1:]} the RNN's test error is within a quarter "
                "of the scaled convolution's at the worst of the delays (in the logarithm 0.22).",
                place="Figure 3: their performance matches",
                at_most=0.22,
                expected="fails",
                because="at finite width the delays in between are learned sooner than any kernel "
                "says: the RNN's own kernel at the start stays with the scaled convolution, so "
                "the gain comes from the kernel's movement over so many epochs",
            ),
            claim_about_median(
                gained,
                name="the kernel's movement is what gains",
                statement=f"{words[0].upper()}{words[1:]}, at the delay where it matters most, the "
                "error of the RNN's own kernel at the start is at least 1.5 times the RNN's.",
                place="(ours)",
                at_least=1.5,
            ),
            claim_about_median(
                at("plain", first) / at("scaled", first),
                name="short delays favour the scaled convolution",
                statement=f"At delay {first}, {words}, the plain convolution's error is at least "
                "twice the scaled one's.",
                place="Figure 3",
                at_least=2.0,
            ),
            claim_about_median(
                at("scaled", last) / at("plain", last),
                name="long delays favour the plain convolution",
                statement=f"At delay {last}, {words}, the scaled convolution's error is at least "
                "twice the plain one's.",
                place="Figure 3",
                at_least=2.0,
            ),
            claim_about_median(
                crossing(error, config),
                name="the curves cross by delay 6",
                statement=f"{words[0].upper()}{words[1:]} the scaled convolution becomes the worse "
                "one at a delay of at most 6.",
                place="Figure 3 (the delay: ours)",
                at_most=6.0,
            ),
            claim_about_median(
                at("plain", last) / at("plain", first),
                name="the plain convolution hardly minds",
                statement=f"From delay {first} to {last}, {words}, the plain convolution's error "
                "grows at most by half.",
                place="section 5.1: it stays almost the same",
                at_most=1.5,
                expected="fails",
                because="with a delay of 10 in sequences of 20 only half of the outputs carry "
                "signal, so there is less data for as many coefficients; the paper says as much "
                "of its largest delays",
            ),
        ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig3Config, claims: Sequence[Claim]
    ) -> Figure:
        """One panel a number of epochs."""
        delays = np.array(sorted(config.delay), float)
        panels = []
        for epoch in sorted(config.epochs):
            marks: list[Mark] = [HorizontalRule(1.0, label="predicting zero")]
            for colour, (model, words) in enumerate(MODELS.items()):
                chosen = dataset["error"].sel(
                    {STEP: epoch, MODEL: model, DELAY: sorted(config.delay)}
                )
                table = chosen.transpose(SEED, DELAY).values
                if np.isnan(table).all():
                    continue
                low, middle, high = np.quantile(table, [0.25, 0.5, 0.75], axis=0, method="nearest")
                marks += [
                    Band(delays, low, high, colour=colour),
                    Line(
                        delays,
                        middle,
                        label=words,
                        colour=colour,
                        marker="o",
                        style=STYLES[model],
                    ),
                ]
            note = None if epoch <= config.rnn_epochs else "the RNN was not trained so far"
            panels.append(
                Panel(
                    f"after {epoch:,} epochs",
                    Axis("delay", ticks=delays),
                    Axis("test error / error of zero", scale="log", limits=(0.01, 4.0)),
                    marks,
                    legend="outside",
                    note=note,
                )
            )
        return Figure(
            "Wide RNNs are biased against delay, plain convolutions are not",
            panels,
            columns=min(3, len(panels)),
            caption=(
                f"T = {config.length}, {config.inputs} inputs, {config.sequences} training and "
                f"{config.sequences} test sequences, {config.decibels:g} dB, RNN with n = "
                f"{config.width:,}, rate {config.rate:g} on the summed squared error. All start "
                f"from the RNN's impulse response. Medians over {len(config.seed)} seeds, bands "
                "the middle half."
            ),
        )


def crossing(error: "xarray.DataArray", config: Fig3Config) -> np.ndarray:
    """The delay at which the scaled convolution becomes the worse one, seed by seed.

    By linear interpolation of the logarithm of the ratio; infinite where it never does.
    """
    delays = np.array(sorted(config.delay), float)
    ordered = error.sel({DELAY: sorted(config.delay)})
    ratio = ordered.sel({MODEL: "scaled"}) / ordered.sel({MODEL: "plain"})
    found = []
    for row in np.log(ratio.transpose(SEED, DELAY).values):
        worse = np.flatnonzero(row > 0)
        if not worse.size:
            found.append(np.inf)
        elif worse[0] == 0:
            found.append(delays[0])
        else:
            i = worse[0]
            found.append(
                delays[i - 1] + (delays[i] - delays[i - 1]) * -row[i - 1] / (row[i] - row[i - 1])
            )
    return np.array(found)
