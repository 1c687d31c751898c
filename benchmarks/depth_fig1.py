"""The 7,200 completions of depth/fig1 by gradient flow to a loss of 1e-10.

Peers in PyTorch:
- a plain loop of gradient descent, one trial after another, as one writes it on a first day. Some
  hundred steps are timed for each depth. The number of steps to the same loss is measured by our
  own gradient descent on some trials of every pattern, depth and scale, at most `CAP` each: a trial
  that is not there by then counts with `CAP`, so the peer's time is a lower bound;
- the same Runge-Kutta method with a step size for each lane, as one batch from which lanes that
  have ended are taken out, to the end; as it is and compiled (its compilation is not counted).
"""

import sys
from typing import Any

import numpy as np

from benchmarks._completions import DEPTHS, GOAL, SCALES, TRIALS, as_lanes, completions
from benchmarks._measure import best_of, cpu_seconds, pin, report

CHUNK = 150  # trials at a time, as in the experiment: 1,200 lanes
ATTEMPTS = 20_000
GD_RATE, GD_TRIALS, CAP = 0.02, 20, 300_000
PLAIN_STEPS = 300


class Ours:
    """tacit: every depth in batches of 1,200 lanes."""

    def __init__(self) -> None:
        import diffrax

        from tacit.descent import GradientFlow, Unrolled

        self.method = GradientFlow(Unrolled(diffrax.Tsit5()))
        self.batches = {
            depth: [
                as_lanes(completions(depth, first, first + CHUNK))
                for first in range(0, TRIALS, CHUNK)
            ]
            for depth in DEPTHS
        }
        self.results: dict[int, list[Any]] = {}

    def run(self) -> None:
        from tacit.descent import Stop, descend

        stop = Stop(ATTEMPTS, loss=GOAL)
        self.results = {
            depth: [descend(*batch, self.method, stop=stop, progress=False) for batch in batches]
            for depth, batches in self.batches.items()
        }

    @property
    def attempts(self) -> dict[int, int]:
        """Attempted steps of all lanes, for each depth."""
        return {depth: sum(int(r.steps.sum()) for r in rs) for depth, rs in self.results.items()}

    @property
    def outcomes(self) -> dict[str, int]:
        ends = np.concatenate([r.outcome for rs in self.results.values() for r in rs])
        return dict(
            zip(*(part.tolist() for part in np.unique(ends, return_counts=True)), strict=True)
        )


def descent_steps() -> dict[int, tuple[float, float]]:
    """For each depth: steps of gradient descent for all trials, and the fraction cut off at `CAP`.

    Trials that diverge at this rate count as none.
    """
    import optax

    from tacit.descent import Stop, descend

    steps = {}
    for depth in DEPTHS:
        lanes = as_lanes(completions(depth, 0, GD_TRIALS))
        result = descend(
            *lanes, optax.sgd(GD_RATE), stop=Stop(CAP, loss=GOAL, diverged=1e6), progress=False
        )
        counted = np.where(result.outcome == "diverged", 0, result.steps)
        # Lanes are patterns × scales × trials, in equal numbers.
        total = counted.mean() * len(result.steps) * TRIALS / GD_TRIALS
        steps[depth] = float(total), float(np.mean(result.outcome == "stopped"))
    return steps


def plain_seconds_a_step(depth: int) -> float:
    """CPU seconds of one step of one trial in the plain loop."""
    import torch

    data = completions(depth, 0, 1)
    factors = [torch.tensor(factor[0]).requires_grad_() for factor in data.factors]
    target, mask = torch.tensor(data.target[0]), torch.tensor(data.mask[0])
    optimiser = torch.optim.SGD(factors, lr=GD_RATE)

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

    train(10)
    return best_of(train, 3) / PLAIN_STEPS


def batched_seconds(depth: int, *, compiled: bool) -> float:
    """CPU seconds of all trials of a depth as one batch in PyTorch."""
    from benchmarks._torch_flow import run, run_to_the_end, started

    lanes = started(completions(depth))
    for size in (2400, 600, 7):  # compilation, for any number of lanes from the second on
        run(lanes.take(np.arange(size)), 3, GOAL, compiled=compiled)
    return best_of(lambda: run_to_the_end(lanes, ATTEMPTS, GOAL, compiled=compiled))


def agreement(ours: Ours) -> float:
    """The largest difference between our end points and PyTorch's: both stop within a step."""
    from benchmarks._torch_flow import run, started

    largest = 0.0
    for depth in DEPTHS:
        result = ours.results[depth][0]
        short = result.steps < 400
        lanes, _ = run(started(completions(depth, 0, CHUNK)), 401, GOAL, compiled=False)
        factors = np.stack([np.asarray(factor) for factor in result.model.tree.factors])
        largest = max(largest, float(np.abs(factors - lanes.y.numpy())[:, short].max()))
    return largest


def main() -> None:
    pin()
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(True)
    print(f"PyTorch {torch.__version__}", file=sys.stderr)
    ours = Ours()
    cold = cpu_seconds(ours.run)
    warm = best_of(ours.run, 3)
    steps = descent_steps()
    plain = sum(steps[depth][0] * plain_seconds_a_step(depth) for depth in DEPTHS)
    with torch.no_grad():
        eager, compiled = (
            sum(batched_seconds(depth, compiled=compiled) for depth in DEPTHS)
            for compiled in (False, True)
        )
        difference = agreement(ours)
    report(
        f"{len(DEPTHS) * len(SCALES) * 2 * TRIALS:,} completions 2 × 2 of depth/fig1 by flow to a "
        f"loss of {GOAL:g}",
        cold=cold,
        warm=warm,
        peers={
            f"plain PyTorch loop, gradient descent at {GD_RATE}": plain,
            "batched PyTorch, same method": eager,
            "batched, compiled PyTorch, same method (compilation not counted)": compiled,
        },
        outcomes=ours.outcomes,
        attempts=ours.attempts,
        descent_steps={depth: round(total) for depth, (total, _) in steps.items()},
        descent_cut_off={depth: round(cut, 3) for depth, (_, cut) in steps.items()},
        **{"largest difference to PyTorch's end points": difference},
    )


if __name__ == "__main__":
    main()
