"""Identification: `LinearSystemIdentifier` beside ARX, OKID + ERA and a subspace method.

- Measured systems (`TACIT_DATA/daisy`): the first half of a record is fitted, the second simulated
  without a look at its outputs. The error is relative to the output's deviation. Every method
  chooses its order on the first half, and goes on from the state that the first half leaves.
- Simulated systems: each with a defect, drawn as a whole, or (`bent`) not linear, or (`stepped`)
  whose inputs step a few times only. The same halves.
- Order: systems of order 1 to 6 with 1,000 samples of white input and white noise at 40 dB. The
  order counts where the last Hankel value is at least a hundredth of the first.

One JSON line a row, and the published tables at the end. Time is CPU time of one core.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks._bent_systems import bent
from benchmarks._defective_systems import DEFECTS
from benchmarks._drawn_systems import drawn
from benchmarks._measure import cpu_seconds, pin
from benchmarks._stepped_systems import stepped

_STILL = 1e-9  # a deviation over the largest output: there is nothing to find
DRAWS, SAMPLES, DECIBELS, CLEAR = 100, 1000, 40.0, 0.01
SEEDS = [90, 91]  # of the simulated systems with defects
DRAWN = range(9000, 9040)  # seeds of those that are drawn as a whole
BENT = range(9000, 9040)  # and of those that are not linear; only if asked for
STEPPED = range(200, 260)  # and of those with few steps; only if asked for
DAISY = {  # columns of inputs and of outputs; the first four were at hand while it was built
    "CD_player_arm": ([0, 1], [2, 3]),
    "dryer": ([0], [1]),
    "exchanger": ([1], [2]),
    "ballbeam": ([0], [1]),
    "robot_arm": ([0], [1]),
    "flutter": ([0], [1]),
    "heating_system": ([1], [2]),
    "thermic_res_wall": ([0, 1], [2]),
    "cstr": ([1], [2, 3]),
    "pHdata": ([1, 2], [3]),
    "winding": ([0, 1, 2, 3, 4], [5, 6]),
    "dryer2": ([1, 2, 3], [4, 5, 6]),
    "evaporator": ([0, 1, 2], [3, 4, 5]),
    "glassfurnace": ([1, 2, 3], [4, 5, 6, 7, 8, 9]),
    "powerplant": ([1, 2, 3, 4, 5], [6, 7, 8]),
    "destill": ([1, 2, 3, 4, 5], [21, 22, 23]),
    "steamgen": ([1, 2, 3, 4], [5, 6, 7, 8]),
}


def measured_records(folder: Path, names: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Inputs and outputs of the named systems, or of all whose files are at hand."""
    found = {}
    for name, (inputs, outputs) in DAISY.items():
        file = folder / f"{name}.dat"
        if file.is_file() and (not names or name in names):
            data = np.loadtxt(file)
            found[name] = data[:, inputs], data[:, outputs]
    return found


def compared_rows(records: dict[str, tuple[np.ndarray, np.ndarray]]) -> list[str]:
    """Fit the first half, simulate the second, beside the baselines."""
    from tacit.estimators import LinearSystemIdentifier

    rows, ratios = [], []
    for name, (U, Y) in records.items():
        half = len(U) // 2
        if min(Y[:half].std(axis=0).min(), Y[half:].std(axis=0).min()) <= _STILL * np.abs(Y).max():
            print(f"{name}: left out, an output does not move", file=sys.stderr)
            continue
        model = LinearSystemIdentifier()
        seconds = cpu_seconds(lambda m=model, u=U[:half], y=Y[:half]: m.fit(u, y))
        found = model.compare_on(U[half:], Y[half:])
        best = min(one["error"] for key, one in found.items() if key != "tacit")
        if best == 0:
            print(f"{name}: left out, a baseline has no error at all", file=sys.stderr)
            continue
        ratios.append(found["tacit"]["error"] / best)
        row = {
            "workload": name,
            "found": found,
            "ratio": ratios[-1],
            "CPU seconds": seconds,
            "taken": model.choice_.chosen.label,
            "average of": dict(getattr(model.choice_.chosen, "parts", ())),
            "instead of": model.choice_.instead_of,
        }
        print(json.dumps(row, ensure_ascii=False), flush=True)
        cells = [
            f"{one['error']:.3g} ({one['order']}{'' if one['stable'] else ', unstable'})"
            for one in found.values()
        ]
        rows.append(f"| {name} | {' | '.join(cells)} | {ratios[-1]:.2f} | {seconds:.0f} |")
    many, far = len(ratios), sum(one > 1.25 for one in ratios)
    print(f"{many} systems: median ratio {np.median(ratios):.3f}, largest {max(ratios):.3f}")
    print(f"above 1.25: {far}, above 2: {sum(one > 2 for one in ratios)}")
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
    wanted = sys.argv[1:] or ["measured", "simulated", "drawn", "order"]
    header = "| system | tacit | ARX | OKID + ERA | subspace | ratio | s |\n" + 7 * "|---" + "|"
    if "measured" in wanted:
        folder = Path(os.environ.get("TACIT_DATA", ".")) / "daisy"
        records = measured_records(folder, [name for name in wanted if name in DAISY])
        if records:
            print("\n".join(["", header, *compared_rows(records)]), flush=True)
        else:
            print("daisy is not at hand: set TACIT_DATA", file=sys.stderr)
    if "simulated" in wanted:
        seeds = [int(word) for word in wanted if word.isdigit()] or SEEDS
        spoilt = {
            f"{name}, {seed}": make(np.random.default_rng([seed, number]))
            for seed in seeds
            for number, (name, make) in enumerate(DEFECTS.items())
        }
        print("\n".join(["", header, *compared_rows(spoilt)]), flush=True)
    for kind, draw, numbers in (
        ("drawn", drawn, DRAWN),
        ("bent", bent, BENT),
        ("stepped", stepped, STEPPED),
    ):
        if kind in wanted:
            found = {seed: draw(seed) for seed in numbers}
            whole = {f"{seed}: {words}": record for seed, (words, record) in found.items()}
            print("\n".join(["", header, *compared_rows(whole)]), flush=True)
    if "order" in wanted:
        rows = order_rows()
        print("\n| method | right where σₙ/σ₁ ≥ 0.01 | right |\n|---|---|---|")
        print("\n".join(rows))


if __name__ == "__main__":
    main()
