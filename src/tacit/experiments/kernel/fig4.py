"""kernel, Figure 4: decoding movement from a recording, along the training.

The comparison: R² on test data along the training, in both directions, for a linear RNN, a scaled
convolution and a plain one, on all training data and on two limited portions. The paper's recording
cannot be had; see `NOTE` for the one used here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Band, Figure, Line, Mark, Panel
from tacit.experiments._base import Experiment
from tacit.experiments.kernel import _decoding_config as shared
from tacit.experiments.kernel._decoding_config import (
    DIRECTIONS,
    MODELS,
    NOTE,
    PORTIONS,
    DecodingConfig,
)
from tacit.store import DIRECTION, MODEL, PORTION, SEED, STEP, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray


class Fig4(Experiment):
    """R² along the training, on all data and on little."""

    id = "kernel/fig4"
    paper = "kernel"
    figure = "Figure 4"
    summary = "decoding hand velocity: R² along the training of an RNN and two convolutions"
    version = 1
    Config = DecodingConfig
    presets: ClassVar[Mapping[str, DecodingConfig]] = {
        "smoke": DecodingConfig(portion=("share",), seed=(0, 1), width=40, steps=(0, 10, 30)),
        "quick": DecodingConfig(
            width=300, steps=(0, 3, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400)
        ),
        "paper": DecodingConfig(),
    }
    batch_by = (PORTION,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def missing(self) -> str | None:
        """The recording, where it is not at hand."""
        from tacit.data import M1_FLINT

        return M1_FLINT.missing()

    def variables(self, config: DecodingConfig) -> dict[str, Variable]:
        """R² of all models at all steps."""
        return shared.variables()

    def coordinates(self, config: DecodingConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Models, steps and directions."""
        return shared.coordinates(config)

    def cell(self, batch: Batch, config: DecodingConfig) -> Mapping[str, Any]:
        """Train all three models on one portion of the data."""
        from tacit.data import motor_cortex
        from tacit.experiments.kernel._decoding import decode

        return decode(batch, config, motor_cortex())

    def claims(self, dataset: "xarray.Dataset", config: DecodingConfig) -> list[Claim]:
        """The RNN and the scaled convolution go together all the way."""
        r2 = dataset["r2"]
        gap = abs(r2.sel({MODEL: "rnn"}) - r2.sel({MODEL: "scaled"}))
        shown = gap.where(r2.sel({MODEL: "scaled"}) >= 0)
        found = []
        for portion in config.portion:
            for name, values, words in (
                ("all the way", gap, "never differ by more than 0.1 on the way"),
                (
                    "once R² is positive",
                    shown,
                    "never differ by more than 0.1 from where the latter's is positive on, which "
                    "is what the paper's figure shows (all start far below zero)",
                ),
            ):
                worst = values.sel({PORTION: portion}).max((STEP, DIRECTION)).values
                found.append(
                    claim_about_median(
                        worst[~np.isnan(worst)],
                        name=f"{portion}: together {name}",
                        statement=f"On {PORTIONS[portion]} the test R² of the RNN and of the "
                        f"scaled convolution {words}, in either direction.",
                        place="Figure 4: identical dynamics",
                        at_most=0.1,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: DecodingConfig, claims: Sequence[Claim]
    ) -> Figure:
        """A panel for each portion and direction."""
        steps = np.array(config.steps, float)
        panels = []
        for direction in DIRECTIONS:
            for portion in config.portion:
                marks: list[Mark] = []
                for colour, (model, words) in enumerate(MODELS.items()):
                    chosen = dataset["r2"].sel(
                        {PORTION: portion, MODEL: model, DIRECTION: direction}
                    )
                    table = chosen.transpose(SEED, STEP).values
                    low, middle, high = np.quantile(
                        table, [0.0, 0.5, 1.0], axis=0, method="nearest"
                    )
                    marks += [
                        Band(steps, low, high, colour=colour),
                        Line(
                            steps,
                            middle,
                            label=words,
                            colour=colour,
                            style="dashed" if model == "scaled" else "solid",
                        ),
                    ]
                panels.append(
                    Panel(
                        f"{direction}, {PORTIONS[portion]}",
                        Axis("gradient step", scale="symlog", threshold=10),
                        Axis("R² on test data", limits=(-0.2, 0.75)),
                        marks,
                    )
                )
        return Figure(
            "Decoding hand velocity: the RNN goes with the scaled convolution",
            panels,
            columns=len(config.portion),
            caption=(
                f"{NOTE} RNN with n = {config.width:,}, T = {config.length}, batches of "
                f"{config.batch}, rate {config.rate:g} on half the summed squared error; all "
                f"models from one start and on the same batches. Medians and whole range over "
                f"{len(config.seed)} seeds; R² below −0.2 is not shown. Data: {_credit()}."
            ),
        )


def _credit() -> str:
    from tacit.data import M1_FLINT

    return M1_FLINT.credit
