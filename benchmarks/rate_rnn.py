"""A rate network of 256 units on the flip-flop task under Adam, batch 32, one core.

Peers: a plain PyTorch loop over the steps of a trial, as one writes it on a first day, and the same
scan in JAX left to automatic differentiation. The share of the machine's peak is that of a large
float32 matrix product in the same run, on the same core. Two processes on two cores, as sweeps run
networks on a CPU, are compared with one: how much more they get done, by wall time and, since other
programs may be at work, by the CPU time that each of them needs.
"""

import os
import subprocess
import sys
import time

from benchmarks._measure import best_of, cpu_seconds, pin, report

WIDTH, BATCH, EPOCHS, RATE = 256, 32, 40, 0.05 / 256


def flops(width: int, steps: int, batch: int) -> float:
    """Products with W: one forwards, one backwards, one for the gradient, a step and trial."""
    return 3 * 2.0 * width**2 * steps * batch


def peak() -> float:
    """Operations a CPU second of a float32 product of 1024 × 1024 matrices."""
    import jax
    import numpy as np

    left = jax.numpy.asarray(np.random.default_rng(0).normal(size=(1024, 1024)), "float32")
    multiply = jax.jit(lambda a: a @ a)
    jax.block_until_ready(multiply(left))

    def work() -> None:
        for _ in range(20):
            jax.block_until_ready(multiply(left))

    return 20 * 2.0 * 1024**3 / best_of(work, 3)


class Ours:
    """The hand-written adjoint (`by_hand`), or autodiff of the same scan."""

    def __init__(self, *, by_hand: bool) -> None:
        import equinox as eqx
        import jax
        import jax.numpy as jnp
        import optax

        from tacit.models import RateRNN
        from tacit.problems import FlipFlop, TaskLoss

        task = FlipFlop()
        self.model = RateRNN.random(WIDTH, inputs=2, outputs=2, g=0.9, key=jax.random.key(0))
        method = optax.adam(RATE)
        self.state = method.init(eqx.filter(self.model, eqx.is_inexact_array))
        problem = TaskLoss(task, BATCH)

        def plain(model: RateRNN, key: jax.Array) -> jax.Array:
            trials = task.sample(key, BATCH)

            def step(x, u):
                x = (1 - task.dt) * x + task.dt * (jnp.tanh(x) @ model.W.T + u @ model.input_map.T)
                return x, jnp.tanh(x) @ model.output_map.T

            start = jnp.zeros((BATCH, WIDTH), jnp.float32)
            _, outputs = jax.lax.scan(step, start, jnp.swapaxes(trials.inputs, 0, 1))
            return trials.loss(jnp.swapaxes(outputs, 0, 1))

        def epoch(carry, key):
            model, state = carry
            if by_hand:
                loss, gradient = problem.loss_and_gradient(model, key=key)
            else:
                loss, gradient = jax.value_and_grad(plain)(model, key)
            updates, state = method.update(gradient, state)
            return (eqx.apply_updates(model, updates), state), loss

        self.keys = jax.random.split(jax.random.key(1), EPOCHS)
        self.program = jax.jit(lambda carry, keys: jax.lax.scan(epoch, carry, keys))

    def __call__(self) -> None:
        import jax

        jax.block_until_ready(self.program((self.model, self.state), self.keys))


def torch_loop() -> float:
    """CPU seconds of `EPOCHS` epochs of a plain PyTorch loop; its trials are drawn beforehand."""
    import jax
    import numpy as np
    import torch

    from tacit.problems import FlipFlop

    torch.set_num_threads(1)
    task = FlipFlop()
    rng = np.random.default_rng(0)

    def parameter(shape: tuple[int, ...], scale: float) -> torch.nn.Parameter:
        return torch.nn.Parameter(torch.tensor(rng.normal(0, scale, shape), dtype=torch.float32))

    W = parameter((WIDTH, WIDTH), 0.9 / WIDTH**0.5)
    W_in, W_out = parameter((WIDTH, 2), 1.0), parameter((2, WIDTH), 1 / WIDTH)
    adam = torch.optim.Adam([W, W_in, W_out], lr=RATE)
    trials = [torch.tensor(np.array(x)) for x in task.sample(jax.random.key(0), BATCH)]
    inputs, targets, mask = trials

    def work() -> None:
        for _ in range(EPOCHS // 4):
            adam.zero_grad()
            x, outputs = torch.zeros(BATCH, WIDTH), []
            for k in range(task.steps):
                drive = torch.tanh(x) @ W.T + inputs[:, k] @ W_in.T
                x = (1 - task.dt) * x + task.dt * drive
                outputs.append(torch.tanh(x) @ W_out.T)
            error = torch.stack(outputs, 1) - targets
            loss = 0.5 * (mask[..., None] * error**2).sum() / (2 * mask.sum())
            loss.backward()
            adam.step()

    work()
    return 4 * best_of(work)


ROUNDS = 4


def worker(core: int) -> None:
    """One process of some: warm up, then a round for each line on standard input."""
    os.sched_setaffinity(0, {core})
    ours = Ours(by_hand=True)
    ours()
    print("ready", flush=True)
    for _ in sys.stdin:
        began, used = time.perf_counter(), time.process_time()
        ours()
        print(time.perf_counter() - began, time.process_time() - used, flush=True)


def seconds_of(cores: list[int]) -> tuple[float, float]:
    """Wall and CPU seconds of a round in which a process on each core trains a network."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.rate_rnn", "--worker", str(core)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for core in cores
    ]
    for process in started:
        process.stdout.readline()
    rounds = []
    for _ in range(ROUNDS):
        for process in started:
            process.stdin.write("go\n")
            process.stdin.flush()
        found = [tuple(map(float, process.stdout.readline().split())) for process in started]
        rounds.append([max(column) for column in zip(*found, strict=True)])
    for process in started:
        process.stdin.close()
        process.wait()
    return min(wall for wall, _ in rounds), min(used for _, used in rounds)


def two_processes() -> dict[str, float]:
    """How much more two processes get done than one: 2 would be perfect."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < 2:
        return {}
    one, both = seconds_of(cores[:1]), seconds_of(cores[:2])
    return {
        "by wall time": round(2 * one[0] / both[0], 2),
        "by CPU time": round(2 * one[1] / both[1], 2),
    }


def main() -> None:
    """One line: seconds for `EPOCHS` epochs, the peers' ratios, and the share of the peak."""
    several = two_processes()  # before this process is pinned
    pin()
    ours, autodiff = Ours(by_hand=True), Ours(by_hand=False)
    cold = cpu_seconds(ours)
    autodiff()
    warm = best_of(ours, 3)
    peers = {"PyTorch, plain loop": torch_loop(), "JAX, autodiff": best_of(autodiff, 3)}
    top = peak()
    from tacit.problems import FlipFlop

    done = EPOCHS * flops(WIDTH, FlipFlop().steps, BATCH)
    report(
        f"rate network, N = {WIDTH}, flip-flop, batch {BATCH}, {EPOCHS} epochs",
        cold=cold,
        warm=warm,
        peers=peers,
        milliseconds_an_epoch=round(1e3 * warm / EPOCHS, 2),
        peak_gflops=round(top / 1e9, 1),
        share_of_peak=round(done / warm / top, 3),
        two_processes_against_one=several,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(int(sys.argv[2]))
    else:
        main()
