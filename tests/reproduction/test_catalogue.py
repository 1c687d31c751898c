"""The table of built-in experiments against their classes."""

import pytest

from tacit.reproduction import Entry, experiment_ids, find_experiment, list_experiments

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
    assert set(kind.presets) == {"smoke", "quick", "paper"}
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
