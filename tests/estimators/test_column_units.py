"""DeepMatrixCompleter on tables whose columns have levels and units of their own."""

import json

import numpy as np
import pytest
from sklearn import datasets

from tacit.cli import run
from tacit.estimators import DeepMatrixCompleter
from tacit.estimators._column_errors import ColumnErrors, Missed
from tacit.estimators._column_units import ColumnUnits


def with_holes(name, seed, share=0.2):
    options = {"scaled": False} if name == "diabetes" else {}
    full = getattr(datasets, f"load_{name}")(**options).data
    gone = np.random.default_rng(seed).random(full.shape) < share
    return full, gone, np.where(gone, np.nan, full)


def over_means(full, gone, found):
    """The error of each column on what was removed, over that of its mean."""
    ours = np.where(gone, (found - full) ** 2, 0).sum(axis=0)
    means = np.where(gone, np.nan, full)
    left = np.where(gone, (np.nanmean(means, axis=0) - full) ** 2, 0).sum(axis=0)
    return np.sqrt(ours / left)


def mixed(rows=80, seed=0):
    """Five columns of one hidden number each row, in units from 1e-3 to 1e6, and one of noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    columns = [hidden + 0.1 * rng.normal(size=rows) for _ in range(5)] + [rng.normal(size=rows)]
    units = np.array([1.0, 1e-3, 1e6, 50.0, 2.0, 10.0])
    levels = np.array([5.0, 1.0, 1e7, -300.0, 0.0, 1000.0])
    full = levels + units * np.stack(columns, axis=1)
    return full, rng.random(full.shape) < 0.2


def test_units_are_what_a_column_has_without_its_far_entries():
    rng = np.random.default_rng(0)
    values = 3 + 2 * rng.normal(size=(1000, 1))
    values[0] = 1e8
    units = ColumnUnits.of(values, np.ones_like(values, bool), sideways=False)
    assert units.level[0, 0] == pytest.approx(3, abs=0.3)
    assert units.unit[0, 0] == pytest.approx(2, rel=0.3)
    inside = units.inward(values)
    np.testing.assert_allclose(units.outward(inside)[1:], values[1:])
    assert inside[0, 0] < 30


def test_trust_is_the_share_of_the_model_with_the_least_squares():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    columns = np.repeat([0, 1], 200)
    noise = np.where(columns == 0, 0.7, 3.0) * rng.normal(size=400)
    missed = Missed(columns, noise, -truth)
    found = ColumnErrors.of([missed], np.ones(2), drawn=True)
    # Σ b (b − e) / Σ (b − e)² for errors e of the model, b of the mean: 1 / (1 + 0.49)
    assert found.trust[0] == pytest.approx(1 / 1.49, abs=0.07)
    np.testing.assert_array_equal(found.by_means, [1])
    assert ColumnErrors.of([missed], np.ones(2), drawn=False).trust[0] == 1
    assert found.errors[0] == pytest.approx(0.7, abs=0.1)
    few = Missed(
        np.array([0, 0, 1] + [2] * 30), np.r_[3.0, 3.0, 0.1, np.full(30, 0.1)], np.ones(33)
    )
    judged = ColumnErrors.of([few], np.ones(4), drawn=False)
    assert judged.trust[3] == 1  # no entry of its own
    assert np.isnan(judged.errors[3])


def test_levels_that_may_all_be_chance_are_not_removed():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 4)) * [1.0, 10.0, 100.0, 1e3]
    seen = np.ones_like(values, bool)
    assert not ColumnUnits.of(values, seen, sideways=False).level.any()
    apart = values + np.array([0, 0, 0, 5e3])
    units = ColumnUnits.of(apart, seen, sideways=False)
    assert units.level.all()
    sideways = ColumnUnits.of(apart.T, seen.T, sideways=True)
    np.testing.assert_array_equal(sideways.level, units.level.T)
    np.testing.assert_array_equal(sideways.upright().unit, units.unit)


def test_what_is_mapped_of_scaled_columns_is_scaled():
    full, gone = mixed(rows=30)
    model = DeepMatrixCompleter(scale=True, depth=2, weight_decay=0.1, max_steps=20)
    first = model.fit(np.where(gone, np.nan, full)).plot().panels[0]
    assert first.title == "as given, columns scaled"
    assert np.nanmax(np.abs(np.asarray(first.marks[0].z))) < 6


def test_errors_by_column_tell_the_truth():
    full, gone = mixed()
    model = DeepMatrixCompleter().fit(np.where(gone, np.nan, full))
    true = np.sqrt(np.nanmean(np.where(gone, (model.fitted_ - full) ** 2, np.nan), axis=0))
    true /= full.std(axis=0)
    assert model.column_errors_[:5].max() < 0.4
    np.testing.assert_allclose(model.column_errors_[:5], true[:5], atol=0.15)
    pooled = np.sqrt(np.mean(model.column_errors_**2))
    assert model.relative_error_ == pytest.approx(pooled, rel=0.1)


def test_a_column_of_noise_is_filled_by_its_mean_and_named(tmp_path, capsys):
    full, gone = mixed(rows=300)
    given = np.where(gone, np.nan, full)
    model = DeepMatrixCompleter(depth=2, weight_decay=0.1).fit(given)
    np.testing.assert_array_equal(model.columns_by_means_, [5])
    mean = np.nanmean(given[:, 5])
    np.testing.assert_allclose(model.completed_[gone[:, 5], 5], mean, rtol=1e-12)
    row = np.array([[np.nan, *full[0, 1:5], np.nan]])
    assert model.transform(row)[0, 5] == pytest.approx(mean)
    assert model.transform(row)[0, 0] == pytest.approx(full[0, 0], abs=0.5)
    table = tmp_path / "mixed.csv"
    lines = ["a,b,c,d,e,noise"]
    lines += [",".join("" if np.isnan(x) else repr(float(x)) for x in row) for row in given]
    table.write_text("\n".join(lines) + "\n")
    command = ["complete", str(table), "--depth", "2", "--decay", "0.1"]
    assert run([*command, "--report", str(tmp_path / "report")]) == 0
    words = "Filled by their mean, since the model was worse on their held-out entries: noise."
    assert words in capsys.readouterr().out
    assert words in (tmp_path / "report" / "report.md").read_text()
    assert run([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["columns_by_means"] == ["noise"]
    assert told["column_errors"]["a"] == pytest.approx(model.column_errors_[0])
    assert told["relative_error"] == pytest.approx(model.relative_error_)
    assert (told["scaled"], told["nothing_found"]) == (True, False)


def test_a_table_in_which_nothing_is_found_says_so_and_is_filled_by_means():
    given = np.random.default_rng(3).normal(size=(100, 4))
    given[np.random.default_rng(53).random(given.shape) < 0.2] = np.nan
    model = DeepMatrixCompleter().fit(given)
    assert model.relative_error_ > 1
    assert "Nothing was found in these gaps" in model.report()
    np.testing.assert_array_equal(model.columns_by_means_, range(4))
    means = np.broadcast_to(np.nanmean(given, axis=0), given.shape)
    np.testing.assert_allclose(model.completed_, np.where(np.isnan(given), means, given))


def test_columns_of_odd_kinds_break_nothing():
    full, gone = mixed(rows=120)
    rng = np.random.default_rng(3)
    odd = np.full((120, 7), np.nan)
    odd[:, 0] = 42.5  # constant
    odd[7, 1] = -3.25  # one entry
    odd[:, 2] = full[:, 0] > 5  # 0 or 1
    odd[:, 3] = 1e-300 * full[:, 0]
    odd[:, 4] = 1e140 * full[:, 0]
    odd[:, 5] = 1e6 + np.arange(120)  # a count
    odd[:, 6] = full[:, 0]
    odd[5, 6] = 1e9  # an entry far out
    odd[1:][rng.random((119, 7)) < 0.2] = np.nan
    odd[7, 1], odd[5, 6] = -3.25, 1e9
    given = np.hstack([np.where(gone, np.nan, full), odd])
    model = DeepMatrixCompleter().fit(given)
    assert np.isfinite(model.completed_).all()
    np.testing.assert_array_equal(model.completed_[:, 6], 42.5)
    np.testing.assert_array_equal(model.completed_[:, 7], -3.25)
    worth = over_means(full, gone, model.completed_[:, :6])
    assert worth[:5].max() < 0.6
    small = np.isnan(odd[:, 3])
    found = model.completed_[small, 9] / 1e-300
    assert np.sqrt(np.mean((found - full[small, 0]) ** 2)) < 0.6 * full[:, 0].std()


def test_ratings_are_of_one_unit_and_descended_in_as_before():
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40)) / 2
    stars = np.clip(np.round(3 + taste + 0.5 * rng.normal(size=taste.shape)), 1, 5)
    stars[rng.random(stars.shape) < 0.6] = np.nan
    model = DeepMatrixCompleter(max_steps=200).fit(stars)
    assert not model.scaled_
    assert not any(one.scaled for one in model.choice_.tried)
    assert model.held_out_error_ == model.choice_.chosen.error  # in stars
    assert model.columns_by_means_.size == 0


def test_scaling_can_be_asked_for_and_forbidden():
    _, _, given = with_holes("wine", 0)
    plain = DeepMatrixCompleter(scale=False, depth=2, weight_decay=0.1).fit(given)
    assert not plain.scaled_
    assert plain.relative_error_ > 2
    alike = DeepMatrixCompleter(scale=True, depth=2, weight_decay=0.1).fit(given / given[0])
    assert alike.scaled_


def test_a_table_on_its_side_and_one_that_grows_are_scaled_too():
    full, gone = mixed(rows=5)
    wide = np.hstack([mixed(rows=5, seed=seed)[0] for seed in range(3)])  # 5 × 18
    wide[0, 0] = np.nan
    model = DeepMatrixCompleter(scale=True, depth=2, weight_decay=0.1, max_steps=50).fit(wide)
    assert abs(model.completed_[0, 0] - np.nanmean(wide[:, 0])) < 5 * np.nanstd(wide[:, 0])
    np.testing.assert_array_equal(model.transform(wide), model.completed_)
    assert np.isfinite(model.transform(wide[:1] * 1.01)).all()
    full, gone = mixed()
    model = DeepMatrixCompleter(scale=True, depth=2, weight_decay=0.01, max_steps=400)
    model.fit(np.where(gone, np.nan, full))
    fresh = np.where(gone & (np.arange(len(full)) % 2 == 0)[:, None], full, np.nan)
    model.partial_fit(fresh)
    left = gone & np.isnan(fresh)
    assert over_means(full, left, model.completed_)[:5].max() < 0.6


@pytest.mark.parametrize(
    ("name", "seed"),
    [("wine", 0), ("wine", 1), ("iris", 1), ("iris", 4), ("diabetes", 0), ("breast_cancer", 0)],
)
def test_no_column_of_a_raw_table_is_filled_much_worse_than_by_its_mean(name, seed):
    full, gone, given = with_holes(name, seed)
    model = DeepMatrixCompleter().fit(given)
    assert over_means(full, gone, model.completed_).max() < 1.1
    assert model.scaled_
    assert model.relative_error_ < 0.9


def test_the_units_of_columns_change_nothing_but_the_units():
    full, _, given = with_holes("wine", 2)
    units = 10.0 ** np.linspace(-8, 8, full.shape[1])
    one, other = (DeepMatrixCompleter().fit(given * unit) for unit in (1.0, units))
    np.testing.assert_allclose(other.completed_ / units, one.completed_, rtol=1e-4)
    np.testing.assert_allclose(other.column_errors_, one.column_errors_, rtol=1e-3)
