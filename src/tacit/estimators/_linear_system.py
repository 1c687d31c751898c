"""`LinearSystem`: an identified system in the units of the data, to simulate, save and hand on."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import lfilter

from tacit._errors import UsageError
from tacit._files import write_atomically

Floats = np.ndarray


@dataclass(frozen=True)
class LinearSystem:
    """x_{t+1} = A x_t + B (u_t − ū), y_t = C x_t + D (u_t − ū) + ȳ.

    `input_level` ū and `output_level` ȳ belong together: a system at rest under the one has the
    other as its output. `step` is the time between samples.
    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    input_level: Floats
    output_level: Floats
    step: float = 1.0
    input_names: tuple[str, ...] = ()
    output_names: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """The number of states."""
        return len(self.A)

    @property
    def poles(self) -> Floats:
        """The eigenvalues of A, the slowest first."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((-values.imag, -np.abs(values).round(12)))]

    @property
    def memory(self) -> float:
        """Samples after which the slowest mode has fallen to 1/e."""
        size = float(np.abs(self.poles).max(initial=0.0))
        return 0.0 if size <= 0 else -1 / np.log(min(size, 1 - 1e-16))

    def is_stable(self) -> bool:
        """Whether all poles lie inside the unit circle."""
        return bool((np.abs(self.poles) < 1).all())

    def simulate(self, inputs: Floats, state: Floats | None = None) -> tuple[Floats, Floats]:
        """Outputs (time, outputs), and the state after the last sample."""
        drive = np.asarray(inputs, np.float64) - self.input_level
        outputs = drive @ self.D.T + self.output_level
        if not self.order:
            return outputs, np.zeros(0)
        start = np.zeros(self.order) if state is None else np.asarray(state, np.float64)
        # In the basis of eigenvectors every state is a filter of its own.
        poles, vectors = np.linalg.eig(self.A)
        if np.linalg.cond(vectors) > 1e10:
            return self._stepped(drive, outputs, start)
        forced = np.linalg.solve(
            vectors, np.concatenate([start[:, None], self.B @ drive.T], axis=1)
        )
        states = np.stack(
            [lfilter([1.0], [1.0, -pole], row) for pole, row in zip(poles, forced, strict=True)]
        )
        states = (vectors @ states).real
        return outputs + (self.C @ states[:, :-1]).T, states[:, -1]

    def _stepped(self, drive: Floats, outputs: Floats, state: Floats) -> tuple[Floats, Floats]:
        """One step after another, where poles are too close to be told apart."""
        for t, u in enumerate(drive):
            outputs[t] += self.C @ state
            state = self.A @ state + self.B @ u
        return outputs, state

    def state_after(self, inputs: Floats, outputs: Floats) -> Floats:
        """The state after a measured record, to go on from."""
        from tacit.estimators._boundary import state_after

        return state_after(self, np.asarray(inputs), np.asarray(outputs))

    def impulse_response(self, length: int) -> Floats:
        """h_0 = D, h_j = C A^{j−1} B: (length, outputs, inputs)."""
        response, reach = [self.D], self.B
        for _ in range(length - 1):
            response.append(self.C @ reach)
            reach = self.A @ reach
        return np.stack(response[:length])

    def frequency_response(self, angles: Floats) -> Floats:
        """C (e^{iω} − A)⁻¹ B + D at ω in radians a sample: (angles, outputs, inputs)."""
        eye = np.eye(self.order)
        return np.stack(
            [
                self.C @ np.linalg.solve(np.exp(1j * w) * eye - self.A, self.B) + self.D
                for w in angles
            ]
        )

    def to_scipy(self) -> Any:
        """A `scipy.signal.dlti` of the deviations from the two levels."""
        from scipy.signal import dlti

        return dlti(self.A, self.B, self.C, self.D, dt=self.step)

    def to_control(self) -> Any:
        """A `control.StateSpace` of the deviations from the two levels."""
        try:
            import control
        except ImportError:
            raise ImportError("to_control needs python-control: pip install control") from None
        return control.ss(self.A, self.B, self.C, self.D, self.step)

    def to_dict(self) -> dict[str, Any]:
        """Numbers and names, as JSON has them."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        names = {"input_names": list(self.input_names), "output_names": list(self.output_names)}
        return {"format": _FORMAT, "step": self.step, **names, **arrays}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "LinearSystem":
        """What `to_dict` returned."""
        if not isinstance(record, dict) or record.get("format") != _FORMAT:
            raise ValueError(f"record: received no system; its format must be {_FORMAT!r}")
        try:
            arrays = {name: np.asarray(record[name], np.float64) for name in _ARRAYS}
            order = len(arrays["A"])
            inputs, outputs = len(arrays["input_level"]), len(arrays["output_level"])
            shapes = {"A": (order, order), "B": (order, inputs), "C": (outputs, order)}
            for name, shape in shapes.items():
                arrays[name] = arrays[name].reshape(shape)
            arrays["D"] = arrays["D"].reshape(outputs, inputs)
            return cls(
                **arrays,
                step=float(record["step"]),
                input_names=tuple(record["input_names"]),
                output_names=tuple(record["output_names"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"record: received a system that is not whole: {error}") from error

    def save(self, path: str | Path) -> None:
        """Write a JSON file."""
        write_atomically(Path(path), (json.dumps(self.to_dict(), indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> "LinearSystem":
        """Read a JSON file that `save` wrote."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text()))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} could not be read as a system: {error}") from None


_ARRAYS = ("A", "B", "C", "D", "input_level", "output_level")
_FORMAT = "tacit linear system 1"
