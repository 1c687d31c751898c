"""The three stages that a figure on loss of plasticity compares, and their words."""

from tacit.store import STAGE, Variable

STAGES = ("pre", "warm", "cold")
STAGE_WORDS = {
    "pre": "pre-trained on few",
    "warm": "warm: going on with more",
    "cold": "cold: from the start with more",
}


def per_stage(long_name: str, dtype: str = "float64") -> Variable:
    """The declaration of a number that each stage has."""
    return Variable((STAGE,), "1", long_name, dtype)
