"""A method around another one, which makes the steps."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import numpy as np

from tacit._types import Array
from tacit.descent._method import AbstractMethod


class Wrapped(AbstractMethod):
    """What reports, shows and takes hyperparameters as the method inside does.

    Its own state is a module whose field `state` is that of the method inside.
    """

    method: AbstractMethod

    def report(self, state: Any) -> dict[str, Array]:
        """What the method itself reports."""
        return self.method.report(state.state)

    def observe(self, state: Any) -> dict[str, Array]:
        """What the method itself shows."""
        return self.method.observe(state.state)

    def set_hyperparameters(self, state: Any, values: Mapping[str, np.ndarray]) -> Any:
        """Those of the method itself."""
        inner = self.method.set_hyperparameters(state.state, values)
        return eqx.tree_at(lambda whole: whole.state, state, inner)

    @property
    def reports(self) -> bool:
        """Whether the method itself reports anything."""
        return self.method.reports
