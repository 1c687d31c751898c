"""The table of built-in experiments against their classes."""

import numpy as np
import pytest
import xarray

from tacit.reproduction import (
    Entry,
    Reproduction,
    experiment_ids,
    find_experiment,
    list_experiments,
)
from tacit.sweep import SweepSummary

ENTRIES = {entry.id: entry for entry in list_experiments()}


def test_ids_are_unique_and_in_the_order_of_the_list():
    ids = [entry.id for entry in list_experiments()]
    assert len(set(ids)) == len(ids)
    assert ids == experiment_ids()
    assert ids[0] == "lowdim/fig1a"


def test_places_are_unique():
    places = [entry.at for entry in ENTRIES.values()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_table_says_what_the_class_says(name, tmp_path, monkeypatch):
    entry, kind = ENTRIES[name], find_experiment(name)
    assert f"{kind.__module__}:{kind.__qualname__}" == f"tacit.experiments.{entry.at}"
    assert (kind.id, kind.source) == (name, name)
    assert (kind.figure, kind.summary) == (entry.figure, entry.summary)
    assert kind.paper == entry.group == name.partition("/")[0]
    # `gpu`, where it is there, is what one session on one device affords of `paper`.
    assert set(kind.presets) - {"gpu"} == {"smoke", "quick", "paper"}
    assert "gpu" not in kind.presets or entry.gpu
    # Whoever can lack data names them, and nobody else does; at least `paper` then needs them.
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    lacking = {p for p in kind.presets if kind.from_preset(p).missing() is not None}
    assert ("paper" in lacking) == (entry.data is not None) == bool(lacking)


@pytest.mark.parametrize("name", ENTRIES)
def test_what_the_papers_figure_shows_is_in_the_presets(name):
    kind = find_experiment(name)
    quick, paper = kind.from_preset("quick").axes(), kind.from_preset("paper").axes()
    for axis, values in kind.published.items():
        wanted = set(kind.parameters()[axis].normalised(axis, values))
        assert wanted <= set(paper[axis]), axis
        assert wanted & set(quick[axis]), axis
    assert kind.in_paper() or not kind.published


@pytest.mark.parametrize("name", ENTRIES)
def test_times_are_minutes_or_unknown(name):
    entry = ENTRIES[name]
    assert all(minutes is None or minutes > 0 for minutes in (entry.quick, entry.paper))


def test_an_entry_knows_its_paper():
    assert Entry("toy/die", "die:Die", "Figure 1", "dice").group == "toy"


RULE, DATA = "k = 2 × teacher order", ["plain data", "adversarial data"]
LITERAL = [RULE, "literal teacher, even spectrum", "literal teacher, random spectrum"]
STUDENTS = ["linear RNN", "scaled convolution", "plain convolution"]
PAPERS = {  # the panels of each figure in the paper's style, and the legend of the first
    "lowdim/fig1a": (1, LITERAL),
    "lowdim/fig1b": (1, [RULE, "d = 50"]),
    "lowdim/fig2a": (1, ["k = 4 × teacher size", "slow", "fast"]),
    "lowdim/fig2b": (2, ["teacher", "k = 4", "student, k = 4", "k = 8", "student, k = 8"]),
    "lowdim/fig3a": (1, LITERAL),
    "lowdim/fig3b": (1, [RULE, "d = 50"]),
    "lowdim/fig4": (1, [RULE, "scale 1e-05", "scale 0.1"]),
    "lowdim/fig5": (1, ["end of training, k = 10", "end of training, k = 20", "teacher",
                        "k = 10, Adam", "k = 20, Adam"]),
    "lowdim/fig6": (1, ["teacher", "k = 8, average", "end of training, k = 8", "k = 18, average",
                        "end of training, k = 18", "k = 20, average", "end of training, k = 20"]),
    "memoryless/fig1": (2, ["trained at length 5", *DATA]),
    "memoryless/fig2": (2, ["trained at length 5", "plain, radius 0.5", "plain, radius 0.9"]),
    "memoryless/fig3": (2, ["|λ_i|", "|u_i|"]),
    "memoryless/fig4": (1, ["‖A‖", "‖B‖", "‖C‖", "‖A − Aᵀ‖", "‖B − Cᵀ‖", "loss"]),
    "memoryless/fig5": (2, ["d* = k = 5", "linear RNN", "GRU"]),
    "kernel/fig1": (2, ["linear RNN", "scaled convolution (n → ∞)"]),
    "kernel/fig2": (1, ["linear RNN", "scaled convolution (n → ∞)"]),
    "kernel/fig3": (2, STUDENTS),
    "kernel/fig4": (2, STUDENTS),
    "kernel/table1": (2, STUDENTS),
}  # fmt: skip


def made_up(experiment):
    """Numbers in place of results, by the experiment's own declarations."""
    labels = {**experiment.axes(), **experiment.coordinates()}
    data, rng = {}, np.random.default_rng(0)
    for name, variable in experiment.stored().items():
        dims = (*experiment.axes(), *variable.dims)
        values = rng.uniform(0.1, 1.0, [len(labels[dim]) for dim in dims])
        data[name] = dims, np.full(values.shape, "converged") if variable.dtype == "str" else values
    return xarray.Dataset(data, {name: list(values) for name, values in labels.items()})


@pytest.mark.parametrize("name", PAPERS)
def test_numbered_figures_have_the_papers_panels(name, tmp_path, monkeypatch):
    kind = find_experiment(name)
    monkeypatch.setattr(kind, "counts", lambda self, runs: runs["outcome"] == "converged")
    experiment = kind.from_preset("smoke")
    run = Reproduction(
        experiment=experiment, preset="smoke", dataset=made_up(experiment), claims=(), outcomes={},
        efforts={}, rounding="", seconds=0.0, path=tmp_path, summary=SweepSummary(),
    )  # fmt: skip
    figure = run.paper_figure()
    assert (figure.title, figure.notice) == ("", None)
    assert not any(panel.empty or panel.note for panel in figure.panels)
    legend = [mark.legend_label for mark in figure.panels[0].legend_marks()]
    assert (len(figure.panels), legend) == PAPERS[name]
    assert figure.caption.startswith(f"{kind.paper}, {kind.figure}: ")


def test_every_numbered_figure_of_these_papers_is_checked():
    groups = {name.partition("/")[0] for name in PAPERS}
    numbered = {name for name, entry in ENTRIES.items() if entry.group in groups}
    assert {name for name in numbered if find_experiment(name).in_paper()} == set(PAPERS)
