"""48 linear RNNs of width 40 under Adam for 15,000 steps: the work of one panel of lowdim/fig1a.

Peers in PyTorch: a plain loop, model after model, as one writes it on a first day; and the best
that we could make of it there: all models as one batch, the step compiled, Adam fused. Peers are
timed over a slice of the steps and scaled; compilation is timed apart and counted in full for us.
"""

import functools
import sys

from benchmarks._measure import best_of, cpu_seconds, pin, report

LANES, WIDTH, LAGS, STEPS, RATE = 48, 40, 20, 15_000, 1e-3
PLAIN_STEPS, BATCHED_STEPS = 200, 400


def starts(kind: str, seed: int = 0):
    """The same numbers for us and for the peers, in float64."""
    import numpy as np

    rng = np.random.default_rng(seed)
    b = rng.normal(0, 0.1, (LANES, WIDTH))
    c = rng.normal(0, 0.1, (LANES, WIDTH))
    a = rng.normal(0, 0.1, (LANES, WIDTH) if kind == "diagonal" else (LANES, WIDTH, WIDTH))
    if kind == "dense":
        a /= np.sqrt(WIDTH) / 3
    eigenvalues = np.linspace(-1, 1, 5)
    target = np.mean(eigenvalues[:, None] ** np.arange(LAGS), axis=0)
    lengths = 5 + np.arange(LANES) % 16
    mask = (np.arange(LAGS) < lengths[:, None]).astype(float)
    return a, b, c, np.broadcast_to(target, (LANES, LAGS)).copy(), mask


class Ours:
    """tacit: lanes of `LinearRNN` in one `descend`."""

    def __init__(self, kind: str, dtype: str) -> None:
        import jax
        import optax

        from tacit.descent import Lanes
        from tacit.models import Dense, Diagonal, LinearRNN
        from tacit.problems import PopulationLoss

        a, b, c, target, mask = (x.astype(dtype) for x in starts(kind))
        transition = Diagonal if kind == "diagonal" else Dense
        # The diagonal student is balanced, as in fig1a: C = Bᵀ.
        self.models = Lanes.stack(
            [
                LinearRNN(
                    transition(a[i]), b[i][:, None], None if kind == "diagonal" else c[i][None]
                )
                for i in range(LANES)
            ]
        )
        self.problems = Lanes.stack(
            [PopulationLoss(jax.numpy.asarray(target[i])[:, None, None], jax.numpy.asarray(mask[i]))
             if dtype == "float32" else _wide_problem(target[i], mask[i]) for i in range(LANES)]
        )  # fmt: skip
        self.method = optax.adam(RATE)

    def run(self, steps: int = STEPS):
        from tacit.descent import Stop, descend

        return descend(self.models, self.problems, self.method, stop=Stop(steps), progress=False)


def _wide_problem(target, mask):
    import jax

    from tacit.problems import PopulationLoss

    with jax.enable_x64(True):
        return PopulationLoss(jax.numpy.asarray(target)[:, None, None], jax.numpy.asarray(mask))


def plain_loop(kind: str, dtype: str, steps: int = PLAIN_STEPS) -> float:
    """CPU seconds of the plain loop for all models and steps, from slices.

    A model of length k needs k lags only. The lanes have k = 5, …, 20 in equal numbers, so the mean
    of the shortest and the longest stands for all.
    """
    import torch

    a, b, c, target, _ = (torch.tensor(x.astype(dtype))[0] for x in starts(kind))

    def train(k: int) -> None:
        A = a.clone().requires_grad_()
        B = b.clone().requires_grad_()
        C = c.clone().requires_grad_()
        parameters = [A, B] if kind == "diagonal" else [A, B, C]
        optimiser = torch.optim.Adam(parameters, lr=RATE)
        for _ in range(steps):
            optimiser.zero_grad()
            state, loss = B, 0.0
            for j in range(k):
                y = (B if kind == "diagonal" else C) @ state
                loss = loss + (y - target[j]) ** 2
                state = A * state if kind == "diagonal" else A @ state
            loss.backward()
            optimiser.step()

    train(LAGS)
    slices = [best_of(functools.partial(train, k)) for k in (5, LAGS)]
    return sum(slices) / len(slices) * LANES * STEPS / steps


