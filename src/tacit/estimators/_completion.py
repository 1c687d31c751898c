"""`DeepMatrixCompleter`: the missing entries of a matrix, by descent on a product of factors."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tacit._progress_bar import Bar, bar, part
from tacit.estimators._column_units import ColumnUnits, Frame
from tacit.estimators._completion_choice import (
    DEEP_STEPS,
    SHALLOW_STEPS,
    Candidate,
    choose,
)
from tacit.estimators._completion_diagnosis import Diagnosis, diagnose
from tacit.estimators._completion_input import check_parameters, checked_pairs, entries_of
from tacit.estimators._masked_descent import Descent, Enough, Settings, descend_masked
from tacit.estimators._means import Means
from tacit.estimators._one_thread import one_thread
from tacit.estimators._validation import validated

if TYPE_CHECKING:
    from tacit.draw import Figure

_CHOICE = 0.8  # the part of the bar that choosing takes
_LAZY = 0.1  # factors that move by less than this part of their size have hardly learnt


class LazyStartWarning(UserWarning):
    """A warm start fitted the new entries by moving its factors hardly at all."""


class DeepMatrixCompleter(TransformerMixin, BaseEstimator):
    """X = W_L ⋯ W_1, fitted to the observed entries by momentum descent from a small start.

    Descent from a small start prefers low rank, the more so the deeper the product (the paper
    `depth`). Depth 2 with decay, stopped early, suits noisy ratings; depth 3 with little decay
    or none suits data of low rank. What is not given is chosen on held-out entries, and the model
    is then fitted to all of them.

    Parameters
    ----------
    depth : the number L of factors, at least 2; None chooses 2 or 3.
    weight_decay : λ, in units of the matrix's largest singular value times the fraction observed;
        None chooses.
    centre : remove the level and the means of rows and columns first; None chooses.
    scale : centre each column and divide it by its deviation first; None chooses, where columns
        differ in level or unit.
    held_out : the part of the entries that choices are made on.
    max_steps : the budget of one descent; None is 400 steps for depth 2 and 5,000 beyond.
    fill_undetermined : fill also what no method can determine (by the means); else NaN.
    random_state : seed of the start and of the held-out entries.
    progress : show a bar; None shows one on a terminal and in a notebook.

    Attributes
    ----------
    completed_ : the matrix, observed entries as they were. `fitted_` is the model everywhere.
    depth_, weight_decay_, centred_, n_steps_ : the model chosen; `choice_` says why.
    scaled_ : whether columns were scaled; `rank_` and singular values are then of scaled columns.
    held_out_error_ : root mean squared error of that model on entries it had not seen.
    relative_error_ : the same with each error over the deviation of its column; 1 is a mean's.
    column_errors_ : the relative error of each column; NaN where no entry of it was held out.
    columns_by_means_ : numbers of the columns that are filled by their mean, since the model was
        worse on their held-out entries.
    rank_ : singular values of the product above a thousandth of the largest.
    diagnosis_ : what could be said before fitting.
    """

    _frame: Frame

    def __init__(
        self,
        *,
        depth: int | None = None,
        weight_decay: float | None = None,
        centre: bool | None = None,
        scale: bool | None = None,
        held_out: float = 0.1,
        max_steps: int | None = None,
        fill_undetermined: bool = False,
        random_state: Any = 0,
        progress: bool | None = None,
    ) -> None:
        self.depth = depth
        self.weight_decay = weight_decay
        self.centre = centre
        self.scale = scale
        self.held_out = held_out
        self.max_steps = max_steps
        self.fill_undetermined = fill_undetermined
        self.random_state = random_state
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @one_thread
    def diagnose(self, X: Any) -> Diagnosis:
        """What can be said of this matrix before anything is fitted."""
        return diagnose(*self._entries(X, reset=True))

    @one_thread
    def fit(self, X: Any, y: Any = None) -> "DeepMatrixCompleter":
        """Fit to a matrix with NaN where nothing is seen, or to a sparse one."""
        values, seen = self._entries(X, reset=True)
        check_parameters(self)
        if not seen.any():
            raise ValueError("X: received no entry that is not NaN, it must hold at least one")
        self._fit(values, seen, start=None)
        return self

    @one_thread
    def partial_fit(self, X: Any, y: Any = None, *, cold: bool = False) -> "DeepMatrixCompleter":
        """Add the entries of a matrix of the same shape, and go on from where the fit ended.

        An entry that was known before is replaced. A warm start may fit new entries by hardly
        moving its factors: it then keeps a high rank where a cold start would find a low one, and
        says so by a `LazyStartWarning`. `cold=True` starts afresh, with depth, decay and means as
        they were chosen.
        """
        if not hasattr(self, "completed_"):
            return self.fit(X)
        values, seen = self._entries(X, reset=False)
        check_parameters(self)
        if values.shape != self._seen.shape:
            raise ValueError(
                f"X: received the shape {values.shape}, it must be that of the fit, "
                f"{self._seen.shape}; fit anew for other rows"
            )
        merged = np.where(seen, values, self._values)
        fresh = seen & ~(self._seen & (values == self._values))
        self._fit(merged, seen | self._seen, start=None if cold else self._descent, again=True)
        if not cold and fresh.any():
            self._warn_if_lazy(values, fresh)
        return self

    def predict(self, pairs: Any) -> np.ndarray:
        """The model's values at pairs of row and column, also where an entry was observed.

        NaN where no method can determine them, unless `fill_undetermined`.
        """
        check_is_fitted(self)
        rows, columns = checked_pairs(pairs, self.diagnosis_.shape)
        return np.asarray(self._shown[rows, columns])

    @one_thread
    def transform(self, X: Any) -> np.ndarray:
        """The matrix with its missing entries filled; rows are taken one by one.

        A row that was fitted gets its own completion. Another row gets the combination of the
        fitted right factors that its entries suggest.
        """
        check_is_fitted(self)
        values, seen = self._entries(X, reset=False)
        filled = np.where(seen, values, np.nan)
        for place, (row, mask) in enumerate(zip(values, seen, strict=True)):
            known = self._known.get(_key(row, mask))
            other = self._shown[known] if known is not None else self._folded_in(row, mask)
            filled[place] = np.where(mask, row, other)
        return filled

    def report(self) -> str:
        """The model, why it was chosen, its held-out error and the pattern, in Markdown."""
        from tacit.estimators._completion_report import report_of

        check_is_fitted(self)
        return report_of(self)

    def plot(self) -> "Figure":
        """Matrix, singular values and held-out errors; see `tacit.draw` for what to do with it."""
        from tacit.estimators._completion_report import figure_of

        check_is_fitted(self)
        return figure_of(self)

    def _entries(self, X: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        checked = validated(
            self,
            X,
            reset=reset,
            accept_sparse=("coo", "csr", "csc"),
            dtype=np.float64,
            ensure_all_finite="allow-nan",
        )
        return entries_of(checked)

    def _fit(
        self, values: np.ndarray, seen: np.ndarray, *, start: Descent | None, again: bool = False
    ) -> None:
        rows, columns = values.shape
        with bar(self.progress, f"{rows:,} × {columns:,}", "completion") as tell:
            self._fit_told(values, seen, start, again, tell)

    def _fit_told(
        self, values: np.ndarray, seen: np.ndarray, start: Descent | None, again: bool, tell: Bar
    ) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.diagnosis_ = diagnose(values, seen)
        self._values, self._seen = values, seen
        self._flipped = seen.shape[0] < seen.shape[1]  # the long side last: see `_descend`
        table, mask = (values.T, seen.T) if self._flipped else (values, seen)
        if not again:
            self.choice_ = choose(
                table,
                mask,
                sideways=self._flipped,
                depth=self.depth,
                weight_decay=self.weight_decay,
                centre=self.centre,
                scale=self.scale,
                held_out=self.held_out,
                max_steps=self.max_steps,
                seed=seed,
                tell=part(tell, 0.0, _CHOICE),
            )
        best = self.choice_.chosen
        self.depth_, self.weight_decay_ = best.depth, best.weight_decay
        self.centred_, self.scaled_ = best.centred, best.scaled
        self.held_out_error_ = self.choice_.error
        self.relative_error_ = self.choice_.columns.overall
        self.column_errors_ = self.choice_.columns.errors
        self.columns_by_means_ = self.choice_.columns.by_means
        units = ColumnUnits.of(table, mask, sideways=self._flipped) if best.scaled else None
        if units is not None and start is not None:  # its factors are in the units of before
            units = self._frame.units.renewed(units)
        frame = Frame.of(table, units, sideways=self._flipped)
        working = frame.inward(table)
        means = Means.of(working, mask) if best.centred else Means.none(working.shape)
        steps = self._steps_for_all(best) if start is None else _budget(best.depth)
        settings = Settings(best.depth, best.weight_decay, steps)
        if start is not None:
            unit = start.unit * self._frame.size / frame.size
            start = Descent(start.factors, unit, 0, *np.zeros((3, 1)))
        self._before = start
        self._descent = descend_masked(
            working - means.matrix,
            mask,
            settings,
            rng=np.random.default_rng([seed, 2]),
            start=start,
            enough=Enough(best.steps, best.fit) if start is None else None,
            tell=lambda fraction, *_: tell(
                _CHOICE + (1 - _CHOICE) * fraction, "all entries, with what was chosen"
            ),
        )
        self._frame = frame
        self.n_steps_ = self._descent.steps
        self._set_results(self._descent.product, means)

    def _steps_for_all(self, best: Candidate) -> int:
        """Room for as many steps again as the choice needed, where they were counted."""
        most = best.steps * (2 if np.isfinite(best.fit) else 1)
        return most if self.max_steps is None else min(most, self.max_steps)

    def _set_results(self, product: np.ndarray, means: Means) -> None:
        fitted = self._frame.outward(product + means.matrix)
        self.fitted_ = fitted.T if self._flipped else fitted
        units = self._frame.units
        self._units = units.upright() if self._flipped else units
        self._column_means = self._units.means(self._values, self._seen).ravel()
        self.fitted_ = self._drawn(self.fitted_)
        self._shown = self.fitted_
        if not self.fill_undetermined:
            self._shown = np.where(self.diagnosis_.undetermined, np.nan, self.fitted_)
        self.completed_ = np.where(self._seen, self._values, self._shown)
        left, right = (means.columns, means.rows) if self._flipped else (means.rows, means.columns)
        size = self._frame.size
        self._means = Means(size * means.level, size * left, size * right)
        product = size * (product.T if self._flipped else product)
        _, self.singular_values_, self._right = np.linalg.svd(product, full_matrices=False)
        top = self.singular_values_[0]
        self.rank_ = int((self.singular_values_ > 1e-3 * top).sum()) if top > 0 else 0
        self._known: dict[bytes, int] = {}
        for place, (row, mask) in enumerate(zip(self._values, self._seen, strict=True)):
            self._known.setdefault(_key(row, mask), place)

    def _folded_in(self, row: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """A row of its own, with the fitted rows' spread along each right factor as its prior."""
        if not (mask.any() or self.fill_undetermined):
            return np.full(row.shape, np.nan)
        units = self._units
        row = units.inward(row[None])[0] if self.scaled_ else row
        offset = self._means.of_row(row, mask) if self.centred_ and mask.any() else 0.0
        additive = self._means.level + self._means.columns + offset
        found = additive
        if mask.any():
            kept = self.singular_values_ > 1e-3 * max(self.singular_values_[0], 1e-300)
            basis = self._right[kept].T * self.singular_values_[kept] / np.sqrt(len(self._seen))
            scale = float(np.sqrt(np.mean(basis**2))) or 1.0
            error = self.choice_.chosen.error if self.scaled_ else self.held_out_error_
            doubt = (error if np.isfinite(error) else 0.0) ** 2 + 1e-10 * scale**2
            seen = basis[mask]
            gram = seen.T @ seen + doubt * np.eye(seen.shape[1])
            found = additive + basis @ np.linalg.solve(gram, seen.T @ (row - additive)[mask])
        found = units.outward(found[None])[0] if self.scaled_ else found
        return self._drawn(np.asarray(found))

    def _drawn(self, found: np.ndarray) -> np.ndarray:
        """Columns drawn to their means, as far as their held-out entries ask for it."""
        trust = self.choice_.columns.trust
        drawn = self._column_means + trust * (found - self._column_means)
        return np.where(trust == 1, found, drawn)

    def _warn_if_lazy(self, values: np.ndarray, fresh: np.ndarray) -> None:
        before, after = self._before, self._descent
        if before is None:
            return
        moved = np.sqrt(
            sum(np.sum((b - a) ** 2) for a, b in zip(before.factors, after.factors, strict=True))
            / max(sum(np.sum(a**2) for a in before.factors), 1e-300)
        )
        if moved < _LAZY:
            warnings.warn(
                f"the warm start is in the lazy regime: the factors moved by {moved:.1%} of their "
                f"size for {int(fresh.sum()):,} new entries, and keep the rank that they had; "
                "partial_fit(X, cold=True) starts afresh",
                LazyStartWarning,
                stacklevel=3,
            )


def _budget(depth: int) -> int:
    return SHALLOW_STEPS if depth <= 2 else DEEP_STEPS


def _key(row: np.ndarray, mask: np.ndarray) -> bytes:
    return np.where(mask, row, 0.0).tobytes() + np.packbits(mask).tobytes()
