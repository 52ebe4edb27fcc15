"""exact_match and token_f1 against the SQuAD evaluation in plain Python: 20,000 pairs.

    python bench/text.py

Both sides normalise as SQuAD does and give both figures for each pair; ratios are medians of alternating turns of CPU time.
"""

from __future__ import annotations

import random
import re
import statistics
import string
import sys
import time
from collections import Counter
from collections.abc import Callable

PAIRS, TURNS, BAR = 20_000, 7, 1.0

Pairs = list[tuple[str, str]]


def data() -> Pairs:
    """Answers and references of 1 to 50 words with capitals, articles and punctuation; one in four is right."""
    rng = random.Random(20_000)
    frequent = ["the", "a", "of", "in", "and", "The", "an", "is"]
    vocabulary = frequent * 40 + [f"word{n}" for n in range(1500)] + ["U.S.", "it's", "(sic),"]
    pairs = []
    for _ in range(PAIRS):
        reference = " ".join(rng.choices(vocabulary, k=rng.choice((1, 2, 5, 20, 50))))
        answer = (
            f"The {reference}."
            if rng.random() < 0.25
            else " ".join(rng.choices(vocabulary, k=rng.choice((1, 2, 5, 20, 50))))
        )
        pairs.append((answer, reference))
    return pairs


def ours(pairs: Pairs) -> list[tuple[float, float]]:
    from ragstone.metrics.text import exact_match, token_f1

    return [
        (
            exact_match(answer, reference, None, normalize="squad").value or 0.0,
            token_f1(answer, reference, None, normalize="squad").value or 0.0,
        )
        for answer, reference in pairs
    ]


def loops(pairs: Pairs) -> list[tuple[float, float]]:
    return [(exact(answer, reference), f1(answer, reference)) for answer, reference in pairs]


PUNCTUATION = set(string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


def normal(text: str) -> str:
    text = "".join(letter for letter in text.lower() if letter not in PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", text).split())


def exact(answer: str, reference: str) -> float:
    return float(normal(answer) == normal(reference))


def f1(answer: str, reference: str) -> float:
    given, wanted = normal(answer).split(), normal(reference).split()
    if not given or not wanted:
        return float(given == wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def seconds(work: Callable[[Pairs], object], pairs: Pairs) -> float:
    start = time.process_time()
    work(pairs)
    return time.process_time() - start


def main() -> int:
    pairs = data()
    apart = max(
        abs(mine - theirs)
        for one, other in zip(ours(pairs), loops(pairs), strict=True)
        for mine, theirs in zip(one, other, strict=True)
    )
    ratio = statistics.median(seconds(ours, pairs) / seconds(loops, pairs) for _ in range(TURNS))
    print(
        f"text: exact_match + token_f1 on {PAIRS:,} pairs: time ÷ that of the SQuAD loops {ratio:.2f} "
        f"(bar {BAR:.0f}); largest difference {apart:.1e} (bar 1e-9)"
    )
    return 0 if ratio <= BAR and apart <= 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
