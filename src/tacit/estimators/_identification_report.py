"""What an identifier says and shows of itself."""

from typing import Any

import numpy as np

from tacit.draw import Axis, Figure, HorizontalRule, Line, Panel
from tacit.estimators._average import Averaged
from tacit.estimators._boundary import initial_state

_SETTLED = 5  # memories, after which an answer has settled
_SHOWN = 400  # samples of the record in the figure
_HIDDEN = (
    " So the last state is not identifiable at this noise from an impulse response; that it is "
    "there is known from the fit alone."
)


def record_of(identifier: Any, comparison: dict[str, Any] | None = None) -> dict[str, Any]:
    """The same as the report, as numbers for machines."""
    system, choice = identifier.system_, identifier.choice_
    lengths = [len(one) for one in identifier._data[0]]
    memory = system.memory
    average = choice.chosen if isinstance(choice.chosen, Averaged) else None
    return {
        "order": identifier.order_,
        "order_interval": list(identifier.order_interval_),
        "identifiable": choice.identifiable,
        "start": choice.chosen.start,
        "instead_of": choice.instead_of or None,
        "average_of": dict(average.parts) if average else None,
        "truncation_loss": average.lost if average else None,
        "errors_ahead": {label: _finite(error) for label, error in choice.ahead.items()},
        "poles": [[float(pole.real), float(pole.imag)] for pole in system.poles],
        "stable": system.is_stable(),
        "hankel_values": choice.chosen.hankel.tolist(),
        "noise_floor": _finite(choice.floor),
        "effective_samples": choice.effective,
        "record_lengths": lengths,
        "lags_needed": 2 * identifier.order_ + 1,
        "memory": memory,
        "long_enough": bool(max(lengths) >= max(2 * identifier.order_ + 1, _SETTLED * memory)),
        "fit_error": _fit_error(identifier),
        "tried": [
            {
                "order": one.order,
                "criterion": one.criterion,
                "start": one.start,
                "error": float(np.sqrt(one.loss / _numbers(identifier))),
                "error_ahead": _finite(choice.ahead.get(one.label, np.nan)),
            }
            for one in choice.tried
        ],
        "held_out": None
        if comparison is None
        else {k: {**v, "error": _finite(v["error"])} for k, v in comparison.items()},
    }


def report_of(identifier: Any, comparison: dict[str, Any] | None = None) -> str:
    """The report in Markdown."""
    told = record_of(identifier, comparison)
    low, high = told["order_interval"]
    lengths = told["record_lengths"]
    inputs, outputs = identifier.system_.D.shape[::-1]
    lines = [
        "# A linear system",
        "",
        f"{len(lengths)} record{'s' if len(lengths) > 1 else ''}, {sum(lengths):,} samples, "
        f"{inputs} input{'s' if inputs > 1 else ''}, {outputs} output{'s' if outputs > 1 else ''}.",
        "",
        f"Order {told['order']} ({low} to {high} are about as likely); its simulation misses the "
        f"record by {told['fit_error']:.3g} of the output's deviation.",
        "",
        *[f"- {word}" for word in _words(told)],
    ]
    if told["poles"]:
        lines += ["", "## Poles", "", "| pole | size | memory in samples |", "|---|---|---|"]
        lines += [_pole(complex(*pole)) for pole in told["poles"] if pole[1] >= 0]
    if comparison:
        lines += ["", "## Simulation of held-out samples", ""]
        lines += ["| method | order | error / deviation | stable |", "|---|---|---|---|"]
        lines += [
            f"| {name} | {one['order']} | {one['error']:.3g} | {'yes' if one['stable'] else 'no'} |"
            for name, one in comparison.items()
        ]
    lines += ["", "## Orders that were tried", ""]
    lines += ["| order | error / deviation | criterion | started from |", "|---|---|---|---|"]
    lines += [
        f"| {one['order']} | {one['error']:.3g} | {one['criterion']:.1f} | {one['start']} |"
        for one in told["tried"]
    ]
    return "\n".join(lines) + "\n"


def _words(told: dict[str, Any]) -> list[str]:
    longest, memory = max(told["record_lengths"]), told["memory"]
    settled = _SETTLED * memory
    words = []
    if told["hankel_values"] and told["noise_floor"] is not None:
        words.append(
            f"The last Hankel value is {told['hankel_values'][-1]:.3g}; the noise makes values up "
            f"to {told['noise_floor']:.3g} by itself." + ("" if told["identifiable"] else _HIDDEN)
        )
    if told["average_of"] is not None:
        words.append(_average(told))
    elif told["instead_of"] is not None:
        words.append(
            f"By the criterion it would have been {told['instead_of']}. Fitted to a part of the "
            f"record, that simulates the rest worse than {_ahead_best(told)}, or has a mode that "
            "outlasts the record, as a drift would, or a gain far beyond that of other systems; "
            "so it gave way."
        )
    words.append(
        f"This order needs more than {told['lags_needed'] - 1} lags; the longest record has "
        f"{longest:,} samples."
    )
    if settled <= longest:
        words.append(
            f"The slowest mode fades in {memory:.3g} samples, and the record shows it whole: the "
            "model may be simulated for any length."
        )
    else:
        words.append(
            f"The slowest mode fades in {memory:.3g} samples, so an answer settles in "
            f"{settled:.3g}: longer than the record. Trust the model for about {longest:,} samples."
        )
    return words


