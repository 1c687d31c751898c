"""Many rate networks at once on a GPU: network-epochs a second on the flip-flop task under Adam.

The work of connectivity/fig2 as `descend` does it: `Lanes` of networks, fresh trials in every
epoch, products in full float32. An epoch costs 3 · 2 N² operations a step and trial (1.26 GFLOP at
N = 256, batch 32); their rate is compared with that of a large float32 product in the same run.
Wall time between two lengths of a run, so that compiling, starting and fetching the networks do not
count. `--ways` tries others beside tacit's own, each with the error of one of its products and of a
whole gradient against float64; `--profile` tells where the time of an epoch goes.

    python -m benchmarks.rate_rnn_gpu --networks 256
    python -m benchmarks.rate_rnn_gpu --ways loop kernel-128 --profile kernel
    JAX_PLATFORMS=cpu python -m benchmarks.rate_rnn_gpu --networks 3 --epochs 4 --width 32
"""

import argparse
import contextlib
import functools
import json
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

from benchmarks.rate_rnn import BATCH, WIDTH, flops

WANTED = 24_000  # network-epochs a second, with 256 networks of 256 units on one H200


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


class Way(NamedTuple):
    """How the two loops over the steps run, and in which precision."""

    kernel: tuple[int, int, int, int] | None = None  # `Tiles` of the fused kernels; None: loops
    together: int = 2  # steps of a loop that the compiler sees at once
    precision: str = ""  # of products; the one that was asked for if empty

    def patches(self) -> contextlib.ExitStack:
        """Inside it tacit runs networks in this way."""
        from tacit.models import _rate_kernel, _rate_recurrence

        stack = contextlib.ExitStack()
        stack.enter_context(mock.patch.object(_rate_recurrence, "_TOGETHER", self.together))
        if self.kernel is None:
            stack.enter_context(mock.patch.object(_rate_kernel, "serves", return_value=False))
        else:
            tiles = _rate_kernel.Tiles(*self.kernel)
            stack.enter_context(mock.patch.object(_rate_kernel, "TILES", tiles))
        return stack


THREEFOLD, SIXFOLD = "TF32_TF32_F32_X3", "BF16_BF16_F32_X6"
WAYS = {
    "loop": Way(),
    "kernel": Way((256, 32, 8, 1)),
    "loop-x3": Way(precision=THREEFOLD),
    "kernel-x3": Way((256, 32, 8, 1), precision=THREEFOLD),
    "kernel-16-terms": Way((256, 16, 8, 1), precision=THREEFOLD),
    "kernel-128": Way((128, 32, 8, 1), precision=THREEFOLD),
    "kernel-16-warps": Way((256, 32, 16, 1), precision=THREEFOLD),
    "kernel-x6": Way((256, 32, 8, 1), precision=SIXFOLD),
    "kernel-tf32": Way((256, 32, 8, 1), precision="tensorfloat32"),
    "loop-tf32": Way(precision="tensorfloat32"),
    "loop-10": Way(together=10, precision=THREEFOLD),
}


def seconds_an_epoch(chosen: argparse.Namespace) -> dict[str, float]:
    """Wall seconds of an epoch of all networks, and of the first run with its compilation."""
    networks = Networks(chosen.networks, chosen.width, chosen.batch)
    first = least(lambda: networks.run(chosen.epochs), 1)
    short = least(lambda: networks.run(chosen.epochs), 2)
    long = least(lambda: networks.run(3 * chosen.epochs), 2)
    return {"first": first, "epoch": (long - short) / (2 * chosen.epochs)}


