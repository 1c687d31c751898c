"""What a completer says and shows of itself."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.draw import Axis, Figure, Heatmap, HorizontalRule, Line, Panel, Points

_SHOWN = 60  # rows and columns of the map, at most
_LISTED = 20


def record_of(completer: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The same as the report, as numbers for machines; `names` are of the columns."""
    columns = _names(completer, names)
    diagnosis, choice = completer.diagnosis_, completer.choice_
    return {
        "shape": list(diagnosis.shape),
        "observed": diagnosis.observed,
        "components": diagnosis.components,
        "undetermined": int(diagnosis.undetermined.sum()),
        "expected_rank": diagnosis.expected_rank,
        "coupling_groups": diagnosis.coupling_groups(completer.depth_),
        "thin_rows": diagnosis.thin_rows.tolist(),
        "thin_columns": diagnosis.thin_columns.tolist(),
        "depth": completer.depth_,
        "weight_decay": completer.weight_decay_,
        "centred": completer.centred_,
        "scaled": completer.scaled_,
        "steps": completer.n_steps_,
        "rank": completer.rank_,
        "held_out_error": _number(completer.held_out_error_),
        "relative_error": _number(completer.relative_error_),
        "column_errors": {
            name: _number(float(value))
            for name, value in zip(columns, completer.column_errors_, strict=True)
        },
        "columns_by_means": [columns[place] for place in completer.columns_by_means_],
        "nothing_found": completer.relative_error_ >= 1,
        "held_out_entries": choice.held,
        "deviation": choice.deviation,
        "why": list(choice.why),
        "tried": [
            {
                "depth": one.depth,
                "weight_decay": one.weight_decay,
                "centred": one.centred,
                "scaled": one.scaled,
                "error": one.error,
                "steps": one.steps,
                "tried_twice": one.again,
            }
            for one in choice.tried
        ],
    }


def _names(completer: Any, names: Sequence[str] | None) -> list[str]:
    """The columns' names: those given, those of the frame that was fitted, or their numbers."""
    found = getattr(completer, "feature_names_in_", None) if names is None else names
    return [str(name) for name in range(completer.n_features_in_)] if found is None else [*found]


def _column_words(completer: Any, told: dict[str, Any]) -> list[str]:
    """Which columns the model is no help for, and the errors of all of them, or of the worst."""
    lines = []
    if told["nothing_found"]:
        lines.append(
            "Nothing was found in these gaps: held-out errors are as large as the deviations of "
            "their columns, and means would be as good."
        )
    if told["columns_by_means"]:
        listed, more = told["columns_by_means"][:_LISTED], len(told["columns_by_means"]) - _LISTED
        lines.append(
            f"Filled by their mean, since the model was worse on their held-out entries: "
            f"{', '.join(listed)}{f' and {more:,} more' if more > 0 else ''}."
        )
    known = {name: value for name, value in told["column_errors"].items() if value is not None}
    if not known:
        return lines
    worst = sorted(known, key=lambda name: -known[name])[:_LISTED]
    title = "Errors over the column's deviation" + (
        f", the worst {_LISTED} of {len(known):,} columns" if len(known) > _LISTED else ""
    )
    return [*lines, f"{title}: {', '.join(f'{name} {known[name]:.2f}' for name in worst)}."]


def report_of(completer: Any, names: Sequence[str] | None = None) -> str:
    """The report in Markdown."""
    told = record_of(completer, names)
    rows, columns = told["shape"]
    diagnosis = completer.diagnosis_
    scaled = ", columns scaled" if told["scaled"] else ""
    lines = [
        "# Completion",
        "",
        f"{rows:,} × {columns:,}, {told['observed']:,} entries observed ({diagnosis.density:.1%}).",
        "",
        "## The model",
        "",
        f"Depth {told['depth']}, weight decay {told['weight_decay']:g}, means "
        f"{'removed' if told['centred'] else 'kept'}{scaled}, "
        f"{told['steps']:,} steps; rank {told['rank']} "
        "(singular values above a thousandth of the largest).",
        "",
        *[f"- {word}." for word in told["why"]],
    ]
    if columns := _column_words(completer, told):
        lines += ["", "## Columns", "", *[f"- {word}" for word in columns]]
    if told["tried"]:
        over = " over deviation" if completer.choice_.over_columns else ""
        lines += ["", "## What was tried", ""]
        lines += [
            f"| depth | decay | means removed | columns scaled | steps | held-out error{over} |"
        ]
        lines += ["|---|---|---|---|---|---|"]
        lines += [
            f"| {one['depth']} | {one['weight_decay']:g} | {'yes' if one['centred'] else 'no'} | "
            f"{'yes' if one['scaled'] else 'no'} | {one['steps']:,} | {one['error']:.5g}"
            f"{' (tried again)' if one['tried_twice'] else ''} |"
            for one in told["tried"]
        ]
    lines += ["", "## The pattern", "", *[f"- {word}" for word in _pattern_words(completer)]]
    return "\n".join(lines) + "\n"


