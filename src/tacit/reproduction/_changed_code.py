"""Stored cells that other code has computed than the experiment has now."""

from tacit._errors import UsageError
from tacit.experiments import Experiment
from tacit.reproduction._fingerprint import fingerprint, is_built_in
from tacit.store import Plan, Store


def changed_cells(store: Store, plan: Plan, kind: type[Experiment]) -> dict[str, int]:
    """How many stored cells of a plan other codes have computed, by fingerprint.

    Cells that do not tell their code, and codes that the user has accepted, are not among them.
    """
    code = fingerprint(kind)
    if code is None:
        return {}
    kept = store.accepted(code) | {code}
    if store.known_codes() <= kept:  # without looking every cell up
        return {}
    found = store.codes(plan).items()
    return {other: count for other, count in found if other is not None and other not in kept}


def words_on_changes(store: Store, plan: Plan, kind: type[Experiment]) -> list[str]:
    """What is to be said of such cells, in a sentence; nothing if there are none."""
    changed = changed_cells(store, plan, kind)
    if not changed:
        return []
    total = sum(store.codes(plan).values())
    if is_built_in(fingerprint(kind)):
        names = ", ".join(sorted(changed))
        return [
            f"{kind.id}: {sum(changed.values())} of {total} stored cells were computed by {names}, "
            f"this is {fingerprint(kind)}; version {kind.version} of the experiment is the same"
        ]
    return [
        f"{kind.id}: {sum(changed.values())} of {total} stored cells were computed by other code "
        "than it has now"
    ]


def refuse_changed(store: Store, plan: Plan, kind: type[Experiment], *, accept: bool) -> None:
    """A `UsageError` if the code of `cell` has changed since cells were stored, unless accepted.

    A built-in experiment says by its version whether its results have changed: of another version
    of the package it is only told.
    """
    words = words_on_changes(store, plan, kind)
    code = fingerprint(kind)
    if not words or code is None:
        return
    if is_built_in(code):
        store.warnings += words
    elif accept:
        store.accept(code, changed_cells(store, plan, kind))
    else:
        raise UsageError(
            f"{words[0]}: --fresh moves them aside and starts over, --accept-changed keeps them"
        )
