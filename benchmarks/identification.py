"""Identification: `LinearSystemIdentifier` beside ARX, OKID + ERA and a subspace method.

- Measured systems (`TACIT_DATA/daisy`): the first half of a record is fitted, the second simulated
  without a look at its outputs. The error is relative to the output's deviation. Every method
  chooses its order on the first half, and goes on from the state that the first half leaves.
- Order: systems of order 1 to 6 with 1,000 samples of white input and white noise at 40 dB. The
  order counts where the last Hankel value is at least a hundredth of the first.

One JSON line a row, and the published tables at the end. Time is CPU time of one core.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks._measure import cpu_seconds, pin

DRAWS, SAMPLES, DECIBELS, CLEAR = 100, 1000, 40.0, 0.01
DAISY = {  # columns of inputs and of outputs
    "CD_player_arm": ([0, 1], [2, 3]),
    "dryer": ([0], [1]),
    "exchanger": ([1], [2]),
    "ballbeam": ([0], [1]),
}


def measured_rows(folder: Path) -> list[str]:
    from tacit.estimators import LinearSystemIdentifier

    rows, ratios = [], []
    for name, (inputs, outputs) in DAISY.items():
        data = np.loadtxt(folder / f"{name}.dat")
        U, Y = data[:, inputs], data[:, outputs]
        half = len(U) // 2
        model = LinearSystemIdentifier()
        seconds = cpu_seconds(lambda m=model, u=U[:half], y=Y[:half]: m.fit(u, y))
        found = model.compare_on(U[half:], Y[half:])
        best = min(one["error"] for key, one in found.items() if key != "tacit")
        ratios.append(found["tacit"]["error"] / best)
        row = {"workload": name, "found": found, "ratio": ratios[-1], "CPU seconds": seconds}
        print(json.dumps(row, ensure_ascii=False), flush=True)
        cells = [
            f"{one['error']:.3g} ({one['order']}{'' if one['stable'] else ', unstable'})"
            for one in found.values()
        ]
        rows.append(f"| {name} | {' | '.join(cells)} | {ratios[-1]:.2f} | {seconds:.0f} |")
    print(f"median ratio {np.median(ratios):.3f}, largest {max(ratios):.3f}")
    return rows


def drawn_system(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B, C of order 1 to 6: pairs of poles or real ones, of size 0.3 to 0.95."""
    rng = np.random.default_rng(seed)
    order = int(rng.integers(1, 7))
    blocks, left = [], order
    while left:
        size = rng.uniform(0.3, 0.95)
        if left >= 2 and rng.random() < 0.6:
            angle = rng.uniform(0.1, np.pi - 0.1)
            turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
            blocks.append(size * np.array(turn))
            left -= 2
        else:
            blocks.append(np.array([[size * rng.choice([-1, 1])]]))
            left -= 1
    A = np.zeros((order, order))
    at = 0
    for block in blocks:
        A[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return A, rng.normal(size=(order, 1)), rng.normal(size=(1, order))


def drawn_record(seed: int) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Inputs, noisy outputs, the order and the Hankel values over the first."""
    from tacit.estimators._linear_system import LinearSystem
    from tacit.estimators._system_starts import Matrices, hankel_values

    A, B, C = drawn_system(seed)
    rng = np.random.default_rng([seed, 1])
    system = LinearSystem(A, B, C, np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    U = rng.normal(size=(SAMPLES, 1))
    clean = system.simulate(U)[0]
    Y = clean + 10 ** (-DECIBELS / 20) * clean.std() * rng.normal(size=clean.shape)
    values = hankel_values(Matrices(A, B, C, np.zeros((1, 1))))
    return U, Y, len(A), values / clean.std()


def order_rows(first: int = 0, draws: int = DRAWS) -> list[str]:
    from tacit.estimators import LinearSystemIdentifier
    from tacit.estimators._baselines import subspace

    rights: dict[str, list[bool]] = {"tacit": [], "subspace, AIC": []}
    clear, hidden, wrong = [], [], []
    for seed in range(first, first + draws):
        U, Y, order, values = drawn_record(seed)
        model = LinearSystemIdentifier(max_order=8).fit(U, Y[:, 0])
        rights["tacit"].append(model.order_ == order)
        rights["subspace, AIC"].append(len(subspace(model._records, 8).A) == order)
        clear.append(values[-1] >= CLEAR * values[0])
        hidden.append(values[-1] < model.choice_.floor)
        if clear[-1] and model.order_ != order:
            wrong.append([seed, order, model.order_, round(float(values[-1] / values[0]), 4)])
    sure = np.array(clear)
    row = {
        "workload": f"order, {draws} draws",
        "clear": int(sure.sum()),
        "right where clear": {k: float(np.array(v)[sure].mean()) for k, v in rights.items()},
        "right": {k: float(np.mean(v)) for k, v in rights.items()},
        "others below the floor": float(np.array(hidden)[~sure].mean()),
        "clear, below the floor": float(np.array(hidden)[sure].mean()),
        "wrong (seed, order, found, ratio)": wrong,
    }
    print(json.dumps(row), flush=True)
    return [
        f"| {name} | {row['right where clear'][name]:.1%} | {row['right'][name]:.1%} |"
        for name in rights
    ]


def main() -> None:
    pin()
    wanted = sys.argv[1:] or ["measured", "order"]
    folder = Path(os.environ.get("TACIT_DATA", ".")) / "daisy"
    if "measured" in wanted and folder.is_dir():
        rows = measured_rows(folder)
        names = "tacit | ARX | OKID + ERA | subspace"
        print(f"\n| system | {names} | ratio | s |\n|---|---|---|---|---|---|---|")
        print("\n".join(rows), flush=True)
    elif "measured" in wanted:
        print("daisy is not at hand: set TACIT_DATA", file=sys.stderr)
    if "order" in wanted:
        rows = order_rows()
        print("\n| method | right where σₙ/σ₁ ≥ 0.01 | right |\n|---|---|---|")
        print("\n".join(rows))


if __name__ == "__main__":
    main()