def batched(kind: str, dtype: str, *, compiled: bool, fused: bool, steps: int = BATCHED_STEPS):
    """CPU seconds of the batched step for all steps (without its compilation)."""
    import torch

    a, b, c, target, mask = (torch.tensor(x.astype(dtype)) for x in starts(kind))
    parameters = [x.clone().requires_grad_() for x in ((a, b) if kind == "diagonal" else (a, b, c))]
    optimiser = torch.optim.Adam(parameters, lr=RATE, fused=fused)

    def loss_of(*parameters):
        if kind == "diagonal":
            A, B = parameters
            powers = torch.stack([A**0 if j == 0 else A**j for j in range(LAGS)], dim=-1)
            response = torch.sum((B * B)[..., None] * powers, dim=1)
        else:
            A, B, C = parameters
            state, response = B[..., None], []
            for _ in range(LAGS):
                response.append((C[:, None] @ state)[:, 0, 0])
                state = A @ state
            response = torch.stack(response, dim=-1)
        return torch.sum((mask * (response - target)) ** 2)

    def loss_by_products(*parameters):
        A, B = parameters
        state, response = B * B, []
        for _ in range(LAGS):
            response.append(torch.sum(state, dim=-1))
            state = state * A
        return torch.sum((mask * (torch.stack(response, dim=-1) - target)) ** 2)

    function = loss_by_products if kind == "diagonal" else loss_of
    function = torch.compile(function) if compiled else function

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        function(*parameters).backward()
        optimiser.step()

    def work(count: int = steps) -> None:
        for _ in range(count):
            step()

    work(3)  # compilation
    return best_of(work) * STEPS / steps


def best_batched(kind: str, dtype: str) -> float:
    """The best of the batched variants in PyTorch, compiled and not."""
    variants = [(True, True), (True, False), (False, True)]
    return min(batched(kind, dtype, compiled=c, fused=f) for c, f in variants)


def agreement(steps: int = 3000) -> float:
    """The largest difference between our parameters and PyTorch's after some steps."""
    import numpy as np
    import torch

    a, b, _, target, mask = (torch.tensor(x) for x in starts("diagonal"))
    A, B = a.clone().requires_grad_(), b.clone().requires_grad_()
    optimiser = torch.optim.Adam([A, B], lr=RATE)
    for _ in range(steps):
        optimiser.zero_grad()
        state, response = B * B, []
        for _ in range(LAGS):
            response.append(torch.sum(state, dim=-1))
            state = state * A
        torch.sum((mask * (torch.stack(response, dim=-1) - target)) ** 2).backward()
        optimiser.step()
    ours = Ours("diagonal", "float64").run(steps).model.tree
    return float(
        max(
            np.abs(np.asarray(ours.transition.diagonal) - A.detach().numpy()).max(),
            np.abs(np.asarray(ours.B)[..., 0] - B.detach().numpy()).max(),
        )
    )


def main() -> None:
    pin()
    import torch

    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}", file=sys.stderr)
    for kind in ("diagonal", "dense"):
        for dtype in ("float64", "float32"):
            ours = Ours(kind, dtype)
            cold = cpu_seconds(ours.run)
            warm = best_of(ours.run)
            peers = {
                "plain PyTorch loop": plain_loop(kind, dtype),
                "batched, compiled PyTorch": best_batched(kind, dtype),
            }
            extra = {}
            if kind == "diagonal" and dtype == "float64":
                extra["largest difference to PyTorch's Adam after 3,000 steps"] = agreement()
            report(
                f"{LANES} {kind} linear RNNs of width {WIDTH}, {STEPS:,} Adam steps, {dtype}",
                cold=cold,
                warm=warm,
                peers=peers,
                **extra,
            )


if __name__ == "__main__":
    main()
