"""Theory: what descent will find, in closed form or from exact reduced dynamics, without training.

Pure functions in NumPy and SciPy, one room a paper. JAX is not needed.
"""

from tacit.theory import connectivity, depth, kernel, lowdim, memoryless, regimes

__all__ = ["connectivity", "depth", "kernel", "lowdim", "memoryless", "regimes"]
