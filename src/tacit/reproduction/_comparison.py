"""A run beside the committed reference of its preset: what moved."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.claims import Claim, Movement, compare, seeds_of
from tacit.reproduction._digest import digest_movements
from tacit.reproduction._reference import Reference, in_words, load_reference
from tacit.store import UNKNOWN_ROUNDING

if TYPE_CHECKING:
    from tacit.reproduction._reproduction import Reproduction


@dataclass(frozen=True)
class Comparison:
    """What moved since the reference, or why nothing could be compared.

    **Arguments:**

    - `moved`: every movement; none if the run is the reference's, up to rounding.
    - `unable`: one sentence that says why there was nothing to compare with; empty otherwise.
    - `remark`: one sentence if the reference is of another kind of machine; empty otherwise.
    """

    moved: tuple[Movement, ...] = ()
    unable: str = ""
    remark: str = ""


def compared(run: "Reproduction") -> Comparison:
    """The run beside the committed reference of its preset."""
    experiment = run.experiment
    reference = load_reference(experiment, run.preset)
    if reference is None:
        return Comparison(unable=f"there is no reference for {experiment.id} at {run.preset}")
    now, preset = in_words(experiment), in_words(type(experiment).from_preset(run.preset))
    other = [name for name in now if now[name] != preset[name]]
    if other:
        verb = "differ" if len(other) > 1 else "differs"
        return Comparison(
            unable=f"nothing is compared: {', '.join(other)} {verb} from the preset {run.preset}, "
            "which the reference is of"
        )
    if reference.digest is None or reference.parameters is None:
        return Comparison(
            unable=f"the reference of {experiment.id} at {run.preset} has no digest: make it again "
            "from the claims.json of a run"
        )
    was = reference.parameters
    moved = [
        Movement(
            name, "parameters", f"{was.get(name, 'nothing')} became {now.get(name, 'nothing')}"
        )
        for name in [*now, *(name for name in was if name not in now)]
        if now.get(name) != was.get(name)
    ]
    seeds = len(experiment.axes().get("seed", ())) or None
    alike = reference.rounding == run.rounding and UNKNOWN_ROUNDING not in run.rounding.split("; ")
    claims = _comparable(run, reference)
    moved += compare(claims, reference.claims, seeds=seeds, same_machine=alike)
    moved += digest_movements(run.digest, reference.digest, same_machine=alike)
    remark = (
        "the reference is of another machine or other packages, where descents that amplify "
        f"rounding end elsewhere, and so it was compared less closely: {reference.rounding}"
    )
    return Comparison(tuple(moved), remark="" if alike else remark)


def _comparable(run: "Reproduction", reference: Reference) -> list[Claim]:
    """The run's claims; on the preset's own seeds where the reference saw another number."""
    counts = {claim.name: seeds_of(claim) for claim in reference.claims}
    if all(seeds_of(claim) == counts.get(claim.name) for claim in run.claims):
        return list(run.claims)
    own = {claim.name: claim for claim in run.experiment.claims(run.dataset)}
    return [
        claim if seeds_of(claim) == counts.get(claim.name) else own.get(claim.name, claim)
        for claim in run.claims
    ]
