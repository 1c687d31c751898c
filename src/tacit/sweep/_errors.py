"""Workers that cannot be had, or that were lost."""


class WorkersError(ValueError):
    """A request for workers that cannot be met: one sentence with the remedy."""


class WorkersLostError(RuntimeError):
    """An executor that broke during a sweep. What was computed is stored."""


class WorkerDiedError(RuntimeError):
    """A worker process that ended before its batch did; the executor itself goes on.

    `blame` says whether the process was computing this batch, as far as is known.
    """

    def __init__(self, *, blame: bool = True) -> None:
        super().__init__(
            "the worker process ended before the batch did (killed, out of memory, or crashed)"
        )
        self.blame = blame
