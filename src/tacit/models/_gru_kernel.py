"""The two loops of a GRU as one GPU kernel each, for a whole batch of sequences.

On a GPU a step of `_gru_states` is a product of (batch × d) and (d × 3d) matrices and several small
kernels around it, whose starts and whose traffic through memory take longer than the product. Here
sixteen sequences of a network are one program of the grid, which goes through all steps by itself:
states are written once, and the next step's product reads them back from the nearest cache, where
the weights of its network stay too. Tiles are powers of two and reach beyond the arrays; what lies
there is neither read nor written, and counts as zero.

Products go through tensor cores, as in `_rate_kernel`, with numbers split here: the compiler's own
threefold product looks for infinities in its parts, which takes half as many instructions again.
The weights' gradients are sums over all steps and sequences, made afterwards: one large product.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

from tacit._types import Array
from tacit.models import _rate_kernel


class Tiles(NamedTuple):
    """How a kernel cuts its work: sequences a program, columns and terms at a time, warps."""

    rows: int = 16
    columns: int = 128
    terms: int = 16
    warps: int = 4


TILES = Tiles()
_FEW = 8  # input channels, which are summed within a step
_LEAST = 16  # of a tile's sides
# Where the kernels were measured to be faster than the compiler's loops: up to seven tiles of terms
# a product (at 200 units they take longer), and enough sequences, of all networks together, to keep
# the GPU's processors busy (of 800 both take the same time; one network alone takes longer).
_WIDEST = 112
_ENOUGH = 1024


class Cotangents(NamedTuple):
    """Of what multiplies the states (δr, δz, δq) at the first step and one step later, and δn."""

    first: Array  # (1, batch, 3, d)
    later: Array  # (time, batch, 3, d); zero at the last step
    candidates: Array  # (time, batch, d)


def serves(inputs: Array, U: Array) -> bool:
    """Whether the kernels take such networks if there are many: float32, not wide, on such a GPU.

    `inputs` is (time, batch, inputs).
    """
    if not (_rate_kernel.INTERPRET or _rate_kernel.tensor_cores()):
        return False
    steps, batch, channels = inputs.shape
    small = U.shape[1] <= _WIDEST and channels <= _FEW
    return U.dtype == jnp.float32 and small and batch >= TILES.rows and steps > 1


def if_many(
    kernel: Callable[..., Any], loop: Callable[..., Any], batch: int, *arrays: Array
) -> Any:
    """The kernel's result where `vmap` makes many sequences of this, and the loop's elsewhere.

    `vmap` may come after tracing, so the precision of products is kept from here.
    """
    chosen = getattr(jax.config, "jax_default_matmul_precision", None)
    run = custom_vmap(loop)

    @run.def_vmap
    def many(lanes: int, batched: list[bool], *arrays: Array) -> tuple[Any, Any]:
        with jax.default_matmul_precision(chosen):
            way = kernel if lanes * batch >= _ENOUGH else loop
            found = jax.vmap(way, [0 if each else None for each in batched])(*arrays)
        return found, jax.tree.map(lambda _: True, found)

    return run(*arrays)


def forward(
    inputs: Array, W: Array, U: Array, b: Array, c: Array, *, keep: bool
) -> tuple[Array, ...]:
    """The states after each step, (time, batch, d), and r, z, n, q of each if they are kept."""
    (steps, batch, channels), size = inputs.shape, U.shape[1]
    shape = jax.ShapeDtypeStruct((steps, batch, size), U.dtype)
    rows, biases = W.T.reshape(channels, 3, size), b.reshape(3, size)
    arrays = inputs, rows, _padded(U.reshape(3, size, size)), biases, c
    return tuple(_call(_forward, [shape] * (5 if keep else 1), batch, size, *arrays))


def backward(U: Array, gates: tuple[Array, ...], states: Array, by_states: Array) -> Cotangents:
    """The cotangents of all steps."""
    steps, batch, size = states.shape
    shapes = (1, batch, 3, size), (steps, batch, 3, size), (steps, batch, size)
    wanted = [jax.ShapeDtypeStruct(shape, U.dtype) for shape in shapes]
    transposed = _padded(U.reshape(3, size, size).swapaxes(1, 2))
    found = _call(_backward, wanted, batch, size, transposed, *gates, states, by_states)
    return Cotangents(*found)


def gradients(
    found: Cotangents, inputs: Array, W: Array, states: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The derivatives by inputs, W, U, b and c."""
    (_, batch, size), channels = states.shape, inputs.shape[2]
    first, later = (part.reshape(-1, batch, 3 * size) for part in (found.first, found.later))
    by_U = jnp.einsum("tbg,tbf->gf", later, states)
    factors = jnp.concatenate([inputs, jnp.ones_like(inputs[:, :, :1])], axis=2)
    following = jnp.concatenate([factors[1:], factors[:1].at[:, :, :channels].set(0)])
    inner = jnp.einsum("tbg,tbf->fg", later, following)
    inner += jnp.einsum("tbg,tbf->fg", first, factors[:1])
    candidates = jnp.einsum("tbg,tbf->fg", found.candidates, factors)
    outer = jnp.concatenate([inner[:, : 2 * size], candidates], axis=1)
    gates = jnp.concatenate([first, later[:-1]])[:, :, : 2 * size]
    by_inputs = jnp.concatenate([gates, found.candidates], axis=2) @ W
    return by_inputs, outer[:channels].T, by_U, outer[-1], inner[-1, 2 * size :]


