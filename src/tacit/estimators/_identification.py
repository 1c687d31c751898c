"""`LinearSystemIdentifier`: a state-space model for simulation, from measured records."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tacit._doors import number, real
from tacit._progress_bar import Bar, bar, part
from tacit.estimators._identification_input import check_parameters, largest_order, measured
from tacit.estimators._look_ahead import looked_ahead
from tacit.estimators._one_thread import one_thread
from tacit.estimators._records import Records, Scale, parts
from tacit.estimators._system_orders import Start, candidates, choose_order, starts_of
from tacit.estimators._validation import validated

if TYPE_CHECKING:
    from tacit.draw import Figure


_STARTS, _ORDERS = 0.15, 0.75  # parts of the bar: starts, orders, and the look ahead


class LinearSystemIdentifier(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """x_{t+1} = A x_t + B u_t, y_t = C x_t + D u_t, fitted to the simulation error.

    A wide linear RNN is descended from a small start, which prefers a low order (the paper
    `lowdim`); it, an ARX model, an observer's realisation (OKID and ERA), a subspace model and the
    order before are truncated to each order and polished by Levenberg–Marquardt among stable
    systems. The order has the least BIC of coloured errors. Unless its errors are white, or gaps of
    the record speak for it alone, it is then averaged with the systems of other methods.

    Parameters
    ----------
    order : the number of states; None chooses.
    max_order : the largest that is tried; None is 12, or less for a short record.
    width : the width of the descended network; 0 leaves this start out.
    at_rest : whether each record begins at rest under an input of zero; else initial states and
        levels are estimated.
    step : the time between two samples.
    random_state : seed of the network's start and of the bootstrap.
    progress : show a bar; None shows one on a terminal and in a notebook.

    Attributes
    ----------
    system_ : the `LinearSystem`, in the units of the data.
    order_ : its number of states; `order_interval_` has orders that are about as likely.
    choice_ : what was tried at each order, and the noise floor.
    final_states_ : the state after each record, to go on from: `predict(X, state=…)`.
    """

    def __init__(
        self,
        *,
        order: int | None = None,
        max_order: int | None = None,
        width: int = 20,
        at_rest: bool = False,
        step: float = 1.0,
        random_state: Any = 0,
        progress: bool | None = None,
    ) -> None:
        self.order = order
        self.max_order = max_order
        self.width = width
        self.at_rest = at_rest
        self.step = step
        self.random_state = random_state
        self.progress = progress

    @one_thread
    def fit(self, X: Any, y: Any, *, records: Any = None) -> "LinearSystemIdentifier":
        """Fit to inputs (time, inputs) and outputs (time,) or (time, outputs).

        `records` has a label for each sample where there are several records.
        """
        U, Y, self._flat = measured(self, X, y)
        check_parameters(self)
        cuts = parts(records, len(U))
        self._data = [U[cut] for cut in cuts], [Y[cut] for cut in cuts]
        self._fit()
        return self

    def fit_response(self, response: Any) -> "LinearSystemIdentifier":
        """Fit to an impulse response (lags,) or (lags, outputs, inputs), of a system at rest."""
        real(1, 3, most=1e150)("response", response)
        array = np.asarray(response, np.float64)
        if array.ndim == 1:
            array = array[:, None, None]
        if array.ndim != 3 or min(array.shape) < 1 or not np.isfinite(array).all():
            raise ValueError(
                f"response: received the shape {array.shape}, it must be finite, with the axes "
                "(lags,) or (lags, outputs, inputs)"
            )
        length, _, inputs = array.shape
        pulses = np.zeros((inputs, length, inputs))
        pulses[np.arange(inputs), 0, np.arange(inputs)] = 1.0
        before = self.at_rest, self.width
        self.at_rest, self.width = True, 0
        labels = np.repeat(np.arange(inputs), length)
        outputs = array.transpose(2, 0, 1).reshape(inputs * length, -1)
        self._response = array
        try:
            return self.fit(pulses.reshape(-1, inputs), outputs, records=labels)
        finally:
            del self._response
            self.at_rest, self.width = before

    def _fit(self) -> None:
        title = f"{sum(map(len, self._data[0])):,} samples"
        with bar(self.progress, title, "identification") as tell:
            self._fit_told(tell)

    def _fit_told(self, tell: Bar) -> None:
        U, Y = self._data
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.scale_ = Scale.of(np.concatenate(U), np.concatenate(Y), at_rest=self.at_rest)
        records = self.scale_.records(U, Y, at_rest=self.at_rest)
        top = largest_order(self, records)
        orders = range(top + 1) if self.order is None else [self.order]
        known = getattr(self, "_response", None)
        if known is not None:
            known = known * self.scale_.input_unit / self.scale_.output_unit[:, None]

        def starts(some: Records) -> dict[str, Start]:
            if not (self.width and top):
                return starts_of(some, None, known)
            from tacit.estimators._gradient_start import descended

            return starts_of(some, lambda: descended(some, width=self.width, seed=seed), known)

        tell(0.0, "descent of a wide network")
        begun, search = starts(records), part(tell, _STARTS, _ORDERS)
        tried = candidates(records, orders, begun, search) or candidates(records, [0], {})
        tell(_ORDERS, "noise floor")
        self.choice_ = choose_order(records, tried, seed=seed)
        if self.order is None and known is None:
            self.choice_ = looked_ahead(self.choice_, records, starts, part(tell, _ORDERS, 1.0))
        self._records = records
        self.order_, self.order_interval_ = self.choice_.chosen.order, self.choice_.interval
        self.system_ = self.scale_.system(self.choice_.chosen.model, records.inputs, self.step)
        self.final_states_ = [self.system_.state_after(u, y) for u, y in zip(U, Y, strict=True)]

    @one_thread
    def predict(self, X: Any, *, state: Any = None) -> np.ndarray:
        """The simulated outputs, from rest or from a state such as `final_states_[0]`."""
        check_is_fitted(self)
        U = validated(self, X, reset=False, dtype=np.float64)
        if state is not None:
            real(1, most=1e150, empty=True)("state", state)
        if state is not None and np.shape(state) != (self.order_,):
            raise ValueError(
                f"state: received the shape {np.shape(state)}, it must hold one number for each of "
                f"the {self.order_} states"
            )
        outputs = self.system_.simulate(U, state)[0]
        return outputs[:, 0] if self._flat else outputs

    @one_thread
    def compare(self, held_out: float = 0.25) -> dict[str, Any]:
        """Simulation errors on the end of each record, after fitting everything to its beginning.

        Ours and each baseline choose their orders on the beginning alone; the state at the boundary
        comes from there too. Errors are relative to the deviation of the outputs.
        """
        from tacit.estimators._baselines import compared, held_out_parts

        check_is_fitted(self)
        number(above=0)("held_out", held_out)
        train, test = held_out_parts(self._data, held_out)
        labels = np.repeat(np.arange(len(train)), [len(U) for U, _ in train])
        inputs, outputs = (np.concatenate(some) for some in zip(*train, strict=True))
        return compared(clone(self).fit(inputs, outputs, records=labels), test)

    @one_thread
    def compare_on(self, X: Any, y: Any) -> dict[str, Any]:
        """The same on samples that follow the last record, which nothing was fitted to."""
        from tacit.estimators._baselines import compared

        check_is_fitted(self)
        if len(self._data[0]) != 1:
            raise ValueError("X: one record can go on, but several were fitted; use compare")
        U, Y, _ = measured(clone(self), X, y)
        return compared(self, [(U, Y)])

    def report(self) -> str:
        """Order, poles, noise floor, memory and length of the record, in Markdown."""
        from tacit.estimators._identification_report import report_of

        check_is_fitted(self)
        return report_of(self)

    def plot(self) -> "Figure":
        """Measured and simulated, Bode, step response, Hankel values with the noise floor."""
        from tacit.estimators._identification_report import figure_of

        check_is_fitted(self)
        return figure_of(self)

    def name_signals(self, inputs: Any, outputs: Any) -> None:
        """Names for the columns of inputs and outputs, as the figure and saved files have them."""
        check_is_fitted(self)
        names = tuple(map(str, inputs)), tuple(map(str, outputs))
        if (len(names[1]), len(names[0])) != self.system_.D.shape:
            raise ValueError(
                f"inputs and outputs: received {len(names[0])} and {len(names[1])} names, the "
                f"system has {self.system_.D.shape[1]} and {self.system_.D.shape[0]}"
            )
        self.system_ = replace(self.system_, input_names=names[0], output_names=names[1])

    def to_control(self) -> Any:
        """The system as python-control has it."""
        check_is_fitted(self)
        return self.system_.to_control()

    def to_scipy(self) -> Any:
        """The system as SciPy has it."""
        check_is_fitted(self)
        return self.system_.to_scipy()
