"""DeepMatrixCompleter: what it recovers, what it says, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse

import tacit
from tacit.estimators import DeepMatrixCompleter, LazyStartWarning
from tacit.estimators._masked_descent import Enough, Settings, descend_masked
from tacit.estimators._means import Means


def low_rank(rows=30, columns=20, rank=2, seen=0.6, seed=0):
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    return full, rng.random(full.shape) < seen


@pytest.fixture(scope="module")
def recovered():
    full, seen = low_rank()
    return full, seen, DeepMatrixCompleter(depth=3).fit(np.where(seen, full, np.nan))


def shallow(**options):
    """A model that takes no choice, for tests of everything else."""
    return DeepMatrixCompleter(depth=2, weight_decay=0.1, centre=True, max_steps=40, **options)


def test_low_rank_is_recovered_at_its_rank(recovered):
    full, seen, model = recovered
    error = np.linalg.norm((model.fitted_ - full)[~seen]) / np.linalg.norm(full[~seen])
    assert error < 1e-3
    assert model.rank_ == 2
    np.testing.assert_array_equal(model.completed_[seen], full[seen])
    assert model is not tacit.DeepMatrixCompleter
    assert tacit.DeepMatrixCompleter is DeepMatrixCompleter


def test_transform_is_the_completion_and_new_rows_are_folded_in(recovered):
    full, seen, model = recovered
    given = np.where(seen, full, np.nan)
    np.testing.assert_array_equal(model.transform(given), model.completed_)
    row = full[3] + full[7]  # in the span of the rows, and not one of them
    mask = np.arange(20) % 2 == 0
    folded = model.transform(np.where(mask, row, np.nan)[None])[0]
    np.testing.assert_allclose(folded, row, atol=1e-2)


def test_predict_gives_the_model_at_pairs(recovered):
    _, _, model = recovered
    np.testing.assert_array_equal(
        model.predict([(0, 1), (29, 19)]), model.fitted_[[0, 29], [1, 19]]
    )
    for pairs, words in (
        ([0, 1], "they must be"),
        ([(30, 0)], "rows are 0 … 29"),
        ([(0, -1)], "columns are"),
        ([(0.5, 1)], "fractions"),
    ):
        with pytest.raises(ValueError, match=words):
            model.predict(pairs)


def test_the_choice_stands_in_the_report():
    rng = np.random.default_rng(2)  # no tie: with 1 two models have 0.842
    rows, columns = rng.normal(size=(40, 1)), rng.normal(size=30)
    noisy = 5 + rows + columns + rng.normal(size=(40, 30)) * 0.8
    model = DeepMatrixCompleter(max_steps=200).fit(
        np.where(rng.random(noisy.shape) < 0.5, noisy, np.nan)
    )
    assert model.centred_
    assert {one.depth for one in model.choice_.tried} == {2, 3}
    twice = [one for one in model.choice_.tried if one.again]  # 600 entries: few are held out
    assert len(twice) == 2
    best = min(one.error for one in twice)
    assert model.held_out_error_ == best < 1.2
    assert model.choice_.held >= 100
    report = model.report()
    assert f"Depth {model.depth_}, weight decay {model.weight_decay_:g}, means removed" in report
    assert f"held-out entries: {model.relative_error_:.3g} of the columns' dev" in report
    assert [panel.title for panel in model.plot().panels][-1] == "what was tried"


def test_sparse_input_is_what_it_stores_and_duplicates_are_averaged():
    full, seen = low_rank(12, 9)
    i, j = np.nonzero(seen)
    twice = np.concatenate([full[i, j] - 1, full[i, j] + 1])
    stored = sparse.coo_array((twice, (np.tile(i, 2), np.tile(j, 2))), shape=full.shape)
    dense = shallow().fit_transform(np.where(seen, full, np.nan))
    np.testing.assert_allclose(shallow().fit(stored).completed_, dense, atol=1e-5)


def test_undetermined_entries_are_left_empty_unless_asked():
    blocks = np.full((6, 6), np.nan)
    blocks[:3, :3], blocks[3:5, 3:] = np.outer([1, 2, 3], [1, 2, 3]), 2.0
    model = shallow().fit(blocks)  # two blocks, and a row without an entry
    empty = np.isnan(model.completed_)
    assert empty[:3, 3:].all()
    assert empty[3:5, :3].all()
    assert empty[5].all()
    assert empty.sum() == 9 + 6 + 6 == model.diagnosis_.undetermined.sum()
    assert np.isnan(model.predict([(0, 4)]))
    assert model.diagnosis_.components == 2
    assert (model.diagnosis_.coupling_groups(2), model.diagnosis_.coupling_groups(3)) == (2, 1)
    filled = shallow(fill_undetermined=True).fit_transform(blocks)
    assert np.isfinite(filled).all()


@pytest.mark.parametrize("value", [0.0, 7.5, -1e120])
def test_constants_of_any_size_come_back(value):
    given = np.full((8, 6), value)
    given[2, 3] = np.nan
    completed = shallow().fit_transform(given)
    np.testing.assert_allclose(completed, value, rtol=0.01)


def test_a_change_of_unit_changes_the_unit_alone():
    full, seen = low_rank(12, 9)
    given = np.where(seen, full, np.nan)
    small, large = (shallow().fit_transform(unit * given) for unit in (1.0, 2.0**300))
    np.testing.assert_allclose(large / 2.0**300, small, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "given", "words"),
    [
        ({}, np.full((3, 3), np.nan), "no entry"),
        ({}, [[1.0, np.inf], [2.0, 3.0]], "infinity"),
        ({}, [[1e200, 1.0], [2.0, 3.0]], "overflow"),
        ({}, np.ones(3), "Expected 2D array"),
        ({"depth": 1}, np.ones((3, 3)), "depth: received 1"),
        ({"weight_decay": -1}, np.ones((3, 3)), "weight_decay: received -1"),
        ({"held_out": 0.7}, np.ones((3, 3)), "held_out: received 0.7"),
        ({"max_steps": 0}, np.ones((3, 3)), "max_steps: received 0"),
        ({"centre": "yes"}, np.ones((3, 3)), "centre: received 'yes'"),
        ({"scale": "yes"}, np.ones((3, 3)), "scale: received 'yes'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(options, given, words):
    with pytest.raises(ValueError, match=words):
        DeepMatrixCompleter(**options).fit(given)


def test_new_entries_a_warm_start_and_a_cold_one():
    full, seen = low_rank(seed=3)
    first = seen & (np.arange(seen.size).reshape(seen.shape) % 50 > 0)
    model = DeepMatrixCompleter(depth=3, weight_decay=0.0, centre=False, max_steps=1500)
    model.fit(np.where(first, full, np.nan))
    more = np.where(seen & ~first, full, np.nan)
    with pytest.warns(LazyStartWarning, match="cold=True"):
        model.partial_fit(more)
    assert model.diagnosis_.observed == seen.sum()
    model.partial_fit(more, cold=True)
    fresh = np.linalg.norm((model.fitted_ - full)[~seen]) / np.linalg.norm(full[~seen])
    assert fresh < 1e-2
    with pytest.raises(ValueError, match="that of the fit"):
        model.partial_fit(more[:4])


def test_all_entries_are_met_as_well_as_in_the_choice():
    """Steps alone are not enough: from another start the last singular value may come later."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20))
    seen = rng.random(target.shape) < 0.7
    settings = Settings(3, 0.0, 2000)

    def descent(enough):
        return descend_masked(target, seen, settings, rng=np.random.default_rng(1), enough=enough)

    early = descent(Enough(25, np.inf))
    assert early.steps == 25
    late = descent(Enough(25, 1e-3))
    assert 25 < late.steps < 2000
    left = (late.product - target)[seen]
    assert np.sqrt(np.mean(left**2)) <= 1.5e-3


