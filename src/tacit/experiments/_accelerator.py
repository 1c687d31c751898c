"""Whether JAX will compute on an accelerator, known without importing it."""

import functools
import os
from importlib.metadata import entry_points
from pathlib import Path

# What the drivers of NVIDIA's, AMD's and Google's devices put there.
_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/accel0", "/dev/vfio/0")


@functools.cache
def accelerated() -> bool:
    """Whether a plugin of JAX for a device is installed, not switched off, and a device is there.

    It decides how cells are batched: all together for an accelerator, in smaller batches for
    processes on a CPU. Cells have the same results either way, so a wrong guess costs time only.
    """
    wanted = os.environ.get("JAX_PLATFORMS", "")
    if wanted and wanted.split(",")[0].strip().lower() == "cpu":
        return False
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return any(Path(device).exists() for device in _DEVICES) and bool(
        entry_points(group="jax_plugins")
    )
