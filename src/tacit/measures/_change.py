"""What training did to a weight matrix: ΔW = W − W₀, its spectrum, its truncations, its control."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import ANY, SEEDS, door, each, function, number, real, whole
from tacit._types import precise
from tacit.measures._namespace import AnyArray, as_real, finite, namespace_of
from tacit.measures._ranks import singular_values


@door()
@precise
def change_singular_values(initial: ArrayLike, final: ArrayLike) -> AnyArray:
    """The singular values of ΔW = final − initial, the largest first."""
    return singular_values(_difference(initial, final))


@door(rank=ANY)
@precise
def truncated(matrix: ArrayLike, rank: int) -> AnyArray:
    """The best approximation of a matrix by one of `rank` at most; rank 0 gives zero (4)."""
    checked = finite("matrix", as_real("matrix", matrix, (2,), "a matrix (rows, columns)"))
    _check_rank(rank)
    xp = namespace_of(checked)
    U, values, Vt = xp.linalg.svd(checked, full_matrices=False)
    return (U[:, :rank] * values[:rank]) @ Vt[:rank]


@door(rank=ANY)
@precise
def with_truncated_change(initial: ArrayLike, final: ArrayLike, rank: int) -> AnyArray:
    """W₀ + ΔW truncated at a rank: the initial matrix is kept whole."""
    start = as_real("initial", initial, (2,), "a matrix (rows, columns)")
    return start + truncated(_difference(initial, final), rank)


@door(ranks=each(whole()))
def truncations(matrix: ArrayLike, ranks: Iterable[int]) -> Iterator[np.ndarray]:
    """`truncated(matrix, R)` for every rank R in turn, float64; one decomposition serves all."""
    checked = np.asarray(as_real("matrix", matrix, (2,), "a matrix (rows, columns)"), np.float64)
    U, values, Vt = np.linalg.svd(finite("matrix", checked), full_matrices=False)
    for rank in ranks:
        _check_rank(rank)
        yield (U[:, :rank] * values[:rank]) @ Vt[:rank]


@door(answer="any", loss=function, initial=real(2), final=real(2), ranks=each(whole()))
def truncation_losses(
    loss: Callable[[Any], Any], initial: ArrayLike, final: ArrayLike, ranks: Iterable[int]
) -> np.ndarray:
    """loss(W₀ + ΔW truncated at R) for every rank R; one decomposition serves all.

    `loss` takes a matrix in the dtype of `final`; losses need not fall with the rank.
    """
    start = finite("initial", np.asarray(initial, np.float64))
    change = np.asarray(_difference(initial, final), np.float64)
    kind = np.asarray(final).dtype
    kind = kind if kind.kind == "f" else np.dtype(np.float64)
    return np.array(
        [float(loss((start + part).astype(kind))) for part in truncations(change, ranks)]
    )


@door(initial=number(above=0), fraction=number(above=0, below=1))
def functional_rank(
    losses: ArrayLike, *, initial: float | None = None, fraction: float = 0.05
) -> int | None:
    """The smallest rank at which the truncated network works.

    **Arguments:**

    - `losses`: loss with ΔW truncated at rank 0, 1, 2, …
    - `initial`: the loss before training, which the paper's text compares with. None compares with
      losses[0], as its public code does: rank 0, but input and output maps trained.
    - `fraction`: of it; the loss must have fallen below that.

    None if no rank is enough. The loss at higher ranks may rise again; the first one counts.
    """
    values = np.asarray(as_real("losses", losses, (1,), "losses at ranks 0, 1, 2, …"), np.float64)
    if not 0 < fraction < 1:
        raise ValueError(f"fraction: received {fraction!r}, it must lie between 0 and 1")
    scale = float(values[0] if initial is None else initial)
    if not scale > 0:
        name = "losses[0]" if initial is None else "initial"
        raise ValueError(
            f"{name}: received {scale!r}, it must be positive: there was nothing to learn"
        )
    enough = np.flatnonzero(values < fraction * scale)
    return int(enough[0]) if enough.size else None


@door(seed=whole(0, SEEDS))
@precise
def shuffled(matrix: ArrayLike, *, seed: int) -> AnyArray:
    """All elements of a matrix permuted at random: the same entries, no structure."""
    checked = as_real("matrix", matrix, (2,), "a matrix (rows, columns)")
    order = np.random.default_rng(seed).permutation(checked.size)
    return checked.reshape(-1)[order].reshape(checked.shape)


@door()
@precise
def eigenvalues(matrix: ArrayLike) -> np.ndarray:
    """The eigenvalues of a square matrix, by falling real part; conjugates with Im > 0 first.

    Those of W₀ with independent N(0, g²/N) entries fill the circle of radius g. An array of JAX in
    float64 on the CPU is decomposed by JAX, which lets other threads go on meanwhile.
    """
    given = as_real("matrix", matrix, (2,), "a square matrix")
    checked = np.asarray(given, np.float64)
    finite("matrix", checked)
    if checked.shape[0] != checked.shape[1]:
        raise ValueError(f"matrix: received the shape {checked.shape}, it must be square")
    by_jax = isinstance(given, jax.Array) and given.dtype == np.float64 and _on_cpu(given)
    found = np.asarray(jnp.linalg.eigvals(given) if by_jax else np.linalg.eigvals(checked))
    found = found.astype(np.complex128)
    return found[np.lexsort((-found.imag, -found.real))]


def _on_cpu(array: jax.Array) -> bool:
    return {device.platform for device in array.devices()} == {"cpu"}


@door(radius=number(0), margin=number(0))
def outlying_eigenvalues(matrix: ArrayLike, radius: float, *, margin: float = 0.1) -> np.ndarray:
    """The eigenvalues further than `margin` outside the circle of `radius`, by falling modulus.

    A margin of 0.1 is what the edge of the circle moves by at N of a few hundred.
    """
    if not radius >= 0 or not margin >= 0:
        raise ValueError(
            f"radius and margin: received {radius!r} and {margin!r}, they must not be negative"
        )
    found = eigenvalues(matrix)
    outside = found[np.abs(found) > radius + margin]
    return outside[np.argsort(-np.abs(outside), kind="stable")]


@door(
    answer="any",
    fraction=number(above=0, below=1),
    initial=number(),
    window=whole(1),
    sustained=whole(1),
)
def epochs_to_fraction(
    losses: ArrayLike,
    *,
    fraction: float = 0.05,
    initial: float | None = None,
    window: int = 5,
    sustained: int = 10,
) -> float:
    """When the loss falls below `fraction` of its start for good: an epoch, or infinity.

    Losses on fresh trials jump, and one lucky batch is not a success. They are smoothed by a
    centred mean over `window` epochs (fewer at the ends); the result is the first epoch from which
    the smoothed loss stays below for `sustained` epochs, or to the end if that comes first.

    **Arguments:**

    - `losses`: of epochs 0, 1, 2, …; the first is before any update.
    - `initial`: the loss to compare with; losses[0] if None.
    """
    values = np.asarray(as_real("losses", losses, (1,), "losses of epochs"), np.float64)
    if not 0 < fraction < 1:
        raise ValueError(f"fraction: received {fraction!r}, it must lie between 0 and 1")
    for name, count in (("window", window), ("sustained", sustained)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"{name}: received {count!r}, it must be a positive integer")
    scale = float(values[0] if initial is None else initial)
    weights = np.ones(min(window, values.size))
    smooth = np.convolve(values, weights, "same") / np.convolve(
        np.ones(values.size), weights, "same"
    )
    below = smooth < fraction * scale  # False where NaN: a diverged run has not arrived
    until = np.concatenate([np.flatnonzero(~below), [values.size]])
    for epoch in np.flatnonzero(below):
        run = until[np.searchsorted(until, epoch)] - epoch
        if run >= min(sustained, values.size - epoch):
            return float(epoch)
    return float("inf")


def _difference(initial: ArrayLike, final: ArrayLike) -> AnyArray:
    start = as_real("initial", initial, (2,), "a matrix (rows, columns)")
    end = as_real("final", final, (2,), "a matrix (rows, columns)")
    if start.shape != end.shape:
        raise ValueError(
            f"initial and final: received {start.shape} and {end.shape}, they must match"
        )
    return finite("final − initial", end - start)


def _check_rank(rank: Any) -> None:
    integer = isinstance(rank, int | np.integer | jax.Array) and not isinstance(rank, bool)
    if not integer or int(rank) < 0:
        raise ValueError(f"rank: received {rank!r}, it must be an integer from 0 on")
