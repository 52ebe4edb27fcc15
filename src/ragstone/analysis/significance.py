"""Is a paired difference more than chance? Tests that assume no shape, and corrections for asking often.

| differences                  | test                                                                     |
| ---------------------------- | ------------------------------------------------------------------------ |
| 0/1 on both sides, no groups | McNemar's exact test: a coin for each pair that disagrees                |
| any other, up to 14 pieces   | every way to flip the signs, counted                                     |
| any other, more pieces       | 9,999 random sign flips with a fixed seed, or a bound where that is less |

A piece is a pair, or all pairs of a group together: within a group signs are not free to flip alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALPHA = 0.05
"""How often a study of equal systems may call any of them better or worse."""

Correction = Literal["bonferroni", "holm", "bh", "none"]
"""Over a family of tests. Bonferroni's intervals hold all together; Holm (1979) finds a little more and keeps one false
alarm in 20 studies, too, but only 0 is kept in by its intervals together; Benjamini–Hochberg (1995) keeps one in 20 alarms."""

MAX_EXACT_PIECES = 14
"""Up to so many pieces every one of the 2ⁿ sign flips is counted."""
RANDOM_FLIPS = 9_999
MAX_FLIPPED_PIECES = 1_024
"""The largest pieces are flipped one by one; the sum of the smaller ones beyond is normal."""
SEED = 20_201
"""Another one changes every p that is sampled, by a little."""
FLIPS_A_BLOCK = 500


def mcnemar(better: int, worse: int) -> float:
    """Two-sided exact p: how often a fair coin splits the disagreeing pairs at least as unevenly."""
    n, few = better + worse, min(better, worse)
    if 2 * few >= n - 1:
        return 1.0
    # Terms fall away from the largest, so a tail of any length needs only those that still count.
    log = math.lgamma(n + 1) - math.lgamma(few + 1) - math.lgamma(n - few + 1) - n * math.log(2)
    term, total, k = 1.0, 1.0, few
    while k > 0 and term > total * 1e-17:
        term *= k / (n - k + 1)
        total += term
        k -= 1
    return min(1.0, 2 * math.exp(log) * total)


def sign_flip(pieces: NDArray[np.float64]) -> float:
    """Two-sided p of the sum being 0 by chance, when each piece's sign could as well be the other one."""
    import numpy as np

    sizes = np.sort(np.abs(pieces[pieces != 0]))[::-1]
    if not len(sizes):
        return 1.0
    # Sums that are equal on paper differ in their last digits; all of them count as reached.
    reached = abs(float(pieces.sum())) - 1e-9 * float(sizes.sum())
    if len(sizes) <= MAX_EXACT_PIECES:
        return _count_all_flips(sizes, reached)
    sampled = _sample_flips(sizes, reached)
    # Hoeffding: no sign-flip distribution has more in its tails than this.
    spread = float((sizes**2).sum())
    bound = 2 * math.exp(-(max(reached, 0.0) ** 2) / (2 * spread))
    return min(sampled, bound)


def adjust_p_values(ps: Sequence[float], correction: Correction = "holm") -> list[float]:
    """The p-values corrected for how many there are, in the order given."""
    if correction == "none":
        return list(ps)
    count = len(ps)
    if correction == "bonferroni":
        return [min(1.0, count * p) for p in ps]
    order = sorted(range(count), key=lambda index: ps[index])
    adjusted = [1.0] * count
    if correction == "holm":
        largest = 0.0
        for rank, index in enumerate(order):
            largest = max(largest, (count - rank) * ps[index])
            adjusted[index] = min(1.0, largest)
        return adjusted
    least = 1.0
    for rank, index in reversed(list(enumerate(order))):
        least = min(least, ps[index] * count / (rank + 1))
        adjusted[index] = least
    return adjusted


def find_alphas(ps: Sequence[float], correction: Correction = "bonferroni") -> list[float]:
    """The level that each test was decided at, in the order given: p is at most its level if the test found something.

    An interval of that level leaves out 0 in the same cases, so that test and interval agree."""
    count = len(ps)
    if correction in ("none", "bonferroni"):
        return [ALPHA if correction == "none" else ALPHA / max(1, count)] * count
    order = sorted(range(count), key=lambda index: ps[index])
    alphas = [ALPHA] * count
    if correction == "holm":
        for rank, index in enumerate(order):
            alphas[index] = ALPHA / (count - rank)
            # it ends here: the others are not tested at a milder level
            if ps[index] > alphas[index]:
                for later in order[rank:]:
                    alphas[later] = alphas[index]
                break
        return alphas
    ranks = [rank for rank, index in enumerate(order, 1) if ps[index] <= rank * ALPHA / count]
    selected = max(ranks, default=0)
    for rank, index in enumerate(order, 1):
        # intervals for the selected (Benjamini & Yekutieli 2005); the others miss the next step
        alphas[index] = (selected if rank <= selected else selected + 1) * ALPHA / count
    return alphas


def _count_all_flips(sizes: NDArray[np.float64], reached: float) -> float:
    import numpy as np

    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return float(np.count_nonzero(np.abs(sums) >= reached) / len(sums))


def _sample_flips(sizes: NDArray[np.float64], reached: float) -> float:
    import numpy as np

    dice = np.random.default_rng(SEED)
    flipped, rest = sizes[:MAX_FLIPPED_PIECES], sizes[MAX_FLIPPED_PIECES:]
    noise = math.sqrt(float((rest**2).sum()))
    whole = float(flipped.sum())
    bytes_wide = (len(flipped) + 7) // 8
    beyond = 0
    for start in range(0, RANDOM_FLIPS, FLIPS_A_BLOCK):
        rows = min(FLIPS_A_BLOCK, RANDOM_FLIPS - start)
        # eight signs from each random byte instead of one draw for each
        bits = np.unpackbits(
            dice.integers(0, 256, (rows, bytes_wide), np.uint8), axis=1, count=len(flipped)
        )
        sums = 2 * (bits @ flipped) - whole
        if len(rest):
            sums += noise * dice.standard_normal(rows)
        beyond += int(np.count_nonzero(np.abs(sums) >= reached))
    # the observed sum counts as one of the flips, so that p is never 0
    return (1 + beyond) / (1 + RANDOM_FLIPS)
