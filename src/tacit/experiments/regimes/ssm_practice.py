"""regimes/ssm-practice (ours): does a stack of state-space layers hold beyond its training window?

The comparison: a small stack (encoder, state-space layers with a gated nonlinearity and skips,
decoder) is trained by Adam on windows of k steps and tested on sequences up to 16 k, with the usual
recipe (C of order one, A at a tenth of the rate) and with the one that the map of linear layers
recommends (C small, A at the full rate). The answers are known. `average` is tanh of a leaky
average with a memory of 33 steps, longer than the window; `copy` repeats the input 5 steps later,
which a filter within the window does, so the recipe should not matter.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from tacit._types import Array, Float
from tacit.descent import Lanes, Stop, descend
from tacit.draw import Axis, Figure, HorizontalRule, Panel, VerticalRule, median_lines
from tacit.experiments import Batch, Claims, Experiment, fixed, swept
from tacit.experiments.regimes.state_space import PLACE
from tacit.models import LRURing, SSMStack
from tacit.store import Variable

TASKS = {"average": "a leaky average", "copy": "a delayed copy"}
RECIPES = {"usual": (1.0, 0.1), "map": (0.01, 1.0)}  # scale of C (over √modes), rate of A
TIMES = (1, 2, 4, 8, 16)  # ends of the stretches on which a stack is judged, in windows
DECAY, DELAY = 0.97, 5


def answers(task: str, inputs: np.ndarray) -> np.ndarray:
    """The right outputs for inputs (…, time)."""
    if task == "copy":
        return np.concatenate([np.zeros_like(inputs[..., :DELAY]), inputs[..., :-DELAY]], axis=-1)
    state, found = np.zeros(inputs.shape[:-1]), []
    for t in range(inputs.shape[-1]):
        state = DECAY * state + np.sqrt(1 - DECAY**2) * inputs[..., t]
        found.append(np.tanh(state))
    return np.stack(found, axis=-1)


class Windows(eqx.Module):
    """Mean squared error of a stack on windows; eigenvalues have moved `rate` times their part.

    Adam moves every parameter at one speed; what it moves of the spectra counts `rate` times.
    """

    inputs: Float[Array, "window time"]
    outputs: Float[Array, "window time"]
    start: SSMStack
    rate: Float[Array, ""]

    def model(self, trained: SSMStack) -> SSMStack:
        """The stack with its spectra slowed down."""

        def spectra(stack: SSMStack) -> list[Any]:
            return [block.ssm.spectrum for block in stack.blocks]

        slow = jax.tree.map(
            lambda a, b: a + self.rate * (b - a), *map(spectra, (self.start, trained))
        )
        return eqx.tree_at(spectra, trained, slow)

    def loss(self, trained: SSMStack) -> Float[Array, ""]:
        """The mean over windows and steps."""
        return jnp.mean((_run(self.model(trained), self.inputs) - self.outputs) ** 2)


class SSMPractice(Experiment):
    """Error of a small stack on sequences up to 16 times its training window, by recipe."""

    id, figure = "regimes/ssm-practice", "ours: a stack beyond its window"

    task: tuple[str, ...] = swept(tuple(TASKS), "what is to be learned", choices=tuple(TASKS))
    recipe: tuple[str, ...] = swept(
        tuple(RECIPES), "scale of C and rate of A", choices=tuple(RECIPES)
    )
    seed: tuple[int, ...] = swept(range(200, 220), "seed of the start and of the data", low=0)
    window: int = fixed(16, "steps k of a training window", low=8, high=1000)
    windows: int = fixed(256, "training windows", low=1, high=100_000)
    layers: int = fixed(2, "state-space layers", low=1, high=20)
    features: int = fixed(6, "features between layers", low=1, high=1000)
    modes: int = fixed(8, "complex modes of a layer", low=1, high=1000)
    steps: int = fixed(4_000, "steps of Adam", low=1, high=10_000_000)
    learning_rate: float = fixed(3e-3, "learning rate of Adam", low=1e-6, high=1.0)

    presets = {
        "smoke": dict(task="average", seed=range(200, 202), steps=40, windows=8, layers=1),
        "quick": dict(seed=range(200, 260), steps=1_500, windows=64, layers=1),
        "paper": {},
    }

    def variables(self) -> dict[str, Variable]:
        return {
            "error": Variable("squared error over the answer's variance, by stretch", "times"),
            "train_error": Variable("the same on the training windows"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"times": np.array(TIMES)}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        cells = [dict(zip(("task", "recipe", "seed"), row, strict=True)) for row in zip(
            *(batch.column(name).tolist() for name in ("task", "recipe", "seed")), strict=True
        )]  # fmt: skip
        made = [self._problem(**cell) for cell in cells]
        problems = Lanes.stack([problem for problem, _, _ in made])
        result = descend(
            Lanes(problems.tree.start),
            problems,
            optax.adam(self.learning_rate),
            stop=Stop(self.steps, diverged=1e6),
            title=batch.label,
        )
        tests = [np.stack(part) for part in zip(*((x, y) for _, x, y in made), strict=True)]
        with jax.enable_x64(True):
            outputs = np.asarray(_tested(problems.tree, result.model.tree, tests[0]))
        gap, size = (outputs - tests[1]) ** 2, np.mean(tests[1] ** 2, axis=(1, 2))
        edges = [0, *(self.window * t for t in TIMES)]
        stretches = [np.mean(gap[:, :, a:b], axis=(1, 2)) for a, b in pairwise(edges)]
        return {
            "outcome": result.outcome,
            "error": np.stack(stretches, axis=1) / size[:, None],
            "train_error": np.asarray(result.loss) / size,
        }

    def _problem(self, task: str, recipe: str, seed: int) -> tuple[Windows, np.ndarray, np.ndarray]:
        """A start, training windows and long test sequences; recipes of one seed share both."""
        scale, rate = RECIPES[recipe]
        rng = np.random.default_rng([2026, seed])
        train = rng.normal(size=(self.windows, self.window))
        test = rng.normal(size=(8, self.window * TIMES[-1]))
        stack = SSMStack.random(
            LRURing(0.4, 0.999),
            self.layers,
            features=self.features,
            modes=self.modes,
            scale=scale,
            key=jax.random.key(seed),
        )
        with jax.enable_x64(True):
            given = (jnp.asarray(train), jnp.asarray(answers(task, train)))
            return Windows(*given, stack, jnp.asarray(rate)), test, answers(task, test)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "error")
        error = error.reindex(recipe=list(RECIPES), task=list(TASKS))
        last, first = error.sel(times=TIMES[-1]), error.sel(times=1)
        average, copy = last.sel(task="average"), last.sel(task="copy")
        words = f"On steps from {TIMES[-2]} to {TIMES[-1]} windows"
        claim.median(
            "average: the usual recipe does not hold",
            average.sel(recipe="usual") / first.sel(task="average", recipe="usual"),
            at_least=2,
            says=f"{words}, the usual recipe's error is at least twice that within the window.",
        )
        claim.median(
            "average: the map's recipe does better",
            average.sel(recipe="usual") / average.sel(recipe="map"),
            at_least=1.5,
            says=f"{words} of the leaky average, the usual recipe's error is at least 1.5 times "
            "that of the map's recipe.",
        )
        if "copy" in self.task:
            claim.between(
                "copy: the recipe matters little",
                copy.sel(recipe="usual") / copy.sel(recipe="map"),
                at_least=1 / 3,
                at_most=3,
                says=f"{words} of the delayed copy, the two errors are within a factor of 3.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        error = self.counted(runs, "error")
        ticks = {float(t): f"{t}" for t in TIMES}
        panels = [
            Panel(
                TASKS[task],
                Axis(f"up to so many windows of {self.window} steps", scale="log", ticks=ticks),
                Axis("squared error over the answer's variance", scale="log"),
                [
                    HorizontalRule(1.0, label="predicting zero"),
                    VerticalRule(1.0, label="trained up to here", style="dotted"),
                    *median_lines(
                        error.sel(task=task), "times", by="recipe", label="{recipe} recipe"
                    ),
                ],
                note="bands: the middle half of the starts",
            )
            for task in self.task
        ]
        return Figure(
            "A stack beyond its training window, with two recipes",
            panels,
            columns=2,
            caption=f"Stacks with {self.layers} state-space layer{'s' * (self.layers > 1)} (LRU "
            f"ring, {self.modes} modes, GLU) trained by Adam for {self.steps} steps on "
            f"{self.windows} windows of {self.window} steps. Usual: C ~ 1, A at a tenth of the "
            "rate; map: C ~ 0.01, A at the full rate. Each point is the stretch that ends there; "
            f"medians over {len(self.seed)} starts.",
            size=(10.5, 4.8),
        )


def _run(model: SSMStack, inputs: Float[Array, "window time"]) -> Float[Array, "window time"]:
    return jax.vmap(lambda u: model.simulate(u[:, None])[:, 0])(inputs)


@eqx.filter_jit
def _tested(problems: Windows, trained: SSMStack, inputs: Any) -> Any:
    return eqx.filter_vmap(lambda p, m, x: _run(p.model(m), x))(problems, trained, inputs)
