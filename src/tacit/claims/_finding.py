"""A finding: plain sentences whose numbers are filled from the claims of a run."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final, get_args

from tacit._doors import door, each, instance
from tacit._errors import shown
from tacit.claims._claim import Claim, Verdict

_PLACEHOLDER = re.compile(r"\{(\??)([^{}|]+)((?:\|[^{}|]*)*)\}")
_NUMBERS = ("measured", "low", "high", "bound", "satisfied", "samples", "share", "left_out")
_NEEDS = (*get_args(Verdict), "as expected")
_INVERSE = "1/x"
_FORMAT = re.compile(r"[+,]?(\.\d+)?[efg%d]?")


@final
class Finding:
    """What an experiment found, in sentences whose numbers come from its claims.

    ```python
    finding = Finding(
        "Beyond k = 2d̂ the error is {above|holds}, and below it {ratio|1/x} times as large.",
        above="k = 11: extrapolates",
        ratio="fall beyond the threshold",
    )
    ```

    A placeholder names a claim. After bars follow, in any order, which of its numbers is meant
    (`measured` if none is named), `1/x`, how it is written (`.2f`, `.0%`), and the verdict that the
    sentence needs: decided, if none is named. `{?name|holds}` asks for a verdict and prints
    nothing. A sentence is left out where a claim of it is lacking, has no number, or has another
    verdict: what a run does not show is not said of it.

    **Arguments:**

    - `sentences`: one or several.
    - `claims`: short names for claims, by which the sentences name them; their own names do too.
    """

    def __init__(self, *sentences: str, **claims: str) -> None:
        for words in (*sentences, *claims.values()):
            if not isinstance(words, str) or not words:
                raise ValueError(f"finding: received {shown(words)}, give sentences and names")
        self.sentences, self.claims = sentences, claims
        self._blanks = [_blanks(sentence, claims) for sentence in sentences]
        unused = set(claims) - {m[2] for s in sentences for m in _PLACEHOLDER.finditer(s)}
        if unused:
            raise ValueError(f"finding: no sentence has {{{unused.pop()}}}, leave it out")

    @door(answer="any", claims=each(instance(Claim), least=0))
    def said(self, claims: Iterable[Claim]) -> list[str | None]:
        """Each sentence with its numbers; None for one that these claims do not support."""
        by_name = {claim.name: claim for claim in claims}
        found: list[str | None] = []
        for sentence, blanks in zip(self.sentences, self._blanks, strict=True):
            filled = [blank.filled(by_name) for blank in blanks]
            words = iter(filled)
            text = _PLACEHOLDER.sub(lambda _, words=words: str(next(words)), sentence)  # type: ignore[misc]
            found.append(None if None in filled else " ".join(text.split()))
        return found

    def of(self, claims: Iterable[Claim]) -> str:
        """The sentences that the claims of a run support; "" if there is none."""
        return " ".join(sentence for sentence in self.said(claims) if sentence is not None)


@dataclass(frozen=True, kw_only=True)
class _Blank:
    """What a placeholder asks for."""

    claim: str
    number: str = "measured"
    needs: str = ""
    inverse: bool = False
    written: str = ""
    silent: bool = False

    def filled(self, claims: dict[str, Claim]) -> str | None:
        """The number in words; None if the run does not have it, or not the verdict."""
        claim = claims.get(self.claim)
        if claim is None or not self._met(claim):
            return None
        if self.silent:
            return ""
        value = getattr(claim, self.number)
        if value is None or math.isnan(value):
            return None
        if self.inverse:
            value = 1 / value if value else math.inf
        return format(value, self.written) if self.written else in_words(value)

    def _met(self, claim: Claim) -> bool:
        if not self.needs:
            return claim.verdict != "undecided"
        return bool(claim.as_expected) if self.needs == _NEEDS[-1] else claim.verdict == self.needs


def _blanks(sentence: str, names: dict[str, str]) -> list[_Blank]:
    rest = _PLACEHOLDER.sub("", sentence)
    if "{" in rest or "}" in rest:
        raise ValueError(
            f"finding: received {sentence!r}, a placeholder is {{claim|number|verdict}}"
        )
    return [
        _blank(match[1], names.get(match[2], match[2]), match[3], sentence)
        for match in _PLACEHOLDER.finditer(sentence)
    ]


def _blank(silent: str, claim: str, options: str, sentence: str) -> _Blank:
    made: dict[str, Any] = {"claim": claim, "silent": bool(silent)}
    for option in options.split("|")[1:]:
        if option in _NUMBERS:
            made["number"] = option
        elif option in _NEEDS:
            made["needs"] = option
        elif option == _INVERSE:
            made["inverse"] = True
        elif option and _FORMAT.fullmatch(option):
            made["written"] = option
        else:
            raise ValueError(
                f"finding: received {option!r} in {sentence!r}, behind a claim stand a number of "
                f"it ({', '.join(_NUMBERS)}), {_INVERSE}, a format such as .2f or .0%, and the "
                f"verdict that the sentence needs ({', '.join(_NEEDS)})"
            )
    return _Blank(**made)


def in_words(value: float) -> str:
    """A number as a sentence has it: two digits, and no power of ten from 0.001 to 100,000."""
    if not math.isfinite(value):
        return f"{value:g}"
    if float(value).is_integer() and abs(value) < 1e5:
        return f"{int(value):,}" if abs(value) >= 1e4 else str(int(value))
    rounded = float(f"{value:.2g}")
    if 1e-3 <= abs(rounded) < 1e5:
        return f"{rounded:.0f}" if rounded.is_integer() else f"{rounded:g}"
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}"
