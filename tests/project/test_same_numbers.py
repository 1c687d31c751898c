"""Whether a change moved a number: every experiment at `smoke` against results made before it.

Before the change, run `tacit reproduce --all --preset smoke --results DIR`; after it, run this file
with `TACIT_BASELINE=DIR` on the same machine. Without that variable the tests are skipped.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import xarray

import tacit
from tacit.reproduction import experiment_ids

BASELINE = os.environ.get("TACIT_BASELINE")
STORED = [name for name in experiment_ids() if (Path(BASELINE or "") / name).is_dir()]

pytestmark = pytest.mark.skipif(
    not BASELINE, reason="TACIT_BASELINE is not set: no results to compare with"
)


def without_seconds(path):
    record = json.loads(path.read_bytes())
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.mark.bits
@pytest.mark.parametrize("name", STORED if BASELINE else ["none"])
def test_the_bits_are_those_of_the_baseline(name, tmp_path):
    before = Path(BASELINE) / name
    run = tacit.reproduce(name, preset="smoke", results=tmp_path)
    was = xarray.open_zarr(before / "store" / "results.zarr").load()
    now = xarray.open_zarr(run.results).load()
    assert set(now.variables) == set(was.variables)
    for variable in was.variables:
        old, new = was[variable], now[variable]
        assert (new.dims, new.dtype, new.attrs) == (old.dims, old.dtype, old.attrs), variable
        # Compared as bytes, so that NaN equals NaN and -0.0 is not 0.0.
        assert np.ascontiguousarray(new.values).tobytes() == old.values.tobytes(), variable
    assert without_seconds(run.path / "claims.json") == without_seconds(before / "claims.json")


def test_the_baseline_is_whole():
    missing = set(experiment_ids()) - set(STORED)
    assert not missing, f"the baseline lacks {sorted(missing)}"
