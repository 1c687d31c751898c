"""The pre-training of depth/fig3: four 100 × 100 completions for each of three depths, to a loss.

Peers in PyTorch, by gradient descent:
- a plain loop with autograd, one trial after another, as one writes it on a first day;
- all trials of a depth as one batch, with `torch.bmm` and the gradient written by hand.

Some steps of each are timed and scaled by the number that the whole takes. Gradient descent of rate
η follows the flow, so that it takes T/η steps where the flow takes the time T. The peers' η is half
of what is stable at the end, 1/λ_max of the Hessian there, the mean over trials: larger rates move
the rank away from the flow's, smaller ones take longer. A batch runs as long as its slowest trial.
"""

import sys
from typing import Any

import numpy as np

from benchmarks._measure import best_of, cpu_seconds, pin, report

DEPTHS, TRIALS, SIZE, GOAL = (2, 3, 4), 4, 100, 1e-4
PLAIN_STEPS, BATCHED_STEPS = 40, 20


class Ours:
    """tacit: the trials of a depth as lanes of one program."""

    def __init__(self) -> None:
        import jax

        from tacit.descent import Lanes
        from tacit.experiments.depth.fig3 import Fig3
        from tacit.problems import MatrixCompletion

        fig3 = Fig3(size=SIZE, protocol="text")
        self.attempts = fig3.attempts
        self.lanes: dict[int, tuple[Any, Any]] = {}
        self.method = fig3.method
        with jax.enable_x64(True):
            for depth in DEPTHS:
                trials = [fig3.draw_trial(seed, fig3.scale[0], depth) for seed in range(TRIALS)]
                unit = fig3.rank**-0.5  # entries of unit variance
                problems = [MatrixCompletion(unit * target, few) for target, _, (few, _) in trials]
                self.lanes[depth] = (
                    Lanes.stack([start for _, start, _ in trials]),
                    Lanes.stack(problems),
                )
        self.results: dict[int, Any] = {}

    def run(self) -> None:
        from tacit.descent import Stop, descend

        stop = Stop(self.attempts, loss=GOAL)
        self.results = {
            depth: descend(*self.lanes[depth], self.method, stop=stop, progress=False)
            for depth in DEPTHS
        }

    def curvature(self, depth: int) -> np.ndarray:
        """λ_max of the Hessian at the end of each trial, by power iteration."""
        import jax
        import jax.numpy as jnp
        from jax.flatten_util import ravel_pytree

        found = []
        with jax.enable_x64(True):
            for model, problem in zip(self.results[depth].model, self.lanes[depth][1], strict=True):
                flat, unravel = ravel_pytree(model)

                def gradient(x: Any, unravel: Any = unravel, problem: Any = problem) -> Any:
                    return ravel_pytree(problem.loss_and_gradient(unravel(x))[1])[0]

                turn = jax.jit(lambda v, x=flat, g=gradient: jax.jvp(g, (x,), (v,))[1])
                v = jnp.cos(jnp.arange(flat.size) ** 2.0)
                for _ in range(60):
                    v = turn(v / jnp.linalg.norm(v))
                found.append(float(jnp.linalg.norm(v)))
        return np.array(found)


def arrays(lanes: tuple[Any, Any]) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Factors in the order in which they act, targets and masks, with a lane axis."""
    models, problems = lanes
    factors = [np.array(factor) for factor in models.tree.factors]
    return factors, np.array(problems.tree.target), np.array(problems.tree.mask)


def plain_seconds_a_step(lanes: tuple[Any, Any], rate: float) -> float:
    """CPU seconds of one step of one trial in the plain loop."""
    import torch

    starts, targets, masks = arrays(lanes)
    factors = [torch.tensor(factor[0]).requires_grad_() for factor in starts]
    target, mask = torch.tensor(targets[0]), torch.tensor(masks[0])
    optimiser = torch.optim.SGD(factors, lr=rate)

    def train(steps: int = PLAIN_STEPS) -> None:
        for _ in range(steps):
            optimiser.zero_grad()
            product = factors[0]
            for factor in factors[1:]:
                product = factor @ product
            loss = 0.5 * torch.sum((product - target)[mask] ** 2)
            if loss.item() < GOAL:
                break
            loss.backward()
            optimiser.step()

    train(5)
    return best_of(train, 3) / PLAIN_STEPS


def batched_seconds_a_step(lanes: tuple[Any, Any], rate: float) -> float:
    """CPU seconds of one step of all trials of a depth."""
    import torch

    starts, targets, masks = arrays(lanes)
    factors = [torch.tensor(factor) for factor in starts]
    target, mask = torch.tensor(targets), torch.tensor(masks, dtype=torch.float64)

    def train(steps: int = BATCHED_STEPS) -> None:
        for _ in range(steps):
            products = [factors[0]]
            for factor in factors[1:]:
                products.append(torch.bmm(factor, products[-1]))
            cotangent = (products[-1] - target) * mask
            loss = 0.5 * (cotangent**2).sum((1, 2))
            if (loss < GOAL).all():
                break
            for layer in range(len(factors) - 1, 0, -1):
                gradient = torch.bmm(cotangent, products[layer - 1].mT)
                cotangent = torch.bmm(factors[layer].mT, cotangent)
                factors[layer] = factors[layer] - rate * gradient
            factors[0] = factors[0] - rate * cotangent

    train(3)
    return best_of(train, 3) / BATCHED_STEPS


def main() -> None:
    pin()
    import torch

    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}", file=sys.stderr)
    ours = Ours()
    cold = cpu_seconds(ours.run)
    warm = best_of(ours.run, 2)
    plain = batched = 0.0
    steps, rates = {}, {}
    for depth in DEPTHS:
        times = ours.results[depth].report["time"]
        rate = float(1 / ours.curvature(depth).mean())
        each = times / rate
        plain += float(each.sum()) * plain_seconds_a_step(ours.lanes[depth], rate)
        with torch.no_grad():
            batched += float(each.max()) * batched_seconds_a_step(ours.lanes[depth], rate)
        steps[depth], rates[depth] = [round(count) for count in each], round(rate, 5)
    report(
        f"pre-training of depth/fig3, {TRIALS} trials of {SIZE} × {SIZE} for depths "
        f"{', '.join(map(str, DEPTHS))}, to a loss of {GOAL:g}",
        cold=cold,
        warm=warm,
        peers={
            "plain PyTorch loop, gradient descent": plain,
            "batched PyTorch, gradient descent": batched,
        },
        outcomes={depth: ours.results[depth].outcomes for depth in DEPTHS},
        attempts={depth: ours.results[depth].steps.tolist() for depth in DEPTHS},
        descent_steps=steps,
        descent_rates=rates,
    )


if __name__ == "__main__":
    main()
