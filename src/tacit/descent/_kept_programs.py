"""Compiled programs on disk, for the next process."""

import os
from pathlib import Path

import jax
import platformdirs

from tacit._doors import door, path

LEAST_SECONDS = 0.1  # of compilation; shorter programs are not worth a file


@door(folder=path, answer="any")
def keep_programs(folder: str | os.PathLike[str] | None = None) -> Path:
    """Let JAX keep what it compiles in this process, and find what was kept before.

    The command line does so by itself. In Python it is a setting of JAX for the whole process, so
    importing tacit leaves it alone and this call makes it. Call it before the first program is
    compiled.

    **Arguments:**

    - `folder`: where programs are kept; None is the command line's own folder (`tacit/jax` in the
      user's cache folder), unless `JAX_COMPILATION_CACHE_DIR` names another. It may be removed at
      any time.

    The folder is returned.
    """
    chosen = folder or os.environ.get("JAX_COMPILATION_CACHE_DIR")
    place = Path(chosen) if chosen else platformdirs.user_cache_path("tacit") / "jax"
    jax.config.update("jax_compilation_cache_dir", str(place))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
    return place
