"""regimes/rotation (ours): how far the kernel turns on the way.

The comparison: 1 − cosine between the kernel of the student at its start and at its end, against
γ₀, for several widths and lengths, beside the error beyond k. It lies between 0 and 1 whatever the
kernels' sizes; the relative change of the kernel, also stored, grows without end because the kernel
grows with γ₀ even where it has stopped turning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Figure
from tacit.experiments._base import Experiment
from tacit.experiments._parameter import parameter
from tacit.experiments.regimes import _setting
from tacit.experiments.regimes._rotation_draw import draw_rotation
from tacit.experiments.regimes._setting import KERNEL, LONGEST, RegimeConfig
from tacit.experiments.regimes._summary import counted, limit, present
from tacit.store import GAMMA0, LENGTH, SEED, WIDTH, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

PLACE = "regimes (ours)"
LEADING = 0.1  # κ up to which the leading order in γ₀ should do
BEYOND = (
    "higher orders: at κ = 0.3 the rotation is above its leading term already, since the kernel "
    "turns faster once it has begun to; up to κ = 0.1 it is nearer to the square"
)


@dataclass(frozen=True, kw_only=True)
class RotationConfig(RegimeConfig):
    """Parameters of regimes/rotation."""

    width: tuple[int, ...] = parameter((48, 96, 192), "hidden units n", low=2, swept=True)
    length: tuple[int, ...] = parameter(
        (8, 10, 12), "training length k", low=2, high=LONGEST, units="lags", swept=True
    )
    gamma0: tuple[float, ...] = parameter(
        (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0),
        "γ₀ = γ/√n",
        low=1e-4,
        high=10.0,
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of the student's start", low=0, swept=True
    )
    steps: int = parameter(2_000, "cap on the steps of the flow's solver", low=1, high=10_000_000)
    rtol: float = parameter(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)


class Rotation(Experiment):
    """The turn of the kernel along γ₀."""

    id = "regimes/rotation"
    paper = "regimes"
    figure = "ours: the kernel turns"
    summary = "how far the kernel turns against γ₀, at several widths and lengths"
    version = 1
    Config = RotationConfig
    presets: ClassVar[Mapping[str, RotationConfig]] = {
        "smoke": RotationConfig(
            width=(32,), length=(10,), gamma0=(0.01, 0.03, 0.3, 3.0), seed=(0, 1), steps=200
        ),
        "quick": RotationConfig(
            width=(32, 96), length=(8, 12), gamma0=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
        ),
        "paper": RotationConfig(),
    }
    batch_by = (WIDTH,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: RotationConfig) -> dict[str, Variable]:
        """What every cell of regimes stores."""
        return _setting.variables()

    def coordinates(self, config: RotationConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The lags of responses."""
        return _setting.coordinates(config)

    def cell(self, batch: Batch, config: RotationConfig) -> Mapping[str, Any]:
        """Train all lengths, γ₀ and seeds of one width as one program."""
        from tacit.experiments.regimes._training import flow, train

        return train(
            width=batch.one("width"),
            gamma0=batch.column("gamma0"),
            length=batch.column("length"),
            seed=batch.column("seed"),
            config=config,
            method=flow(config.rtol),
            title=batch.label,
        )

    def claims(self, dataset: "xarray.Dataset", config: RotationConfig) -> list[Claim]:
        """Quadratic in γ₀ on the kernel side, the same at all widths, and bounded."""
        turned, changed = counted(dataset, "rotation"), counted(dataset, "change")
        found = []
        for level, because in ((LEADING, ""), (KERNEL, BEYOND)):
            slopes = slopes_below(dataset, level)
            for side, bound in (("at_least", 1.8), ("at_most", 2.2)):
                steeper = side == "at_most"
                words = f"at {side[3:]} {bound:g}"
                found.append(
                    claim_about_median(
                        slopes,
                        name=f"κ ≤ {level:g}: slope {words}",
                        statement=f"For κ ≤ {level:g} the angle is proportional to γ₀, so that the "
                        f"rotation grows like its square: the slope in a log-log plot is {words}.",
                        place=PLACE,
                        expected="fails" if because and steeper else "holds",
                        because=because if steeper else "",
                        **limit(side, bound),
                    )
                )
        narrow, wide = min(config.width), max(config.width)
        ratio = turned.sel({WIDTH: wide}) / turned.sel({WIDTH: narrow})
        for side, bound in (("at_least", 1 / 1.5), ("at_most", 1.5)):
            found.append(
                claim_about_median(
                    present(ratio.median((LENGTH, GAMMA0), skipna=True)),
                    name=f"one γ₀: width {'raises' if side == 'at_most' else 'lowers'} it little",
                    statement=f"At the same γ₀ the rotation at n = {wide} is at {side[3:]} "
                    f"{bound:.2f} times that at n = {narrow}, in the median over lengths and γ₀.",
                    place=PLACE,
                    **limit(side, bound),
                )
            )
        top = {GAMMA0: max(config.gamma0)}
        found += [
            claim_about_median(
                present(turned.sel(top).max((WIDTH, LENGTH))),
                name="rotation is bounded",
                statement=f"At γ₀ = {max(config.gamma0):g} the rotation is still at most 1.",
                place=PLACE,
                at_most=1,
            ),
            claim_about_median(
                present(changed.sel(top).min((WIDTH, LENGTH))),
                name="relative change is not",
                statement=f"At γ₀ = {max(config.gamma0):g} the relative change of the kernel "
                "exceeds 1.",
                place=PLACE,
                at_least=1,
            ),
        ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: RotationConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Rotation by width and by length, and error against rotation."""
        return draw_rotation(dataset, config)


def slopes_below(dataset: "xarray.Dataset", level: float) -> np.ndarray:
    """Slopes of log rotation against log γ₀ where κ ≤ level, one a width, length and seed."""
    turned = counted(dataset, "rotation").where(dataset["kappa"] <= level)
    scale = np.log(turned[GAMMA0].values)
    found = []
    for row in turned.transpose(WIDTH, LENGTH, SEED, GAMMA0).values.reshape(-1, scale.size):
        kept = row > 0
        if kept.sum() >= 2:
            found.append(np.polyfit(scale[kept], np.log(row[kept]), 1)[0])
    return np.array(found)
