"""regimes/control (ours): a teacher that has forgotten everything by lag k.

The comparison: the error beyond k, relative to the whole teacher, for a teacher with a long memory
and for two whose memory is short: a delay and an average. A kernel learns a filter of k taps with
nothing after them, which is wrong for the first and right for the others: the short-memory prior
does no harm where memory is short.
"""

from collections.abc import Mapping
from typing import Any

import xarray

from tacit.claims import Finding
from tacit.draw import Figure
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.regime import LONGEST, PLACE, TEACHERS, RegimeExperiment

HARM = 0.1  # an error beyond k of less than this part of the teacher does no harm


class Control(RegimeExperiment):
    """Error beyond k for teachers of long and of short memory: where the kernel is right."""

    id, figure = "regimes/control", "ours: the control"
    version = 2
    finding = Finding(
        "A kernel does harm where memory is long: beyond k it misses {modes|holds} of the teacher "
        "at every k.",
        "Where the teacher forgets it does none: {delay|holds} of a delay and {average|holds} of "
        "an average, at the worst k. Rich students are no better there: their error is "
        "{rich|holds} times as large for the delay.",
        modes="modes: the kernel does harm",
        delay="delay: the kernel does no harm",
        average="average: the kernel does no harm",
        rich="delay: rich is no better",
    )

    teacher: tuple[str, ...] = swept(
        ("modes", "delay", "average"), "what is to be learned", choices=tuple(TEACHERS)
    )
    length: tuple[int, ...] = swept(
        (6, 8, 10, 12), "training length k", low=4, high=LONGEST, units="lags"
    )
    gamma0: tuple[float, ...] = swept(
        (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), "γ₀ = γ/√n", low=1e-4, high=10.0
    )
    seed: tuple[int, ...] = swept(range(10), "seed of the student's start", low=0)
    width: int = fixed(96, "hidden units n of the student", low=2, high=2000)

    presets = {
        "smoke": dict(length=8, gamma0=(0.03, 3.0), seed=range(2), width=32),
        "quick": dict(length=(6, 8), gamma0=(0.01, 0.1, 1.0, 10.0), seed=range(40)),
        "paper": {},
    }
    chunk = {"seed": 5}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        return self.train(
            batch,
            width=self.width,
            gamma0=batch.column("gamma0"),
            length=batch.column("length"),
            teacher=batch.column("teacher"),
        )

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "tail_error")
        low, high, k = min(self.gamma0), max(self.gamma0), min(self.length)
        kernel, rich = error.sel(gamma0=low), error.sel(gamma0=high)
        for teacher in self.teacher:
            words = TEACHERS[teacher]
            if teacher == "modes":
                claim.median(
                    f"{teacher}: the kernel does harm",
                    kernel.sel(teacher=teacher).min("length"),
                    at_least=HARM,
                    says=f"For {words}, at γ₀ = {low:g}, the error "
                    "beyond k is at least {bound} of the whole teacher, at every k.",
                )
                continue
            claim.median(
                f"{teacher}: the kernel does no harm",
                kernel.sel(teacher=teacher).max("length"),
                at_most=HARM,
                says=f"For {words}, at γ₀ = {low:g}, the error "
                "beyond k is at most {bound} of the whole teacher, at the worst k.",
            )
            if "modes" in self.teacher:
                less = kernel.sel(teacher="modes") / kernel.sel(teacher=teacher)
                claim.median(
                    f"{teacher}: less harm than to a long memory",
                    less.min("length"),
                    at_least=3,
                    says=f"At γ₀ = {low:g} the error beyond k is at every k at least {{bound}} "
                    f"times smaller for {words} than for {TEACHERS['modes']}.",
                )
            claim.median(
                f"{teacher}: rich is no better",
                (rich / kernel).sel(teacher=teacher, length=k),
                at_least=1,
                says=f"For {words} and the shortest k = {k}, the error "
                f"beyond k at γ₀ = {high:g} is not below that at γ₀ = {low:g}.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered, k = runs.sortby(["length", "gamma0"]), min(self.length)
        by_teacher = {teacher: ordered.sel(teacher=teacher) for teacher in self.teacher}
        planes = [
            self.plane(
                one,
                "tail_error",
                TEACHERS[teacher],
                label="error beyond k over the teacher",
                scale="log",
                limits=(0.003, 1.0),  # one range for all teachers
                annotate=True,
            )
            for teacher, one in by_teacher.items()
        ]
        learned = [
            self.responses(one, k, f"learned from k = {k}", teacher)
            for teacher, one in by_teacher.items()
        ]
        return Figure(
            "The control: where the teacher forgets, the kernel's short memory is right",
            planes + learned,
            columns=len(self.teacher),
            caption=f"Linear RNNs of width {self.width}, trained as in regimes/map. Above: the "
            f"norm of the error on the {self.tail} lags after k over that of the whole teacher, "
            f"medians over {len(self.seed)} starts, one scale of colours. Below: what was learned "
            "from the shortest k, bands the middle half of the starts."
            f"{self.unconverged(runs)}",
        )
