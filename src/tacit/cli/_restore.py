"""`tacit restore`."""

import json
import sys
from pathlib import Path

from tacit.checkpoints import restore
from tacit.cli._text import many, plain


def run(compressed: Path, before: Path | None, *, output: Path, force: bool, as_json: bool) -> int:
    """Restore, and tell what came out."""
    made = restore(compressed, output, before, force=force)
    if made.differs:
        print(
            plain(
                f"tacit: {many(len(made.differs), 'tensor')} rounded differently from when it was "
                f"measured (another processor or library): {', '.join(made.differs[:5])}"
            ),
            file=sys.stderr,
        )
    if as_json:
        told = {
            "output": str(made.path),
            "bytes": made.bytes,
            "error": made.error,
            "differs": list(made.differs),
        }
        print(json.dumps(told, ensure_ascii=False))
        return 0
    print(
        plain(
            f"{many(len(made.tensors), 'tensor')}, {made.bytes:,} bytes; {made.error:.4g} of the "
            f"norm of the change is missing, as measured: {made.path}"
        )
    )
    return 0
