"""Evidence that most seeds satisfy a claim, valid however often one looks at it.

An e-value is a non-negative number whose mean is at most 1 if the null hypothesis is true: one of
20 or more is then seen with a chance of at most 1 in 20, at any time and whatever made one stop
(Ville's inequality). See Ramdas, Grünwald, Vovk and Shafer, Statistical Science 38, 2023.
"""

import math

from tacit._doors import door, number, whole

ENOUGH = 20.0
"""The evidence at which a claim is decided: wrong with a chance of at most 1 in 20."""


@door(yes=whole(), seeds=whole(), share=number(above=0, below=1))
def e_value(yes: int, seeds: int, *, share: float = 0.5) -> float:
    """The evidence that more than `share` of all seeds satisfy a claim, if `yes` of `seeds` did.

    The likelihood of the seeds with a share q, uniform on (`share`, 1], over that with `share`
    itself:

    E = ∫ q^k (1 − q)^(n−k) dq / (1 − share) / (share^k (1 − share)^(n−k)),

    which is 2^(n+1) B(k+1, n−k+1) [1 − I_½(k+1, n−k+1)] for a half. Its mean is at most 1 for
    every true share up to `share`.
    """
    if not 0 <= yes <= seeds:
        raise ValueError(f"yes: received {yes}, it must lie between 0 and seeds = {seeds}")
    if not 0 < share < 1:
        raise ValueError(f"share: received {share}, it must lie between 0 and 1")
    from scipy.special import betaincc, betaln

    no = seeds - yes
    above = float(betaincc(yes + 1, no + 1, share))
    if above == 0:
        return 0.0
    log = betaln(yes + 1, no + 1) + math.log(above)
    log -= yes * math.log(share) + (no + 1) * math.log1p(-share)
    return math.exp(min(float(log), 700.0))


@door(yes=whole(), seeds=whole(), share=number(above=0, below=1), at_most=whole(1))
def seeds_to_decide(yes: int, seeds: int, *, share: float = 0.5, at_most: int = 10_000) -> int:
    """About how many more seeds decide a claim, if they come out as those seen so far.

    The observed share is drawn a little towards `share`, so that few seeds do not promise too
    much; `at_most` is returned where no smaller number will do.
    """
    expected = (yes + share) / (seeds + 1)
    more = 1
    while more < at_most:
        likely = yes + round(expected * more)
        total = seeds + more
        if max(e_value(likely, total, share=share),
               e_value(total - likely, total, share=1 - share)) >= ENOUGH:  # fmt: skip
            return more
        more += max(1, more // 20)
    return at_most
