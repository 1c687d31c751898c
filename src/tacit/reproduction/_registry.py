"""Find an experiment: built in, of an entry point, or in a file of the user's own."""

import hashlib
import importlib
import importlib.util
import inspect
import linecache
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from tacit._errors import UsageError, nearest, shown
from tacit.experiments import Experiment
from tacit.reproduction._declaration import check_experiment
from tacit.reproduction._fingerprint import code_of
from tacit.reproduction._listing import BUILT_IN, experiment_ids, plugins

_OWN = "tacit_file_"  # how the modules of such files are called
_MOST_OF_A_LINE = 80  # characters


def find_experiment(name: str) -> type[Experiment]:
    """The experiment with an id, or the one in a file: `path/to/file.py[:Class]`."""
    path, colon, attribute = name.rpartition(":") if ".py:" in name else (name, "", "")
    if path.endswith(".py"):
        return _from_file(Path(path), attribute if colon else None)
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].at.partition(":")
        kind = getattr(importlib.import_module(f"tacit.experiments.{module}"), attribute)
        check_experiment(kind)
    else:
        points = plugins()
        if name not in points:
            hint = nearest(name, experiment_ids())
            raise UsageError(f"experiment: {shown(name)} is not known, {hint}")
        place = points[name].value
        try:
            kind = points[name].load()
            check_experiment(kind)
            code_of(kind)
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"experiment: {name!r} from {place} could not be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        if kind.id != name:  # results lie under the id, and must be found by the name
            raise UsageError(
                f"experiment: {name!r} from {place} has the id {kind.id!r}; name its entry point so"
            )
    kind.source = name
    return kind


def _from_file(path: Path, attribute: str | None) -> type[Experiment]:
    if not path.is_file():
        raise UsageError(f"experiment: there is no file {str(path)!r}")
    try:
        module = _load(path.resolve())
        kinds = {
            kind.__name__: kind
            for kind in vars(module).values()
            if inspect.isclass(kind)
            and issubclass(kind, Experiment)
            and kind.__module__ == module.__name__
            and "id" in vars(kind)  # a base class has none
        }
        if attribute is not None and attribute not in kinds:
            hint = nearest(attribute, kinds)
            raise UsageError(f"experiment: {path} has no experiment {attribute!r}, {hint}")
        if attribute is None and len(kinds) != 1:
            words = (
                f"several ({', '.join(kinds)}): write {path}:NAME" if kinds else "none with an id"
            )
            raise UsageError(f"experiment: {path} must define one Experiment, it has {words}")
        name = attribute or next(iter(kinds))
        check_experiment(kinds[name])
        code_of(kinds[name])  # now: the file may be another when its turn comes
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"experiment: {path} could not be loaded: {type(error).__name__}: {error}"
        ) from error
    kinds[name].source = f"{path.resolve()}:{name}"
    return kinds[name]


def place_in_own_file(error: BaseException) -> str | None:
    """The innermost line of a user's own file that an error went through, in words."""
    found, frame = None, error.__traceback__
    while frame is not None:
        if str(frame.tb_frame.f_globals.get("__name__", "")).startswith(_OWN):
            found = frame
        frame = frame.tb_next
    if found is None:
        return None
    file, line = found.tb_frame.f_code.co_filename, found.tb_lineno
    text = linecache.getline(file, line).strip()
    return f"{Path(file).name}, line {line}" + (f": {text[:_MOST_OF_A_LINE]}" if text else "")


def _load(path: Path) -> ModuleType:
    # A name of its own for each file; dataclasses look their module up by it.
    name = f"{_OWN}{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise UsageError(f"experiment: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # From its text, not from bytecode: Python would take that of a file of the same size that
        # was edited within the same second, and leave a folder beside the user's file.
        text = spec.loader.get_data(str(path))
        exec(spec.loader.source_to_code(text, str(path)), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module
