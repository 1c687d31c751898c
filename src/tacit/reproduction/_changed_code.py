"""Stored cells that other code has computed than the experiment has now."""

from tacit._errors import UsageError
from tacit.experiments import Experiment
from tacit.reproduction._fingerprint import code_alone, differs, fingerprint, has_old_form
from tacit.store import Plan, Store


def words_on_changes(store: Store, plan: Plan, experiment: Experiment) -> list[str]:
    """What is to be said of the stored cells of other codes, in a sentence; nothing if none are.

    Cells that do not tell their code, and codes that the user has accepted, are not among them.
    """
    code = fingerprint(experiment)
    return [] if code is None else _words(store, plan, experiment, code)[0]


def refuse_changed(
    store: Store, plan: Plan, experiment: Experiment, code: str | None, *, accept: bool
) -> None:
    """A `UsageError` if the code of `cell` has changed since cells were stored, unless accepted.

    Of another version of tacit, whose built-in experiments say by their own version whether results
    have changed, it is only told.
    """
    if code is None:
        return
    words, others = _words(store, plan, experiment, code)
    refused = {other for other in others if differs(code, other)}
    if not refused:
        store.warnings += words
    elif accept:
        store.accept(code, others)
    else:
        raise UsageError(
            f"{words[0]}: --fresh moves them aside and starts over, --accept-changed keeps them"
        )


def _words(store: Store, plan: Plan, of: Experiment, code: str) -> tuple[list[str], dict[str, int]]:
    """A sentence, and how many stored cells of a plan other codes have computed."""
    kept = store.accepted(code) | {code}
    if store.known_codes() <= kept:  # without looking every cell up
        return [], {}
    codes = store.codes(plan)
    others = {o: count for o, count in codes.items() if o is not None and o not in kept}
    refused = {other: count for other, count in others.items() if differs(code, other)}
    count, total = sum((refused or others).values()), sum(codes.values())
    begin = f"{of.id}: {count} of {total} stored cells were"
    if refused and all(map(has_old_form, refused)):
        return [
            f"{begin} computed by tacit 0.2.0, which told code in a way that cannot be compared"
        ], others
    if refused:
        alone = {code_alone(code)} == {*map(code_alone, refused)}
        what = "from other files (depends_on)" if alone else "by other code"
        return [f"{begin} computed {what} than it has now"], others
    by, version = (sorted({" ".join(c.split()[:2]) for c in some}) for some in (others, {code}))
    if not others or by == version:
        return [], {}
    same = f"version {of.version} of the experiment is the same"
    return [f"{begin} computed by {', '.join(by)}, this is {version[0]}; {same}"], others
