"""`tacit new`: an experiment of one's own, to begin with."""

from pathlib import Path

from tacit._errors import UsageError
from tacit._files import write_atomically

_TEMPLATE = '''"""NAME: say here what is compared with what, and why."""

import jax
import optax

from tacit.descent import Lanes, Stop, descend
from tacit.draw import Axis, Figure, Panel, median_lines
from tacit.experiments import Claims, Experiment, Variable, at, fixed, swept


class CLASS(Experiment):
    """How near descent comes to its target, against the learning rate."""

    id, figure = "mine/NAME", "ours"

    # What is swept is an axis of the grid; every combination is a cell.
    rate: tuple[float, ...] = swept((0.003, 0.03, 0.3), "learning rate", low=0)
    seed: tuple[int, ...] = swept(range(20), "seed of the start", low=0)
    steps: int = fixed(100, "steps of descent", low=1)

    presets = {"smoke": dict(seed=range(2), steps=10), "quick": {}, "paper": dict(seed=range(100))}
    batch_by = "rate"  # cells with one rate are computed together

    def variables(self):
        """What is stored of each cell."""
        return {"error": Variable("distance from the target")}

    def cell(self, batch):
        """Compute a batch: a number for each of its cells."""
        starts = [jax.random.normal(jax.random.key(seed), (3,)) for seed in batch.column("seed")]

        def loss(model):
            return ((model - 1.0) ** 2).sum()

        method = optax.sgd(batch.one("rate"))
        result = descend(Lanes.stack(starts), loss, method, stop=Stop(self.steps))
        return {"error": result.loss**0.5, "outcome": result.outcome}

    def claims(self, runs):
        """What you expect; seeds decide it."""
        claim, errors = Claims("ours"), self.counted(runs, "error")
        words = "At the largest rate the error is at most a hundredth of that at the smallest."
        ratio = at(errors, rate=max(self.rate)) / at(errors, rate=min(self.rate))
        claim.median("a larger rate helps", ratio, at_most=0.01, says=words)
        return claim

    def draw(self, runs):
        """The figure, from what is stored."""
        lines = median_lines(self.counted(runs, "error"), "rate")
        axes = Axis("learning rate", scale="log"), Axis("error", scale="log")
        return Figure("NAME", [Panel("after descent", *axes, lines)])
'''


def run(file: Path, *, force: bool) -> int:
    """Write a file with an experiment that runs as it is."""
    if file.suffix != ".py" or not file.stem.isidentifier():
        raise UsageError(
            f"new: received {str(file)!r}, give a file whose name Python can import: my_idea.py"
        )
    if file.exists() and not force:
        raise UsageError(f"new: {str(file)!r} is there already; --force writes over it")
    words = file.stem.strip("_").lower().split("_")
    name, kind = "-".join(filter(None, words)), "".join(word.capitalize() for word in words)
    if not name or not name[0].isalpha() or not name.isascii():
        raise UsageError(f"new: received {str(file)!r}, its name must begin with a letter a to z")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, _TEMPLATE.replace("CLASS", kind).replace("NAME", name).encode())
    print(f"{file}: an experiment that runs. Try it, then change it:")
    print(f"  tacit reproduce {file} --preset smoke")
    print(f"  tacit reproduce {file}")
    return 0
