"""The 1,000 Gaussian starts of depth/fig10, four depths, by gradient flow to a loss of 1e-10.

Peers in PyTorch, both gradient descent at a rate small enough to stay near the flow:
- a plain loop, one start after another. Some hundred steps are timed for each depth; the number of
  steps that every start needs comes from the batched peer, `CAP` at most: a lower bound;
- all starts of a depth as one batch, with those that have ended taken out, to the end or to `CAP`.

And one in JAX: the same flow by hand (`_bare_flow.py`), with its own compilation beside ours. It
shows how much of a first run is the compiler's.
"""

import sys
from typing import Any

import numpy as np

from benchmarks._measure import best_of, cpu_seconds, pin, report

DEPTHS, STARTS, SIZE, SCALE, GOAL = (2, 3, 4, 5), 1000, 3, 1e-3, 1e-10
ATTEMPTS, RTOL, ATOL = 20_000, 1e-8, 1e-10
GD_RATE, CAP, LOOK = 0.02, 100_000, 50
PLAIN_STEPS = 300


def starts(depth: int) -> np.ndarray:
    """Gaussian factors (depth, start, 3, 3), in the order in which they act."""
    drawn = np.random.default_rng(0).normal(size=(max(DEPTHS), STARTS, SIZE, SIZE))
    return SCALE ** (1 / depth) * drawn[:depth]


class Ours:
    """tacit: every depth as one batch of lanes."""

    def __init__(self) -> None:
        import diffrax
        import equinox as eqx
        import jax
        import jax.numpy as jnp

        from tacit.descent import GradientFlow, Lanes, Unrolled
        from tacit.models import DeepFactorisation
        from tacit.problems import MatrixCompletion, Pattern

        self.method = GradientFlow(Unrolled(diffrax.Tsit5()), rtol=RTOL, atol=ATOL)
        self.problem = MatrixCompletion(np.eye(SIZE), Pattern.diagonal(SIZE))
        with jax.enable_x64(True):
            self.models = {
                depth: Lanes(
                    eqx.filter_vmap(DeepFactorisation)(tuple(map(jnp.asarray, starts(depth))))
                )
                for depth in DEPTHS
            }
        self.results: dict[int, Any] = {}

    def run(self) -> None:
        from tacit.descent import Stop, descend

        stop = Stop(ATTEMPTS, loss=GOAL)
        self.results = {
            depth: descend(models, self.problem, self.method, stop=stop, progress=False)
            for depth, models in self.models.items()
        }

    def outcomes(self) -> dict[str, int]:
        ends = np.concatenate([result.outcome for result in self.results.values()])
        names, counts = np.unique(ends, return_counts=True)
        return dict(zip(names.tolist(), counts.tolist(), strict=True))

    def ranks(self) -> dict[int, float]:
        """The mean effective rank of each depth."""
        from tacit.measures import effective_rank

        return {
            depth: float(
                np.mean([effective_rank(np.asarray(model.product())) for model in result.model])
            )
            for depth, result in self.results.items()
        }


class ByHand:
    """The same flow in JAX by hand, every depth as one batch."""

    def __init__(self) -> None:
        import jax
        import jax.numpy as jnp

        from benchmarks._bare_flow import flow

        def loss(factors: Any) -> Any:
            product = factors[0]
            for factor in factors[1:]:
                product = factor @ product
            return 0.5 * jnp.sum((jnp.diagonal(product) - 1) ** 2)

        self.run_one = flow(loss, rtol=RTOL, atol=ATOL, goal=GOAL, most=ATTEMPTS)
        with jax.enable_x64(True):
            self.starts = [tuple(map(jnp.asarray, starts(depth))) for depth in DEPTHS]
        self.attempts: dict[int, int] = {}

    def run(self) -> None:
        import jax

        with jax.enable_x64(True):
            for depth, factors in zip(DEPTHS, self.starts, strict=True):
                self.attempts[depth] = int(np.asarray(self.run_one(factors)[1]).sum())


