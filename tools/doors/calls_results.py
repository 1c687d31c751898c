"""Recorded calls of the rooms around a run: claims, draw, data, store, sweep, experiments."""

import tempfile
from pathlib import Path

import numpy as np
import xarray
from recorded import Fresh, call

from tacit import data, draw, experiments, store, sweep
from tacit.claims import Claim, Claims, Finding

_LEFT_OUT = "last-nan last-inf last-minus-inf last-bool"  # seeds without a run that counts
_ASKED = "no-text none"  # a TypeError, as for any argument that is left out
_GAPS = "nan inf minus-inf"
_DECLARED = "nan inf minus-inf text bool fraction last-nan last-inf last-minus-inf last-fraction"
_ROOT = Path(tempfile.mkdtemp(prefix="doors"))
_TABLE = xarray.DataArray(
    np.arange(1.0, 7.0).reshape(2, 3), dims=("width", "seed"),
    coords={"width": [2, 4], "seed": [0, 1, 2]},
)  # fmt: skip
_CLAIM = Claim(
    name="a", statement="a is small", place="ours", measured=0.5, low=0.4, high=0.6,
    relation="<=", bound=1.0,
)  # fmt: skip
_X, _Y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0])
_AXIS = draw.Axis("x")
_PANEL = draw.Panel("p", _AXIS, _AXIS, [draw.Line(_X, _Y)])
_FIGURE = draw.Figure("f", [_PANEL])
_VARIABLES = {"a": store.Variable("a number")}
_PLAN = store.Plan({"n": (1, 2)}, {"m": 1}, _VARIABLES, name="p").to_json()
_GLOVE = ["good 0.1 0.2", "bad 0.3 0.4"]


def _path(name: str) -> Path:
    return Path(tempfile.mkdtemp(dir=_ROOT)) / name


def _store() -> store.Store:
    return store.Store(_path("store"), experiment="mine/one", version=1)


def _folder() -> Path:
    _store_at = _path("one") / "store"
    store.Store(_store_at, experiment="mine/one", version=1)
    return _store_at.parent


def _file(name: str, text: str) -> Path:
    path = _path(name)
    path.write_text(text)
    return path


def _recording() -> Path:
    lines = "".join(f"{0.1 * t:.1f},{t % 3},1,{t % 2}\n" for t in range(9))
    return _file("own.csv", f"time,vx,vy,one\n{lines}")


def _cell(batch: sweep.Batch, fixed: dict) -> dict:
    return {"a": 1.0 * batch.column("n")}


class Small(experiments.Experiment):
    """A small experiment."""

    id, figure = "mine/small", "none"
    n: tuple[int, ...] = experiments.swept((1, 2), "a number", low=0, high=9)
    m: int = experiments.fixed(3, "another", low=0)
    presets = {"quick": {}}

    def variables(self) -> dict:
        return {"a": experiments.Variable("a")}

    def cell(self, batch: sweep.Batch) -> dict:
        return {"a": 1.0 * batch.column("n"), "outcome": ["converged"] * len(batch)}

    def claims(self, runs: object) -> Claims:
        return Claims()

    def draw(self, runs: object) -> draw.Figure:
        return _FIGURE


