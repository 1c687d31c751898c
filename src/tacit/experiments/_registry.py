"""Where experiments are found: built in, in entry points, in a file of the user's own."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
import warnings
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from tacit.experiments._base import Experiment
from tacit.experiments._errors import UsageError, nearest

ENTRY_POINTS = "tacit.experiments"

BUILT_IN = {
    "lowdim/fig1a": "tacit.experiments.lowdim.fig1a:Fig1a",
    "lowdim/fig1b": "tacit.experiments.lowdim.fig1b:Fig1b",
    "lowdim/fig2a": "tacit.experiments.lowdim.fig2a:Fig2a",
    "lowdim/fig2b": "tacit.experiments.lowdim.fig2b:Fig2b",
    "lowdim/fig3a": "tacit.experiments.lowdim.fig3a:Fig3a",
    "lowdim/fig3b": "tacit.experiments.lowdim.fig3b:Fig3b",
    "lowdim/fig4": "tacit.experiments.lowdim.fig4:Fig4",
    "lowdim/fig5": "tacit.experiments.lowdim.fig5:Fig5",
    "lowdim/fig6": "tacit.experiments.lowdim.fig6:Fig6",
    "lowdim/fig1a-mimo": "tacit.experiments.lowdim.fig1a_mimo:Fig1aMimo",
    "lowdim/modes": "tacit.experiments.lowdim.modes:Modes",
    "lowdim/threshold": "tacit.experiments.lowdim.threshold:Threshold",
    "memoryless/fig1": "tacit.experiments.memoryless.fig1:Fig1",
    "memoryless/fig2": "tacit.experiments.memoryless.fig2:Fig2",
    "memoryless/fig3": "tacit.experiments.memoryless.fig3:Fig3",
    "memoryless/fig4": "tacit.experiments.memoryless.fig4:Fig4",
    "memoryless/fig5": "tacit.experiments.memoryless.fig5:Fig5",
    "kernel/fig1": "tacit.experiments.kernel.fig1:Fig1",
    "kernel/fig2": "tacit.experiments.kernel.fig2:Fig2",
    "kernel/fig3": "tacit.experiments.kernel.fig3:Fig3",
    "kernel/fig4": "tacit.experiments.kernel.fig4:Fig4",
    "kernel/table1": "tacit.experiments.kernel.table1:Table1",
    "kernel/memory": "tacit.experiments.kernel.memory:Memory",
    "kernel/width": "tacit.experiments.kernel.width:Width",
    "depth/fig1": "tacit.experiments.depth.fig1:Fig1",
    "depth/fig2": "tacit.experiments.depth.fig2:Fig2",
    "depth/fig3": "tacit.experiments.depth.fig3:Fig3",
    "depth/fig4": "tacit.experiments.depth.fig4:Fig4",
    "depth/fig5": "tacit.experiments.depth.fig5to8:Fig5",
    "depth/fig6": "tacit.experiments.depth.fig5to8:Fig6",
    "depth/fig7": "tacit.experiments.depth.fig5to8:Fig7",
    "depth/fig8": "tacit.experiments.depth.fig5to8:Fig8",
    "depth/fig9": "tacit.experiments.depth.fig9:Fig9",
    "depth/fig10": "tacit.experiments.depth.fig10:Fig10",
    "depth/fig11": "tacit.experiments.depth.fig11:Fig11",
    "depth/fig12": "tacit.experiments.depth.fig12:Fig12",
    "depth/fig13-17": "tacit.experiments.depth.fig13to17:Fig13To17",
    "depth/fig31": "tacit.experiments.depth.fig31to33:Fig31",
    "depth/fig32": "tacit.experiments.depth.fig31to33:Fig32",
    "depth/fig33": "tacit.experiments.depth.fig31to33:Fig33",
    "depth/any-pattern": "tacit.experiments.depth.any_pattern:AnyPattern",
    "depth/phase": "tacit.experiments.depth.phase:Phase",
    "depth/plasticity": "tacit.experiments.depth.plasticity:Plasticity",
    "connectivity/fig1": "tacit.experiments.connectivity.fig1:Fig1",
    "connectivity/fig2": "tacit.experiments.connectivity.fig2:Fig2",
    "connectivity/fig3": "tacit.experiments.connectivity.fig3:Fig3",
    "connectivity/fig4": "tacit.experiments.connectivity.fig4:Fig4",
    "connectivity/fig5": "tacit.experiments.connectivity.fig5:Fig5",
    "connectivity/figs1": "tacit.experiments.connectivity.figs1:FigS1",
    "connectivity/figs2": "tacit.experiments.connectivity.figs2:FigS2",
    "connectivity/figs3": "tacit.experiments.connectivity.figs3:FigS3",
    "connectivity/figs4": "tacit.experiments.connectivity.figs4:FigS4",
    "connectivity/figs5": "tacit.experiments.connectivity.figs5:FigS5",
    "connectivity/figs6": "tacit.experiments.connectivity.figs6:FigS6",
    "connectivity/exact": "tacit.experiments.connectivity.exact:Exact",
    "regimes/control": "tacit.experiments.regimes.control:Control",
    "regimes/floor": "tacit.experiments.regimes.floor:Floor",
    "regimes/map": "tacit.experiments.regimes.map:Map",
    "regimes/rotation": "tacit.experiments.regimes.rotation:Rotation",
    "regimes/width": "tacit.experiments.regimes.width:Width",
}


def _plugins() -> dict[str, EntryPoint]:
    """Entry points by id; a built-in id cannot be taken over."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    return {name: point for name, point in found.items() if name not in BUILT_IN}


