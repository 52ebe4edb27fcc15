"""A reader without a model: finds the sentence of a text that comes closest to a question."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from ragstone.testset.prose import blank_non_prose
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems
from ragstone.text.quantities import find_quantities
from ragstone.text.sentences import split_sentences

_ASKS_FIGURE = re.compile(
    r"(?:^|[\s¿])(?:what time|what hours|how (?:much|many|long|soon)|what percentage|when|what year|which year"
    r"|qué (?:hora|porcentaje)|cuánt[oa]s?|cuándo|en qué (?:año|mes|fecha)|horario)\b",
    re.IGNORECASE,
)
"""Questions that want a number, a time or a date."""
MAX_READ_CHARS = 600_000
"""Characters of a text that are read for each question: what a longer one says behind them is not seen."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """Where a text answers a question."""

    sentence: str
    start: int


@dataclass(frozen=True, slots=True)
class ParsedSentences:
    """A parsed document, which is cached because it is read for many questions."""

    places: tuple[tuple[int, int], ...]
    """Start and end of each sentence."""
    stems: tuple[frozenset[str], ...]
    """The stems of each sentence."""
    weights: dict[str, float]
    """Stem → how much it tells sentences apart."""

    def get_stems_before(self, number: int) -> frozenset[str]:
        """The stems of the sentence before sentence `number`."""
        return self.stems[number - 1] if number else frozenset()


@lru_cache(maxsize=64)
def parse_sentences(text: str, language: str) -> ParsedSentences:
    """The sentences of a text and their stems."""
    plain = blank_non_prose(text)
    places = tuple(split_sentences(plain, language))
    stems = tuple(frozenset(extract_content_stems(plain[a:b], language)) for a, b in places)
    # a word that many sentences have tells them apart less, but never counts for nothing (0.25)
    held = Counter(stem for sentence_stems in stems for stem in sentence_stems)
    return ParsedSentences(
        places, stems, {stem: 1.0 / (1 + number) + 0.25 for stem, number in held.items()}
    )


def find_best_sentence(
    question: str, text: str, title: str, language: str
) -> AnswerSentence | None:
    """The sentence of a text that covers the question best."""
    text = text[:MAX_READ_CHARS]
    read = parse_sentences(text, language)
    wanted = extract_question_stems(question, language)
    if not wanted or not read.places:
        return None
    topic = frozenset(extract_content_stems(title, language))
    # 1.25: the weight of a stem in no sentence, by the formula in parse_sentences
    weights = {stem: read.weights.get(stem, 1.25) for stem in wanted}
    asks_figure = bool(_ASKS_FIGURE.search(question))
    ranks: dict[int, float] = {}
    for n, (start, end) in enumerate(read.places):
        rank = _rank_sentence(weights, read.stems[n], topic | read.get_stems_before(n))
        # a question for a number is answered by a sentence that has one
        if rank and asks_figure and find_quantities(text[start:end], language):
            rank += 0.15 * sum(weights.values())
        ranks[n] = rank
    best = max(ranks, key=ranks.__getitem__, default=0)
    if not ranks.get(best):
        return None
    start, end = read.places[best]
    return AnswerSentence(text[start:end], start)


def _rank_sentence(weights: dict[str, float], here: frozenset[str], near: frozenset[str]) -> float:
    """How well a sentence fits a question; 0 when it has none of its words.

    The title or the sentence before may name what the sentence only refers to, but counts for less."""
    own = around = 0.0
    for stem, weight in weights.items():
        if stem in here:
            own += weight
            around += weight
        elif stem in near:
            around += 0.6 * weight
    return own + 0.4 * around if own else 0.0
