"""The record of a claim and its decision rule, shared by experiments and statements."""

from tacit.claims._claim import Claim, Expected, Relation, Verdict
from tacit.claims._claims import (
    Claims,
    claim_about_fraction,
    claim_about_mean,
    claim_about_median,
    claim_about_value,
)
from tacit.claims._compare import Movement, compare
from tacit.claims._intervals import (
    fraction_interval,
    mean_half_width,
    mean_interval,
    median_interval,
)

__all__ = [
    "Claim",
    "Claims",
    "Expected",
    "Movement",
    "Relation",
    "Verdict",
    "claim_about_fraction",
    "claim_about_mean",
    "claim_about_median",
    "claim_about_value",
    "compare",
    "fraction_interval",
    "mean_half_width",
    "mean_interval",
    "median_interval",
]
