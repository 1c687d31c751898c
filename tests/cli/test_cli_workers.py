"""`--workers`, `--scheduler`, Ctrl-C and a full disk, from outside."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import pytest
import xarray

RESULTS = ("results", "mine", "lamp", "store", "results.zarr")


def dataset(tacit):
    return xarray.open_zarr(tacit.folder.joinpath(*RESULTS)).load()


@pytest.fixture
def whole(tacit):
    """The dataset of a run in one process that nothing disturbs."""
    assert tacit("reproduce", "lamp.py").returncode == 0
    found = dataset(tacit)
    (tacit.folder / "results").rename(tacit.folder / "undisturbed")
    tacit.log.unlink()
    return found


def test_processes_give_the_same_results(tacit, whole):
    done = tacit("reproduce", "lamp.py", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert dataset(tacit).equals(whole)
    assert sorted(tacit.computed()) == [1, 2, 3, 4]
    assert str(os.getpid()) not in tacit.log.read_text()


@pytest.mark.parametrize(
    "options",
    [[], ["--workers", "2"], ["--workers", "2", "--scheduler", "local"]],
    ids=["here", "processes", "dask"],
)
def test_an_interrupted_run_says_how_to_go_on(tacit, options):
    command = ["reproduce", "lamp.py", "--set", "pause=0.3", "--set", "power=1:8", *options]
    process = tacit.start(*command, "--fresh")
    tacit.wait_for_parts(2, process)
    start = time.monotonic()
    done = tacit.interrupt(process)
    assert done.returncode == 130, done.stderr
    assert time.monotonic() - start < 20
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    kept = len(tacit.parts())
    found = re.fullmatch(
        r"tacit: interrupted: (\d+) of 32 cells of mine/lamp are stored; "
        r"to go on from there: tacit (.*)",
        last,
    )
    assert found is not None, done.stderr
    assert int(found[1]) == 4 * kept  # as `tacit status` counts them
    assert kept >= 2
    assert found[2].split() == command  # without --fresh, which would begin anew
    deadline = time.monotonic() + 20
    while _group(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _group(process.pid) == []  # no worker is left behind
    tacit.log.unlink()
    again = tacit("reproduce", "lamp.py", "--set", "pause=0.3", "--set", "power=1:8")
    assert again.returncode == 0, again.stderr
    assert len(tacit.computed()) == 8 - kept  # only what was not stored
    assert dataset(tacit)["present"].values.all()


def _group(group):
    """The living processes of a process group."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    state, _, its_group = file.read().rpartition(")")[2].split()[:3]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(its_group) == group and state != "Z":
                found.append(int(name))
    return found


def test_a_full_disk_is_a_sentence_and_the_rest_comes_later(tacit):
    # 4 cells × 20,000 numbers × 8 bytes: a part is 640 kB, more than a file may have here.
    size = ["--set", "length=20000"]
    smaller = tacit("reproduce", "lamp.py", *size, "--set", "seed=0")
    assert smaller.returncode == 0
    before = dataset(tacit)

    def limited(*arguments):
        # From outside, while the child still imports: code between fork and exec does not go well
        # with the threads that JAX has in this process.
        process = tacit.start("reproduce", "lamp.py", *arguments)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (400_000, 400_000))
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    full = limited(*size)
    assert full.returncode == 1
    assert full.stderr.count("\n") == 1
    assert re.match(
        r"tacit: .*\.safetensors could not be written: File too large; what was", full.stderr
    )
    assert "free some space, then the same command goes on from there" in full.stderr
    assert dataset(tacit).equals(before)  # readable as before
    assert list((tacit.folder / "results" / "mine" / "lamp" / "store").rglob("*.tmp")) == []
    # Parts fit, the consolidated file does not.
    small = ["--set", "length=20000", "--seeds", "2"]
    zarr = limited(*small)
    assert zarr.returncode == 1, zarr.stderr
    assert "results.zarr could not be written: File too large" in zarr.stderr
    assert dataset(tacit).equals(before)
    done = tacit("reproduce", "lamp.py", *size)
    assert done.returncode == 0, done.stderr
    assert dataset(tacit)["present"].values.all()


def test_a_full_disk_under_the_figure_is_a_sentence_too(tacit, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "figure.png")

    monkeypatch.setattr("tacit.reproduction._run._write", full)
    done = tacit("reproduce", "lamp.py", "--preset", "smoke")
    assert done.returncode == 1
    assert done.stderr.startswith("tacit: figure.png could not be written: No space left on device")
    assert done.stderr.count("\n") == 1


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@pytest.fixture
def cluster(tacit):
    """A scheduler and two workers, on ports of their own, as on a real cluster."""
    port = free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    base = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*base, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port),
         "--no-dashboard"], **quiet
    )  # fmt: skip
    address = f"tcp://127.0.0.1:{port}"
    workers = [
        subprocess.Popen(
            [*base, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny",
             "--no-dashboard", "--worker-port", str(free_port())], **quiet
        )
        for _ in range(2)
    ]  # fmt: skip
    deadline = time.monotonic() + 60
    while not answers(port):  # a busy machine is slow to import it
        assert scheduler.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield address, scheduler, workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait(20)


