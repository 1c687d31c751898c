"""What more costs: CPU seconds against lanes, steps, width and stored cells, one at a time.

The lanes are tanh networks of one hidden layer under Adam; every point is warm, the better of two
runs. Memory is the largest that the process has had. Cells are added to a store one part after
another, ten cells each, and the time of the last hundred parts is told at each size.

    python -m benchmarks.growth [--figure docs/images/growth.png]
"""

import argparse
import json
import resource
import tempfile
import time
from typing import Any

from benchmarks._measure import best_of, pin

LANES = (1, 10, 100, 1_000, 10_000, 100_000)
STEPS = (100, 1_000, 10_000)
WIDTHS = (4, 16, 64, 256)
CELLS = (1_000, 10_000, 50_000)


def training(lanes: int, steps: int, width: int) -> float:
    """CPU seconds of `steps` steps of so many networks of so many units."""
    import jax
    import jax.numpy as jnp
    import optax

    from tacit.descent import Lanes, Stop, descend

    inputs = jax.random.normal(jax.random.key(1), (8, 2))
    first, second = jax.random.split(jax.random.key(0))
    models = {
        "W": jax.random.normal(first, (lanes, width, 2)),
        "c": jax.random.normal(second, (lanes, width)) / width,
    }

    def loss(model: Any) -> Any:
        found = jax.vmap(lambda u: model["c"] @ jnp.tanh(model["W"] @ u))(inputs)
        return jnp.mean((found - inputs[:, 0] * inputs[:, 1]) ** 2)

    def work() -> None:
        descend(Lanes(models), loss, optax.adam(1e-2), stop=Stop(steps), progress=False)

    work()
    return best_of(work, 2)


def storing(most: int) -> dict[int, float]:
    """CPU milliseconds of one more part of ten cells, when so many cells are stored."""
    import numpy as np

    from tacit.store import Store

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder, experiment="growth/cells", version=1)
        marks = [count for count in CELLS if count <= most]
        began = time.process_time()
        for part in range(max(marks) // 10):
            cells = [{"seed": 10 * part + own} for own in range(10)]
            store.add(cells, {"error": np.zeros(10)}, {})
            done = 10 * (part + 1)
            if done + 1_000 in marks:
                began = time.process_time()
            if done in marks:
                found[done] = 1e3 * (time.process_time() - began) / min(100, done // 10)
    return found


def measured(most: int) -> dict[str, dict[int, float]]:
    """By what grows: seconds, or for cells milliseconds a part, at each size."""
    found: dict[str, dict[int, float]] = {"lanes": {}, "steps": {}, "width": {}}
    for lanes in (lanes for lanes in LANES if lanes <= most):
        found["lanes"][lanes] = training(lanes, 100, 8)
    for steps in (steps for steps in STEPS if steps <= most):
        found["steps"][steps] = training(10, steps, 8)
    for width in WIDTHS:
        found["width"][width] = training(10, 100, width)
    found["cells"] = storing(most)
    return found


def draw(found: dict[str, dict[int, float]], path: str) -> None:
    """Four panels on logarithmic axes, with a line of slope one where growth is linear."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    for panel, (name, points) in zip(axes, found.items(), strict=True):
        sizes, spent = list(points), list(points.values())
        panel.loglog(sizes, spent, "o-", color="C0", label="measured")
        if name != "cells":
            panel.loglog(sizes, [spent[-1] * size / sizes[-1] for size in sizes], ":", color="0.5",
                         label="proportional")  # fmt: skip
        panel.set_xlabel("stored cells" if name == "cells" else name)
        panel.set_ylabel("ms for one more part" if name == "cells" else "CPU seconds")
        if name == "cells":
            panel.set_yscale("linear")
            panel.set_ylim(0, 2 * max(spent))
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """A JSON line, and the figure if it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=100_000, help="no larger sizes than this")
    parser.add_argument("--figure", help="where to draw it")
    chosen = parser.parse_args()
    pin()
    found = measured(max(chosen.most, CELLS[0]))
    line = {
        "workload": "growth",
        "unit": "CPU seconds, one core; cells: milliseconds for one more part of ten",
        **{
            name: {size: round(spent, 4) for size, spent in points.items()}
            for name, points in found.items()
        },
        "megabytes_at_most": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "measured_at": time.strftime("%Y-%m-%d"),
    }
    print(json.dumps(line), flush=True)
    if chosen.figure:
        draw(found, chosen.figure)


if __name__ == "__main__":
    main()
