"""The two loops of a rate network as one GPU kernel each, for a whole batch of trials.

On a GPU a step of `_rate_recurrence` is a product of (batch × n) and (n × n) matrices and two or
three small kernels after it: with 256 networks, starting them and moving states through memory
takes twice as long as the products. Here a network is one program of the grid, which goes through
all steps by itself: states stay in registers, rates and adjoints are written once, and the next
step's product reads them back from the nearest cache. Networks that run at the same time leave
their W in the second-level cache.

Products go through tensor cores. Three TF32 products of split numbers have a smaller error than
float32 arithmetic (2.9e-7 against 6.0e-7 for N = 256), so they serve for `highest` too.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tacit._types import Array


class Tiles(NamedTuple):
    """How a kernel cuts its products: columns and terms at a time, warps, stages of loading."""

    columns: int = 256
    terms: int = 32
    warps: int = 8
    stages: int = 1


TILES = Tiles()
THREEFOLD = lax.DotAlgorithmPreset.TF32_TF32_F32_X3
SINGLE = lax.DotAlgorithmPreset.TF32_TF32_F32
_FEW = 8  # channels that are summed within a step
_MOST = 32 * 256  # states of a network, trials × units, that fit into registers
INTERPRET = False  # by Pallas's interpreter, which is slow and runs anywhere


def serves(W: Array, inputs: Array, channels: int) -> bool:
    """Whether the kernels can take such networks: float32, sizes in powers of two, on such a GPU.

    `inputs` is (time, batch, inputs); `channels` counts inputs or outputs, the more of them.
    """
    if not (INTERPRET or tensor_cores()):
        return False
    size, (steps, batch, _) = W.shape[0], inputs.shape
    powers = size & (size - 1) == 0 and batch & (batch - 1) == 0
    fits = size >= 32 and batch >= 16 and size * batch <= _MOST and steps > 1
    return W.dtype == jnp.float32 and powers and fits and channels <= _FEW


def tensor_cores() -> bool:
    """Whether JAX computes on an NVIDIA GPU that multiplies TF32 numbers: capability 8.0 or more.

    Other makers' GPUs call their capability by a name.
    """
    if jax.default_backend() != "gpu":
        return False
    major = str(getattr(jax.devices()[0], "compute_capability", "")).partition(".")[0]
    return major.isdigit() and int(major) >= 8


def precision() -> lax.DotAlgorithmPreset | lax.Precision:
    """What products are computed in, by JAX's own setting."""
    if INTERPRET:
        return lax.Precision.HIGHEST
    chosen = getattr(jax.config, "jax_default_matmul_precision", None)
    if isinstance(chosen, str) and chosen in lax.DotAlgorithmPreset.__members__:
        return lax.DotAlgorithmPreset[chosen]
    return THREEFOLD if chosen in ("highest", "float32") else SINGLE


def forward(
    nonlinearity: Callable[[Array], Array], dt: float, W: Array, W_in: Array, inputs: Array
) -> Array:
    """The rates r_k of every step, (time, batch, n), for a nonlinearity with φ(0) = 0."""
    steps, batch, _ = inputs.shape
    body = functools.partial(_forward, nonlinearity, dt, precision(), _tiles(W))
    shape = jax.ShapeDtypeStruct((steps, batch, W.shape[0]), W.dtype)
    return _call(body, shape, W.T, W_in.T, inputs)


def backward(
    slope: Callable[[Array], Array], dt: float, W: Array, values: Array, given: Array, rows: Array
) -> tuple[Array, Array]:
    """a_0, and a_{k+1} for every step k; g_k is given[k] @ rows, or given[k] if rows is empty."""
    body = functools.partial(_backward, slope, dt, precision(), _tiles(W))
    shapes = (
        jax.ShapeDtypeStruct(values.shape[1:], W.dtype),
        jax.ShapeDtypeStruct(values.shape, W.dtype),
    )
    return _call(body, shapes, W, values, given, rows)


def _tiles(W: Array) -> Tiles:
    size = W.shape[0]
    return TILES._replace(columns=min(TILES.columns, size), terms=min(TILES.terms, size))


def _call(body: Callable[..., None], shapes: Any, *arrays: Array) -> Any:
    # Pallas takes a second to import and is needed on a GPU alone.
    pallas = importlib.import_module("jax.experimental.pallas")
    triton = importlib.import_module("jax.experimental.pallas.triton")
    chosen = triton.CompilerParams(num_warps=TILES.warps, num_stages=TILES.stages)
    kernel = functools.partial(body, _nothing if INTERPRET else triton.debug_barrier)
    call = pallas.pallas_call(
        kernel,
        out_shape=shapes,
        compiler_params=None if INTERPRET else chosen,
        interpret=INTERPRET,
    )
    return call(*arrays)


