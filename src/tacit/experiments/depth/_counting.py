"""How many runs count: a claim of the figures that leave runs out."""

from typing import TYPE_CHECKING

from tacit.claims import Claim, claim_about_fraction

if TYPE_CHECKING:
    import xarray


def runs_that_count(good: "xarray.DataArray", loss: float, share: float) -> Claim:
    """At least this share of the runs reach this loss."""
    return claim_about_fraction(
        int(good.sum()),
        int(good.size),
        name="runs that count",
        statement=f"At least {share:.0%} of the runs reach a loss of {loss:g}.",
        place="(ours)",
        at_least=share,
    )
