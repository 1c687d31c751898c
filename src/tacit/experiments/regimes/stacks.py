"""Small stacks of state-space layers, trained on windows and judged on longer sequences."""

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax
import xarray

from tacit.descent import Lanes, Stop, descend
from tacit.draw import Axis, HorizontalRule, Line, Panel, VerticalRule, median_lines
from tacit.experiments import Experiment, fixed, swept
from tacit.models import LRURing, SSMStack
from tacit.problems import RatedWindows

RECIPES = {"usual": (1.0, 0.1), "map": (0.01, 1.0)}  # scale of C (over √modes), rate of A
TIMES = (1, 2, 4, 8, 16)  # ends of the stretches on which a stack is judged, in windows
BEYOND = f"On steps from {TIMES[-2]} to {TIMES[-1]} windows"
RECIPE_WORDS = "Usual: C ~ 1, A at a tenth of the rate; map: C ~ 0.01, A at the full rate."


class StackExperiment(Experiment):
    """Encoder, state-space layers with a gated nonlinearity and skips, decoder; by recipe."""

    recipe: tuple[str, ...] = swept(
        tuple(RECIPES), "scale of C and rate of A", choices=tuple(RECIPES)
    )
    seed: tuple[int, ...] = swept(range(260, 280), "seed of the start and of the data", low=0)
    window: int = fixed(16, "steps k of a training window", low=8, high=1000)
    windows: int = fixed(256, "training windows", low=1, high=100_000)
    layers: int = fixed(2, "state-space layers", low=1, high=20)
    features: int = fixed(6, "features between layers", low=1, high=1000)
    modes: int = fixed(8, "complex modes of a layer", low=1, high=1000)
    steps: int = fixed(4_000, "steps of Adam", low=1, high=10_000_000)
    learning_rate: float = fixed(3e-3, "learning rate of Adam", low=1e-6, high=1.0)

    def coordinates(self) -> dict[str, Any]:
        return {"times": np.array(TIMES)}

    def problem(self, recipe: str, seed: int, x: np.ndarray, y: np.ndarray) -> RatedWindows:
        """A stack at its start with its windows; recipes of one seed share the numbers drawn."""
        scale, rate = RECIPES[recipe]
        stack = SSMStack.random(
            LRURing(0.4, 0.999),
            self.layers,
            features=self.features,
            modes=self.modes,
            inputs=x.shape[2],
            scale=scale,
            key=jax.random.key(seed),
        )
        return RatedWindows.of(stack, x, y, rate=rate)

    def trained(
        self, problems: list[RatedWindows], tests: list[tuple[np.ndarray, np.ndarray]], title: str
    ) -> dict[str, Any]:
        """Train all, then run each on its long sequences (sequences, time, inputs)."""
        lanes = Lanes.stack(problems)
        result = descend(
            Lanes(lanes.tree.start),
            lanes,
            optax.adam(self.learning_rate),
            stop=Stop(self.steps, diverged=1e6),
            title=title,
        )
        x, y = (np.stack(part) for part in zip(*tests, strict=True))
        with jax.enable_x64(True):
            found = np.asarray(_tested(lanes.tree, result.model.tree, x))
        return {
            "outcome": result.outcome,
            "error": self.by_stretch(found, y),
            "train_error": np.asarray(result.loss) / np.mean(y**2, axis=(1, 2)),
        }

    def by_stretch(self, found: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Squared error over the answers' mean square, (cell, stretch)."""
        gap, size = (found - answers) ** 2, np.mean(answers**2, axis=(1, 2))
        edges = [0, *(self.window * t for t in TIMES)]
        stretches = [np.mean(gap[:, :, a:b], axis=(1, 2)) for a, b in pairwise(edges)]
        return np.stack(stretches, axis=1) / size[:, None]

    def panel(self, title: str, error: xarray.DataArray, *more: Line) -> Panel:
        """Error against the length, by recipe."""
        ticks = {float(t): f"{t}" for t in TIMES}
        return Panel(
            title,
            Axis(f"up to so many windows of {self.window} steps", scale="log", ticks=ticks),
            Axis("squared error over the answer's variance", scale="log"),
            [
                HorizontalRule(1.0, label="predicting zero"),
                VerticalRule(1.0, label="trained up to here", style="dotted"),
                *median_lines(error, "times", by="recipe", label="{recipe} recipe"),
                *more,
            ],
            note="bands: the middle half of the starts",
        )

    def caption(self) -> str:
        """What was trained, in words."""
        return (
            f"Stacks with {self.layers} state-space layer{'s' * (self.layers > 1)} (LRU ring, "
            f"{self.modes} modes, GLU) trained by Adam for {self.steps} steps on {self.windows} "
            f"windows of {self.window} steps. {RECIPE_WORDS} Each point is the stretch that ends "
            f"there; medians over {len(self.seed)} starts."
        )


@eqx.filter_jit
def _tested(problems: RatedWindows, trained: SSMStack, inputs: Any) -> Any:
    return eqx.filter_vmap(lambda p, m, x: p.predicted(m, x))(problems, trained, inputs)