_NUMBER = dict(name="n", value=0.5, says="n is small", at_most=1.0)
CALLS = {
    "claims.Claim": call(
        "",
        {
            "measured": "nan inf minus-inf", "low": "nan minus-inf", "high": "nan inf",
            "values": _LEFT_OUT,
        },
        "the interval of a claim may have no end",
        name="a", statement="a is small", place="ours", measured=0.5, low=0.4, high=0.6,
        relation="<=", bound=1.0, expected="holds", because="", samples=7, satisfied=7, share=0.5,
        left_out=0, margin=0.1, values=(0.5, 0.4),
    ),
    "claims.Claim.from_dict": call(record=_CLAIM.to_dict()),
    "claims.Claims": call(place="ours"),
    "claims.Finding": call("It is {a}."),
    "claims.Finding.said": call(self=Fresh(lambda: Finding("It is {a}.")), claims=[_CLAIM]),
    "claims.Finding.of": call(self=Fresh(lambda: Finding("It is {a}.")), claims=[_CLAIM]),
    "claims.Claims.median": call("", {"values": _LEFT_OUT, "says": _ASKED}, "",
        self=Fresh(Claims), name="n", values=[0.5, 0.6, 0.4], says="n is small", at_most=1.0
    ),
    "claims.Claims.between": call("", {"values": _LEFT_OUT, "says": _ASKED}, "",
        self=Fresh(Claims), name="n", values=[0.5, 0.6, 0.4], says="n", at_least=0.1, at_most=1.0
    ),
    "claims.Claims.fraction": call("", {"did": _LEFT_OUT, "says": _ASKED}, "",
        self=Fresh(Claims), name="n", did=[True, True, False], says="most do", at_least=0.5
    ),
    "claims.Claims.value": call(
        "", {"value": "nan inf minus-inf", "says": _ASKED}, "", self=Fresh(Claims),
        **_NUMBER, error=0.1,
    ),
    "claims.Claims.extend": call(self=Fresh(Claims), claims=[_CLAIM]),
    "claims.compare": call(current=[_CLAIM], reference=[_CLAIM], seeds=3, same_machine=True),
    "claims.decide_all": call(claims=[_CLAIM], level=0.05),
    "claims.e_value": call(yes=5, seeds=7, share=0.5),
    "claims.fraction_interval": call(count=3, total=7, confidence=0.98),
    "claims.median_interval": call(
        "", {"samples": "inf minus-inf"}, "the whole line, with too few samples",
        samples=np.arange(1.0, 10.0), confidence=0.9,
    ),
    "claims.same": call(
        "",
        {"now": "nan inf minus-inf", "was": "nan inf minus-inf", "scale": "nan inf minus-inf"},
        "", now=1.0, was=1.1, change=1e-3, scale=1.0,
    ),
    "claims.seeds_of": call(claim=_CLAIM),
    "claims.seeds_to_decide": call(yes=5, seeds=7, share=0.5, at_most=50),
    "draw.Axis": call(
        "", {"limits": "last-none"}, "", label="x", scale="log", limits=(1.0, 5.0),
        ticks=[1.0, 2.0], threshold=1.0,
    ),
    "draw.Band": call(
        "", {"x": "", "low": _GAPS, "high": _GAPS}, "", x=_X, low=_Y, high=_Y + 1, label="b",
        colour=0,
    ),
    "draw.Figure": call(
        title="f", panels=[_PANEL], columns=1, caption="c", notice="b", size=(4.0, 3.0), ours=()
    ),
    "draw.Heatmap": call("", {"limits": "last-none", "z": _GAPS}, "",
        x=_X, y=_Y[:2] + np.array([0, 1]), z=np.ones((2, 3)), label="z", scale="linear",
        limits=(0.0, 2.0), centre=1.0, annotate=True,
    ),
    "draw.HorizontalRule": call(
        "", {"colour": "number"}, "", y=1.0, label="h", colour="reference", style="dashed",
    ),
    "draw.Line": call("", {"x": _GAPS, "y": _GAPS}, "",
        x=_X, y=_Y, label="l", colour=0, style="solid", marker="o", width=1.6, opacity=0.5
    ),
    "draw.Panel": call("", {"legend": "none"}, "",
        title="p", x=_AXIS, y=_AXIS, marks=[draw.Line(_X, _Y)], legend="outside", note="n", ours=()
    ),
    "draw.Points": call("", {"x": _GAPS, "y": _GAPS}, "",
        x=_X, y=_Y, label="p", colour=0, marker="o", filled=True, size=5.0, opacity=1.0
    ),
    "draw.Shade": call(place=0.5),
    "draw.Shade.family": call(size=3),
    "draw.Shade.by_value": call(
        "",
        {"values": "last-nan last-inf last-minus-inf last-text last-none last-bool last-complex"},
        "", values=[1.0, 2.0, 4.0],
    ),
    "draw.Text": call(
        "", {"colour": "number"}, "", x=1.0, y=2.0, text="t", anchor="centre", colour="ink",
    ),
    "draw.VerticalRule": call(
        "", {"colour": "number"}, "", x=1.0, label="v", colour="reference", style="dashed",
    ),
    "draw.lines": call(
        values=_TABLE, x="seed", by=("width",), label="{width}", colour=0, style="solid", marker="o"
    ),
    "draw.mean_lines": call("", {"marker": "none"}, "",
        values=_TABLE, x="width", by=(), label="mean", colour=0, style="solid", band=True,
        marker="o", errors=2.0,
    ),
    "draw.median_lines": call("", {"marker": "none"}, "",
        values=_TABLE, x="width", by=(), label="median", colour=0, style="solid", band=True,
        marker="o",
    ),
    "draw.range_lines": call(
        values=_TABLE, x="width", by=(), label="range", colour=0, style="solid"
    ),
    "draw.run_points": call(values=_TABLE, x="width", by=(), colour=0, size=3.0, opacity=0.5),
    "draw.figure_from_dict": call(record=draw.figure_to_dict(_FIGURE)),
    "draw.figure_to_dict": call(figure=_FIGURE),
    "draw.to_web": call(figure=_FIGURE),
    "draw.save_all": call(figure=_FIGURE, stem=Fresh(lambda: _path("f")), kinds=["png"]),
    "draw.save_thumbnail": call(figure=_FIGURE, path=Fresh(lambda: _path("f.png"))),
    "draw.save_both": call(figure=_FIGURE, stem=Fresh(lambda: _path("f"))),
    "draw.save_png": call(figure=_FIGURE, path=Fresh(lambda: _path("f.png"))),
    "draw.save_svg": call(figure=_FIGURE, path=Fresh(lambda: _path("f.svg"))),
    "draw.to_html": call(figure=_FIGURE, include_plotlyjs=False),
    "draw.to_matplotlib": call(figure=_FIGURE),
    "draw.to_plotly": call(figure=_FIGURE),
    "data.Reviews.of": call(
        texts={"train": data.LabelledSentences(("good", "bad good"), np.array([1, 0]))},
        table=data.read_glove(_GLOVE), spread=0.1,
    ),
    "data.Source.missing": call(self=data.SST2, path=Fresh(lambda: _path("none"))),
    "data.read_glove": call(
        "", {"wanted": "as:words text empty"}, "", lines=_GLOVE, wanted={"good"},
    ),
    "data.read_labelled": call(file=Fresh(lambda: _file("a.tsv", "1\tgood\n0\tbad\n"))),
    "data.read_recording": call(path=Fresh(_recording)),
    "data.synthetic_recording": call(seed=0, neurons=3, minutes=0.1, seconds=0.05),
    "data.synthetic_images": call(count=3, classes=2, seed=0),
    "data.read_cifar": call(
        "", {"label_bytes": "as:file"}, "", content=bytes(2 * 3073), label_bytes=1
    ),
    "data.image_set": call(
        "", {"train": "as:count", "test": "as:count"}, "", name="waves", train=2, test=2, side=8
    ),
    "data.image_set_missing": call(name="waves"),
    "data.cifar_missing": call(classes=10, path=Fresh(lambda: _path("none"))),
    "data.tokens": call(
        "", {"known": "text empty"}, "", sentence="a good film", known={"good", "film"},
    ),
    "data.word_vectors_missing": call(path=Fresh(lambda: _path("none"))),
    "store.Plan": call(axes={"n": (1, 2)}, fixed={"m": 1}, variables=_VARIABLES, name="p"),
    "store.Plan.from_json": call(
        data=_PLAN
    ),
    "store.Store": call("", {"read_only": "as:store.json"}, "",
        path=Fresh(lambda: _path("s")), experiment="mine/one", version=1, read_only=False
    ),
    "store.Store.existing": call(path=Fresh(lambda: _folder() / "store"), read_only=True),
    "store.Store.add": call(
        self=Fresh(_store), cells=[{"n": 1}], arrays={"a": np.array([1.0])}, provenance={}
    ),
    "store.Store.locate": call(self=Fresh(_store), cell={"n": 1}),
    "store.Store.add_failure": call(
        self=Fresh(_store), cells=[{"n": 1}], message="it broke", traceback="line 1"
    ),
    "store.Variable": call(
        "dims", {"dims": "text"}, "", long_name="error", dims=("lag",), units="1",
        dtype="float64",
    ),
    "store.Variable.convert": call("", {"value": "as:variable"}, "",
        self=store.Variable("a"), name="a", value=np.array([1.0, 2.0])
    ),
    "store.canonical": call(
        "", {"value": "inf minus-inf text none bool as:parameter"}, "", value=1.5,
    ),
    "store.cell_key": call(experiment="mine/one", version=1, params={"n": 1}),
    "store.checked_arrays": call("", {"count": "as:cells"}, "",
        arrays={"a": np.ones(2)}, count=2, variables=_VARIABLES, coords={}
    ),
    "store.device": call(),
    "store.findings": call(store=Fresh(
        lambda: store.Store.existing(_folder() / "store", read_only=True)
    )),
    "store.is_id": call("", {"experiment": "none number nan list"}, "", experiment="mine/one"),
    "store.leftovers": call(folder=Fresh(_folder)),
    "store.precision": call(arrays={"a": np.ones(2)}),
    "store.provenance": call(
        parameters={"n": 1}, seconds=1.0, device="cpu", precision="float64", code="abc"
    ),
    "store.rounding": call(),
    "store.stores_in": call(folder=Fresh(_folder)),
    "store.write_atomically": call(path=Fresh(lambda: _path("f")), data=b"abc"),
    "sweep.Batch": call(index=0, cells=({"n": 1}, {"n": 2})),
    "sweep.Batch.column": call(self=sweep.Batch(0, ({"n": 1}, {"n": 2})), name="n"),
    "sweep.Batch.one": call(self=sweep.Batch(0, ({"n": 1},)), name="n"),
    "sweep.Batch.only": call(self=sweep.Batch(0, ({"n": 1}, {"n": 2})), positions=[0]),
    "sweep.Grid": call("", {"keep": "returns-text returns-nan"}, "",
        axes={"n": (1, 2), "k": (1.0, 2.0)}, batch_by=("k",), chunk={"n": 1},
        keep=lambda cell: True,
    ),
    "sweep.core_count": call(),
    "sweep.run_sweep": call("", {"cell": "returns-text returns-nan"}, "",
        grid=sweep.Grid({"n": (1, 2)}), fixed={"m": 1}, cell=_cell, store=Fresh(_store),
        variables=_VARIABLES, coords={}, code="abc", executor=None, retries=0, progress=None,
    ),
    "experiments.Parameter": call(
        "", {"low": "inf minus-inf fraction", "high": "inf minus-inf fraction"}, "",
        doc="a number", kind=int, many=False, swept=False, analysis=False, low=1, high=9,
        choices=None, units="1",
    ),
    "experiments.Parameter.normalised": call("", {"value": "as:n"}, "",
        self=experiments.Parameter("a number", int, low=1, high=9), name="n", value=3
    ),
    "experiments.accelerated": call(),
    "experiments.at": call(
        "", {"width": "text none bool complex fraction nan inf minus-inf"},
        "NaN where the grid lacks a label", values=_TABLE, width=2,
    ),
    "reproduction.check_experiment": call(kind=Small),
    "experiments.fixed": call(
        "",
        {"default": _DECLARED, "low": "inf minus-inf fraction", "high": "inf minus-inf fraction"},
        "",
        default=3, doc="a number", low=1, high=9, choices=None, analysis=False, units="1"
    ),
    "reproduction.planned": call(experiment=Fresh(Small), name="quick"),
    "reproduction.words_on_missing": call(experiment=Fresh(Small), preset="quick", fresh=False),
    "experiments.stacked": call(rows=[{"a": 1.0}, {"a": 2.0}]),
    "experiments.swept": call(
        "",
        {"default": _DECLARED, "low": "inf minus-inf fraction", "high": "inf minus-inf fraction"},
        "", default=(1, 2), doc="a number", low=1, high=9, choices=None,
                              units="1"),
    "experiments.Experiment.from_preset": call(
        "", {"name": "as:preset", "n": "number"}, "", self=Small, name="quick", seeds=None,
        n=[1, 2],
    ),
    "reproduce": call(
        "", {"budget": "inf", "n": "number"}, "",
        experiment=Small, preset="quick", seeds=None, results=Fresh(lambda: _path("r")),
        fresh=False, accept_changed=False, until_decided=None, budget=10.0, seeds_at_most=3,
        executor=None, retries=0, progress=None, n=[1, 2],
    ),
    "verify": call(
        "targets", {"targets": "as:statement empty shorter"}, "a margin may be infinite",
        targets=("memoryless/equation13",),
        instances=1, seed=0, mutations=False,
        progress=None, draw=None,
    ),
}  # fmt: skip
RECORDS = {
    "claims.DecidedClaims": "the claims of a run, by number or name",
    "claims.Movement": "what compare returns",
    "draw.KeyEntry": "part of what to_web returns",
    "draw.WebPanel": "what to_web returns",
    "data.ImageSet": "what image_set returns",
    "data.LabelledImages": "what read_cifar returns",
    "data.MeasuredSystem": "what daisy returns",
    "data.daisy": "reads a data set that is not part of the project",
    "data.jester": "reads a data set that is not part of the project",
    "data.cifar": "reads a data set that is not part of the project",
    "draw.Mark": "abstract",
    "data.LabelledSentences": "what sst2 and read_labelled return",
    "data.Recording": "what read_recording returns",
    "data.Reviews": "made by Reviews.of and .read",
    "data.Source": "an address and checksums, as they are",
    "data.WordVectors": "what read_glove returns",
    "data.motor_cortex": "reads a data set that is not part of the project",
    "data.somatosensory_cortex": "reads a data set that is not part of the project",
    "data.sst2": "reads a data set that is not part of the project",
    "data.word_vectors": "reads a data set that is not part of the project",
    "store.FailedCell": "part of a Status",
    "store.FailedCells": "what Store.failures returns",
    "store.Finding": "what findings returns",
    "store.Leftover": "what leftovers returns",
    "store.Lock": "what Store.at_work holds",
    "store.Status": "what Store.status returns",
    "sweep.DaskWorkers": "made by dask_workers",
    "sweep.Failure": "part of a SweepSummary",
    "sweep.ProcessWorkers": "starts processes: tests/sweep",
    "sweep.SweepEvent": "what progress is called with",
    "sweep.SweepSummary": "what run_sweep returns",
    "sweep.dask_workers": "needs a cluster: tests/sweep",
    "experiments.Experiment": "abstract",
}
