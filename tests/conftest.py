"""What tests of several rooms share."""

import functools
import gc
import itertools
import os
import zlib
from collections import defaultdict

import pytest

OF_A_ROOM = 10  # tests of each room that run as users do


def pytest_addoption(parser):
    parser.addoption(
        "--as-users",
        action="store_true",
        help="a sample of every room, without a type checker and compiled as for users",
    )


def pytest_configure():
    """Keep no compiled programs: to write one takes longer than to compile it in short."""
    os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "false")


def pytest_collection_modifyitems(config, items):
    """Of each room the tests whose names have the smallest checksums: as good as drawn by lot."""
    if not config.getoption("--as-users"):
        return
    rooms = defaultdict(list)
    for item in items:
        rooms[item.path.relative_to(config.rootpath).parts[1]].append(item)
    chosen = {
        item
        for room in rooms.values()
        for item in sorted(room, key=lambda one: zlib.crc32(one.nodeid.encode()))[:OF_A_ROOM]
    }
    items[:] = [item for item in items if item in chosen]


def pytest_collection_finish():
    """Look for garbage seldom, and not among what is loaded by now: it took up to a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


# XLA's older emitters and one piece a program, beside LLVM's lowest level: a small program
# compiles in a third of the time.
SHORT = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}


@functools.cache
def _short_compiler():
    """JAX's function that chooses a compiler's options, as it is and with `SHORT`.

    As it is twice, if this jaxlib does not know these options: then the tests take longer.
    """
    import jax
    from jax._src import compiler

    usual = compiler.get_compile_options

    def short(*args, **kwargs):
        options = usual(*args, **kwargs)
        options.env_option_overrides += list(SHORT.items())
        return options

    try:
        jax.jit(lambda: 0, compiler_options=SHORT)()
    except jax.errors.JaxRuntimeError:
        return usual, usual
    return usual, short


def _compile(short):
    """Compile in short or as usual from now on; what was compiled the other way stands aside."""
    import jax
    from jax._src import compiler

    if short != jax.config.read("jax_disable_most_optimizations"):
        jax.config.update("jax_disable_most_optimizations", short)
        # A number without a meaning on CPUs, by which JAX tells its programs apart.
        jax.config.update("jax_xla_profile_version", int(short))
        compiler.get_compile_options = _short_compiler()[short]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Most tests compile more than they compute: in short, but for those marked `bits`."""
    as_users = item.config.getoption("--as-users") or item.get_closest_marker("bits")
    _compile(short=not as_users)


_FILES = itertools.count(1)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Forget compiled programs now and then: all of them would take gigabytes."""
    import jax

    if (nextitem is None or nextitem.path != item.path) and next(_FILES) % 20 == 0:
        jax.clear_caches()


@pytest.fixture(scope="session", autouse=True)
def _files_without_waiting():
    """No file must survive a power cut: a result's fifty files need not reach the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


UNDRAWN = ("cli", "reproduction")  # rooms whose tests look at figures as data


@pytest.fixture(autouse=True)
def _figures_without_drawings(request, monkeypatch):
    """Files of figures are blank in rooms that ask for them alone, but for tests marked `drawn`."""
    if request.path.parent.name not in UNDRAWN or request.node.get_closest_marker("drawn"):
        return
    from tacit.draw import _save

    blank = {"png": b"\x89PNG", "svg": b"<svg/>"}
    monkeypatch.setattr(_save, "to_matplotlib", lambda figure: None)
    monkeypatch.setattr(
        _save, "_print", lambda sheet, kind: lambda file, metadata: file.write(blank[kind])
    )


@pytest.fixture(scope="session")
def environment_in_short():
    """The environment of a process that compiles in short."""
    usual, short = _short_compiler()
    known = {} if short is usual else SHORT
    flags = " ".join(f"--{name}={value}".lower() for name, value in known.items())
    return os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "XLA_FLAGS": flags}
