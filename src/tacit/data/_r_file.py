"""Numbers out of a file that R has saved (`.rda`): vectors, lists and the slots of objects.

The format is described in the manual "R Internals", section 1.8 (serialization). Only data are
read; what would be code or an environment is refused.
"""

import gzip
import struct
from typing import Any

import numpy as np

_NIL, _GLOBAL, _EMPTY, _BASE, _REFERENCE, _COMPACT = 254, 253, 242, 241, 255, 238
_SYMBOL, _PAIRS, _CHARACTERS, _FLAG, _WHOLE, _REAL, _TEXT, _LIST, _OBJECT = (
    1, 2, 9, 10, 13, 14, 16, 19, 25
)  # fmt: skip


def read_r(content: bytes) -> dict[str, Any]:
    """The objects by name: arrays, lists, texts; one with slots or attributes is a `dict`.

    The values of an object are its `""`, beside its slots. `ValueError` where it is something else.
    """
    try:
        data = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        if data[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise ValueError("it does not begin as R's binary files do")
        reader = _Reader(data)
        reader.place = 7
        version, _, _ = (reader.whole() for _ in range(3))
        if version == 3:
            size = reader.whole()
            reader.place += size
        found = reader.item()
    except (OSError, EOFError, struct.error, IndexError, RecursionError) as error:
        raise ValueError(f"it is not a whole file of R: {error}") from error
    if not isinstance(found, dict):
        raise ValueError("it holds no objects with names")
    return found


class _Reader:
    """Where in the bytes it stands, and the symbols that later ones refer to."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place, self.symbols = data, 0, list[str]()

    def whole(self) -> int:
        (value,) = struct.unpack_from(">i", self.data, self.place)
        self.place += 4
        return int(value)

    def array(self, kind: str) -> np.ndarray:
        count, size = self.whole(), np.dtype(kind).itemsize
        if count < 0 or self.place + count * size > len(self.data):
            raise ValueError(f"a vector of {count} numbers is longer than the file")
        found = np.frombuffer(self.data, kind, count, self.place)
        self.place += count * size
        return found.astype(kind[1:])

    def item(self) -> Any:
        return self.item_of(self.whole())

    def item_of(self, flags: int) -> Any:
        kind = flags & 0xFF
        if kind == _PAIRS:
            return self.pairs(flags)
        if kind == _COMPACT:
            return self.compact()
        if kind in (_NIL, _GLOBAL, _EMPTY, _BASE):
            return None
        if kind == _REFERENCE:
            return self.symbols[(flags >> 8) - 1]
        if kind == _SYMBOL:
            self.symbols.append(str(self.item()))
            return self.symbols[-1]
        if kind == _CHARACTERS:
            size = self.whole()
            text = self.data[self.place : self.place + max(size, 0)]
            self.place += max(size, 0)
            return None if size < 0 else text.decode("utf-8", "replace")
        value: Any
        if kind in (_FLAG, _WHOLE):
            value = self.array(">i4")
        elif kind == _REAL:
            value = self.array(">f8")
        elif kind in (_TEXT, _LIST):
            value = [self.item() for _ in range(self.whole())]
        elif kind == _OBJECT:
            value = None
        else:
            raise ValueError(f"it holds an object of R's type {kind}, which is not data")
        if flags & 0x200:
            return {"": value, **self.item()}
        return value

    def compact(self) -> Any:
        """What R keeps in a shorter form: a sequence, or a vector with a remark."""
        kind, state, _ = str(self.item()["0"]), self.item(), self.item()
        if kind == "compact_intseq":
            count, first, step = state
            return (first + step * np.arange(int(count))).astype(np.int32)
        if kind.startswith("wrap_") or kind == "deferred_string":
            return state[0] if isinstance(state, list) else state["0"]
        raise ValueError(f"it holds a vector in R's form {kind!r}")

    def pairs(self, flags: int) -> dict[str, Any]:
        """A list of names and values, one after the other."""
        found: dict[str, Any] = {}
        while flags & 0xFF == _PAIRS:
            if flags & 0x200:
                self.item()
            name = str(self.item()) if flags & 0x400 else str(len(found))
            found[name] = self.item()
            flags = self.whole()
        if flags & 0xFF != _NIL:  # a pair rather than a list
            found["rest"] = self.item_of(flags)
        return found
