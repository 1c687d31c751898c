"""Workers that cannot be had, or that went away."""


class WorkersError(ValueError):
    """Workers that were asked for in a way that cannot be met: one sentence with the remedy."""


class WorkersLostError(RuntimeError):
    """An executor that broke in the middle of a sweep. What was computed is stored."""


class WorkerDiedError(RuntimeError):
    """A worker process that ended before its batch did; the executor itself goes on.

    `blame` says whether it was this batch that the process was computing, as far as one can know.
    """

    def __init__(self, *, blame: bool = True) -> None:
        super().__init__(
            "the worker process ended before the batch did (killed, out of memory, or crashed)"
        )
        self.blame = blame
