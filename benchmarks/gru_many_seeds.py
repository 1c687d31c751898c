"""280 GRU students at once on a GPU, against PyTorch's `nn.GRU` there, one student after another.

The work of lowdim/fig2a: students of 100 units, 100 fresh sequences of 60 steps, Adam. Wall time of
a slice of the steps, after compilation and warm-up, with the device's queue emptied at the ends.
PyTorch runs its cuDNN kernels with its own defaults; ours are float32 products in full, and in
TensorFloat32, which is what cuDNN's are by default. Needs jax and torch that both see the GPU; says
so in one line and ends where there is none.
"""

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks._measure import report
from benchmarks.gru_gpu import Students
from benchmarks.gru_training import LENGTH, SEQUENCES, WIDTH, Torch

STUDENTS, STEPS, PEER_STEPS = 280, 100, 600


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The least wall time of some runs."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def missing() -> str | None:
    """Why it cannot run here, if it cannot."""
    try:
        import jax
        import torch
    except ImportError as error:
        return f"{error.name} is not installed"
    if jax.default_backend() != "gpu":
        return f"JAX sees no GPU (its backend is {jax.default_backend()})"
    if not torch.cuda.is_available():
        return "PyTorch sees no GPU"
    return None


def measured(precision: str | None) -> tuple[float, float]:
    """Seconds of our steps, with compilation and without."""
    import jax

    with jax.default_matmul_precision(precision):
        ours = Students(STUDENTS, WIDTH, LENGTH)
        cold = seconds(lambda: ours.run(STEPS), 1)
        return cold, seconds(lambda: ours.run(STEPS))


def main() -> None:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch is there as well
    why = missing()
    if why is not None:
        print(f"gru_many_seeds: skipped, {why}", file=sys.stderr)
        return
    import jax
    import torch

    print(f"PyTorch {torch.__version__}, JAX {jax.__version__}", file=sys.stderr)
    cold, warm = measured("highest")
    _, rounded = measured("tensorfloat32")
    peer = Torch(fused=True, device="cuda")
    peer.run(20)

    def peer_run() -> None:
        peer.run(PEER_STEPS)
        torch.cuda.synchronize()

    alone = seconds(peer_run) / PEER_STEPS
    report(
        f"{STUDENTS} GRUs of {WIDTH} units, {SEQUENCES} fresh sequences of {LENGTH} steps, {STEPS} "
        "Adam steps",
        cold=cold,
        warm=warm,
        peers={"PyTorch nn.GRU, one after another": alone * STUDENTS * STEPS},
        unit="wall seconds, one GPU",
        device=torch.cuda.get_device_name(),
        milliseconds_a_step={
            "ours, all students": round(1e3 * warm / STEPS, 3),
            "ours in TensorFloat32, all students": round(1e3 * rounded / STEPS, 3),
            "PyTorch, one student": round(1e3 * alone, 3),
        },
        ratio_in_tensorfloat32=round(alone * STUDENTS * STEPS / rounded, 1),
    )


if __name__ == "__main__":
    main()
