"""What the store refuses."""


class StoreError(ValueError):
    """A store that cannot be used as asked: the message says what differs and the remedy."""


class PartError(ValueError):
    """A file among the parts that is not a whole part of this store."""


class ForeignPartError(PartError):
    """A whole part of another experiment or version."""
