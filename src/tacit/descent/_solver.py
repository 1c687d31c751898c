"""What our solvers of gradient flow share with each other, and Diffrax asks for."""

from collections.abc import Callable
from typing import Any, ClassVar

import diffrax

from tacit._types import PyTree


class FlowSolver(diffrax.AbstractSolver):
    """A solver of ordinary differential equations; between steps the flow goes straight."""

    term_structure: ClassVar[Any] = diffrax.ODETerm
    interpolation_cls: ClassVar[Callable[..., diffrax.LocalLinearInterpolation]] = (
        diffrax.LocalLinearInterpolation
    )

    def func(self, terms: Any, t0: Any, y0: PyTree, args: Any) -> PyTree:
        """The vector field."""
        return terms.vf(t0, y0, args)
