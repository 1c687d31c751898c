"""connectivity, Figure S4: the gradient explodes where an eigenvalue crosses one.

The comparison: loss, gradient and leading eigenvalues of W while a linear network learns a value by
plain gradient descent with a finite rate, for two targets and some strengths of the initial
connectivity. Gradient flow stops before an eigenvalue reaches one; a finite step may leap over it.
What follows is a matter of chance, so that shares of networks are counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_median
from tacit.draw import Figure
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import MODE, SEED, STEP, STRENGTH, TARGET, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

SHOWN = 5
FATES = ("smooth", "recovered", "stuck", "diverged")
HARD = (4.0, 0.8)
"""The target and strength at which the paper's learning stops."""


@dataclass(frozen=True, kw_only=True)
class FigS4Config(Config):
    """Parameters of connectivity/figs4; the defaults are the paper's, with more seeds."""

    target: tuple[float, ...] = parameter(
        (2.0, 4.0), "target ẑ of the output", low=0.01, high=100.0, swept=True
    )
    g: tuple[float, ...] = parameter(
        (0.0, 0.4, 0.8), "strength of the initial connectivity", low=0.0, high=0.95, swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(16)), "seed of W₀, w and m", low=0, swept=True)
    width: int = parameter(256, "number N of units", low=16, high=8192)
    epochs: int = parameter(200, "steps of gradient descent", low=20, high=100_000)
    duration: int = parameter(201, "length T of a trial", low=10, high=10_000)
    rate: float = parameter(0.004, "η₀ẑ: the rate is this times (1 − g²)²/ẑ", low=1e-6, high=1.0)
    fraction: float = parameter(
        0.05, "of the initial loss: when a network has learned", low=1e-6, high=0.9
    )


class FigS4(Experiment):
    """Shares of networks that learn, get stuck and diverge, and the eigenvalue that decides."""

    id = "connectivity/figs4"
    paper = "connectivity"
    figure = "Figure S4"
    summary = "the gradient explodes where an eigenvalue of W crosses one: who survives it"
    version = 1
    Config = FigS4Config
    presets: ClassVar[Mapping[str, FigS4Config]] = {
        "smoke": FigS4Config(
            width=48, target=(4.0,), g=(0.0, 0.8), epochs=120, duration=101, seed=(0, 1, 2)
        ),
        "quick": FigS4Config(width=128, g=(0.0, 0.8)),
        "paper": FigS4Config(),
    }
    batch_by = (TARGET, STRENGTH)

    def variables(self, config: FigS4Config) -> dict[str, Variable]:
        """Curves, leading eigenvalues, the epochs of crossing and of the largest gradient."""
        return {
            "outcome": OUTCOME,
            "fate": Variable((), "1", "smooth, recovered, stuck or diverged", "str"),
            "loss": Variable((STEP,), "1", "loss / initial loss"),
            "gradient": Variable((STEP,), "1", "norm of the gradient / initial norm"),
            "real_parts": Variable((STEP, MODE), "1", "largest real parts of W's eigenvalues"),
            "crossing": Variable((), "1", "first epoch with a real part above one"),
            "peak": Variable((), "1", "epoch of the largest finite gradient"),
        }

    def coordinates(self, config: FigS4Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """Epochs, and the numbers of the eigenvalues."""
        return {STEP: np.arange(config.epochs + 1), MODE: np.arange(1, SHOWN + 1)}

    def cell(self, batch: Batch, config: FigS4Config) -> Mapping[str, Any]:
        """Train all seeds of one target and strength."""
        from tacit.experiments.connectivity._explosion_runs import explosion_runs

        return explosion_runs(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: FigS4Config) -> list[Claim]:
        """Who learns, and that the eigenvalue and the gradient go together."""
        found = []
        for target in config.target:
            for g in config.g:
                fates = dataset["fate"].sel({TARGET: target, STRENGTH: g}).values
                learned = int(np.isin(fates, ("smooth", "recovered")).sum())
                if (target, g) == HARD:
                    found += _hard(fates, learned, config.epochs)
                else:
                    found.append(
                        claim_about_fraction(
                            learned,
                            len(fates),
                            name=f"learned, ẑ = {target:g}, g = {g:g}",
                            statement=f"For ẑ = {target:g} and g = {g:g}, half of the networks or "
                            f"more have learned after {config.epochs} epochs.",
                            place="Figure S4(a), (b)",
                            at_least=0.5,
                        )
                    )
        return found + _together(dataset)

    def draw(
        self, dataset: "xarray.Dataset", config: FigS4Config, claims: Sequence[Claim]
    ) -> Figure:
        """Losses, shares, eigenvalues, and the gradient around the crossing."""
        from tacit.experiments.connectivity._explosion_draw import explosion_panels

        return Figure(
            "A step over an eigenvalue of one throws a linear network off its way",
            explosion_panels(dataset, config),
            columns=3,
            caption=(
                f"N = {config.width}, T = {config.duration}, plain gradient descent on W in single "
                f"precision, η = {config.rate:g}(1 − g²)²/ẑ, {dataset.sizes[SEED]} seeds. "
                "Diverged: beyond the range of the numbers. Stuck: the loss of the last epochs is "
                f"above {config.fraction:.0%} of the initial one. Recovered: learned after a jump "
                "of the loss. Smooth: learned without one."
            ),
        )


def _hard(fates: np.ndarray, learned: int, epochs: int) -> list[Claim]:
    """The shares at the paper's hard setting."""
    where = "For ẑ = 4 and g = 0.8"
    count = len(fates)
    return [
        claim_about_fraction(
            count - learned,
            count,
            name="failed, ẑ = 4, g = 0.8",
            statement=f"{where}, learning fails: after {epochs} epochs half of the networks or "
            "more have diverged or are stuck.",
            place="Figure S4(b)",
            at_least=0.5,
        ),
        claim_about_fraction(
            int((fates == "diverged").sum()),
            count,
            name="some diverge, ẑ = 4, g = 0.8",
            statement=f"{where}, failing is not always divergence: less than 95% of the networks "
            "diverge.",
            place="Figure S4(b) (ours)",
            at_most=0.95,
        ),
        claim_about_fraction(
            learned,
            count,
            name="some learn, ẑ = 4, g = 0.8",
            statement=f"{where}, some networks learn all the same: 5% of them or more.",
            place="Figure S4(b) (ours)",
            at_least=0.05,
        ),
    ]


def _together(dataset: "xarray.Dataset") -> list[Claim]:
    """Over all networks: crossing, explosion, divergence."""
    fates = dataset["fate"].values.ravel()
    crossing, peak = (dataset[name].values.ravel() for name in ("crossing", "peak"))
    crossed = np.isfinite(crossing)
    diverged = fates == "diverged"
    apart = np.abs(peak - crossing)[crossed]
    return [
        claim_about_fraction(
            int((crossed & diverged).sum()),
            int(diverged.sum()),
            name="divergence needs a crossing",
            statement="In half of the networks that diverge or more, an eigenvalue of W has "
            "crossed one before.",
            place="Figure S4(c)–(f)",
            at_least=0.5,
        ),
        claim_about_fraction(
            int((~crossed & diverged).sum()),
            int((~crossed).sum()),
            name="no crossing, no divergence",
            statement="Of the networks whose eigenvalues stay below one, a tenth at most diverge.",
            place="Figure S4(c)–(f)",
            at_most=0.1,
        ),
        claim_about_median(
            apart,
            name="explosion at the crossing",
            statement="In networks with a crossing, the gradient is largest within 2 epochs of it, "
            "in the median.",
            place="Figure S4",
            at_most=2,
        ),
    ]
