"""scikit-learn's own checks of DeepMatrixCompleter."""

import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from tacit.estimators import DeepMatrixCompleter

PAIRS = "predict takes pairs of row and column, where the check passes the matrix"
EXPECTED = dict.fromkeys(
    (
        "check_dict_unchanged",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_dtypes",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in_after_fitting",
    ),
    PAIRS,
)


class WithoutPredict(DeepMatrixCompleter):
    """The same, as a transformer alone."""

    @property
    def predict(self) -> Any:
        raise AttributeError("predict")


def results(kind, expected):
    model = kind(depth=2, weight_decay=0.1, centre=True, max_steps=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    return {
        status: {one["check_name"] for one in done if one["status"] == status}
        for status in ("passed", "failed", "xfail")
    }


def test_the_checks_fail_only_where_predict_is_given_the_matrix():
    found = results(DeepMatrixCompleter, EXPECTED)
    assert found["failed"] == set()
    assert found["xfail"] == set(EXPECTED)
    assert len(found["passed"]) > 25


def test_all_checks_pass_where_predict_is_left_out():
    found = results(WithoutPredict, {})
    assert found["failed"] == set()
    assert len(found["passed"]) > 35