def errors(width: int, batch: int) -> dict[str, float]:
    """Of one product with W, and of the gradient by W of 100 steps: the largest, over the largest.

    The product is the second step of a linear network without input there; both are compared with
    float64 arithmetic on the same float32 numbers.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np

    from tacit.models import _rate_recurrence as recurrence

    rng = np.random.default_rng(0)
    W = (rng.normal(size=(width, width)) / width**0.5).astype("float32")
    W_in = rng.normal(size=(width, 8)).astype("float32")
    inputs = rng.normal(size=(2, batch, 8)).astype("float32")
    inputs[1] = 0
    linear = functools.partial(recurrence.rates, recurrence.identity, 1.0)
    # Two lanes: a batch as in a run.
    twice = [np.stack([array, array]) for array in (W, W_in, inputs)]
    rates = np.asarray(jax.jit(jax.vmap(linear))(*twice))[0]
    product = rates[0].astype("float64") @ W.T.astype("float64")
    W_out = (rng.normal(size=(2, width)) / width).astype("float32")
    drive = rng.normal(size=(100, batch, 2)).astype("float32")

    def loss(W: Any, W_in: Any, W_out: Any, drive: Any) -> Any:
        found = recurrence.readouts(jnp.tanh, 0.5, W, W_in, W_out, drive)
        return jnp.sum((found - 0.1 * drive) ** 2)

    given = [np.stack([array, array]) for array in (W, W_in[:, :2], W_out, drive)]
    gradient = np.asarray(jax.jit(jax.vmap(jax.grad(loss)))(*given))[0]
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        wide = [jnp.asarray(array[0], "float64") for array in given]
        exact = np.asarray(jax.jit(jax.grad(loss))(*wide))
    return {
        "product": float(np.max(np.abs(rates[1] - product)) / np.max(np.abs(product))),
        "gradient": float(np.max(np.abs(gradient - exact)) / np.max(np.abs(exact))),
    }


def kernels(work: Callable[[], Any], most: int = 14) -> dict[str, float]:
    """Milliseconds by the name of what ran on the device, the longest first."""
    import jax

    totals: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            work()
        for file in pathlib.Path(folder).rglob("*.xplane.pb"):
            for plane in jax.profiler.ProfileData.from_file(str(file)).planes:
                if "GPU" not in plane.name:
                    continue
                for line in plane.lines:
                    if "Stream" not in line.name:
                        continue
                    for event in line.events:
                        name = f"{event.name[:60]}"
                        totals[name] = totals.get(name, 0.0) + event.duration_ns / 1e6
    longest = sorted(totals.items(), key=lambda item: -item[1])[:most]
    return {name: round(spent, 2) for name, spent in longest}


def measured(chosen: argparse.Namespace, name: str) -> dict[str, Any]:
    """What one way takes and how exact it is, or why it does not run."""
    import jax

    way = WAYS[name]
    jax.clear_caches()
    try:
        precise = jax.default_matmul_precision(way.precision or chosen.precision)
        with way.patches(), precise:
            found = errors(chosen.width, chosen.batch)
            times = seconds_an_epoch(chosen)
            extra: dict[str, Any] = {}
            if name in (chosen.profile or ()):
                networks = Networks(chosen.networks, chosen.width, chosen.batch)
                networks.run(20)
                extra["milliseconds_of_20_epochs"] = kernels(lambda: networks.run(20))
    except Exception as error:
        return {"way": name, "fails": f"{type(error).__name__}: {str(error)[:2000]}"}
    return {
        "way": name,
        "network_epochs_a_second": round(chosen.networks / times["epoch"]),
        "milliseconds_an_epoch": round(1e3 * times["epoch"], 3),
        "first_run": round(times["first"], 1),
        "error_of_a_product": found["product"],
        "error_of_a_gradient": found["gradient"],
        **extra,
    }


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
    """A JSON line for each way, then one for the chosen one with its share of the peak."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, help="256 unless told; needed on a CPU")
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--epochs", type=int, default=150, help="of the shorter run")
    parser.add_argument("--precision", default="highest", help="of matrix products")
    parser.add_argument("--ways", nargs="+", default=["kernel"], choices=WAYS)
    parser.add_argument("--profile", nargs="+", choices=WAYS)
    parser.add_argument("--seconds", type=float, default=1e9, help="no new way is begun after them")
    chosen = parser.parse_args()
    import jax

    from tacit.problems import FlipFlop

    began = time.perf_counter()
    device = jax.devices()[0]
    if chosen.networks is None and device.platform == "cpu":
        print("rate_rnn_gpu: skipped, JAX sees no GPU (say --networks for a small run here)",
              file=sys.stderr)  # fmt: skip
        return
    chosen.networks = chosen.networks or 256
    print(f"JAX {jax.__version__} on {device.device_kind}", file=sys.stderr)
    best: dict[str, Any] = {}
    for name in chosen.ways:
        if time.perf_counter() - began > chosen.seconds:
            print(json.dumps({"way": name, "fails": "no time left"}), flush=True)
            continue
        found = measured(chosen, name)
        print(json.dumps(found), flush=True)
        if found.get("network_epochs_a_second", 0) > best.get("network_epochs_a_second", 0):
            best = found
    if not best:
        sys.exit("rate_rnn_gpu: no way ran")
    with jax.default_matmul_precision(chosen.precision):
        top = peak(8192 if device.platform != "cpu" else 1024)
    rate = best["network_epochs_a_second"] * flops(chosen.width, FlipFlop().steps, chosen.batch)
    line = {
        "workload": f"{chosen.networks} rate networks, N = {chosen.width}, flip-flop, "
        f"batch {chosen.batch}, products in {chosen.precision} precision unless the way says so",
        "unit": "wall seconds",
        "device": device.device_kind,
        **best,
        "wanted": WANTED,
        "tflops": round(rate / 1e12, 3),
        "peak_tflops": round(top / 1e12, 3),
        "share_of_peak": round(rate / top, 3),
        "measured_at": time.strftime("%Y-%m-%d"),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
