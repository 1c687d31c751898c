"""A GRU student of 100 units under Adam, 100 fresh sequences of 60 steps: the work of lowdim/fig2a.

The peer is a PyTorch training loop with `nn.GRU`, a linear readout and Adam (the better of plain
and fused), as one writes it: outputs of the frozen teacher without gradient, the squared error of
the last output, backward, step. Both draw their sequences and ask a teacher of 10 units with the
same weights. Ours is the compiled step; `descend`, whose smallest batch is two lanes, is beside it
for one student and for eight.
"""

import sys
from typing import Any

from benchmarks._measure import best_of, cpu_seconds, pin, report

WIDTH, TEACHER, SEQUENCES, LENGTH, RATE = 100, 10, 100, 60, 1e-3
STEPS, LANES = 60, 8


def weights(width: int, seed: int) -> dict[str, Any]:
    """The same numbers for us and for the peer, in float32."""
    import numpy as np

    rng = np.random.default_rng(seed)
    scale = 1 / np.sqrt(width)
    shapes = {
        "input_weights": (3 * width, 1),
        "recurrent_weights": (3 * width, width),
        "readout": (1, width),
    }
    drawn = {name: rng.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()}
    zeros = {"bias": np.zeros(3 * width), "candidate_bias": np.zeros(width)}
    return drawn | {name: zero.astype(np.float32) for name, zero in zeros.items()}


class Ours:
    """tacit: one `GRU` in `descend`."""

    def __init__(self) -> None:
        import jax
        import numpy as np
        import optax

        from tacit.descent import Lanes
        from tacit.models import GRU
        from tacit.problems import SampledLoss

        self.student = GRU(**weights(WIDTH, 0))
        self.many = Lanes.stack([GRU(**weights(WIDTH, seed)) for seed in range(LANES)])
        self.problem = SampledLoss.last(
            GRU(**weights(TEACHER, 1)), LENGTH, sequences=SEQUENCES, dtype=np.float32
        )
        self.method, self.key = optax.adam(RATE), jax.random.key(0)

    def run(self, students: Any) -> Any:
        from tacit.descent import Stop, descend

        return descend(
            students, self.problem, self.method, stop=Stop(STEPS), key=self.key, progress=False
        )


class Plain:
    """A student step by step in JAX, compiled: our model and gradient without the loop's lanes."""

    def __init__(self) -> None:
        import jax
        import optax

        ours = Ours()
        optimiser = optax.adam(RATE)

        def step(carry: Any, key: Any) -> tuple[Any, Any]:
            student, state = carry
            loss, gradient = jax.value_and_grad(ours.problem.loss)(student, key=key)
            updates, state = optimiser.update(gradient, state)
            return (optax.apply_updates(student, updates), state), loss

        self.start = ours.student, optimiser.init(ours.student)
        self.step = jax.jit(step)
        self.keys = list(jax.random.split(jax.random.key(0), STEPS))

    def run(self, steps: int = STEPS) -> Any:
        import jax

        carry = self.start
        for key in self.keys[:steps]:
            carry, loss = self.step(carry, key)
        return jax.block_until_ready((carry, loss))


def torch_gru(width: int, seed: int, device: str = "cpu") -> tuple[Any, Any]:
    """`nn.GRU` and a readout with the same weights; its second bias has the candidate's part."""
    import torch

    given = {name: torch.tensor(array) for name, array in weights(width, seed).items()}
    gru = torch.nn.GRU(1, width)
    readout = torch.nn.Linear(width, 1, bias=False)
    with torch.no_grad():
        gru.weight_ih_l0.copy_(given["input_weights"])
        gru.weight_hh_l0.copy_(given["recurrent_weights"])
        gru.bias_ih_l0.zero_()
        gru.bias_hh_l0.zero_()
        readout.weight.copy_(given["readout"])
    return gru.to(device), readout.to(device)


class Torch:
    """The peer's loop, on any device."""

    def __init__(self, *, fused: bool, device: str = "cpu") -> None:
        import torch

        self.device = device
        self.gru, self.readout = torch_gru(WIDTH, 0, device)
        self.teacher, self.teacher_readout = torch_gru(TEACHER, 1, device)
        parameters = [*self.gru.parameters(), *self.readout.parameters()]
        self.optimiser = torch.optim.Adam(parameters, lr=RATE, fused=fused)

    def run(self, steps: int = STEPS) -> float:
        import torch

        for _ in range(steps):
            inputs = torch.randn(LENGTH, SEQUENCES, 1, device=self.device)
            with torch.no_grad():
                target = self.teacher_readout(self.teacher(inputs)[1][0])
            self.optimiser.zero_grad(set_to_none=True)
            loss = torch.mean((self.readout(self.gru(inputs)[1][0]) - target) ** 2)
            loss.backward()
            self.optimiser.step()
        return float(loss.detach())


def agreement() -> float:
    """The largest difference between our gradient and PyTorch's, relative to the largest entry."""
    import jax
    import numpy as np
    import torch

    from tacit.models import GRU
    from tacit.problems import EmpiricalLoss, step_weights

    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(SEQUENCES, LENGTH, 1)).astype(np.float32)
    target = rng.normal(size=(SEQUENCES, 1)).astype(np.float32)
    gru, readout = torch_gru(WIDTH, 0)
    found = readout(gru(torch.tensor(inputs).transpose(0, 1))[1][0])
    torch.mean((found - torch.tensor(target)) ** 2).backward()
    targets = np.repeat(target[:, None], LENGTH, axis=1)
    problem = EmpiricalLoss(inputs, targets, step_weights(LENGTH).astype(np.float32))
    ours = jax.grad(problem.loss)(GRU(**weights(WIDTH, 0)))
    pairs = [
        (ours.recurrent_weights, gru.weight_hh_l0.grad),
        (ours.input_weights, gru.weight_ih_l0.grad),
        (ours.readout, readout.weight.grad),
    ]
    return max(
        float(np.abs(np.asarray(a) - b.numpy()).max() / np.abs(b.numpy()).max()) for a, b in pairs
    )


def main() -> None:
    pin()
    import torch

    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}", file=sys.stderr)
    plain = Plain()
    cold = cpu_seconds(lambda: plain.run(1))
    warm = best_of(plain.run, 5)
    ours = Ours()
    loops = []
    for students, count in ((ours.student, 1), (ours.many, LANES)):
        ours.run(students)  # compilation
        loops.append(best_of(lambda s=students: ours.run(s), 3) / count)
    peers = {}
    for fused in (False, True):
        peer = Torch(fused=fused)
        peer.run(3)
        peers[fused] = best_of(peer.run, 5)
    best = min(peers.values())
    report(
        f"GRU of {WIDTH} units, {SEQUENCES} fresh sequences of {LENGTH} steps, {STEPS} Adam steps, "
        "float32",
        cold=cold + warm,
        warm=warm,
        peers={"PyTorch nn.GRU training loop": best},
        **{
            "ratio to two decimals": round(best / warm, 2),
            "seconds of descend, one student": round(loops[0], 3),
            f"seconds of descend, each of {LANES} students": round(loops[1], 3),
            "ratios of descend": [round(best / seconds, 2) for seconds in loops],
            "largest relative difference of the gradients": agreement(),
        },
    )


if __name__ == "__main__":
    main()
