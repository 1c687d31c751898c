"""LSTMs that learn SST-2, for the benchmark of checkpoints: four seeds as lanes of one program."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.data import Reviews
from tacit.descent import Lanes, Record, Stop, descend
from tacit.models import StackedLSTM
from tacit.problems import Seeded, SentenceBatches, Sentences

WIDTH, LAYERS, LONGEST, BATCH = 128, 2, 60, 64
_STARTS, _BATCHES = 8, 7  # what the keys are for


def start(seed: int, *, width: int = WIDTH, layers: int = LAYERS, inputs: int = 100) -> StackedLSTM:
    """The network that a seed gives, before training."""
    key = jax.random.fold_in(jax.random.key(_STARTS), seed)
    return StackedLSTM.random(width, layers=layers, inputs=inputs, key=key)


def tensors(model: StackedLSTM) -> dict[str, np.ndarray]:
    """The parameters by the names that PyTorch's `nn.LSTM` and `nn.Linear` would have."""
    named = {}
    layers = zip(model.input_weights, model.recurrent_weights, model.biases, strict=True)
    for layer, (W, U, b) in enumerate(layers):
        named[f"lstm.weight_ih_l{layer}"] = np.asarray(W)
        named[f"lstm.weight_hh_l{layer}"] = np.asarray(U)
        named[f"lstm.bias_l{layer}"] = np.asarray(b)
    named["readout.weight"] = np.asarray(model.readout)
    named["readout.bias"] = np.asarray(model.readout_bias)
    return named


def model_of(named: dict[str, np.ndarray]) -> StackedLSTM:
    """The network with these parameters."""
    layers = range(sum(name.startswith("lstm.bias") for name in named))
    return StackedLSTM(
        [named[f"lstm.weight_ih_l{layer}"] for layer in layers],
        [named[f"lstm.weight_hh_l{layer}"] for layer in layers],
        [named[f"lstm.bias_l{layer}"] for layer in layers],
        named["readout.weight"],
        named["readout.bias"],
    )


def sentences(split: str, *, groups: int = 4, least: int = 1, most: int | None = None) -> Sentences:
    """The sentences of a split in lower case; words that GloVe lacks are zero."""
    reviews = Reviews.read(cased=False, spread=0.0)
    rows, labels = reviews.chosen(split, longest=LONGEST, most=most)
    return Sentences.of(rows, labels, reviews.vectors, groups=groups, least=least)


def trained(
    seeds: list[int],
    *,
    steps: list[int],
    rate: float = 1e-3,
    dropout: float = 0.5,
    width: int = WIDTH,
    layers: int = LAYERS,
    most: int | None = None,
) -> list[list[dict[str, np.ndarray]]]:
    """For each seed the parameters after so many steps of Adam; step 0 is the start."""
    starts = [start(seed, width=width, layers=layers) for seed in seeds]
    train = sentences("train", least=BATCH, most=most)
    flat, unravel = jax.flatten_util.ravel_pytree(starts[0])
    assert flat.dtype == jnp.float32
    result = descend(
        Lanes.stack([Seeded(m, jnp.int32(s)) for m, s in zip(starts, seeds, strict=True)]),
        SentenceBatches(train, BATCH, dropout),
        optax.adam(rate),
        stop=Stop(max(steps)),
        record=Record(
            steps, {"all": lambda seeded: jax.flatten_util.ravel_pytree(seeded.model)[0]}
        ),
        key=Lanes(jnp.stack([jax.random.key(_BATCHES)] * len(seeds))),
        title=f"{len(seeds)} LSTMs",
    )
    recorded = np.asarray(result.records["all"])  # (lane, step, numbers)
    return [[tensors(unravel(jnp.asarray(row))) for row in lane] for lane in recorded]
