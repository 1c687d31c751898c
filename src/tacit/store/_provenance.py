"""Where results came from: parameters, versions, commit, device, precision, time.

Nothing in it names a host or a path, and equality between runs never looks at it.
"""

import contextlib
import functools
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from tacit._doors import door, instance, number, text
from tacit._version import __version__
from tacit.store._key import canonical

_PACKAGES = ("diffrax", "equinox", "jax", "jaxlib", "numpy", "optax", "scipy", "xarray")
_ROUNDING = (
    "jaxlib",
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "jax-rocm7-plugin",
    "numpy",
    "scipy",
)


@functools.cache
def versions() -> dict[str, str]:
    """The versions of Python, tacit and the packages below it, without importing any."""
    found = {"python": platform.python_version(), "tacit": __version__}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@functools.cache
def commit() -> str | None:
    """The commit of tacit's own checkout, with `-dirty` after changes; None if installed."""
    here = Path(__file__).resolve()

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(here.parent), *words],
                capture_output=True,
                text=True,
                timeout=10,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() or None

    # A copy in the environment of somebody's project lies in that project's checkout, untracked.
    if git("ls-files", "--error-unmatch", here.name) is None:
        return None
    return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def device() -> str:
    """The device that this process computes on, by JAX if the process has it, else the CPU."""
    jax = sys.modules.get("jax")
    if jax is None:
        return f"cpu: {platform.machine()}"
    try:
        first = jax.devices()[0]
    except RuntimeError:  # JAX is there and finds no device: the cells did not use it
        return f"cpu: {platform.machine()}"
    return f"{first.platform}: {first.device_kind}"


def settings() -> dict[str, Any]:
    """The settings of JAX that numbers depend on, as they are now; none without JAX."""
    jax = sys.modules.get("jax")
    if jax is None:
        return {}
    return {
        "generator": jax.config.jax_default_prng_impl,
        "partitionable": jax.config.jax_threefry_partitionable,
        "products": jax.config.jax_default_matmul_precision,
        "x64": jax.config.jax_enable_x64,
    }


UNKNOWN_ROUNDING = "unknown"
"""Of results that do not tell: it equals no other, and not itself."""


def rounding() -> str:
    """What the rounding errors of this process depend on: processor, packages, XLA's own flags.

    Where this is the same, the same program gives the same bits. A GPU shows by JAX's plug-in for
    it: to ask JAX would start it, in processes that only hand out work.
    """
    flags = os.environ.get("XLA_FLAGS", "").strip()
    return ", ".join([_processor_and_packages(), *([f"XLA_FLAGS={flags}"] if flags else [])])


@functools.cache
def _processor_and_packages() -> str:
    packages = []
    for name in _ROUNDING:
        with contextlib.suppress(metadata.PackageNotFoundError):
            packages.append(f"{name} {metadata.version(name)}")
    return ", ".join([*_processor(), *packages])


def _processor() -> list[str]:
    """Its kind and, where the system tells, its model and widest vector instructions."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return [platform.machine(), platform.processor()]
    facts = {key.strip(): value.strip() for key, _, value in (x.partition(":") for x in lines)}
    widest = [word for word in ("avx512f", "avx2", "avx") if word in facts.get("flags", "").split()]
    return [platform.machine(), facts.get("model name", "unnamed processor"), *widest[:1]]


@door(answer="any", arrays=instance(Mapping))
def precision(arrays: Mapping[str, np.ndarray]) -> str:
    """The floating dtypes among the results, for example `float64`."""
    return ", ".join(sorted({a.dtype.name for a in arrays.values() if a.dtype.kind in "fc"}))


@door(parameters=instance(Mapping), seconds=number(0), device=text, precision=text, code=text)
def provenance(
    parameters: Mapping[str, Any],
    *,
    seconds: float,
    device: str,
    precision: str,
    code: str | None = None,
) -> dict[str, Any]:
    """The record that goes into a part beside its arrays.

    `device` is where the cells ran, `code` the fingerprint of what computed them, if it is known.
    """
    return {
        "parameters": canonical(parameters),
        "versions": versions(),
        "commit": commit(),
        "code": code,
        "device": device,
        "precision": precision,
        "rounding": rounding(),
        "settings": settings(),
        "seconds": seconds,
    }
