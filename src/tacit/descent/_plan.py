"""Where the host steps in: segments of about constant wall time, cut at the record points."""

import dataclasses

import numpy as np

SECONDS = 0.4  # a segment's aim: short enough for a bar and for retirement, long against a call
FIRST = 64  # steps in the first segment, before anything is known of their cost
CAPACITY = 64  # record points in one segment at most


@dataclasses.dataclass
class Plan:
    """The steps at which a segment pauses. All segments have the same number of pauses, so that
    one program serves them: record points come first and the segment's end fills the rest.
    """

    budget: int
    record_steps: np.ndarray
    length: int = dataclasses.field(default_factory=lambda: FIRST)  # steps in the next segment
    recorded: int = 0

    @property
    def pauses(self) -> int:
        """Pauses in every segment: room for record points, and one for the end."""
        return 1 + min(self.record_steps.size, CAPACITY)

    def segment(self, clock: int) -> tuple[np.ndarray, int]:
        """The pauses of the next segment, and how many of them are record points."""
        # The last iterate needs one evaluation more than there are updates.
        end = min(clock + self.length, self.budget + 1)
        waiting = self.record_steps[self.recorded :]
        due = waiting[waiting <= end]
        if due.size >= self.pauses:
            due = due[: self.pauses - 1]
            end = int(due[-1])
        self.recorded += due.size
        return np.concatenate([due, np.full(self.pauses - due.size, end)]).astype(
            np.int32
        ), due.size

    def learn(self, steps: int, seconds: float) -> None:
        """Adapt the length to what a segment took (a compiled one, without compilation)."""
        aim = steps * SECONDS / max(seconds, 1e-6)
        self.length = int(np.clip(aim, max(1, self.length // 4), self.length * 8))


@dataclasses.dataclass
class ProgramCosts:
    """The compiled programs of one kind: the sizes that are there, and what a new one costs."""

    sizes: set[int] = dataclasses.field(default_factory=set)
    seconds: float = 0.0  # the longest first segment: compilation, or loading from the cache


@dataclasses.dataclass
class Packing:
    """When to continue with fewer lanes: a smaller bucket is faster, a new size costs a program.

    Nobody knows how long the rest will take. The guess is: as long as what went before. Then the
    wrong choice costs little more than twice the right one.
    """

    programs: ProgramCosts
    step_seconds: float = 0.0  # of the present size

    def learn(self, size: int, steps: int, seconds: float) -> bool:
        """Note how long a segment took, and return whether its program was there before."""
        known = size in self.programs.sizes
        if known:
            self.step_seconds = seconds / max(steps, 1)
        else:
            self.programs.sizes.add(size)
            self.programs.seconds = max(self.programs.seconds, seconds)
            self.step_seconds = 0.0
        return known

    def bucket(self, present: int, running: int, clock: int) -> int:
        """The number of lanes to continue with: the size that saves most, compilation included."""

        def saved(size: int) -> float:
            gain = self.step_seconds * clock * (1 - size / present)
            return gain - (0.0 if size in self.programs.sizes else self.programs.seconds)

        best = max(buckets(present, running), key=saved)
        return best if saved(best) > 0 else present


def buckets(present: int, running: int) -> list[int]:
    """The sizes that hold the running lanes: `present`, a quarter of it, a sixteenth, …

    Never below two, since a batch of one is compiled to another program, whose rounding may differ.
    """
    sizes = [present]
    while sizes[-1] > 2 and running <= (smaller := max(2, -(-sizes[-1] // 4))):
        sizes.append(smaller)
    return sizes
