"""lowdim, Figure 2(a): does a GRU student extrapolate once k is four times its GRU teacher's size?

The comparison: the error on the steps after k, relative to the zero predictor's, against the
training length k, for teachers trained to forget slowly, to forget fast, and to be silent for as
many steps as they have units less one (a delay, as lowdim's linear one of that order).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Figure
from tacit.experiments.lowdim._fig2_draw import draw_errors
from tacit.experiments.lowdim._gru_runs import TITLES, GRUConfig, GRUExperiment
from tacit.store import ITERATE, LENGTH, TEACHER, WIDTH

if TYPE_CHECKING:
    import xarray

LOW, HIGH, JUMP = 0.05, 0.3, 10.0  # low, high and a jump, as for linear students in fig1a and b

QUICK: dict[str, Any] = {
    "teacher_width": 4,
    "width": (16,),
    "horizon": 40,
    "longest": 16,
    "sequences": 32,
    "steps": 1_600,
    "rate": 5e-3,
    "cut": 0.7,
    "average": 100,
}


class Fig2a(GRUExperiment):
    """Extrapolation error of GRU students against training length."""

    id = "lowdim/fig2a"
    figure = "Figure 2(a)"
    summary = "extrapolation error against training length, GRU teacher and student"
    version = 1
    presets: ClassVar[Mapping[str, GRUConfig]] = {
        "smoke": GRUConfig(
            **{**QUICK, "width": (8,), "longest": 8, "steps": 60, "teacher_steps": 50},
            length=(4, 8),
            seed=(0, 1),
        ),
        "quick": GRUConfig(**QUICK, length=(2, 4, 8, 10, 12, 16)),
        "paper": GRUConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: GRUConfig) -> list[Claim]:
        """What is low, what is high, and for which teacher the change is a jump."""
        chosen = dataset.isel({WIDTH: 0}).sel({ITERATE: "last"})
        trained = chosen["train_loss"] <= config.gate * chosen["power"]
        errors = chosen["relative_error"].where(trained)
        size = config.teacher_width
        protocol = config.teacher_width >= 10  # quick's teachers are smaller, its budget shorter
        found = []
        for teacher in config.teacher:
            of = errors.sel({TEACHER: teacher})
            words = f"Students of the {TITLES[teacher]}"
            expected = _EXPECTED[protocol][teacher]
            found += [
                claim_about_median(
                    _seeds(_over(of, 4 * size).max(LENGTH)),
                    name=f"{teacher}: low above the threshold",
                    statement=f"{words} have a relative error of at most {LOW} at every "
                    f"k ≥ {4 * size}, four times its size.",
                    place="Figure 2(a), section 5.3",
                    at_most=LOW,
                    **_because(expected["low"]),
                ),
                claim_about_median(
                    _seeds(_at(of, size)),
                    name=f"{teacher}: high below it",
                    statement=f"{words} have a relative error of at least {HIGH} at k = {size}, "
                    "its size.",
                    place="Figure 2(a), section 5.3",
                    at_least=HIGH,
                    **_because(expected["high"]),
                ),
                claim_about_median(
                    _jumps(of),
                    name=f"{teacher}: jump",
                    statement=f"{words} have an error that falls at least tenfold between some two "
                    "neighbouring lengths of the grid.",
                    place="Figure 2(a): a critical threshold",
                    at_least=JUMP,
                    **_because(expected["jump"]),
                ),
                claim_about_median(
                    _seeds(_at(of, max(config.length)) / _at(of, size)),
                    name=f"{teacher}: decline",
                    statement=f"{words} at the longest k have at most half of the error at "
                    f"k = {size}: longer sequences help, jump or not.",
                    place="Figure 2(a)",
                    at_most=0.5,
                ),
            ]
        if "delay" in config.teacher:
            of = errors.sel({TEACHER: "delay"})
            found += [
                claim_about_median(
                    _seeds(_at(of, 2 * size)),
                    name="delay: twice the size is not enough",
                    statement=f"At k = {2 * size}, twice the delay teacher's size, students fit "
                    f"the last output and have a relative error of at least {HIGH} beyond it.",
                    place="section 5.2, for linear students",
                    at_least=HIGH,
                ),
                claim_about_median(
                    _seeds(_at(of, 2 * size) / _after(of, 2 * size)),
                    name="delay: more is enough",
                    statement="From there to the next length of the grid the error falls at least "
                    "tenfold: the threshold is that of linear students, twice the size and not "
                    "four times.",
                    place="section 5.2, for linear students",
                    at_least=JUMP,
                ),
            ]
        return found

    def draw(self, dataset: "xarray.Dataset", config: GRUConfig, claims: Sequence[Claim]) -> Figure:
        """Errors for each teacher, training losses, and what the teachers answer."""
        return draw_errors(dataset, config)


def _at(errors: "xarray.DataArray", length: int) -> "xarray.DataArray":
    """The errors at one length; none if it is not in the grid."""
    if length in errors[LENGTH].values:
        return errors.sel({LENGTH: length})
    return errors.isel({LENGTH: 0}) * np.nan


def _after(errors: "xarray.DataArray", length: int) -> "xarray.DataArray":
    """The errors at the first length of the grid above one."""
    above = [int(each) for each in errors[LENGTH].values if each > length]
    return _at(errors, min(above, default=0))


def _over(errors: "xarray.DataArray", length: int) -> "xarray.DataArray":
    return errors.where(errors[LENGTH] >= length)


def _seeds(values: "xarray.DataArray") -> np.ndarray:
    flat = values.values
    return flat[~np.isnan(flat)]


def _jumps(errors: "xarray.DataArray") -> np.ndarray:
    """The largest fall between neighbouring lengths, seed by seed."""
    ordered = errors.sortby(LENGTH).transpose(..., LENGTH).values
    falls = ordered[..., :-1] / ordered[..., 1:]
    known = falls[(~np.isnan(falls)).any(axis=-1)]
    return np.nanmax(known, axis=-1) if known.size else np.zeros(0)


_Expectation = str  # empty: it holds; else it fails, because


def _because(why: _Expectation) -> dict[str, Any]:
    return {"expected": "fails", "because": why} if why else {}


_REVEALS = (
    "white input of any length reveals much of a teacher that is not silent: the error falls from "
    "length to length, a knee and not a jump"
)
_PART = "white input of so few steps reveals part of a teacher that answers at once"
_BUDGET = (
    "budget: within the steps of this preset the loss of these students ends near 5e-3 of the "
    "teacher's power, and their error is the square root of that; the fast teacher's gets lower"
)
_EXPECTED: dict[bool, dict[str, dict[str, _Expectation]]] = {
    False: {
        "slow": {"low": _BUDGET, "high": "", "jump": _REVEALS},
        "fast": {"low": "", "high": _PART, "jump": _REVEALS},
        "delay": {"low": "", "high": "", "jump": ""},
    },
    True: {
        "slow": {"low": "", "high": _PART, "jump": _REVEALS},
        "fast": {"low": "", "high": _PART, "jump": _REVEALS},
        "delay": {"low": "", "high": "", "jump": ""},
    },
}