def experiment_ids() -> list[str]:
    """Every known id, built-in ones first, without importing an experiment."""
    return [*BUILT_IN, *sorted(_plugins())]


def list_experiments() -> list[Experiment]:
    """Every known experiment. A plug-in that cannot be loaded is left out with a warning."""
    found = []
    for name in experiment_ids():
        try:
            found.append(find_experiment(name))
        except UsageError as error:
            if name in BUILT_IN:
                raise
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return found


def find_experiment(name: str) -> Experiment:
    """The experiment with an id, or the one in a file: `path/to/file.py[:Class]`."""
    path, colon, attribute = name.rpartition(":") if ".py:" in name else (name, "", "")
    if path.endswith(".py"):
        return _from_file(Path(path), attribute if colon else None)
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        experiment = getattr(importlib.import_module(module), attribute)()
    else:
        plugins = _plugins()
        if name not in plugins:
            hint = nearest(name, experiment_ids())
            raise UsageError(f"experiment: {name!r} is not known, {hint}")
        try:
            experiment = plugins[name].load()()
        except Exception as error:
            raise UsageError(
                f"experiment: {name!r} from {plugins[name].value} could not be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
    experiment.source = name
    return experiment


def _from_file(path: Path, attribute: str | None) -> Experiment:
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
        }
        whole = {name: kind for name, kind in kinds.items() if not inspect.isabstract(kind)}
        kinds = whole or kinds  # if none is whole, making one says which method it lacks
        if attribute is not None and attribute not in kinds:
            hint = nearest(attribute, kinds)
            raise UsageError(f"experiment: {path} has no experiment {attribute!r}, {hint}")
        if attribute is None and len(kinds) != 1:
            words = f"several ({', '.join(kinds)}): write {path}:NAME" if kinds else "none"
            raise UsageError(f"experiment: {path} must define one Experiment, it has {words}")
        name = attribute or next(iter(kinds))
        experiment = kinds[name]()
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(
            f"experiment: {path} could not be loaded: {type(error).__name__}: {error}"
        ) from error
    experiment.source = f"{path.resolve()}:{name}"
    return experiment


def _load(path: Path) -> ModuleType:
    # A name of its own for each file; dataclasses look their module up by it.
    name = (
        f"tacit_file_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()}"
    )
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"experiment: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