def test_the_offset_of_a_later_row_is_shrunk_as_those_of_the_fit_are():
    means = Means(2.0, np.zeros(3), np.array([1.0, -1.0, 0.0]))
    row = np.array([8.0, 6.0, np.nan])
    seen = np.array([True, True, False])
    # 5 above the rest in two entries, and three entries' worth of doubt: 10 / (2 + 3)
    assert means.of_row(row, seen) == pytest.approx(2.0)
    values = np.array([[3.0, 3.0], [3.0, 3.0], [9.0, 9.0]])
    fitted = Means.of(values, np.ones_like(values, bool))
    assert fitted.level == pytest.approx(5.0)
    assert fitted.rows[2] == pytest.approx((8.0 - fitted.columns.sum()) / 5)


def test_a_warm_start_keeps_its_unit_where_new_entries_are_larger():
    full, seen = low_rank(12, 9)
    model = shallow().fit(np.where(seen, full, np.nan))
    before = model._frame.size * model._descent.product
    more = np.full(full.shape, np.nan)
    more[tuple(np.argwhere(~seen)[0])] = 50.0
    model.partial_fit(more)
    np.testing.assert_allclose(model._frame.size * model._before.product, before, rtol=1e-5)


def test_the_expected_rank_stands_above_gaps():
    full, seen = low_rank(100, 80, rank=2, seen=0.7)
    found = shallow().diagnose(np.where(seen, full, np.nan))
    assert found.expected_rank == 2
    assert found.thin_rows.size == 0


def test_a_table_of_few_entries_is_filled_by_default_and_says_so():
    given = np.outer([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0])
    given[1, 2] = np.nan
    model = DeepMatrixCompleter().fit(given)
    assert model.choice_.tried == ()
    assert "too few to choose by" in model.report()
    assert np.isnan(model.relative_error_)
    assert np.isfinite(model.completed_).all()
