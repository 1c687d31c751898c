"""Errors against the length of the sequence, plain and adversarial: what fig1 and fig2 share."""

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, Expected, claim_about_median
from tacit.draw import Axis, Figure, Mark, Panel, VerticalRule
from tacit.experiments._base import Experiment
from tacit.experiments._lines import median_line
from tacit.experiments.memoryless._lengths import (
    DATAS,
    ITERATES,
    MODELS,
    SMALL,
    LengthsConfig,
    counted,
    length_variables,
)
from tacit.store import DATA, GAIN, ITERATE, MODEL, SEED, TIME, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

WORSE = 3.0  # adversarial data must do at least so many times worse
_FLOOR = 1e-9  # smaller errors are drawn there


class ByLength(Experiment):
    """A student trained at length k on plain or adversarial data, looked at up to a horizon."""

    version = 1
    Config = LengthsConfig
    batch_by = (MODEL, DATA)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    title: ClassVar[str]
    place: ClassVar[str]

    def order(self, config: Any) -> int:
        """The teacher's order; zero is memoryless."""
        return 0

    @abc.abstractmethod
    def surprise(self, kind: str, model: str, gain: float, config: Any) -> str:
        """Why a claim fails that the paper makes; empty where it holds."""

    def variables(self, config: LengthsConfig) -> dict[str, Variable]:
        """Errors are kept at every length."""
        return length_variables()

    def coordinates(self, config: LengthsConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Iterates, and the lengths that are looked at."""
        return {ITERATE: ITERATES, TIME: np.arange(1, config.horizon + 1)}

    def cell(self, batch: Batch, config: LengthsConfig) -> Mapping[str, Any]:
        """Train one batch: all gains and seeds of a model and a kind of data at once."""
        from tacit.experiments.memoryless._extrapolation import extrapolate

        return extrapolate(batch, config, np.full(len(batch), self.order(config)))

    def claims(self, dataset: "xarray.Dataset", config: LengthsConfig) -> list[Claim]:
        """Plain training extrapolates, adversarial training fits and does not."""
        runs = counted(dataset, config, iterate="last")
        later = runs["error"].where(runs[TIME] > config.length).mean(TIME)
        forgetful = runs["forgetful_error"].where(runs[TIME] > config.length).mean(TIME)
        lengths = f"{config.length + 1} … {config.horizon}"
        found = []
        for gain in config.gain:
            for model in config.model:
                words = f"{MODELS[model]}, Xavier gain {gain:g}"
                here = {MODEL: model, GAIN: gain}
                if "plain" in config.data:
                    plain = later.sel({**here, DATA: "plain"}).values
                    found.append(
                        self._claim(
                            config,
                            ("flat", model, gain),
                            plain,
                            f"{words}: trained at length {config.length} on plain data, the mean "
                            f"squared error over the lengths {lengths} is at most {SMALL:g} "
                            "(zero response: about 1).",
                            at_most=SMALL,
                        )
                    )
                    if self.order(config):
                        ratio = plain / forgetful.sel({**here, DATA: "plain"}).values
                        found.append(
                            self._claim(
                                config,
                                ("remembers", model, gain),
                                ratio,
                                f"{words}: that error is below the one of a response that is "
                                f"right below lag {config.length} and zero from it on.",
                                at_most=1.0,
                            )
                        )
                if "adversarial" in config.data:
                    fit = dataset["error"].sel({**here, DATA: "adversarial", ITERATE: "last"})
                    found.append(
                        self._claim(
                            config,
                            ("adversary fits", model, gain),
                            fit.sel({TIME: config.length}).values,
                            f"{words}: trained on adversarial data, the mean squared error at "
                            f"length {config.length} is still at most {SMALL:g}.",
                            at_most=SMALL,
                        )
                    )
                if set(config.data) >= {"plain", "adversarial"}:
                    wrong = later.sel({**here, DATA: "adversarial"}).values
                    found.append(
                        self._claim(
                            config,
                            ("adversary is worse", model, gain),
                            wrong / plain,
                            f"{words}: over the lengths {lengths} adversarial data lead to at "
                            f"least {WORSE:g} times the error of plain data, seed by seed.",
                            at_least=WORSE,
                        )
                    )
        return found

    def _claim(
        self,
        config: LengthsConfig,
        key: tuple[str, str, float],
        samples: np.ndarray,
        statement: str,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> Claim:
        kind, model, gain = key
        because = self.surprise(*key, config)
        expected: Expected = "fails" if because else "holds"
        return claim_about_median(
            samples[~np.isnan(samples)],
            name=f"{MODELS[model]}, gain {gain:g}: {kind}",
            statement=statement,
            place=self.place,
            at_most=at_most,
            at_least=at_least,
            expected=expected,
            because=because,
        )

    def draw(
        self, dataset: "xarray.Dataset", config: LengthsConfig, claims: Sequence[Claim]
    ) -> Figure:
        """One panel for each gain and model: errors against length for both kinds of data."""
        runs = counted(dataset, config, iterate="last")
        times = dataset[TIME].values
        panels = []
        for gain in config.gain:
            for model in config.model:
                here = runs.sel({MODEL: model, GAIN: gain})
                marks: list[Mark] = [
                    VerticalRule(config.length + 0.5, label=f"trained at length {config.length}")
                ]
                for colour, data in enumerate(config.data):
                    table = here["error"].sel({DATA: data}).transpose(TIME, SEED).values
                    marks += median_line(
                        times, np.maximum(table, _FLOOR), label=DATAS[data], colour=colour
                    )
                if self.order(config):
                    table = here["forgetful_error"].isel({DATA: 0}).transpose(TIME, SEED).values
                    marks += median_line(
                        times[config.length :],
                        table[config.length :],
                        label="right below lag k, then zero",
                        colour="reference",
                        style="dotted",
                        band=False,
                    )
                lost = int(np.isnan(here["error"].isel({TIME: 0}).values).sum())
                panels.append(
                    Panel(
                        f"{MODELS[model]}, gain {gain:g}",
                        Axis("length of the sequence"),
                        Axis("mean squared error", scale="log", limits=(_FLOOR, 10.0)),
                        marks,
                        legend="outside",
                        note=f"left out: {lost} of {here[DATA].size * here[SEED].size} runs, for "
                        f"an error at length {config.length} above {config.gate:g}"
                        if lost
                        else None,
                    )
                )
        order = self.order(config)
        teacher = (
            f"Linear teacher of order {order}, eigenvalues of modulus {config.radius:g}, energy one"
            if order
            else "Memoryless teacher, w* = 1"
        )
        return Figure(
            self.title,
            panels,
            columns=len(config.model),
            caption=(
                f"{teacher}; Adam at rate {config.rate:g}. Linear student of width {config.width}: "
                f"population loss (infinitely much data), at most {config.steps:,} steps. GRU and "
                f"LSTM of width {config.gated_width}: {config.gated_steps:,} steps on "
                f"{config.sequences} fresh Gaussian sequences each; errors on 2,000 others. "
                f"Adversarial: targets wrong by x at lag {config.length} (and its multiples) up to "
                f"length {config.adversarial_length}. Medians over {len(config.seed)} seeds, bands "
                f"the middle half; errors below {_FLOOR:g} are drawn there."
            ),
        )
