"""lowdim/fig1a at its smallest preset, and its analysis on data whose answer is known."""

import json

import numpy as np
import pytest
import xarray

from tacit.experiments import UsageError
from tacit.experiments.lowdim.fig1a import Fig1a
from tacit.reproduction import reproduce


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run for all tests of this file."""
    return reproduce("lowdim/fig1a", preset="smoke", results=tmp_path_factory.mktemp("results"))


def test_stored_errors_are_those_of_the_stored_responses(smoke):
    data = smoke.dataset
    for horizon in smoke.experiment.horizons:
        for length in smoke.experiment.length:
            tail = slice(length, horizon)
            cut = data.sel({"length": length, "horizon": horizon})
            gap = np.abs(cut["response"] - cut["target"]).isel(lag=tail).max("lag")
            zero = np.abs(cut["target"]).isel(lag=tail).max("lag")
            np.testing.assert_allclose(
                cut["error"].values, gap.transpose(*cut["error"].dims).values, rtol=1e-12
            )
            np.testing.assert_allclose(
                cut["relative_error"].values,
                (gap / zero).transpose(*cut["error"].dims).values,
                rtol=1e-12,
            )


def test_training_losses_are_those_of_the_stored_responses(smoke):
    data = smoke.dataset
    for length in smoke.experiment.length:
        cut = data.sel({"length": length})
        error = (cut["response"] - cut["target"]).isel(lag=slice(0, length))
        loss = (error**2).sum("lag").transpose(*cut["train_loss"].dims)
        np.testing.assert_allclose(cut["train_loss"].values, loss.values, rtol=1e-6, atol=1e-27)


def test_polish_lowers_the_loss_and_keeps_the_teachers(smoke):
    loss = smoke.dataset["train_loss"]
    assert (loss.sel({"iterate": "polished"}) <= loss.sel({"iterate": "last"})).all()
    assert (loss.sel({"iterate": "best"}) <= loss.sel({"iterate": "last"})).all()
    target = smoke.dataset["target"]
    np.testing.assert_allclose(target.isel(lag=0).values, 1.0)  # CB = 1
    spread = target.std("method") + target.std("length")
    assert float(spread.max()) < 1e-12  # one teacher for all methods and lengths of a seed
    lags = np.arange(target.sizes["lag"])
    exact = np.mean(np.linspace(-1, 1, 5)[:, None] ** lags, axis=0)
    well = target.sel({"teacher": "well-conditioned"}).isel(
        method=0, loss=0, scale=0, length=0, seed=0, width=0
    )
    np.testing.assert_allclose(well.values, exact, atol=1e-14)


def test_two_seeds_leave_claims_undecided_and_the_figure_says_so(smoke):
    assert smoke.as_expected is not False
    assert {claim.verdict for claim in smoke.claims} == {"undecided"}
    assert "Undecided" in smoke.figure().notice
    assert (smoke.path / "figure.png").stat().st_size > 10_000
    record = json.loads((smoke.path / "claims.json").read_text())
    assert sum(record["outcomes"].values()) == smoke.dataset["outcome"].size


def test_results_are_float64(smoke):
    for name, variable in smoke.dataset.data_vars.items():
        if variable.dtype.kind == "f":
            assert variable.dtype == np.float64, name


def made_up(experiment: Fig1a, error, hankel) -> xarray.Dataset:
    """A dataset as the store gives it, with errors and spectra by hand."""
    shape = tuple(len(values) for values in experiment.axes().values())
    dims = tuple(experiment.axes())
    length = np.broadcast_to(np.array(experiment.length)[:, None], shape)  # before the seeds
    relative = np.stack([error(length)] * 3, axis=-1)[..., None].repeat(3, axis=-1)
    relative *= np.random.default_rng(0).uniform(0.9, 1.1, relative.shape)
    data = {
        "error": ((*dims, "iterate", "horizon"), 2 * relative),
        "relative_error": ((*dims, "iterate", "horizon"), relative),
        "train_loss": ((*dims, "iterate"), np.full((*shape, 3), 1e-8)),
        "zero_loss": (dims, np.ones(shape)),
        "hankel": ((*dims, "singular_value"), np.broadcast_to(hankel, (*shape, 5)).copy()),
        "outcome": (dims, np.full(shape, "stopped")),
        "polish_outcome": (dims, np.where(length <= 10, "converged", "stopped")),
    }
    axes = {name: list(values) for name, values in experiment.axes().items()}
    coords = {**axes, "iterate": ["last", "best", "polished"], "horizon": [40, 25, 60]}
    return xarray.Dataset(data, coords)


def verdicts(dataset: xarray.Dataset, experiment: Fig1a) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in experiment.claims(dataset)}


def test_claims_see_a_jump_where_there_is_one():
    experiment = Fig1a()
    jump = made_up(experiment, lambda k: np.where(k <= 10, 0.3, 1e-6), [1, 0.5, 0.2, 0.1, 0.01])
    found = verdicts(jump, experiment)
    assert found["even: jump under Adam"] == "holds"
    assert found["well-conditioned: jump at zero loss"] == "holds"
    assert found["well-conditioned: extrapolation above the threshold"] == "holds"
    assert found["well-conditioned: no extrapolation at the threshold"] == "holds"
    assert found["well-conditioned: zero loss is easy below"] == "holds"
    assert found["well-conditioned: zero loss is hard above"] == "holds"
    assert found["even: modes resolved by Adam"] == "fails"  # √1e-8 is below all five


def test_the_papers_claim_leaves_twice_the_order_to_neither_side():
    experiment = Fig1a()
    literal = made_up(experiment, lambda k: np.where(k < 10, 1.5, np.where(k > 10, 0.6, 1e9)), 1.0)
    found = verdicts(literal, experiment)
    assert found["even, gradient descent: high below, low above"] == "holds"
    assert found["even, gradient descent: trains"] == "holds"
    for setting in ("even, Adam", "random, Adam", "well-conditioned, Adam"):
        assert found[f"{setting}: high below, low above"] == "holds"
        assert found[f"{setting}: below, worse than zero"] == "holds"
        assert found[f"{setting}: above, better than zero"] == "holds"
    flat = verdicts(made_up(experiment, lambda k: 0.9 - 0.01 * k, 1.0), experiment)
    assert flat["even, Adam: high below, low above"] == "fails"
    assert flat["even, Adam: below, worse than zero"] == "fails"
    bad = verdicts(made_up(experiment, lambda k: np.where(k == 20, 2.0, 0.1), 1.0), experiment)
    assert bad["even, Adam: above, better than zero"] == "fails"


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (lambda k: np.where(k <= 10, 0.3, 1e-6), "holds"),  # Lemma 7's jump, beyond 2d̂
        (lambda k: np.where(k < 10, 0.3, 1e-6), "holds"),  # and a lag before
        (lambda k: np.where(k <= 13, 0.3, 1e-6), "fails"),  # at another place
        (lambda k: 0.5**k, "fails"),
        (lambda k: 1.0 * k**-4.0, "fails"),
        (lambda k: 0.3 + 0.0 * k, "fails"),
    ],
)
def test_no_even_decline_falls_fastest_at_twice_the_order(error, verdict):
    experiment = Fig1a(seed=range(12))
    found = verdicts(made_up(experiment, error, 1.0), experiment)
    assert found["even, Adam: falls fastest at the threshold"] == verdict
    assert found["well-conditioned, flow: falls fastest at the threshold"] == verdict


def test_a_few_lengths_do_not_decide_a_gradual_decline():
    experiment = Fig1a.from_preset("quick")
    found = verdicts(made_up(experiment, lambda k: 0.97**k, 1.0), experiment)
    assert not any(name.endswith("high below, low above") for name in found if "even" in name)
    assert found["well-conditioned, Adam: high below, low above"] == "fails"


def test_what_changes_nothing_by_the_text_is_claimed_one_by_one():
    experiment = Fig1a.from_preset("paper")
    dataset = made_up(experiment, lambda k: np.where(k < 10, 1.5, 0.2), 1.0)
    dataset["error"].loc[{"width": 200}] = 1.0  # no transition there
    found = verdicts(dataset, experiment)
    for words in ("d = 100", "10,000 sequences", "scale 0.01"):
        assert found[f"random, {words}: high below, low above"] == "holds"
    assert found["random, d = 200: high below, low above"] == "fails"


def test_one_teacher_for_all_students_if_asked_for():
    seeds = np.array([3, 4, 5])
    assert list(Fig1a().teacher_seeds(seeds)) == [3, 4, 5]
    assert list(Fig1a(teacher_seed=7).teacher_seeds(seeds)) == [7, 7, 7]


def test_claims_see_none_where_there_is_none():
    experiment = Fig1a()
    flat = made_up(experiment, lambda k: 0.3 + 0 * k, [1, 0.1, 1e-3, 1e-5, 1e-7])
    found = verdicts(flat, experiment)
    assert found["even: jump under Adam"] == "fails"
    assert found["well-conditioned: jump at zero loss"] == "fails"
    assert found["well-conditioned: extrapolation above the threshold"] == "fails"
    assert found["even: modes resolved by Adam"] == "holds"


def test_zero_loss_is_counted_within_a_seed_and_missing_runs_are_not():
    experiment = Fig1a()
    dataset = made_up(experiment, lambda k: np.where(k <= 10, 0.3, 1e-6), np.ones(5))
    ends = dataset["polish_outcome"].astype("U9")
    ends[{"seed": 0}] = ""  # not there
    ends.loc[{"seed": 1, "length": [5, 6, 7, 8]}] = "stopped"  # four of six
    dataset["polish_outcome"] = ends
    claims = {claim.name: claim for claim in experiment.claims(dataset)}
    claim = claims["well-conditioned: zero loss is easy below"]
    assert (claim.satisfied, claim.samples, claim.left_out) == (8, 9, 1)


def test_runs_that_did_not_train_are_left_out():
    experiment = Fig1a()
    dataset = made_up(experiment, lambda k: np.where(k <= 10, 0.3, 1e-6), np.ones(5))
    dataset["train_loss"][...] = 1e-2
    claims = {claim.name: claim for claim in experiment.claims(dataset)}
    claim = claims["even: jump under Adam"]
    assert claim.verdict == "undecided"
    assert claim.samples == 0


def test_a_grid_without_the_threshold_has_nothing_to_say_of_it():
    experiment = Fig1a(length=(5, 8, 14))
    dataset = made_up(experiment, lambda k: 1.0 / k, np.ones(5))
    assert verdicts(dataset, experiment)["even: jump under Adam"] == "undecided"


def test_horizons_must_leave_a_tail():
    with pytest.raises(UsageError, match="horizons"):
        Fig1a(horizons=(20,))
