"""What all benchmarks share: one pinned core, CPU time, one JSON line a workload.

The ratio of two measurements in the same run is what counts; seconds differ between machines.
"""

import json
import os
import resource
import time
from collections.abc import Callable
from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def pin() -> None:
    """One core and one thread, for us and for the peers. Call it before importing any of them."""
    for name in THREADS:
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def cpu_seconds(work: Callable[[], Any]) -> float:
    """The CPU time that `work` takes, in this process and in the compilers that it starts."""
    before = _used()
    work()
    return _used() - before


def _used() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def best_of(work: Callable[[], Any], repeats: int = 2) -> float:
    """The least CPU time of some runs: the others were disturbed."""
    return min(cpu_seconds(work) for _ in range(repeats))


def report(
    workload: str, *, cold: float, warm: float, peers: dict[str, float], **extra: Any
) -> None:
    """Print one JSON line: seconds of CPU time, and each peer's over ours, cold and warm."""
    line = {
        "workload": workload,
        "unit": "CPU seconds, one core",
        "ours_cold": round(cold, 3),
        "ours_warm": round(warm, 3),
        "peers": {name: round(seconds, 3) for name, seconds in peers.items()},
        "ratio_cold": {name: round(seconds / cold, 1) for name, seconds in peers.items()},
        "ratio_warm": {name: round(seconds / warm, 1) for name, seconds in peers.items()},
        "measured_at": time.strftime("%Y-%m-%d"),
        **extra,
    }
    print(json.dumps(line), flush=True)
