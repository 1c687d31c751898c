"""A dictionary that forgets what was not asked for lately."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """The `most` values that were asked for last; others are dropped, with what they hold."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()  # sweeps may descend in threads
        self._values: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of `key`, made if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            value = self._values.setdefault(key, value)
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def __len__(self) -> int:
        return len(self._values)