def test_a_cluster_that_loses_a_worker_then_its_scheduler(tacit, whole, cluster):
    address, scheduler, workers = cluster
    command = ["reproduce", "lamp.py", "--scheduler", address]
    done = tacit(*command)
    assert done.returncode == 0, done.stderr
    assert dataset(tacit).equals(whole)
    assert sorted(tacit.computed()) == [1, 2, 3, 4]

    slow = [*command, "--set", "pause=0.2", "--set", "power=1:12"]
    process = tacit.start(*slow)
    tacit.wait_for_parts(4 + 2, process)
    workers[0].send_signal(signal.SIGKILL)
    tacit.wait_for_parts(4 + 6, process)  # the other one goes on
    scheduler.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    assert "lost" in err
    assert "what was computed is stored" in err
    kept = len(tacit.parts()) - 4
    tacit.log.unlink()
    assert (
        tacit("reproduce", "lamp.py", "--set", "pause=0.2", "--set", "power=1:12").returncode == 0
    )
    assert len(tacit.computed()) == 12 - kept
    assert dataset(tacit)["present"].values.all()


@pytest.mark.parametrize(
    ("workers", "scheduler", "every", "cores", "gpu", "processes"),
    [
        (None, None, True, 4, False, 4),
        (None, None, True, 1, False, None),  # a second process would gain nothing
        (None, None, True, 4, True, None),
        (None, None, False, 4, False, None),
        (3, None, True, 4, True, 3),
        (None, "local", True, 4, False, None),
    ],
)
def test_all_experiments_take_a_process_a_core(
    workers, scheduler, every, cores, gpu, processes, monkeypatch
):
    from tacit.cli import _reproduce

    monkeypatch.setattr(_reproduce, "core_count", lambda: cores)
    monkeypatch.setattr(_reproduce, "accelerated", lambda: gpu)
    assert _reproduce._processes(workers, scheduler, every=every) == processes


def test_wrong_workers_are_one_sentence_and_exit_2(tacit):
    for options, words in [
        (["--workers", "0"], "workers: received 0, allowed is an integer from 1 to 1024"),
        (["--workers", "-3"], "workers: received -3"),
        (["--workers", "two"], "received 'two', allowed is an integer"),
        (["--workers"], "--workers"),
        (["--scheduler", "nowhere"], "scheduler: received 'nowhere', the form is tcp://host:port"),
        (["--scheduler", "tcp://127.0.0.1"], "the form is tcp://host:port"),
        (["--scheduler", "tcp://127.0.0.1:70000"], "the form is tcp://host:port"),
        (["--scheduler", "http://127.0.0.1:80"], "the form is tcp://host:port"),
        (["--scheduler", "local", "--workers", "0"], "workers: received 0"),
        (["--scheduler", "tcp://127.0.0.1:8786", "--workers", "2"], "has its own workers"),
    ]:
        done = tacit("reproduce", "lamp.py", *options)
        assert done.returncode == 2, (options, done)
        assert words in done.stderr, (options, done.stderr)
        assert done.stderr.startswith("tacit: ")
        assert done.stderr.strip().count("\n") == 0
        assert not (tacit.folder / "results").exists()


def test_a_scheduler_that_does_not_answer_is_one_sentence_and_exit_2(tacit):
    address = f"tcp://127.0.0.1:{free_port()}"
    done = tacit("reproduce", "lamp.py", "--scheduler", address)
    assert done.returncode == 2
    assert done.stderr.startswith(f"tacit: scheduler: {address} does not answer within 5 s")
    assert done.stderr.strip().count("\n") == 0
    assert not (tacit.folder / "results").exists()


def test_without_dask_the_extra_is_named(monkeypatch):
    from tacit.sweep import WorkersError, dask_workers

    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(WorkersError, match=r"pip install .dask\[distributed\]"),
        dask_workers("local"),
    ):
        pass


def test_a_store_in_use_is_not_begun_anew(tacit):
    process = tacit.start("reproduce", "lamp.py", "--set", "pause=0.3")
    tacit.wait_for_parts(1, process)
    fresh = tacit("reproduce", "lamp.py", "--fresh")
    assert fresh.returncode == 2
    assert "in use by another process: stop it or wait for it before --fresh" in fresh.stderr
    second = tacit("reproduce", "lamp.py", "--set", "pause=0.3")  # but one may join it
    out, err = process.communicate(timeout=60)
    assert (process.returncode, second.returncode) == (0, 0), (out, err, second)
    assert sorted(tacit.computed()) == [1, 2, 3, 4]  # each batch once