class _Side(NamedTuple):
    """Places along one side of a tile, and which of them lie within the array if not all do."""

    at: Array
    within: Array | None


class _Matrix(NamedTuple):
    """One matrix of an array, [at, :, :], or [at, :, gate, :] of one with four axes."""

    ref: Any
    at: Any
    gate: int | None = None

    def part(self, down: _Side, across: _Side) -> Any:
        """Some rows and columns of it."""
        between = () if self.gate is None else (self.gate,)
        return self.ref.at[(self.at, down.at[:, None], *between, across.at[None, :])]


class _Tools(NamedTuple):
    """What a kernel takes from Pallas, and how its work is cut."""

    program: Callable[[int], Any]
    load: Callable[..., Any]
    store: Callable[..., None]
    barrier: Callable[[], None]
    precision: Any
    tiles: Tiles

    def sequences(self, batch: int) -> _Side:
        """Those of this program."""
        return _side(self.program(0) * self.tiles.rows, self.tiles.rows, batch)

    def cuts(self, size: int) -> list[_Side]:
        """The columns of a product, some at a time."""
        columns = self.tiles.columns
        return [_side(start, columns, size) for start in range(0, size, columns)]

    def zeros(self) -> Array:
        """A tile of them."""
        return jnp.zeros((self.tiles.rows, self.tiles.columns), jnp.float32)

    def read(self, place: Any, within: Array | None) -> Array:
        """What is there; zero beyond an array."""
        how = {} if within is None else {"mask": within, "other": 0.0}
        found: Array = self.load(place, **how)
        return found

    def tile(self, matrix: _Matrix, down: _Side, across: _Side) -> Array:
        """Part of a matrix."""
        return self.read(matrix.part(down, across), _within(down, across))

    def put(self, matrix: _Matrix, down: _Side, across: _Side, value: Array) -> None:
        """Writes part of a matrix."""
        within = _within(down, across)
        how = {} if within is None else {"mask": within}
        self.store(matrix.part(down, across), value, **how)

    def add_products(
        self, sums: list[Array], pairs: list[tuple[_Matrix, _Matrix]], rows: _Side, cut: _Side
    ) -> list[Array]:
        """left[rows] @ right[cut].T of each pair is added to its own sum, or to the only one."""
        size, terms = pairs[0][0].ref.shape[-1], self.tiles.terms

        def add(i: Any, sums: list[Array]) -> list[Array]:
            some, found, left = _side(i * terms, terms, size), list(sums), None
            for place, (matrix, right) in enumerate(pairs):
                if left is None or matrix is not pairs[place - 1][0]:
                    left = self.tile(matrix, rows, some)
                place %= len(found)
                found[place] += self.dot(left, self.read(right.part(cut, some), None))
            return found

        return lax.fori_loop(0, -(-size // terms), add, sums)

    def dot(self, left: Array, right: Array) -> Array:
        """left @ right.T; the small parts first where numbers are split."""
        if self.precision is not _rate_kernel.THREEFOLD:
            return _dot(left, right, self.precision)
        (much, little), (most, least) = _split(left), _split(right)
        multiply = functools.partial(_dot, precision=_rate_kernel.SINGLE)
        return multiply(little, most) + multiply(much, least) + multiply(much, most)


def _call(
    body: Callable[..., None], shapes: list[Any], batch: int, size: int, *arrays: Array
) -> Any:
    # Pallas takes a second to import and is needed on a GPU alone.
    pallas = importlib.import_module("jax.experimental.pallas")
    triton = importlib.import_module("jax.experimental.pallas.triton")
    interpret = _rate_kernel.INTERPRET
    barrier = _nothing if interpret else triton.debug_barrier
    tiles = _tiles(size)
    tools = _Tools(
        pallas.program_id, triton.load, triton.store, barrier, _rate_kernel.precision(), tiles
    )
    chosen = triton.CompilerParams(num_warps=tiles.warps, num_stages=1)
    call = pallas.pallas_call(
        functools.partial(body, tools),
        out_shape=shapes,
        grid=(-(-batch // tiles.rows),),
        compiler_params=None if interpret else chosen,
        interpret=interpret,
    )
    return call(*arrays)


def _padded(U: Array) -> Array:
    """Weights with zeros up to whole tiles, so that they are read without conditions."""
    tiles, size = _tiles(U.shape[1]), U.shape[1]
    return jnp.pad(U, ((0, 0), (0, -size % tiles.columns), (0, -size % tiles.terms)))


def _tiles(size: int) -> Tiles:
    enough = max(_LEAST, 1 << (size - 1).bit_length())
    columns = min(TILES.columns, enough)
    warps = max(1, TILES.warps * columns // TILES.columns)
    return TILES._replace(columns=columns, terms=min(TILES.terms, enough), warps=warps)


def _nothing() -> None:
    pass


def _side(start: Any, count: int, size: int) -> _Side:
    """So many places from the start on, of `size`."""
    at = start + jnp.arange(count, dtype=jnp.int32)
    inside = isinstance(start, int) and start + count <= size
    return _Side(at, None if inside or size % count == 0 else at < size)


def _within(down: _Side, across: _Side) -> Array | None:
    shape, found = (down.at.shape[0], across.at.shape[0]), None
    if down.within is not None:
        found = jnp.broadcast_to(down.within[:, None], shape)
    if across.within is not None:
        columns = jnp.broadcast_to(across.within[None, :], shape)
        found = columns if found is None else found & columns
    return found


def _dot(left: Array, right: Array, precision: Any) -> Array:
    dimensions = (((1,), (1,)), ((), ()))
    return lax.dot_general(
        left, right, dimensions, precision=precision, preferred_element_type=left.dtype
    )


def _split(whole: Array) -> tuple[Array, Array]:
    """The nearest number with eleven bits, and what is left."""
    bits = lax.bitcast_convert_type(whole, jnp.int32)
    much = lax.bitcast_convert_type((bits + 0x1000) & -0x2000, whole.dtype)
    return much, whole - much


def _forward(
    tools: _Tools, inputs: Any, W: Any, U: Any, b: Any, c: Any, states: Any, *gates: Any
) -> None:
    """One step after another; see `_gru_states` for the formulas."""
    steps, batch, size = states.shape
    rows, cuts = tools.sequences(batch), tools.cuts(size)

    def step(k: Any, inner: list[list[Array]], before: tuple[Array, ...]) -> tuple[Array, ...]:
        x = [
            tools.read(inputs.at[k, rows.at, i], rows.within)[:, None]
            for i in range(inputs.shape[2])
        ]

        def drive(gate: int, cut: _Side) -> Array:
            weights = [tools.read(W.at[i, gate, cut.at], cut.within) for i in range(len(x))]
            parts = [one * row[None, :] for one, row in zip(x, weights, strict=True)]
            bias = tools.read(b.at[gate, cut.at], cut.within)[None, :]
            return functools.reduce(jnp.add, parts) + bias

        found = []
        for cut, (by_r, by_z, by_n), h in zip(cuts, inner, before, strict=True):
            r, z = jax.nn.sigmoid(drive(0, cut) + by_r), jax.nn.sigmoid(drive(1, cut) + by_z)
            q = by_n + tools.read(c.at[cut.at], cut.within)[None, :]
            n = jnp.tanh(drive(2, cut) + r * q)
            h = (1 - z) * n + z * h
            for ref, value in zip((states, *gates), (h, r, z, n, q), strict=False):
                tools.put(_Matrix(ref, k), rows, cut, value)
            found.append(h)
        tools.barrier()
        return tuple(found)

    def later(k: Any, before: tuple[Array, ...]) -> tuple[Array, ...]:
        h = _Matrix(states, k - 1)
        pairs = [(h, _Matrix(U, gate)) for gate in range(3)]
        inner = [tools.add_products([tools.zeros()] * 3, pairs, rows, cut) for cut in cuts]
        return step(k, inner, before)

    start = tuple(tools.zeros() for _ in cuts)
    lax.fori_loop(1, steps, later, step(0, [[zero] * 3 for zero in start], start))


def _backward(
    tools: _Tools, U: Any, r: Any, z: Any, n: Any, q: Any, states: Any, given: Any,
    first: Any, later: Any, candidates: Any,
) -> None:  # fmt: skip
    """From the last step to the first; see `_gru_states` for the formulas."""
    steps, batch, size = states.shape
    rows, cuts = tools.sequences(batch), tools.cuts(size)

    def parts(k: Any, cut: _Side, adjoint: Array, h: Array) -> tuple[list[Array], Array]:
        """δr, δz and δq of a step, and what goes on without a product; δn is written."""
        R, Z, N, Q, by_state = (
            tools.tile(_Matrix(ref, k), rows, cut) for ref in (r, z, n, q, given)
        )
        adjoint = adjoint + by_state
        dn = adjoint * (1 - Z) * (1 - N * N)
        tools.put(_Matrix(candidates, k), rows, cut, dn)
        return [dn * Q * R * (1 - R), adjoint * (h - N) * Z * (1 - Z), dn * R], adjoint * Z

    def step(index: Any, adjoints: tuple[Array, ...]) -> tuple[Array, ...]:
        k = steps - 1 - index
        kept = []
        for cut, adjoint in zip(cuts, adjoints, strict=True):
            h = tools.tile(_Matrix(states, k - 1), rows, cut)
            inner, through = parts(k, cut, adjoint, h)
            for gate, value in enumerate(inner):
                tools.put(_Matrix(later, k - 1, gate), rows, cut, value)
            kept.append(through)
        tools.barrier()
        pairs = [(_Matrix(later, k - 1, gate), _Matrix(U, gate)) for gate in range(3)]
        return tuple(
            tools.add_products([through], pairs, rows, cut)[0]
            for cut, through in zip(cuts, kept, strict=True)
        )

    for cut in cuts:
        for gate in range(3):
            tools.put(_Matrix(later, steps - 1, gate), rows, cut, tools.zeros())
    last = lax.fori_loop(0, steps - 1, step, tuple(tools.zeros() for _ in cuts))
    for cut, adjoint in zip(cuts, last, strict=True):
        inner, _ = parts(0, cut, adjoint, tools.zeros())
        for gate, value in enumerate(inner):
            tools.put(_Matrix(first, 0, gate), rows, cut, value)
