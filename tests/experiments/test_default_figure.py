"""An experiment with neither claims nor a figure of its own."""

import numpy as np
import pytest

from tacit.draw import Line
from tacit.experiments import Experiment, Variable, fixed, swept
from tacit.reproduction import reproduce


class Plain(Experiment):
    """Numbers of every kind against a rate."""

    id, figure = "toy/plain", "none"

    method: tuple[str, ...] = swept(("adam", "gd"), "method")
    width: tuple[int, ...] = swept((4,), "width")
    rate: tuple[float, ...] = swept((1e-4, 1e-2, 1.0), "rate")
    seed: tuple[int, ...] = swept(range(4), "seed")
    lags: int = fixed(2, "lags", low=1)

    presets = {"quick": {}, "long": {"lags": 50}}  # noqa: RUF012

    def variables(self):
        return {
            "loss": Variable("loss at the end", "lag"),
            "steps": Variable("steps taken", dtype="int64"),
            "good": Variable("", dtype="bool"),
            "name": Variable("a word", dtype="str"),
            "root": Variable("a root", dtype="complex128"),
        }

    def coordinates(self):
        return {"lag": np.arange(self.lags)}

    def cell(self, batch):
        rate, seed = batch.column("rate"), batch.column("seed")
        return {
            "loss": np.outer(rate, np.arange(1.0, self.lags + 1)),
            "steps": seed + 10,
            "good": seed > 0,
            "name": ["x"] * len(batch),
            "root": 1j * rate,
            "outcome": np.where((seed == 3) & (rate == 1e-2), "diverged", "stopped"),
        }


def shown(panel):
    return [mark for mark in panel.marks if isinstance(mark, Line)]


def test_claims_and_a_figure_are_optional(tmp_path):
    result = reproduce(Plain(), results=tmp_path)
    assert result.claims == ()
    assert result.as_expected is not False
    assert (result.path / "figure.png").stat().st_size > 5_000
    figure = result.figure()
    assert figure.title == Plain.summary == "numbers of every kind against a rate"
    assert figure.caption.startswith("Medians over 4 seeds, bands the middle half.")


def test_a_panel_for_every_number_against_the_first_swept_one(tmp_path):
    experiment = Plain()
    runs = reproduce(experiment, results=tmp_path).dataset
    panels = {panel.title: panel for panel in experiment.draw(runs).panels}
    assert [*panels] == ["loss", "steps", "good"]
    loss = panels["loss"]
    assert (loss.x.label, loss.x.scale) == ("rate", "log")
    assert (loss.y.label, loss.y.scale) == ("loss at the end", "log")
    assert [line.label for line in shown(loss)] == [
        f"method = {method}, lag = {lag}" for method in ("adam", "gd") for lag in (0, 1)
    ]
    np.testing.assert_allclose(shown(loss)[1].y, [2e-4, 2e-2, 2.0])
    # Seed 3 diverged at the middle rate: it does not count there.
    np.testing.assert_array_equal(shown(panels["steps"])[0].y[1], 11)
    assert (panels["good"].y.label, panels["good"].y.scale) == ("good", "linear")
    assert set(shown(panels["good"])[0].y) == {1.0}


def test_what_would_be_too_many_lines_is_left_out(tmp_path):
    experiment = Plain.from_preset("long")
    runs = reproduce(experiment, results=tmp_path).dataset
    assert [panel.title for panel in experiment.draw(runs).panels] == ["steps", "good"]


def test_one_seed_needs_no_words(tmp_path):
    experiment = Plain(seed=0, method="gd")
    runs = reproduce(experiment, results=tmp_path).dataset
    figure = experiment.draw(runs)
    assert figure.caption == ""
    assert [line.label for line in shown(figure.panels[1])] == ["median"]


def test_nothing_to_draw_is_said(tmp_path):
    class Words(Plain):
        id = "toy/words"

        def variables(self):
            return {"name": Variable("a word", dtype="str")}

        def coordinates(self):
            return {}

        def cell(self, batch):
            return {"name": ["x"] * len(batch)}

    result = reproduce(Words(), results=tmp_path)
    assert [panel.title for panel in result.figure().panels] == ["nothing to draw"]
    assert (result.path / "figure.svg").exists()


def test_an_axis_must_be_of_numbers(tmp_path):
    class Methods(Plain):
        id = "toy/methods"
        rate: float = fixed(1.0, "rate")
        seed: int = fixed(0, "seed")
        width: int = fixed(4, "width")

        def cell(self, batch):
            return {name: np.zeros(len(batch)) for name in ()}

        def variables(self):
            return {}

        def coordinates(self):
            return {}

    with pytest.raises(ValueError, match="toy/methods: no swept parameter is a number"):
        reproduce(Methods(), results=tmp_path)