def loss_of(factors: list[Any], target: Any) -> Any:
    """½ Σ_i (x_ii − 1)² of one start, or of every start along a leading axis."""
    import torch

    product = factors[0]
    for factor in factors[1:]:
        product = factor @ product
    diagonal = torch.diagonal(product, dim1=-2, dim2=-1)
    return 0.5 * ((diagonal - target) ** 2).sum(-1)


def batched(depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Gradient descent of all starts as one batch: steps of each, and the products at the end."""
    import torch

    target = torch.ones(SIZE, dtype=torch.float64)
    factors = [torch.tensor(f).requires_grad_() for f in starts(depth)]
    members, steps = np.arange(STARTS), np.full(STARTS, CAP)
    products = np.full((STARTS, SIZE, SIZE), np.nan)
    for done in range(CAP + 1):
        losses = loss_of(factors, target)
        if done % LOOK == 0:
            ended = ((losses <= GOAL) | ~torch.isfinite(losses)).numpy()
            if ended.any() or done == CAP:
                steps[members[ended]] = done
                with torch.no_grad():
                    whole = factors[0]
                    for factor in factors[1:]:
                        whole = factor @ whole
                    products[members] = whole.numpy()
                members = members[~ended]
                if members.size == 0 or done == CAP:
                    break
                keep = torch.tensor(~ended)
                factors = [f.detach()[keep].requires_grad_() for f in factors]
                losses = loss_of(factors, target)
        slopes = torch.autograd.grad(losses.sum(), factors)
        with torch.no_grad():
            for factor, slope in zip(factors, slopes, strict=True):
                factor -= GD_RATE * slope
    return steps, products


def plain_seconds_a_step(depth: int) -> float:
    """CPU seconds of one step of one start in the plain loop."""
    import torch

    target = torch.ones(SIZE, dtype=torch.float64)
    factors = [torch.tensor(f[0]).requires_grad_() for f in starts(depth)]
    optimiser = torch.optim.SGD(factors, lr=GD_RATE)

    def train(steps: int = PLAIN_STEPS) -> None:
        for _ in range(steps):
            optimiser.zero_grad()
            loss = loss_of(factors, target)
            if loss.item() < 0:  # the plain loop looks at its loss; here it shall not end
                break
            loss.backward()
            optimiser.step()

    train(10)
    return best_of(train, 3) / PLAIN_STEPS


def main() -> None:
    pin()
    import torch

    from tacit.measures import effective_rank

    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}", file=sys.stderr)
    ours = Ours()
    cold = cpu_seconds(ours.run)
    warm = best_of(ours.run, 3)
    by_hand = ByHand()
    by_hand_cold, by_hand_warm = cpu_seconds(by_hand.run), best_of(by_hand.run, 3)
    whole = plain = 0.0
    steps, cut, ranks = {}, {}, {}
    for depth in DEPTHS:
        ends: list[Any] = []
        whole += cpu_seconds(lambda depth=depth, ends=ends: ends.append(batched(depth)))
        taken, products = ends[0]
        plain += float(taken.sum()) * plain_seconds_a_step(depth)
        steps[depth], cut[depth] = int(taken.sum()), float(np.mean(taken == CAP))
        ranks[depth] = float(np.mean([effective_rank(product) for product in products]))
    report(
        f"{len(DEPTHS)} × {STARTS:,} Gaussian starts of depth/fig10 to a loss of {GOAL:g}",
        cold=cold,
        warm=warm,
        peers={
            f"plain PyTorch loop, gradient descent at {GD_RATE}": plain,
            f"batched PyTorch, gradient descent at {GD_RATE}": whole,
            "the same flow by hand in JAX": by_hand_warm,
        },
        by_hand_with_compile=round(by_hand_cold, 3),
        ratio_both_with_compile=round(by_hand_cold / cold, 2),
        attempts_by_hand=by_hand.attempts,
        outcomes=ours.outcomes(),
        attempts={depth: int(result.steps.sum()) for depth, result in ours.results.items()},
        descent_steps=steps,
        descent_cut_off={depth: round(part, 3) for depth, part in cut.items()},
        mean_effective_rank=ours.ranks(),
        mean_effective_rank_of_descent=ranks,
    )


if __name__ == "__main__":
    main()
