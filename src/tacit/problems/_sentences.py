"""Sentences with two labels, grouped by length, and the loss on batches of them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import check_fields, door, each, instance, key, number, plain, real, whole
from tacit._types import Array, Float, Int, PRNGKeyArray, PyTree, precise
from tacit.models import StackedLSTM
from tacit.problems._length_classes import length_classes
from tacit.problems._shapes import same_shape


class Group(NamedTuple):
    """Sentences of similar length, padded to one: rows of the table of word vectors."""

    words: Int[Array, "sentences time"]
    lengths: Int[Array, " sentences"]
    labels: Float[Array, " sentences"]


@final
class Sentences(eqx.Module):
    """Labelled sentences in a few groups by length, so that little is computed for padding.

    **Arguments:**

    - `vectors`: one row a word (words, inputs); they are given, not trained.
    - `groups`: the sentences, those of the shortest first.
    """

    vectors: Float[Array, "words inputs"]
    groups: tuple[Group, ...]

    @staticmethod
    @door(sentences=each(), labels=real(1), vectors=real(2), groups=whole(1), least=whole(1))
    def of(
        sentences: Sequence[np.ndarray],
        labels: ArrayLike,
        vectors: ArrayLike,
        *,
        groups: int = 4,
        least: int = 1,
    ) -> "Sentences":
        """From sentences as row numbers of `vectors` and labels 0 or 1.

        In `groups` groups at most, with `least` sentences in each at least; the bounds between them
        are those that pad least.
        """
        table, marks = np.asarray(vectors, np.float32), np.asarray(labels)
        if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
            raise ValueError(
                f"vectors: received shape {table.shape}, they must be finite, (words, inputs)"
            )
        if marks.shape != (len(sentences),) or not np.isin(marks, (0, 1)).all():
            raise ValueError(
                f"labels: received the shape {marks.shape}, they must be 0 or 1, one for each of "
                f"the {len(sentences)} sentences"
            )
        for place, sentence in enumerate(sentences):
            real(finite=False, empty=True)(f"sentences[{place}]", sentence)
        rows = [np.asarray(sentence) for sentence in sentences]
        for place, row in enumerate(rows):
            whole_numbers = row.dtype.kind in "iu"
            if (
                not whole_numbers
                or row.ndim != 1
                or row.size == 0
                or row.min() < 0
                or row.max() >= len(table)
            ):
                raise ValueError(
                    f"sentences[{place}]: received {row!r}, it must be one or more rows of "
                    f"vectors, from 0 to {len(table) - 1}"
                )
        lengths = np.array([row.size for row in rows])
        made, shortest = [], 0
        for longest in length_classes(lengths, groups, least):
            members = np.flatnonzero((lengths > shortest) & (lengths <= longest))
            words = np.zeros((members.size, longest), np.int32)
            for line, member in enumerate(members):
                words[line, : lengths[member]] = rows[member]
            made.append(
                Group(
                    jnp.asarray(words),
                    jnp.asarray(lengths[members].astype(np.int32)),
                    jnp.asarray(marks[members].astype(np.float32)),
                )
            )
            shortest = longest
        return Sentences(jnp.asarray(table), tuple(made))

    @property
    def counts(self) -> tuple[int, ...]:
        """Sentences in each group."""
        return tuple(group.lengths.shape[0] for group in self.groups)

    @precise
    def loss_and_accuracy(
        self, model: StackedLSTM, *, dropout: float = 0.0, key: PRNGKeyArray | None = None
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Mean binary cross-entropy, and the share of sentences told right.

        Without dropout, unless it is given as in `StackedLSTM.outputs_after`.
        """
        loss, right = jnp.float32(0), jnp.float32(0)
        for place, group in enumerate(self.groups):
            own = None if key is None else jax.random.fold_in(key, place)
            # Known when a program is compiled, and not to be looked up then and there.
            words = jax.lax.optimization_barrier(group.words)
            scores = model.outputs_after(
                self.vectors[words], group.lengths, dropout=dropout, key=own
            )
            scores = _only(scores, group.labels)
            loss += jnp.sum(cross_entropy(scores, group.labels))
            right += jnp.sum((scores > 0) == (group.labels > 0.5))
        return loss / sum(self.counts), right / sum(self.counts)


@final
class Seeded(eqx.Module):
    """A model with the number that its own random draws come from; the number is not trained."""

    model: StackedLSTM
    seed: Int[Array, ""]


