"""The paper's own figure: its panels, marks and runs, and nothing of ours."""

import dataclasses

import numpy as np
import pytest

from tacit.draw import Axis, Figure, HorizontalRule, Line, Panel
from tacit.experiments import Claims, Experiment, UsageError, Variable, fixed, swept
from tacit.reproduction import reproduce, stored_run


class Pendulum(Experiment):
    """The period of pendulums, by two methods."""

    id, figure, paper = "mine/pendulum", "Figure 2", "a paper"
    published = {"method": "clock", "seed": range(5)}  # noqa: RUF012

    method: tuple[str, ...] = swept(("clock", "camera"), "method")
    length: tuple[float, ...] = swept((1.0, 4.0), "length", low=0)
    seed: tuple[int, ...] = swept(range(8), "seed", low=0)
    wrong: bool = fixed(False, "whether the tables are wrong", analysis=True)

    presets = {"quick": {}, "few": {"seed": range(3)}, "paper": {}}  # noqa: RUF012

    def variables(self):
        return {"period": Variable("period")}

    def cell(self, batch):
        return {"period": np.sqrt(batch.column("length")) + 0.01 * batch.column("seed")}

    def claims(self, runs):
        claim = Claims("nowhere")
        first = runs["period"].isel(method=0, length=0)
        claim.median("short", first, says="it is short", at_most=0.1)
        return claim

    def draw(self, runs):
        means = runs["period"].mean("seed")
        lines = [
            Line(runs["length"], means.sel({"method": method}), label=method)
            for method in self.method
        ]
        axes = Axis("length"), Axis("period")
        theory = HorizontalRule(1.0, label="ours")
        return Figure(
            "The square root",
            [Panel("period", *axes, lines, ours=[theory], note="8 seeds")],
            ours=[Panel("spread", *axes, [])],
            caption="A diagnosis.",
            columns=2,
        )

    def tables(self, runs):
        if self.wrong:
            return {"../table.csv": "1"}
        return {"table.csv": f"method,seeds\n{','.join(self.method)},{runs.sizes['seed']}\n"}


def test_it_has_the_papers_runs_panels_and_marks_alone(tmp_path):
    made = reproduce(Pendulum, results=tmp_path)
    whole, paper = made.figure(), made.paper_figure()
    assert [panel.title for panel in whole.panels] == ["period", "spread"]
    assert len(whole.panels[0].marks) == 3
    assert whole.notice == "Not as expected: short"
    (panel,) = paper.panels
    (line,) = panel.marks
    assert (panel.title, panel.note, line.label) == ("period", None, "clock")
    np.testing.assert_allclose(line.y, np.array([1.0, 2.0]) + 0.02)  # the first five seeds
    assert (paper.title, paper.notice) == ("", None)
    assert paper.caption == "a paper, Figure 2: 5 seeds."


def test_fewer_seeds_than_the_paper_had_are_said(tmp_path):
    made = reproduce(Pendulum, preset="few", results=tmp_path)
    assert made.paper_figure().caption == "a paper, Figure 2: 3 seeds of the paper's 5."


def test_runs_that_the_paper_shows_must_be_there(tmp_path):
    made = reproduce(Pendulum, results=tmp_path, method="camera")
    with pytest.raises(UsageError, match=r"shows method = clock, .*--set method=clock"):
        made.paper_figure()


def test_the_paper_has_no_figure_beyond_it(tmp_path):
    class Further(Pendulum):
        id, figure = "mine/further", "Figure 2, beyond the paper"

    with pytest.raises(UsageError, match="'Figure 2, beyond the paper': the paper has no such"):
        reproduce(Further, results=tmp_path).paper_figure()


def test_an_experiment_may_draw_the_papers_figure_itself(tmp_path):
    class Medians(Pendulum):
        id = "mine/medians"

        def draw_paper(self, runs):
            line = Line(runs["length"], runs["period"].isel(method=0).max("seed"))
            return Figure("", [Panel("largest", Axis("length"), Axis("period"), [line])])

    made = reproduce(Medians, results=tmp_path)
    (panel,) = made.paper_figure().panels
    assert panel.title == "largest"
    np.testing.assert_allclose(panel.marks[0].y, np.array([1.0, 2.0]) + 0.04)
    assert made.figure().panels[0].title == "period"


def test_tables_are_of_the_same_runs(tmp_path):
    made = reproduce(Pendulum, results=tmp_path)
    assert made.tables() == {"table.csv": "method,seeds\nclock,camera,8\n"}
    assert made.tables(as_published=True) == {"table.csv": "method,seeds\nclock,5\n"}
    with pytest.raises(UsageError, match=r"tables\(\) returned .*give texts by plain file names"):
        reproduce(Pendulum, results=tmp_path, wrong=True).tables()


@pytest.mark.parametrize(
    ("published", "words"),
    [
        ({"lenght": 1.0}, r"published names 'lenght', which is not swept"),
        ({"wrong": True}, r"published names 'wrong', which is not swept"),
        ({"length": -1.0}, r"published: length: received -1.0"),
    ],
)
def test_what_is_published_is_checked(published, words, tmp_path):
    kind = type("Wrong", (Pendulum,), {"published": published})
    with pytest.raises(UsageError, match=words):
        reproduce(kind, results=tmp_path)


def test_a_stored_run_is_that_of_reproduce(tmp_path):
    with pytest.raises(UsageError, match=r"mine/pendulum: 32 of 32 cells of quick are not stored"):
        stored_run(Pendulum, results=tmp_path)
    made = reproduce(Pendulum, preset="few", results=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in made.path.rglob("*")}
    again = stored_run(Pendulum, results=tmp_path)  # the last run's preset
    assert again.record() == made.record()
    assert again.preset == "few"
    assert stored_run(Pendulum(seed=(0, 1)), results=tmp_path).preset == "own"
    with pytest.raises(UsageError, match=r"20 of 32 cells of quick are not stored"):
        stored_run(Pendulum, preset="quick", results=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in made.path.rglob("*")} == before


def test_a_stored_run_takes_in_the_seeds_that_decided_claims(tmp_path):
    class Near(Pendulum):
        id = "mine/near"
        presets = {"paper": {"seed": range(4)}}  # noqa: RUF012

        def claims(self, runs):
            claim = Claims("nowhere")
            first = runs["period"].isel(method=0, length=0)
            claim.median("long", first, says="it is long", at_least=1.0)
            return claim

    made = reproduce(Near, preset="paper", results=tmp_path)
    assert made.claims[0].verdict == "holds"
    assert made.claims[0].samples > 4
    again = stored_run(Near, results=tmp_path)
    assert again.claims == made.claims
    assert dataclasses.astuple(again.summary) != dataclasses.astuple(made.summary)
    assert again.figure().caption == made.figure().caption
