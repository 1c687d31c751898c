"""Sentences in groups, and batches of them: against plain computations, alone and in lanes."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.descent import Lanes, Stop, descend
from tacit.models import StackedLSTM
from tacit.problems import Seeded, SentenceBatches, Sentences


def made(*, groups=2, least=1, count=24, seed=0):
    """Sentences of one to four words, liked if they begin with a word of even number."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(1, 9, size=rng.integers(1, 5)) for _ in range(count)]
    labels = np.array([row[0] % 2 for row in rows])
    vectors = np.concatenate([np.zeros((1, 3)), rng.normal(size=(8, 3))])
    return rows, labels, Sentences.of(rows, labels, vectors, groups=groups, least=least)


def network(seed=0):
    model = StackedLSTM.random(4, layers=1, inputs=3, key=jax.random.key(seed))
    return Seeded(model, jnp.int32(seed))


def same_key(key, count):
    return Lanes(jnp.stack([key] * count))


def test_loss_and_accuracy_are_those_of_one_sentence_after_another():
    rows, labels, sentences = made()
    model = network().model
    table = np.asarray(sentences.vectors)
    scores = np.array(
        [float(model.outputs_after(table[row][None], [row.size])[0, 0]) for row in rows]
    )
    chance = 1 / (1 + np.exp(-scores))
    expected = -np.mean(np.log(np.where(labels == 1, chance, 1 - chance)))
    loss, accuracy = eqx.filter_jit(sentences.loss_and_accuracy)(model)
    assert float(loss) == pytest.approx(expected, rel=1e-5)
    assert float(accuracy) == pytest.approx(np.mean((scores > 0) == (labels == 1)))
    assert sum(sentences.counts) == len(rows)


def test_loss_with_dropout_is_another_draw_for_every_key():
    _, _, sentences = made()
    model = network().model
    losses = [
        float(sentences.loss_and_accuracy(model, dropout=0.5, key=jax.random.key(number))[0])
        for number in (0, 0, 1)
    ]
    assert losses[0] == losses[1] != losses[2]
    assert losses[0] != float(sentences.loss_and_accuracy(model)[0])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 5))
def test_no_other_cut_pads_less(lengths, most, least):
    lengths, least = np.array(lengths), min(least, len(lengths))
    rows = [np.zeros(length, int) for length in lengths]
    sentences = Sentences.of(rows, np.zeros(len(rows)), [[1.0]], groups=most, least=least)
    found = [group.words.shape[1] for group in sentences.groups]
    sizes = np.unique(lengths)

    def cost(bounds):
        places = np.searchsorted(bounds, lengths)
        members = np.bincount(places, minlength=len(bounds))
        return np.inf if members.min() < least else np.array(bounds)[places].sum()

    every = [
        (*inner, sizes[-1])
        for count in range(most)
        for inner in itertools.combinations(sizes[:-1], count)
    ]
    assert found[-1] == sizes[-1]
    assert cost(found) == min(cost(bounds) for bounds in every)


def test_a_group_comes_up_in_proportion_to_its_size():
    _, _, sentences = made(groups=2, least=6)
    problem = SentenceBatches(sentences, 6)
    longest = [group.words.shape[1] for group in sentences.groups]

    def length(problem, group, model, key):
        return jnp.float32(group.words.shape[1])

    keys = jax.random.split(jax.random.key(3), 2000)
    found = jax.jit(
        lambda keys: jax.lax.map(lambda key: problem._together(length, network(), key), keys)
    )(keys)
    shares = [np.mean(np.asarray(found) == each) for each in longest]
    expected = np.array(sentences.counts) / sum(sentences.counts)
    np.testing.assert_allclose(shares, expected, atol=4 * 0.5 / np.sqrt(2000))


def test_a_batch_repeats_no_sentence():
    _, _, sentences = made(groups=1)
    problem = SentenceBatches(sentences, sum(sentences.counts))
    whole, _ = sentences.loss_and_accuracy(network().model)
    for number in range(2):  # a batch of all is all, in any order
        loss = problem.loss(network(), key=jax.random.key(number))
        assert float(loss) == pytest.approx(float(whole), rel=1e-5)


@pytest.fixture(scope="module")
def lanes():
    """Three networks, and what each of them gives alone, for keys that choose either group."""
    _, _, sentences = made(groups=2, least=6)
    problem = SentenceBatches(sentences, 6, 0.5)
    models = [network(seed) for seed in (0, 1, 2)]
    alone = jax.jit(lambda model, key: problem.loss_and_gradient(model, key=key))
    keys = [jax.random.key(number) for number in range(4)]
    return problem, models, keys, [[alone(model, key) for model in models] for key in keys]


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_lanes_are_single_models(lanes, backend, monkeypatch):
    """One after the other, as on a CPU, and together, as on a GPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    problem, models, keys, alone = lanes
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    together = jax.jit(jax.vmap(lambda model, key: problem.loss_and_gradient(model, key=key)))
    for key, single in zip(keys, alone, strict=True):
        losses, gradients = together(stacked, same_key(key, 3).tree)
        assert len(np.unique(np.asarray(losses))) == 3  # batches and dropout of their own
        for lane, (loss, gradient) in enumerate(single):
            assert float(losses[lane]) == pytest.approx(float(loss), rel=1e-5)
            for a, b in zip(jax.tree.leaves(gradients), jax.tree.leaves(gradient), strict=True):
                np.testing.assert_allclose(a[lane], b, rtol=1e-4, atol=1e-6)


def test_unequal_keys_are_no_number():
    _, _, sentences = made()
    problem = SentenceBatches(sentences, 2)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), network(0), network(1))
    keys = jax.random.split(jax.random.key(0), 2)
    losses = jax.vmap(lambda model, key: problem.loss(model, key=key))(stacked, keys)
    assert np.isnan(np.asarray(losses)).all()


def test_descent_learns_them_and_leaves_the_seed_alone():
    _, _, sentences = made(groups=1, count=64)
    models = [network(seed) for seed in (3, 4)]
    result = descend(
        Lanes.stack(models),
        SentenceBatches(sentences, 32, 0.1),
        optax.adam(0.05),
        stop=Stop(150),
        key=same_key(jax.random.key(1), 2),
    )
    for lane, model in enumerate(models):
        trained = result.model[lane]
        assert int(trained.seed) == int(model.seed)
        before, after = (sentences.loss_and_accuracy(each.model) for each in (model, trained))
        assert float(after[0]) < 0.3 * float(before[0])
        assert float(after[1]) > 0.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vectors": np.ones(3)}, "vectors"),
        ({"labels": [0, 2]}, "labels"),
        ({"labels": [0]}, "labels"),
        ({"sentences": [np.array([1]), np.array([5])]}, r"sentences\[1\]"),
        ({"sentences": [np.array([], int), np.array([1])]}, r"sentences\[0\]"),
        ({"groups": 0}, "groups"),
        ({"least": 3}, "least"),
    ],
)
def test_bad_sentences_are_refused_by_name(change, words):
    good = {
        "sentences": [np.array([1, 2]), np.array([0])],
        "labels": [0, 1],
        "vectors": np.ones((3, 2)),
    }
    Sentences.of(**good)
    with pytest.raises(ValueError, match=words):
        Sentences.of(**(good | change))
    with pytest.raises(ValueError, match="size"):
        SentenceBatches(Sentences.of(**good), 3)
