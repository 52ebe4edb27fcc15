"""A question answered from a text by rule: the sentence that covers it best, and in it what is asked for."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from ragstone.testset.prose import blank_non_prose
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems
from ragstone.testset.spans import find_spans, is_number, split_tokens
from ragstone.text.sentences import split_sentences

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
_FITS = {
    "clock": {"clock", "date"},
    "money": {"money", "quantity", "percent", "number"},
    "number": {"quantity", "number", "percent"},
    "percent": {"percent", "number"},
    "date": {"date", "clock", "day", "number"},
    "duration": {"quantity", "number", "date"},
}


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
    """What of the asked sort stands in the sentence and not in the question; empty when anything may be the answer."""


@dataclass(frozen=True, slots=True)
class ParsedSentences:
    """A document as it is read again and again."""

    places: tuple[tuple[int, int], ...]
    stems: tuple[frozenset[str], ...]
    weights: dict[str, float]


@lru_cache(maxsize=64)
def parse_sentences(text: str, language: str) -> ParsedSentences:
    """The sentences of a text and their stems."""
    plain = blank_non_prose(text)
    places = tuple(split_sentences(plain, language))
    stems = tuple(frozenset(extract_content_stems(plain[a:b], language)) for a, b in places)
    # a word that many sentences have tells them apart less; the 0.25 below keeps it from counting
    # nothing
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
    read = parse_sentences(text, language)
    wanted = extract_question_stems(question, language)
    if not wanted or not read.places:
        return None
    topic = frozenset(extract_content_stems(title, language))
    weight = {stem: read.weights.get(stem, 1.25) for stem in wanted}
    total = sum(weight.values())
    sort = find_asked_sort(question)
    best: tuple[float, float, int] | None = None
    previous: frozenset[str] = frozenset()
    for n, (a, b) in enumerate(read.places):
        here = read.stems[n]
        if without is not None and a < without[1] and b > without[0]:
            previous = here
            continue
        own = around = 0.0
        for stem, stem_weight in weight.items():
            if stem in here:
                own += stem_weight
                around += stem_weight
            elif stem in topic or stem in previous:
                # the title or the sentence before may name what the sentence only refers to, but
                # counts for less than its own words
                around += 0.6 * stem_weight
        if own:
            ranked = (
                own
                + 0.4 * around
                + (0.15 * total if sort and _has_digit(text[a:b], language) else 0.0)
            )
            if best is None or ranked > best[0]:
                best = (ranked, own, n)
        previous = here
    if best is None:
        return None
    n = best[2]
    a, b = read.places[n]
    rest = sum(stem_weight for stem, stem_weight in weight.items() if stem not in topic)
    own = (
        sum(
            stem_weight
            for stem, stem_weight in weight.items()
            if stem in read.stems[n] and stem not in topic
        )
        / rest
        if rest
        else best[1] / total
    )
    covered = read.stems[n] | topic | (read.stems[n - 1] if n else frozenset())
    cover = sum(stem_weight for stem, stem_weight in weight.items() if stem in covered) / total
    return AnswerSentence(
        text[a:b], a, cover, own, _find_answers(question, text[a:b], sort, language)
    )


def _has_digit(sentence: str, language: str) -> bool:
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
    """Whether one of the answers shares its number, or most of its words, with the reference."""
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
