"""The fingerprint of the code that computes an experiment's cells.

It is of the text that computes them and of what Python holds for its names; comments, formatting
and docstrings do not count, nor does what runs on stored results only (claims, figure, tables),
nor the declared values of parameters, which are in the address of a cell.
"""

import hashlib
import inspect
from collections.abc import Mapping
from pathlib import Path

from tacit._errors import UsageError, shown
from tacit._own_modules import own_file
from tacit._version import __version__
from tacit.experiments import Experiment
from tacit.reproduction._counted_text import counted_modules
from tacit.reproduction._held_values import HeldValues

_X64 = ("value='jax_enable_x64'", "value='JAX_ENABLE_X64'")
_FORM = "code-2:"  # another one after each change of what a fingerprint is made of


def fingerprint(experiment: type[Experiment] | Experiment) -> str | None:
    """A digest of the code behind `cell`, and one of each file that it depends on; None if unknown.

    It is that of the code that Python has loaded, with the numbers, words and arrays that its names
    hold now. A built-in experiment has the package's version before it, and in an installation no
    other digest.
    """
    kind = experiment if isinstance(experiment, type) else type(experiment)
    code = code_of(kind)
    return None if code is None else " ".join([code, *_files(experiment, kind)])


def code_of(kind: type[Experiment]) -> str | None:
    """The part of a fingerprint that is of the code."""
    built_in = f"tacit {__version__}" if kind.__module__.partition(".")[0] == "tacit" else None
    if built_in and own_file(kind.__module__, kind.__module__) is None:
        return built_in
    try:
        modules = counted_modules(kind)
        texts = [*(m.text() for m in modules), *HeldValues(kind, modules).texts()]
    except UsageError:
        raise
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError):
        return built_in  # typed at a prompt, or not to be found any more
    digest = _FORM + _digest("\n".join(texts).encode(errors="surrogatepass"))
    return f"{built_in} {digest}" if built_in else digest


def chooses_x64(kind: type[Experiment]) -> bool:
    """Whether the text that counts says itself if JAX's numbers have 64 bits."""
    own = kind.__module__.partition(".")[0] != "tacit"
    return own and any(word in m.text() for m in counted_modules(kind) for word in _X64)


def text_digest(kind: type[Experiment]) -> str:
    """The digest of the text alone: it is the same on every machine, with every Python."""
    return _digest("\n".join(m.text() for m in counted_modules(kind)).encode())


def differs(code: str, other: str) -> bool:
    """Whether two fingerprints are of other code, or of other files of one name."""
    mine, theirs = _parts(code), _parts(other)
    return any(theirs[name] != mine[name] for name in mine.keys() & theirs.keys())


def code_alone(code: str) -> str:
    """The digest of the code in a fingerprint, without those of files."""
    return _parts(code).get(_FORM[:-1], "")


def has_old_form(code: str) -> bool:
    """Whether a fingerprint is of tacit 0.2, which made them of other things."""
    return ":" not in code and not code.startswith("tacit ")


def _parts(code: str) -> Mapping[str, str]:
    """The digests in a fingerprint; those that tacit 0.2 made have another form and no name."""
    words = code.split()[2 if code.startswith("tacit ") else 0 :]
    return dict(word.rpartition(":")[::2] if ":" in word else (_FORM[:-1], word) for word in words)


def _files(experiment: type[Experiment] | Experiment, kind: type[Experiment]) -> list[str]:
    named = experiment.depends_on
    if isinstance(named, property):  # of the class itself
        return []
    found = []
    folder = Path(inspect.getfile(kind)).parent if named else Path()
    for name in (named,) if isinstance(named, str) else named:
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise UsageError(
                f"{kind.id}: depends_on names the file {shown(str(name))}, which cannot be read "
                f"beside the experiment ({error.strerror}): put it there, or name another"
            ) from None
        told = Path(name).name if Path(name).is_absolute() else name  # machines differ in folders
        found.append(f"{_digest(told.encode())[:8]}:{_digest(content)}")
    return sorted(found)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
