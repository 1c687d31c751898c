"""What objects of ours show in a notebook and at a prompt."""

import numpy as np
import pytest

import tacit
from tacit.claims import Claims
from tacit.descent import Stop


def test_many_claims_are_ten_lines_the_wrong_one_first_and_found_by_name():
    claim = Claims("nowhere")
    for number in range(20):
        claim.value(f"<claim {number}>", number, at_most=18, says="It is at most 18.")
    lines = repr(claim).splitlines()
    assert lines[0] == "20 claims: 19 hold; 1 contradicts"
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
