"""A reader without a model: finds the sentence of a text that answers a question, and in it the number or date asked for."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from ragstone.testset.prose import blank_non_prose
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems
from ragstone.testset.spans import find_spans, is_number, split_tokens
from ragstone.text.sentences import split_sentences

# sort of answer, and the words that ask for it; the first that matches counts
_SORTS: tuple[tuple[str, str], ...] = (
    ("clock", r"what time|what hours|qué hora"),
    ("money", r"how much|cuánto (?:cuesta|pagan?|cobran?|vale)|de cuánto"),
    ("number", r"how many|cuánt[oa]s"),
    ("percent", r"what percentage|qué porcentaje"),
    ("date", r"when\b|what year|which year|cuándo|en qué (?:año|mes|fecha)|horario"),
    ("duration", r"how long|how soon|cuánto (?:tiempo|dura|tarda)"),
)
_ASKS = tuple(
    (sort, re.compile(rf"(?:^|[\s¿]){pattern}", re.IGNORECASE)) for sort, pattern in _SORTS
)
# sort asked for → sorts of spans (spans.py) that answer it; `number` is a bare number
_FITS = {
    "clock": {"clock", "date"},
    "money": {"money", "quantity", "percent", "number"},
    "number": {"quantity", "number", "percent"},
    "percent": {"percent", "number"},
    "date": {"date", "clock", "day", "number"},
    "duration": {"quantity", "number", "date"},
}


MAX_READ_CHARS = 600_000
"""Characters of a text that are read for each question: what a longer one says behind them is not seen."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """Where a text answers a question."""

    sentence: str
    start: int
    cover: float
    """Weighted share of the question's words that the sentence, its neighbour and the title have."""
    own: float
    """The share that the sentence has by itself of what the title does not say already."""
    answers: tuple[str, ...]
    """What of the asked sort stands in the sentence and not in the question; empty when there is none, or no sort is asked."""


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


def find_asked_sort(question: str) -> str:
    """The sort of answer that the question's words ask for; empty when they do not tell."""
    return next((sort for sort, pattern in _ASKS if pattern.search(question)), "")


def find_best_sentence(
    question: str, text: str, title: str, language: str, *, without: tuple[int, int] | None = None
) -> AnswerSentence | None:
    """The sentence of a text that covers the question best; those inside `without` are left out."""
    text = text[:MAX_READ_CHARS]
    read = parse_sentences(text, language)
    wanted = extract_question_stems(question, language)
    if not wanted or not read.places:
        return None
    topic = frozenset(extract_content_stems(title, language))
    # 1.25: the weight of a stem in no sentence, by the formula in parse_sentences
    weights = {stem: read.weights.get(stem, 1.25) for stem in wanted}
    sort = find_asked_sort(question)
    ranks: dict[int, float] = {}
    for n, (start, end) in enumerate(read.places):
        if without is not None and start < without[1] and end > without[0]:
            continue
        rank = _rank_sentence(weights, read.stems[n], topic | read.get_stems_before(n))
        # a question for a number is answered by a sentence that has one
        if rank and sort and _has_digit(text[start:end], language):
            rank += 0.15 * sum(weights.values())
        ranks[n] = rank
    best = max(ranks, key=ranks.__getitem__, default=0)
    if not ranks.get(best):
        return None
    start, end = read.places[best]
    here = read.stems[best]
    # what the title does not say; when it says all, everything counts
    untitled = {stem: weight for stem, weight in weights.items() if stem not in topic} or weights
    return AnswerSentence(
        text[start:end],
        start,
        _measure_share(weights, here | topic | read.get_stems_before(best)),
        _measure_share(untitled, here),
        _find_answers(question, text[start:end], sort, language),
    )


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


def _measure_share(weights: dict[str, float], stems: frozenset[str]) -> float:
    return sum(weight for stem, weight in weights.items() if stem in stems) / sum(weights.values())


def _has_digit(sentence: str, language: str) -> bool:
    """Whether a sentence has a digit or a number word."""
    return any(letter.isdigit() for letter in sentence) or any(
        is_number(token, language) for token in split_tokens(sentence)
    )


def _find_answers(question: str, sentence: str, sort: str, language: str) -> tuple[str, ...]:
    """Spans of the asked sort that the question does not say itself."""
    if not sort:
        return ()
    tokens = split_tokens(sentence)
    folded = question.lower()
    out = []
    taken: set[int] = set()
    for span in find_spans(sentence, tokens, language):
        taken.update(range(span.first, span.last))
        text = sentence[tokens[span.first].start : tokens[span.last - 1].end]
        if span.sort in _FITS[sort] and text.lower() not in folded:
            out.append(text)
    if "number" in _FITS[sort]:
        out += [
            token.text for n, token in enumerate(tokens)
            if n not in taken and is_number(token, language) and token.lower not in folded.split()
        ]  # fmt: skip
    return tuple(out)


def agrees_with_any(reference: str, answers: tuple[str, ...], language: str) -> bool:
    """Whether one of the answers has the words of the reference, or half of its own in common with it."""
    wanted = frozenset(extract_content_stems(reference, language)) or frozenset(
        reference.lower().split()
    )
    for answer in answers:
        answer_stems = frozenset(extract_content_stems(answer, language)) or frozenset(
            answer.lower().split()
        )
        if wanted & answer_stems and (
            answer_stems <= wanted
            or wanted <= answer_stems
            or len(wanted & answer_stems) * 2 >= len(answer_stems)
        ):
            return True
    return False
