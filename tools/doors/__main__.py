"""Every public door with one argument at a time replaced by an odd value.

    python tools/doors                    all calls, a table of what is wrong
    python tools/doors measures theory    those whose names begin so
    python tools/doors --sample 3         a seeded sample of so many calls of each door
    python tools/doors --light            without programs to compile: a quarter of the time
    python tools/doors --valid            the recorded calls as they are

Exit code 1 if anything is wrong: a door without a recorded call, a call that fails as recorded, a
silent non-finite answer, a finite one to what is not finite, a wrong type taken, a foreign error,
an error that does not name the argument, a warning, or no answer in 15 s.
"""

import argparse
import inspect
import os
import random
import resource
import sys
import tempfile
import time
from typing import Any

from judge import finding, is_finite
from pending import PENDING
from perturbations import odd_values
from recorded import Call, Fresh
from rooms import doors, found
from table import CALLS, RECORDS

_COMPILE = ("models.", "problems.", "descent.", "descend", "reproduce", "verify", "draw.save")


def main() -> int:
    """Parse, call, print."""
    parser = argparse.ArgumentParser(prog="tools/doors")
    parser.add_argument("names", nargs="*", help="beginnings of names, such as measures")
    parser.add_argument("--sample", type=int, help="so many calls of each door, drawn by --seed")
    parser.add_argument("--light", action="store_true", help="nothing that compiles")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--valid", action="store_true", help="the recorded calls only")
    parser.add_argument("--slow", action="store_true", help="say which doors take longest")
    asked = parser.parse_args()
    os.chdir(tempfile.mkdtemp(prefix="doors"))
    resource.setrlimit(resource.RLIMIT_AS, (32 << 30, 32 << 30))
    known = {*CALLS, *RECORDS}
    wrong = [
        f"{name}: {'recorded, still pending' if name in known else 'no recorded call'}"
        for name, _ in doors()
        if (name in known) == (name in PENDING)
    ]
    wrong += [f"{name}: recorded, but gone" for name in {*CALLS, *RECORDS} if not _there(name)]
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    calls, tried, clocks, slowest = 0, 0, [], (0.0, "")
    for name, recorded in CALLS.items():
        if asked.names and not name.startswith(tuple(asked.names)):
            continue
        start, tried = time.perf_counter(), tried + 1
        failed = "" if asked.light else _as_recorded(name, recorded)
        if failed:
            wrong.append(f"{name}: as recorded: {failed}")
            print(wrong[-1], flush=True)
        elif not asked.valid:
            made, bad, longest = _perturbed(name, recorded, asked)
            calls, wrong, slowest = calls + made, wrong + bad, max(slowest, longest)
            print(*bad, sep="\n", end="\n" * bool(bad), flush=True)
        clocks.append((time.perf_counter() - start, name))
    for seconds, name in sorted(clocks)[:-20:-1] if asked.slow else ():
        print(f"{seconds:7.2f} s  {name}")
    if calls:
        print(f"the slowest call took {slowest[0]:.2f} s: {slowest[1]}")
    print(f"{tried} doors, {calls} calls, {len(wrong)} findings")
    return bool(wrong)


def _as_recorded(name: str, recorded: Call) -> str:
    """The call must succeed as it is, with a finite answer."""
    try:
        result = _made(name, recorded, {})()
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return "" if recorded.infinite or is_finite(result) else "a non-finite answer"


def _perturbed(
    name: str, recorded: Call, asked: argparse.Namespace
) -> tuple[int, list[str], tuple[float, str]]:
    """How many calls there were, what is wrong, and the slowest with its seconds."""
    optional = _optional(name)
    cases = [
        (argument, odd)
        for argument, value in recorded.arguments.items()
        if argument != "self"
        for odd in odd_values(_fresh(value))
        if odd.kind not in recorded.allows.get(argument, ())
        and not (odd.kind == "none" and argument in optional)
    ]
    if asked.light and name.startswith(_COMPILE):  # what no door lets in needs no program
        cases = [(argument, odd) for argument, odd in cases if odd.answer == "none"]
    if asked.sample is not None and len(cases) > asked.sample:
        cases = random.Random(f"{asked.seed} {name}").sample(cases, asked.sample)
    bad, slowest = [], (0.0, "")
    for argument, odd in cases:
        start = time.perf_counter()
        run = _made(name, recorded, {argument: odd.value})
        words = finding(
            run,
            recorded.names(argument),
            odd.answer,
            bool(recorded.infinite),
            tuple(recorded.arguments),
        )
        call = f"{name}({argument}={odd.kind})"
        slowest = max(slowest, (time.perf_counter() - start, call))
        if words:
            bad.append(f"{call}: {words}")
    return len(cases), bad, slowest


def _made(name: str, recorded: Call, other: dict[str, Any]) -> Any:
    arguments = {key: _fresh(value) for key, value in (recorded.arguments | other).items()}
    star: tuple[Any, ...] = ()
    if recorded.star:  # what comes before it is passed by place too
        before = list(arguments)[: list(arguments).index(recorded.star)]
        star = tuple(arguments.pop(key) for key in before)
        starred = arguments.pop(recorded.star)
        star += tuple(starred) if isinstance(starred, list | tuple) else (starred,)
    door: Any = arguments.pop("self", None)
    last = name.rpartition(".")[2]
    door = getattr(door, last) if door is not None else found(name)
    return lambda: door(*star, **arguments)


def _optional(name: str) -> set[str]:
    """The arguments for which None stands for a choice of ours."""
    parameters = inspect.signature(found(name)).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is None}


def _fresh(value: Any) -> Any:
    return value.make() if isinstance(value, Fresh) else value


def _there(name: str) -> bool:
    try:
        found(name)
    except AttributeError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
