"""The bars of the estimators: on standard error, when asked, in order, and never by themselves."""

import threading

import numpy as np
import pytest

from tacit._progress_bar import bar, part
from tacit.estimators import DeepMatrixCompleter, LinearSystemIdentifier

RNG = np.random.default_rng(0)
GIVEN = np.where(RNG.random((12, 9)) < 0.8, np.outer(np.arange(12), np.ones(9)), np.nan)
DRIVE = RNG.normal(size=(40, 1))


@pytest.mark.parametrize(
    ("make", "data", "words"),
    [
        (lambda **o: DeepMatrixCompleter(max_steps=30, **o), (GIVEN,), ("completion", "12 × 9")),
        (
            lambda **o: LinearSystemIdentifier(order=1, width=0, **o),
            (DRIVE, DRIVE[:, 0]),
            ("identification", "40 samples"),
        ),
    ],
)
def test_a_bar_is_shown_when_asked_alone(make, data, words, capfd):
    quiet = make().fit(*data)
    assert capfd.readouterr() == ("", "")
    told = make(progress=True).fit(*data)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert all(word in shown.err for word in words)
    if hasattr(quiet, "fitted_"):
        np.testing.assert_array_equal(quiet.fitted_, told.fitted_)
    with pytest.raises(ValueError, match="progress: received 'yes'"):
        make(progress="yes").fit(*data)


def test_a_fit_never_goes_back(monkeypatch):
    seen = []

    class Shown:
        def __enter__(self):
            return lambda fraction, *_: seen.append(fraction)

        def __exit__(self, *_):
            return None

    for name in ("_completion", "_identification"):
        monkeypatch.setattr(f"tacit.estimators.{name}.bar", lambda *_: Shown())
    DeepMatrixCompleter(max_steps=30).fit(GIVEN)
    assert seen == sorted(seen)
    assert 0 <= seen[0] < seen[-1] <= 1
    seen.clear()
    LinearSystemIdentifier(max_order=2, width=0).fit(DRIVE, DRIVE[:, 0])
    assert seen == sorted(seen)
    assert 0 <= seen[0] < seen[-1] <= 1


def test_a_part_fills_its_share(capfd):
    with bar(False, "title", "name") as silent:
        silent(0.5)
    assert capfd.readouterr() == ("", "")
    found = []
    part(lambda fraction, *_: found.append(fraction), 0.25, 0.75)(0.5)
    assert found == [0.5]


def test_a_thread_beside_others_has_no_bar_unless_asked(monkeypatch, capfd):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    def work(show):
        with bar(show, "a title", "a name") as update:
            update(0.5, "half")

    for show, words in ((None, False), (True, True)):
        thread = threading.Thread(target=work, args=(show,))
        thread.start()
        thread.join()
        assert ("a name" in capfd.readouterr().err) is words
    work(None)
    assert "a name" in capfd.readouterr().err
