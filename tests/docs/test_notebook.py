"""README's Python as a notebook: pictures and tables, and little text."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

import tacit
from tacit.claims import Claims
from tacit.descent import Stop

README = Path(__file__).parents[2] / "README.md"
# The same calls with less work; each must be there once.
SHORTER = {
    'reproduce("lowdim/fig1a", width=[40, 100])': 'reproduce("lowdim/threshold", preset="smoke")',
    "tacit.reproduce(Fig3b(width=(40, 100)))": "run",  # a dataset is a dataset
    "jax.random.key(0), 100)": "jax.random.key(0), 2)",
    "Stop(15_000, loss=1e-12)": "Stop(20, loss=1e-12)",
    "GaussNewton(), rtol": "rtol",  # a solver that compiles in less time
    "Stop(10_000)": "Stop(20)",
    "Diagonal, 40,": "Diagonal, 6,",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a notebook shows below each block: the last value by kind, and what was printed."""
    text = README.read_text(encoding="utf-8")
    for long, short in SHORTER.items():
        assert text.count(long) == 1, long
        text = text.replace(long, short)
    names, formatter, found = {}, DisplayFormatter(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACIT_RESULTS", str(tmp_path_factory.mktemp("results")))
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            *before, last = ast.parse(block).body
            assert isinstance(last, ast.Expr), "a block ends with what it shows"
            exec(compile(ast.Module(before, []), str(README), "exec"), names)
            value = eval(compile(ast.Expression(last.value), str(README), "eval"), names)
            found.append(formatter.format(value)[0])
    return found


def test_pictures_and_tables_and_few_lines_of_text(shown):
    pages = [kinds.get("text/html", "") for kinds in shown]
    assert sum("<img" in page for page in pages) >= 2
    assert sum("<table" in page for page in pages) >= 3
    bare = [k["text/plain"] for k in shown if not k.keys() & {"text/html", "image/png"}]
    assert sum(len(text.splitlines()) for text in bare) <= 60
    assert sum("image/png" in kinds for kinds in shown) == 1
    assert next(k for k in shown if "image/png" in k)["image/png"].startswith(b"\x89PNG")


def test_objects_of_ours_say_what_they_are_in_ten_lines(shown):
    texts = [k["text/plain"] for k in shown if "xarray.Dataset" not in k["text/plain"]]
    assert [text for text in texts if len(text.splitlines()) > 10] == []
    assert max(len(line) for text in texts for line in text.splitlines()) <= 100
    assert texts[0].startswith("lowdim/threshold at smoke")
    assert texts[-1].startswith("DescentResult: ")


def test_many_claims_are_ten_lines_the_wrong_one_first_and_found_by_name():
    claim = Claims("nowhere")
    for number in range(20):
        claim.value(f"<claim {number}>", number, at_most=18, says="It is at most 18.")
    lines = repr(claim).splitlines()
    assert lines[0] == "20 claims: 19 as expected, 1 not as expected"
    assert lines[1] == "  ✗ <claim 19>: 19 ≤ 18, fails"
    assert len(lines) == 10
    assert lines[-1] == "  and 12 more; claims[name] is one of them"
    assert claim["<claim 19>"].verdict == "fails"
    assert "<claim" not in claim._repr_html_()
    with pytest.raises(KeyError, match="there is no claim 'claim 19', did you mean '<claim 19>'"):
        claim["claim 19"]


def test_a_verification_lists_what_failed_first():
    made = tacit.verify("memoryless/lemma3.1", instances=2)
    assert repr(made).splitlines()[0] == "Verification: 1 statement, as expected (seed 0)"
    assert "memoryless/lemma3.1" in made._repr_html_()


def test_one_model_has_no_span():
    result = tacit.descend({"a": np.ones(2)}, lambda m: (m["a"] ** 2).sum(), _slow(), stop=Stop(3))
    assert repr(result).splitlines()[0] == "DescentResult: stopped"
    assert "…" not in repr(result)


def test_a_figure_is_saved_as_its_ending_says(tmp_path):
    figure = tacit.draw.Figure(
        "f", [tacit.draw.Panel("p", tacit.draw.Axis("x"), tacit.draw.Axis("y"), [])]
    )
    assert figure.save(tmp_path / "f.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(ValueError, match=r"path: received 'f\.gif', it must end in one of \.png"):
        figure.save("f.gif")


def test_signatures_are_short():
    import inspect

    words = str(inspect.signature(tacit.measures.extrapolation_error))
    assert words.startswith("(student: ArrayLike, teacher: ArrayLike, *, start: int")
    for function in (tacit.descend, tacit.models.LinearRNN, tacit.descent.Stop):
        assert "numpy." not in str(inspect.signature(function))
        assert "_jax" not in str(inspect.signature(function))


def _slow():
    import optax

    return optax.sgd(1e-3)
