"""Workers that cannot be had, or that went away."""


class WorkersError(ValueError):
    """Workers that were asked for in a way that cannot be met: one sentence with the remedy."""


class WorkersLostError(RuntimeError):
    """An executor that broke in the middle of a sweep. What was computed is stored."""


class WorkerDiedError(RuntimeError):
    """A worker process that ended before its batch did; the executor itself goes on."""
