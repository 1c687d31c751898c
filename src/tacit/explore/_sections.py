"""The page's parts, in their order."""

from tacit.explore._connectivity import CONNECTIVITY
from tacit.explore._depth import DEPTH
from tacit.explore._kernel import KERNEL
from tacit.explore._lowdim import LOWDIM
from tacit.explore._regimes import REGIMES
from tacit.explore._training import TRAINING

SECTIONS = (TRAINING, LOWDIM, KERNEL, REGIMES, DEPTH, CONNECTIVITY)