def _pattern_words(completer: Any) -> list[str]:
    diagnosis, depth = completer.diagnosis_, completer.depth_
    groups = diagnosis.coupling_groups(depth)
    words = [
        f"The observation graph has {diagnosis.components:,} connected "
        f"component{'s' if diagnosis.components > 1 else ''}; at depth {depth} descent keeps "
        f"{groups:,} group{'s' if groups > 1 else ''} of entries apart.",
        f"At least {diagnosis.expected_rank} singular values stand above gaps and noise"
        + (
            "."
            if diagnosis.is_enough
            else ": a matrix of that rank has more freedoms than there are entries."
        ),
    ]
    undetermined = np.argwhere(diagnosis.undetermined)
    if len(undetermined):
        listed = ", ".join(f"({i}, {j})" for i, j in undetermined[:_LISTED])
        more = f" and {len(undetermined) - _LISTED:,} more" if len(undetermined) > _LISTED else ""
        treated = "filled by means" if completer.fill_undetermined else "left empty"
        words.append(
            f"{len(undetermined):,} entries cannot be determined by any method, since no chain of "
            f"observed entries joins their row and column; {treated}: {listed}{more}."
        )
    else:
        words.append("Every entry's row and column are joined by a chain of observed entries.")
    for name, thin in (("rows", diagnosis.thin_rows), ("columns", diagnosis.thin_columns)):
        if thin.size:
            words.append(
                f"{thin.size:,} of the {name} have fewer entries than the expected rank: doubt "
                "what is filled in there."
            )
    return words


def figure_of(completer: Any) -> Figure:
    """The completed matrix, its singular values, and the held-out errors of what was tried."""
    values = completer.singular_values_[:50]
    count = np.arange(1, len(values) + 1)
    units = completer._units
    shown = units.inward if completer.scaled_ else np.asarray  # else one column has all colours
    scaled = ", columns scaled" if completer.scaled_ else ""
    panels = [
        _map(f"as given{scaled}", shown(np.where(completer._seen, completer._values, np.nan))),
        _map(f"completed{scaled}", shown(completer.completed_)),
        Panel(
            "singular values of the product",
            Axis("number"),
            Axis("singular value", scale="log"),
            [Line(count, values, marker="o")],
            legend=None,
        ),
    ]
    tried = completer.choice_.tried
    if tried:
        panels.append(_errors(completer, tried))
    rows, columns = completer.diagnosis_.shape
    return Figure(
        f"Completion at depth {completer.depth_}, weight decay {completer.weight_decay_:g}",
        panels,
        columns=2,
        caption=f"{rows:,} × {columns:,}, {completer.diagnosis_.density:.1%} observed. Maps show "
        f"at most {_SHOWN} rows and columns, evenly taken.",
    )


def _errors(completer: Any, tried: tuple[Any, ...]) -> Panel:
    marks: list[Any] = []
    kinds = sorted({(one.depth, one.centred, one.scaled) for one in tried})
    for colour, (depth, centred, scaled) in enumerate(kinds):
        kind = (depth, centred, scaled)
        some = [one for one in tried if (one.depth, one.centred, one.scaled) == kind]
        label = f"depth {depth}" + (", means removed" if centred else "")
        label += ", scaled" if scaled else ""
        places = [tried.index(one) for one in some]
        marks.append(Points(places, [one.error for one in some], label=label, colour=colour))
    chosen = completer.choice_.chosen.error
    marks.append(HorizontalRule(chosen, label="chosen", colour="reference"))
    ticks = {float(place): f"{one.weight_decay:g}" for place, one in enumerate(tried)}
    over = " over deviation" if completer.choice_.over_columns else ""
    y = Axis(f"held-out error{over}", scale="log")
    return Panel("what was tried", Axis("weight decay", ticks=ticks), y, marks)


def _map(title: str, matrix: np.ndarray) -> Panel:
    rows, columns = (
        np.unique(np.linspace(0, size - 1, min(size, _SHOWN)).round().astype(int))
        for size in matrix.shape
    )
    part = matrix[np.ix_(rows, columns)]
    x, y = np.arange(len(columns)), np.arange(len(rows))
    mark = Heatmap(x, y, part, label="value")
    return Panel(title, Axis("column"), Axis("row"), [mark], legend=None)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
