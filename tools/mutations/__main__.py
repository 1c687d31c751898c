"""Do the tests notice? Each mutation changes one line of a copy of the tree; named tests must fail.

    python tools/mutations                 all of them
    python tools/mutations theory claims   those whose file has such a word in its path
    python tools/mutations --check         only that every mutation still fits its file, and how many each room has

Tests run without the checks of types at run time: what they notice, the tests notice themselves.
They run in a fork of a process that has imported JAX already. Exit code 1 if a mutation survives that is
not named as equivalent in `table.py`, or fits no longer.
"""

import argparse
import io
import os
import py_compile
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from table import BY_ROOM, MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 240  # seconds of work for the tests of one mutation; one that hangs is noticed
OPTIONS = (
    "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # of what is imported before the fork
    "-o", "addopts=--import-mode=importlib --strict-markers",
)  # fmt: skip


def main() -> int:
    """Parse, run, tell."""
    parser = argparse.ArgumentParser(prog="tools/mutations")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--numbers", help="such as 3,10:20, in the order of the table")
    asked = parser.parse_args()
    wrong = [words for m in MUTATIONS if (words := _misfit(m))]
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    if asked.check or wrong:
        print(f"{len(MUTATIONS)} mutations, {len(wrong)} do not fit")
        print(*(f"{count:5} {room}" for room, count in BY_ROOM.most_common()), sep="\n")
        return bool(wrong)
    chosen = [m for m in MUTATIONS if not asked.words or any(w in m.file for w in asked.words)]
    if asked.numbers:
        ends = (part.split(":") for part in asked.numbers.split(","))
        chosen = [m for end in ends for m in chosen[int(end[0]) : int(end[-1]) + (len(end) == 1)]]
    return _run(chosen)


def _misfit(mutation: Mutation) -> str:
    count = (ROOT / "src/tacit" / mutation.file).read_text().count(mutation.old)
    return "" if count == 1 else f"{mutation.file}: {count} places have {mutation.old!r}"


def _run(mutations: Iterable[Mutation]) -> int:
    # Imported once for all forks: JAX starts nothing before its first use.
    import diffrax  # noqa: F401
    import equinox  # noqa: F401
    import jax.numpy  # noqa: F401
    import optax  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize  # noqa: F401
    import xarray  # noqa: F401
    import zarr  # noqa: F401

    copy = Path(tempfile.mkdtemp(prefix="mutations"))
    kept = shutil.ignore_patterns("__pycache__", ".git", ".venv", "results", "reference")
    for name in ("src", "tests", "tools", "docs", "pyproject.toml", "README.md"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=kept)
        else:
            shutil.copy(source, copy / name)
    for file in (copy / "src").rglob("*.py"):
        py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    survived, tried, sound = [], 0, {}
    for mutation in mutations:
        if mutation.tests not in sound:
            sound[mutation.tests] = _tests_pass(copy, mutation.tests)
            if not sound[mutation.tests]:
                print(f"the tests fail without a mutation: {mutation.tests}", flush=True)
        path = copy / "src/tacit" / mutation.file
        text = path.read_text()
        path.write_text(text.replace(mutation.old, mutation.new))
        start = time.monotonic()
        noticed = sound[mutation.tests] and not _tests_pass(copy, mutation.tests)
        path.write_text(text)
        tried += 1
        word = "killed  " if noticed else "equals  " if mutation.equivalent else "SURVIVED"
        print(f"{word} {time.monotonic() - start:5.1f} s  {mutation}", flush=True)
        if not noticed:
            survived.append(mutation)
    shutil.rmtree(copy)
    bad = [mutation for mutation in survived if not mutation.equivalent]
    print(f"{tried} mutations, {tried - len(survived)} killed, {len(survived)} survived, of which "
          f"{len(survived) - len(bad)} are equivalent")  # fmt: skip
    return bool(bad)


def _tests_pass(copy: Path, tests: str) -> bool:
    """In a fork, whose imports of ours are its own."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        signal.alarm(8 * LIMIT)  # of a machine with other work
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy / "src")
        sys.path[:0] = [str(copy / "src"), str(copy)]  # worker processes import the tests too
        sys.dont_write_bytecode = True
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            import pytest

            code = pytest.main([*OPTIONS, *tests.split()])
        os._exit(int(code))
    return os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    sys.exit(main())