def _average(told: dict[str, Any]) -> str:
    parts = sorted(told["average_of"].items(), key=lambda one: -one[1])
    named = ", ".join(f"{name.removesuffix(', as it is')} ({part:.0%})" for name, part in parts)
    return (
        f"It is an average of several systems: {named}. By the criterion alone it would have been "
        f"{told['instead_of']}, but that leaves errors which are not white, or others simulate "
        "parts of the record better that none of them had seen. Where a record does not tell which "
        f"system is right, the average is the safest. Cut down to {told['order']} states, its "
        f"simulation changes by {told['truncation_loss']:.2g} of its errors."
    )


def _ahead_best(told: dict[str, Any]) -> str:
    start = str(told["start"])
    return f"the system of {start}" if "as it is" in start else f"order {told['order']}"


def _pole(pole: complex) -> str:
    size = abs(pole)
    shown = f"{pole.real:.4f}" + (f" ± {pole.imag:.4f}i" if pole.imag else "")
    memory = -1 / np.log(size) if 0 < size < 1 else 0.0
    return f"| {shown} | {size:.4f} | {memory:.3g} |"


def figure_of(identifier: Any) -> Figure:
    """Measured and simulated, the Bode magnitude, the step response and the Hankel values."""
    system, choice = identifier.system_, identifier.choice_
    U, Y = identifier._data[0][0], identifier._data[1][0]
    start = initial_state(system, U, Y) if system.order else None
    simulated = system.simulate(U, start)[0]
    part = slice(0, min(len(U), _SHOWN))
    time = system.step * np.arange(len(U))[part]
    names = system.output_names or tuple(f"output {k + 1}" for k in range(Y.shape[1]))
    follow: list[Any] = []
    for k, name in enumerate(names):
        follow.append(Line(time, Y[part, k], label=f"{name}, measured", colour=k, opacity=0.45))
        follow.append(
            Line(time, simulated[part, k], label=f"{name}, simulated", colour=k, style="dashed")
        )
    angles = np.geomspace(np.pi / 1000, np.pi, 200)
    gains = np.abs(system.frequency_response(angles))
    length = int(np.clip(_SETTLED * system.memory, 20, 500))
    steps = np.cumsum(system.impulse_response(length), axis=0)
    pairs = list(np.ndindex(gains.shape[1:]))
    sources = system.input_names or tuple(f"input {k + 1}" for k in range(U.shape[1]))
    label = {(o, i): f"{names[o]} from {sources[i]}" for o, i in pairs}
    values = max(choice.tried, key=lambda one: one.order).hankel
    values = np.maximum(values, 1e-12 * max(values.max(initial=0.0), 1e-300))
    hankel: list[Any] = [
        Line(np.arange(1, len(values) + 1), values, marker="o", label="largest tried")
    ]
    if system.order:
        own = choice.chosen.hankel
        hankel.append(
            Line(np.arange(1, len(own) + 1), own, marker="s", label="chosen order", colour=1)
        )
    if np.isfinite(choice.floor) and choice.floor > 0:
        hankel.append(HorizontalRule(choice.floor, label="noise floor", colour="reference"))
    bode = [
        Line(angles / (2 * np.pi * system.step), np.maximum(gains[:, o, i], 1e-300),
             label=label[o, i], colour=k) for k, (o, i) in enumerate(pairs)
    ]  # fmt: skip
    answer = [
        Line(system.step * np.arange(length), steps[:, o, i], label=label[o, i], colour=k)
        for k, (o, i) in enumerate(pairs)
    ]
    return Figure(
        f"A linear system of order {identifier.order_}",
        [
            Panel("measured and simulated", Axis("time"), Axis("output"), follow),
            Panel("gain", Axis("frequency", scale="log"), Axis("gain", scale="log"), bode),
            Panel("answer to a step", Axis("time"), Axis("output"), answer),
            Panel("Hankel values", Axis("number"), Axis("value, scaled", scale="log"), hankel),
        ],
        columns=2,
        caption=f"The first {part.stop:,} of {len(U):,} samples of the first record.",
    )


def _fit_error(identifier: Any) -> float:
    return float(np.sqrt(identifier.choice_.chosen.loss / _numbers(identifier)))


def _numbers(identifier: Any) -> int:
    return sum(one.size for one in identifier._data[1])


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
