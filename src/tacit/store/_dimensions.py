"""The names of dimensions, defined once: a typing error is an `ImportError`, not a new axis.

An experiment's swept parameters are dimensions too and are named as their fields are.
"""

CELL = "cell"  # the leading axis of a part's arrays: one entry a point of the grid

SEED = "seed"
WIDTH = "width"
DEPTH = "depth"
LENGTH = "length"
TEACHER = "teacher"
METHOD = "method"
RATE = "rate"
SCALE = "scale"
RATIO = "ratio"  # diagonal over off-diagonal entries of a start
START = "start"  # the kind of a start
PATTERN = "pattern"  # which entries of a matrix are observed

STEP = "step"
LAG = "lag"
HORIZON = "horizon"
ITERATE = "iterate"  # last, best, polished: which point of a descent
SINGULAR_VALUE = "singular_value"

# Not dimensions, but names of variables that many know.
PRESENT = "present"  # which cells are stored
OUTCOME = "outcome"  # how a cell ended
