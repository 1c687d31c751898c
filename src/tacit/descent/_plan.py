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


def next_bucket(present: int, running: int) -> int:
    """The number of lanes to go on with: a quarter of `present` as often as the running ones fit.

    Every size costs a compilation, hence factors of four. Never below two, since a batch of one is
    compiled to another program, whose rounding may differ.
    """
    size = present
    while size > 2 and running <= max(2, -(-size // 4)):
        size = max(2, -(-size // 4))
    return size
