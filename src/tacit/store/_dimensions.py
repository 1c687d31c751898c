"""The names of dimensions, defined once: a typing error is an `ImportError`, not a new axis.

An experiment's swept parameters are dimensions too and are named as their fields are.
"""

CELL = "cell"  # the leading axis of a part's arrays: one entry a point of the grid

SEED = "seed"
WIDTH = "width"
DEPTH = "depth"
LENGTH = "length"
CHANNELS = "channels"  # inputs, and as many outputs
TEACHER = "teacher"
METHOD = "method"
LOSS = "loss"  # which loss descends: of the population, or of data
RATE = "rate"
SCALE = "scale"
MODEL = "model"  # which of several models beside each other
RATIO = "ratio"  # diagonal over off-diagonal entries of a start
START = "start"  # the kind of a start
PATTERN = "pattern"  # which entries of a matrix are observed
GAMMA = "gamma"  # what an output is divided by
GAMMA0 = "gamma0"  # γ/√n: what decides between the kernel regime and the rich one
GAIN = "gain"  # a factor on the usual initial scale
ORDER = "order"  # of a teacher
DATA = "data"  # what a model is trained on
NOISE = "noise"  # standard deviation of what is added to a target
ADDED = "added"  # the size of what is observed later
SMALLER = "smaller"  # initial scales below those of the sweep
DELAY = "delay"  # by how much a teacher waits
PORTION = "portion"  # how much of a recording is used
TASK = "task"  # what is learned
STRENGTH = "g"  # of the initial connectivity
TARGET = "target"  # of an output
GOAL = "goal"  # loss at which a run ends
SLOWER = "slower"  # what a rate is divided by

STEP = "step"
TIME = "time"  # of a flow, or of an output: the length of the sequence that it ends
LAG = "lag"
HORIZON = "horizon"
STAGE = "stage"  # of a schedule: pre, warm, cold
ITERATE = "iterate"  # last, best, polished: which point of a descent
SINGULAR_VALUE = "singular_value"
MODE = "mode"  # an eigenvalue of a transition, the largest first
DIRECTION = "direction"  # of a movement
RANK = "rank"  # at which a matrix is truncated
UNIT = "unit"  # of a network
CHANNEL = "channel"  # of a trial
MATRIX = "matrix"  # which weights of a network
SPLIT = "split"  # of data: train, dev
KEPT = "kept"  # what a truncation keeps
ENDS = "ends"  # of an interval

# Not dimensions, but names of variables that many know.
PRESENT = "present"  # which cells are stored
OUTCOME = "outcome"  # how a cell ended