def _nothing() -> None:
    pass


def _cuts(size: int, columns: int) -> list[Any]:
    return [slice(start, start + columns) for start in range(0, size, columns)]


def _product(left: Any, step: Any, right: Any, cut: slice, tiles: Tiles, how: Any) -> Array:
    """left[step] @ right[:, cut], some terms at a time.

    The parts are written out and added one by one: the compiler then loads the next ones of W
    while it multiplies. As a loop, with its loads in stages, the same took 1.5 times as long on an
    H200.
    """
    found = jnp.zeros((left.shape[1], tiles.columns), left.dtype)
    for terms in _cuts(right.shape[0], tiles.terms):
        found += jnp.dot(left[step, :, terms], right[terms, cut], precision=how)
    return found


def _spread(channels: Any, step: Any, rows: list[Array]) -> Array:
    """channels[step] @ rows, for a few channels."""
    parts = [channels[step, :, c][:, None] * row[None, :] for c, row in enumerate(rows)]
    return functools.reduce(jnp.add, parts)


def _forward(
    nonlinearity: Any, dt: float, how: Any, tiles: Tiles, barrier: Any,
    transposed: Any, maps: Any, inputs: Any, rates: Any,
) -> None:  # fmt: skip
    """x ← (1 − dt) x + dt (r Wᵀ + u W_iᵀ), r = φ(x)."""
    size, steps = transposed.shape[0], rates.shape[0]
    cuts = _cuts(size, tiles.columns)
    rows = [[maps[c, cut] for c in range(maps.shape[0])] for cut in cuts]

    first = tuple(dt * _spread(inputs, 0, own) for own in rows)
    for cut, x in zip(cuts, first, strict=True):
        rates[0, :, cut] = nonlinearity(x)
    barrier()

    def step(k: Any, states: tuple[Array, ...]) -> tuple[Array, ...]:
        moved = []
        for cut, own, x in zip(cuts, rows, states, strict=True):
            drive = _product(rates, k - 1, transposed, cut, tiles, how) + _spread(inputs, k, own)
            moved.append((1 - dt) * x + dt * drive)
        for cut, x in zip(cuts, moved, strict=True):
            rates[k, :, cut] = nonlinearity(x)
        barrier()
        return tuple(moved)

    lax.fori_loop(1, steps, step, first)


def _backward(
    slope: Any, dt: float, how: Any, tiles: Tiles, barrier: Any,
    W: Any, values: Any, given: Any, maps: Any, beginning: Any, later: Any,
) -> None:  # fmt: skip
    """a ← φ' (g + dt a W) + (1 − dt) a, from the last step to the first."""
    size, steps = W.shape[0], values.shape[0]
    cuts = _cuts(size, tiles.columns)
    rows = [[maps[c, cut] for c in range(maps.shape[0])] for cut in cuts]

    def by_rate(k: Any, cut: slice, own: list[Array]) -> Array:
        return _spread(given, k, own) if own else given[k, :, cut]

    def moved(k: Any, states: tuple[Array, ...]) -> tuple[Array, ...]:
        found = []
        for cut, own, a in zip(cuts, rows, states, strict=True):
            pulled = by_rate(k, cut, own) + dt * _product(later, k, W, cut, tiles, how)
            found.append(slope(values[k, :, cut]) * pulled + (1 - dt) * a)
        return tuple(found)

    last = tuple(
        slope(values[steps - 1, :, cut]) * by_rate(steps - 1, cut, own)
        for cut, own in zip(cuts, rows, strict=True)
    )
    for cut, a in zip(cuts, last, strict=True):
        later[steps - 1, :, cut] = jnp.zeros_like(a)
        later[steps - 2, :, cut] = a
    barrier()

    def step(index: Any, states: tuple[Array, ...]) -> tuple[Array, ...]:
        k = steps - 2 - index
        earlier = moved(k, states)
        for cut, new, old in zip(cuts, earlier, states, strict=True):
            # a_0 has a place of its own; a_1 is written again there.
            later[jnp.maximum(k - 1, 0), :, cut] = jnp.where(k > 0, new, old)
        barrier()
        return earlier

    states = lax.fori_loop(0, steps - 1, step, last)
    for cut, a in zip(cuts, states, strict=True):
        beginning[:, cut] = a
