"""Many GRU students at once on a GPU: steps of Adam a second, as fused kernels and as loops.

The work of lowdim/fig2a as `descend` does it: `Lanes` of students, 100 fresh sequences in every
step, products in full float32. Wall time between two lengths of a run, so that compiling, starting
and fetching the students do not count. `kernel` is what tacit does on such a GPU, `loop` leaves the
loops over time to the compiler, and `torch` is one student of `nn.GRU` (cuDNN), whose steps would
follow one another. Beside the times stand the largest errors, over the largest entry, of the states
and of the gradient by U against float64.

    python -m benchmarks.gru_gpu --shapes 280x100x60 70x100x70 70x64x70
    JAX_PLATFORMS=cpu python -m benchmarks.gru_gpu --shapes 2x8x4 --steps 3 --ways loop
"""

import argparse
import contextlib
import json
import os
import sys
import time
from typing import Any
from unittest import mock

from benchmarks import gru_training
from benchmarks.gru_training import RATE, SEQUENCES, TEACHER, weights
from benchmarks.rate_rnn_gpu import kernels, least

WANTED = 1.4  # steps as kernels over steps as loops, 280 students of 100 units on one H200
WAYS = ("kernel", "loop", "torch")


class Students:
    """Students of one shape under Adam in one `descend`."""

    def __init__(self, count: int, width: int, length: int) -> None:
        import jax
        import numpy as np
        import optax

        from tacit.descent import Lanes
        from tacit.models import GRU
        from tacit.problems import SampledLoss

        self.students = Lanes.stack([GRU(**weights(width, seed)) for seed in range(count)])
        self.problem = SampledLoss.last(
            GRU(**weights(TEACHER, 1)), length, sequences=SEQUENCES, dtype=np.float32
        )
        self.method, self.key = optax.adam(RATE), jax.random.key(0)

    def run(self, steps: int) -> Any:
        from tacit.descent import Stop, descend

        found = descend(
            self.students,
            self.problem,
            self.method,
            stop=Stop(steps),
            key=self.key,
            progress=False,
        )
        return found.loss  # on the host: the queue is empty


def way_of(name: str) -> contextlib.AbstractContextManager[Any]:
    """Inside it GRUs run in this way."""
    from tacit.models import _gru_kernel

    if name == "kernel":
        return contextlib.nullcontext()
    return mock.patch.object(_gru_kernel, "serves", return_value=False)


def errors(width: int, length: int, lanes: int = 16) -> dict[str, float]:
    """Of the states and of the gradient by U of their squares, for lanes that differ."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from tacit.models._gru_states import gru_states

    rng = np.random.default_rng(0)
    shapes = (length, SEQUENCES, 1), (3 * width, 1), (3 * width, width), (3 * width,), (width,)
    scales = 1.0, width**-0.5, width**-0.5, 0.1, 0.1
    given = [
        rng.normal(0, scale, (lanes, *shape)).astype("float32")
        for shape, scale in zip(shapes, scales, strict=True)
    ]

    def both(inputs: Any, W: Any, U: Any, b: Any, c: Any) -> Any:
        def loss(U: Any) -> Any:
            return jnp.sum(gru_states(inputs, W, U, b, c) ** 2)

        return gru_states(inputs, W, U, b, c), jax.grad(loss)(U)

    found = [np.asarray(each) for each in jax.jit(jax.vmap(both))(*given)]
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        wide = [jnp.asarray(each, "float64") for each in given]
        exact = [np.asarray(each) for each in jax.jit(jax.vmap(both))(*wide)]
    return {
        name: float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
        for name, a, b in zip(("states", "gradient"), found, exact, strict=True)
    }


def of_torch(width: int, length: int, steps: int) -> float:
    """Seconds of a step of one student."""
    import torch

    with (
        mock.patch.object(gru_training, "WIDTH", width),
        mock.patch.object(gru_training, "LENGTH", length),
    ):
        peer = gru_training.Torch(fused=True, device="cuda")
        peer.run(20)

        def work() -> None:
            peer.run(steps)
            torch.cuda.synchronize()

        return least(work, 2) / steps


def measured(shape: str, name: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """What one way takes at one shape and how exact it is, or why it does not run."""
    import jax

    count, width, length = (int(part) for part in shape.split("x"))
    line: dict[str, Any] = {"students": count, "units": width, "length": length, "way": name}
    try:
        if name == "torch":
            seconds = count * of_torch(width, length, 2 * chosen.steps)
            extra: dict[str, Any] = {}
        else:
            jax.clear_caches()
            with way_of(name), jax.default_matmul_precision(chosen.precision):
                students = Students(count, width, length)
                first = least(lambda: students.run(chosen.steps), 1)
                short = least(lambda: students.run(chosen.steps), 2)
                long = least(lambda: students.run(3 * chosen.steps), 2)
                seconds = (long - short) / (2 * chosen.steps)
                extra = {"first_run": round(first, 1), "errors": errors(width, length)}
                if chosen.profile:
                    extra["milliseconds_of_20_steps"] = kernels(lambda: students.run(20))
    except Exception as error:
        return line | {"fails": f"{type(error).__name__}: {str(error)[:2000]}"}
    rates = {"milliseconds_a_step": round(1e3 * seconds, 3)}
    return line | rates | {"student_steps_a_second": round(count / seconds), **extra}


def main() -> None:
    """A JSON line for each shape and way, with the ratio of the kernels to the loops."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", help="students x units x steps of a sequence")
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--steps", type=int, default=60, help="of Adam, in the shorter run")
    parser.add_argument("--precision", default="highest", help="of matrix products")
    parser.add_argument("--profile", action="store_true", help="where the time of a step goes")
    chosen = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch is there as well
    import jax

    device = jax.devices()[0]
    if chosen.shapes is None and device.platform == "cpu":
        print("gru_gpu: skipped, JAX sees no GPU (say --shapes for a small run here)",
              file=sys.stderr)  # fmt: skip
        return
    print(f"JAX {jax.__version__} on {device.device_kind}", file=sys.stderr)
    for shape in chosen.shapes or ["280x100x60", "70x100x70", "70x64x70", "70x32x70"]:
        taken = {}
        for name in chosen.ways:
            line = measured(shape, name, chosen)
            taken[name] = line.get("milliseconds_a_step")
            if name == "loop" and taken.get("kernel") and taken["loop"]:
                line["kernel_over_loop"] = round(taken["loop"] / taken["kernel"], 2)
                line["wanted"] = WANTED
            line["measured_at"] = time.strftime("%Y-%m-%d")
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
