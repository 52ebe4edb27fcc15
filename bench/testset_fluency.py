"""The trigram model of question order: learn it from questions that people wrote, and measure what it refuses.

    python -m bench.testset_fluency

Learned on the questions of xquad (both languages), clapnq and msmarco (English) beside the checkout, nine tenths of them; on the
other tenth: share of questions refused, and share refused after two neighbouring words were swapped, one was dropped, or a small
word was doubled by another."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator

from bench.testsets import xquad
from ragstone.testset.fluency import list_trigrams

LEAST = 2
"""Times that a trigram must occur to be usual."""
FILES = {
    "en": ("xquad_en", "clapnq_dev", "msmarco_hard_negatives"),
    "es": ("xquad_es",),
}


def read_questions(language: str) -> Iterator[str]:
    """Questions that people wrote."""
    for name in FILES[language]:
        with gzip.open(xquad() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                found = row.get("questions") or [row.get("question") or row.get("query")]
                for question in found:
                    yield question["question"] if isinstance(question, dict) else str(question)


def break_order(question: str, rng: random.Random) -> str:
    """The question with its words in an order that nobody writes."""
    words = question.rstrip("?").split()
    at = rng.randrange(len(words) - 1)
    way = rng.randrange(3)
    if way == 0:
        words[at], words[at + 1] = words[at + 1], words[at]
    elif way == 1:
        del words[at]
    else:
        words.insert(at, rng.choice(("the", "is", "of", "does", "el", "de", "es", "que")))
    return " ".join(words) + "?"


def main() -> None:
    """Print the table and the figures."""
    for language in FILES:
        questions = sorted({" ".join(one.split()) for one in read_questions(language)})
        questions = [one for one in questions if len(one.split()) > 3]
        rng = random.Random(1)
        rng.shuffle(questions)
        cut = len(questions) * 9 // 10
        seen = Counter(t for one in questions[:cut] for t in set(list_trigrams(one, language)))
        usual = {trigram for trigram, times in seen.items() if times >= LEAST}
        rest = questions[cut:]

        def refused(texts: list[str], usual: set[str] = usual, language: str = language) -> float:
            bad = [one for one in texts if not set(list_trigrams(one, language)) <= usual]
            return len(bad) / len(texts)

        broken = [break_order(one, rng) for one in rest]
        print(
            f"{language}: {len(questions)} questions, {len(usual)} trigrams; refused {refused(rest):.1%} of new ones, {refused(broken):.1%} of broken ones"
        )
        print(" ".join(sorted(usual)))


if __name__ == "__main__":
    main()
