"""Many rate networks at once on a GPU: network-epochs a second on the flip-flop task under Adam.

The work of connectivity/fig2 as `descend` does it: `Lanes` of networks, fresh trials in every
epoch, products in full float32. An epoch costs 3 · 2 N² operations a step and trial (1.26 GFLOP at
N = 256, batch 32); their rate is compared with that of a large float32 product in the same run.
Wall time between two lengths of a run, so that compiling, starting and fetching the networks do not
count. `--together` tries other numbers of steps that the compiler sees at once.

    python -m benchmarks.rate_rnn_gpu --networks 256
    JAX_PLATFORMS=cpu python -m benchmarks.rate_rnn_gpu --networks 3 --epochs 4 --width 32
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

from benchmarks.rate_rnn import BATCH, WIDTH, flops

WANTED = 13_000  # network-epochs a second, with 256 networks of 256 units on one H200


def least(work: Callable[[], Any], repeats: int = 3) -> float:
    """The least wall time of some runs."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


class Networks:
    """Networks of one shape under Adam in one `descend`."""

    def __init__(self, count: int, width: int, batch: int) -> None:
        import jax
        import optax

        from tacit.descent import Lanes
        from tacit.models import RateRNN
        from tacit.problems import FlipFlop, TaskLoss

        keys = jax.random.split(jax.random.key(0), count)
        draw = jax.vmap(lambda key: RateRNN.random(width, inputs=2, outputs=2, g=0.9, key=key))
        self.networks = Lanes(jax.jit(draw)(keys))
        # Together on every machine: it is the accelerator's program that is measured.
        self.problem = TaskLoss(FlipFlop(), batch, one_by_one=False)
        self.method, self.rate, self.key = optax.adam(1.0), 0.05 / width, jax.random.key(1)

    def run(self, epochs: int) -> Any:
        from tacit.descent import Stop, descend

        found = descend(
            self.networks,
            self.problem,
            self.method,
            stop=Stop(epochs),
            key=self.key,
            rate=self.rate,
            progress=False,
        )
        return found.loss  # on the host: the queue is empty


def seconds_an_epoch(chosen: argparse.Namespace, together: int) -> dict[str, float]:
    """Wall seconds of an epoch of all networks, and of the first run with its compilation."""
    import jax

    jax.clear_caches()
    with mock.patch("tacit.models._rate_recurrence._TOGETHER", together):
        networks = Networks(chosen.networks, chosen.width, chosen.batch)
        first = least(lambda: networks.run(chosen.epochs), 1)
        short = least(lambda: networks.run(chosen.epochs))
        long = least(lambda: networks.run(3 * chosen.epochs))
    return {"first": first, "epoch": (long - short) / (2 * chosen.epochs)}


def peak(size: int) -> float:
    """Operations a second of a float32 product of size × size matrices, in the precision chosen."""
    import jax
    import numpy as np

    left = jax.numpy.asarray(np.random.default_rng(0).normal(size=(size, size)), "float32")
    multiply = jax.jit(lambda a, b: a @ b)
    jax.block_until_ready(multiply(left, left))

    def work() -> None:
        found = left
        for _ in range(10):
            found = multiply(left, found)
        jax.block_until_ready(found)

    return 10 * 2.0 * size**3 / least(work)


def main() -> None:
    """One JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, help="256 unless told; needed on a CPU")
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--epochs", type=int, default=150, help="of the shorter run")
    parser.add_argument("--precision", default="highest", help="of matrix products")
    parser.add_argument(
        "--together", type=int, nargs="+", help="steps at once; tacit's unless told"
    )
    chosen = parser.parse_args()
    import jax

    from tacit.models import _rate_recurrence
    from tacit.problems import FlipFlop

    device = jax.devices()[0]
    if chosen.networks is None and device.platform == "cpu":
        print("rate_rnn_gpu: skipped, JAX sees no GPU (say --networks for a small run here)",
              file=sys.stderr)  # fmt: skip
        return
    chosen.networks = chosen.networks or 256
    print(f"JAX {jax.__version__} on {device.device_kind}", file=sys.stderr)
    with jax.default_matmul_precision(chosen.precision):
        ours = _rate_recurrence._TOGETHER
        counts = sorted({ours, *(chosen.together or ())})
        ways = {count: seconds_an_epoch(chosen, count) for count in counts}
        top = peak(8192 if device.platform != "cpu" else 1024)
    work = chosen.networks * flops(chosen.width, FlipFlop().steps, chosen.batch)
    used = ways[ours]["epoch"]
    line = {
        "workload": f"{chosen.networks} rate networks, N = {chosen.width}, flip-flop, "
        f"batch {chosen.batch}, products in {chosen.precision} precision",
        "unit": "wall seconds",
        "device": device.device_kind,
        "network_epochs_a_second": round(chosen.networks / used),
        "wanted": WANTED,
        "milliseconds_an_epoch": {w: round(1e3 * t["epoch"], 3) for w, t in ways.items()},
        "first_run": {w: round(t["first"], 1) for w, t in ways.items()},
        "tflops": round(work / used / 1e12, 3),
        "peak_tflops": round(top / 1e12, 3),
        "share_of_peak": round(work / used / top, 3),
        "measured_at": time.strftime("%Y-%m-%d"),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