@final
class SentenceBatches(eqx.Module):
    """Mean binary cross-entropy on a batch of sentences of similar length, drawn at every step.

    A group comes up in proportion to its size, and the batch is drawn from it without repetition,
    so all sentences come up equally often; an epoch is as many sentences as there are. Unlike in
    an epoch that goes through all of them, some are seen twice meanwhile and some not at all.

    `Lanes` of models must be given one key for all: it chooses the group, the same for all lanes,
    so that a step computes one length. The sentences within it and the dropout come from the
    models' own seeds. With unequal keys the loss is NaN. Lanes run together on a GPU and one
    after the other on a CPU, whose matrix products then stay whole.

    **Arguments:**

    - `sentences`: what the batches are drawn from.
    - `size`: sentences in a batch.
    - `dropout`: as in `StackedLSTM.outputs_after`.
    """

    sentences: Sentences
    size: int = eqx.field(static=True, default=64, converter=plain)
    dropout: float = eqx.field(static=True, default=0.0, converter=plain)

    stochastic = True

    def __check_init__(self) -> None:
        check_fields(self, sentences=instance(Sentences), size=whole(1), dropout=number(0, below=1))
        if min(self.sentences.counts) < self.size:
            raise ValueError(
                f"size: received {self.size}, it must not exceed the sentences in a group, "
                f"{min(self.sentences.counts)} in the smallest; make the groups with "
                f"least={self.size}"
            )

    @door(model=instance(Seeded), key=key)
    @precise
    def loss(self, model: Seeded, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """The loss on the batch that `key` and the model's seed draw."""
        return self._together(SentenceBatches._loss, model, key)

    @precise
    def loss_and_gradient(
        self, model: Seeded, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Seeded]:
        """The loss and its derivatives."""
        return self._together(SentenceBatches._loss_and_gradient, model, key)

    def _loss(self, group: Group, model: Seeded, key: PRNGKeyArray) -> Float[Array, ""]:
        batch_key, dropout_key = jax.random.split(jax.random.fold_in(key, model.seed))
        rows = jax.random.permutation(batch_key, group.lengths.shape[0])[: self.size]
        scores = model.model.outputs_after(
            self.sentences.vectors[group.words[rows]],
            group.lengths[rows],
            dropout=self.dropout,
            key=dropout_key,
        )
        labels = group.labels[rows]
        return jnp.mean(cross_entropy(_only(scores, labels), labels))

    def _loss_and_gradient(
        self, group: Group, model: Seeded, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Seeded]:
        moving, fixed = eqx.partition(model, eqx.is_inexact_array)
        return jax.value_and_grad(
            lambda moving: self._loss(group, eqx.combine(moving, fixed), key)
        )(moving)

    def _together(self, of_one: Callable[..., Any], model: Seeded, key: PRNGKeyArray) -> Any:
        """`of_one` in the group that the key chooses; lanes of models choose one between them."""
        data, data_rest = eqx.partition(self, eqx.is_array)
        arrays, model_rest = eqx.partition(model, eqx.is_array)
        each = jax.lax.map if jax.default_backend() == "cpu" else _vmapped
        shares = np.cumsum(self.sentences.counts)[:-1] / sum(self.sentences.counts)

        def switch(data: PyTree, models: PyTree, seed: Array, lanes: bool) -> Any:
            key = jax.random.wrap_key_data(seed)
            group_key, draw_key = jax.random.split(key)
            chosen = jnp.sum(jax.random.uniform(group_key) >= jnp.asarray(shares, jnp.float32))

            def branch(place: int) -> Callable[[PyTree, PyTree], Any]:
                def run(data: PyTree, models: PyTree) -> Any:
                    problem = eqx.combine(data, data_rest)
                    group = problem.sentences.groups[place]

                    def one(arrays: PyTree) -> Any:
                        return of_one(problem, group, eqx.combine(arrays, model_rest), draw_key)

                    return each(one, models) if lanes else one(models)

                return run

            places = range(len(self.sentences.groups))
            return jax.lax.switch(chosen, [branch(place) for place in places], data, models)

        @jax.custom_batching.custom_vmap
        def value(data: PyTree, arrays: PyTree, seed: Array) -> Any:
            return switch(data, arrays, seed, lanes=False)

        @value.def_vmap
        def _(count: int, batched: Any, data: PyTree, arrays: PyTree, seed: Array) -> Any:
            if any(jax.tree.leaves(batched[0])):
                raise ValueError("loss_or_problem must be one problem for all lanes of sentences")
            arrays = jax.tree.map(
                lambda leaf, has: leaf if has else jnp.broadcast_to(leaf, (count, *leaf.shape)),
                arrays,
                batched[1],
            )
            first = seed[0] if batched[2] else seed
            found = switch(data, arrays, first, lanes=True)
            found = jax.tree.map(
                lambda leaf: jnp.where(jnp.all(seed == first), leaf, jnp.nan), found
            )
            return found, jax.tree.map(lambda _: True, found)

        return value(data, arrays, jax.random.key_data(key))


def _vmapped(function: Callable[..., Any], arrays: PyTree) -> Any:
    return jax.vmap(function)(arrays)


def _only(scores: Float[Array, "sentences outputs"], labels: Array) -> Array:
    """The score of each sentence, of a model with one output."""
    wanted = (*labels.shape, 1)
    same_shape("model", scores, wanted, "scores (sentences, 1)", "give it one output")
    return scores[:, 0]


def cross_entropy(
    scores: Float[Array, " sentences"], labels: Float[Array, " sentences"]
) -> Float[Array, " sentences"]:
    """−log of the probability σ(score) or 1 − σ(score) that is given to the label."""
    return jax.nn.softplus(jnp.where(labels > 0.5, -scores, scores))
