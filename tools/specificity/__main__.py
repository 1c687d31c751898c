"""Would a claim hold on data without the effect? Claims of stored runs are made again on nulls.

    python tools/specificity RESULTS              every experiment that is stored there
    python tools/specificity RESULTS depth/fig1   some; a paper's name stands for all of its own

A null keeps what theory says of each cell (`Experiment.from_theory`) and takes its effect from what
was measured:

- `permuted AXIS`: the values along a swept axis in another order, another one for each seed;
- `mean over AXIS`: each seed's mean in place of every value along the axis;
- `permuted`: the values of all axes in another order at once.

Per claim and null: the share of trials in which the claim holds still. A claim survives if it does
so in most trials of each null of the first kind. The record is `RECORD`, which the tests read.
"""

import argparse
import json
import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray

from tacit.claims import SEED, Claim
from tacit.experiments import Experiment
from tacit.reproduction import Reproduction, experiment_ids, stored_run

RECORD = Path(__file__).parents[2] / "src/tacit/reproduction/specificity.json"
TRIALS = 4
MOST = 0.75  # a claim that holds in this share of trials survives a null
PRESET = "quick"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/specificity")
    parser.add_argument("results", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--preset", default=PRESET)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    asked = parser.parse_args()
    chosen = [
        name
        for name in experiment_ids()
        if (asked.results / name / "store" / "store.json").is_file()
        and (not asked.names or {name, name.partition("/")[0]} & set(asked.names))
    ]
    record = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    held = survived = 0
    for name in chosen:
        run = stored_run(name, preset=asked.preset, results=asked.results)
        found = specificity(run)
        record[name] = {"preset": asked.preset, "claims": found}
        alive = [claim for claim, shares in found.items() if survives(shares)]
        held, survived = held + len(found), survived + len(alive)
        print(f"{name}: {len(alive)} of {len(found)} survive", flush=True)
        for claim in alive:
            reason = reason_of(run.experiment, claim)
            print(f"    {claim}" + (f"  ({reason})" if reason else "  !"), flush=True)
    print(f"{survived} of {held} claims survive every permutation")
    if not asked.dry:
        RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1, ensure_ascii=False))
    return 0


def survives(shares: dict[str, float]) -> bool:
    """Whether a claim holds in most trials of every null that permutes a single axis."""
    single = [share for null, share in shares.items() if null.startswith("permuted ")]
    return bool(single) and all(share >= MOST for share in single)


def reason_of(experiment: Experiment, claim: str) -> str:
    """Why a claim may survive, as the experiment says."""
    from fnmatch import fnmatchcase

    return next((why for p, why in experiment.unspecific.items() if fnmatchcase(claim, p)), "")


def specificity(run: Reproduction) -> dict[str, dict[str, float]]:
    """For each claim of a run that holds: null → the share of trials in which it holds still."""
    names = [claim.name for claim in run.claims if claim.verdict == "holds"]
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for null, trials in nulls(run.experiment, run.dataset):
        counts = dict.fromkeys(names, 0)
        for dataset in trials:
            verdicts = {claim.name: claim.verdict for claim in claims_of(run.experiment, dataset)}
            for name in names:
                counts[name] += verdicts.get(name) == "holds"
        for name in names:
            found[name][null] = counts[name] / len(trials)
    return found


def claims_of(experiment: Experiment, dataset: xarray.Dataset) -> list[Claim]:
    """The claims on a null; none where they cannot be made of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return list(experiment.claims(dataset))
        except Exception:  # no claim holds of data that it cannot read
            return []


def nulls(
    experiment: Experiment, runs: xarray.Dataset
) -> Iterator[tuple[str, list[xarray.Dataset]]]:
    """The nulls of an experiment by name, each with its trials."""
    axes = [
        name
        for name, values in experiment.axes().items()
        if name != SEED and len(values) > 1 and name not in experiment.unpermuted
    ]
    rng = np.random.default_rng(zlib.crc32(experiment.id.encode()))
    for axis in axes:
        yield f"permuted {axis}", [permuted(experiment, runs, [axis], rng) for _ in range(TRIALS)]
    for axis in axes:
        yield f"mean over {axis}", [averaged(experiment, runs, axis)]
    if len(axes) > 1:
        yield "permuted", [permuted(experiment, runs, axes, rng) for _ in range(TRIALS)]


def permuted(
    experiment: Experiment, runs: xarray.Dataset, axes: list[str], rng: np.random.Generator
) -> xarray.Dataset:
    """What was measured, in another order along some axes; one order for each seed."""
    orders = {}
    for axis in axes:
        size = runs.sizes[axis]
        rows = [moved(size, rng) for _ in range(runs.sizes.get(SEED, 1))]
        orders[axis] = np.array(rows)
    made = runs.copy(deep=True)
    for name in measured(experiment, runs):
        array = runs[name]
        for axis, rows in orders.items():
            if axis not in array.dims:
                continue
            if SEED in array.dims:
                moving = array.transpose(SEED, axis, ...)
                values = np.stack([v[row] for v, row in zip(moving.values, rows, strict=True)])
            else:
                moving = array.transpose(axis, ...)
                values = moving.values[rows[0]]
            array = moving.copy(data=values).transpose(*array.dims)
        made[name] = array
    return made


def averaged(experiment: Experiment, runs: xarray.Dataset, axis: str) -> xarray.Dataset:
    """What was measured, its mean along an axis in place of each value; words stay as they are."""
    made = runs.copy(deep=True)
    for name in measured(experiment, runs):
        array = runs[name]
        if axis in array.dims and array.dtype.kind in "fc":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of values that are all NaN
                mean = array.mean(axis, skipna=True)
            made[name] = mean.broadcast_like(array).transpose(*array.dims).where(array.notnull())
    return made


def measured(experiment: Experiment, runs: xarray.Dataset) -> list[str]:
    """The stored variables that no theory gives."""
    kept = {*experiment.from_theory, "present"}
    return [str(name) for name in runs.data_vars if name not in kept]


def moved(size: int, rng: np.random.Generator) -> np.ndarray:
    """An order in which something has moved."""
    while True:
        order = rng.permutation(size)
        if (order != np.arange(size)).any():
            return order


if __name__ == "__main__":
    sys.exit(main())
