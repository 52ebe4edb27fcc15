"""An answer without a model: the sentence of the contexts that fits the question best, cited, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.systems.pipeline.retrieval import Index
from ragstone.text.encoder import encode_separately
from ragstone.text.language import ABSTENTIONS, detect_language
from ragstone.text.sentences import split_sentences
from ragstone.text.terms import extract_terms

REFUSALS = dict(zip(("en", "es"), ABSTENTIONS, strict=True))

_ASKS_NUMBER = re.compile(
    r"\b(how (?:many|much|long|soon|old|far|high|heavy|large)|when|what time|which date|price|costs?|hours|"
    r"cu[aá]nt[oa]s?|cu[aá]ndo|qué hora|horarios?|precio|cuesta)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez)\b",
    re.IGNORECASE,
)
_HAS_NUMBER = 0.15
"""What a number is worth in a sentence when the question asks for one."""
_RANK = 0.02
"""What each rank further down costs: the retriever's opinion decides between like sentences."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A context as the answer sees it."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    sentence: str
    passage: int


def extract(
    question: str,
    passages: Sequence[Passage],
    index: Index,
    *,
    language: str,
    most: int,
    abstain: float,
) -> str:
    """Up to `most` sentences with [n] citations; the abstention when none reaches the score `abstain`."""
    ranked = _candidates(question, passages, index, language)
    if not ranked or ranked[0].score < abstain:
        return REFUSALS[language]
    chosen: list[_Candidate] = []
    for candidate in ranked:
        # a second sentence must come from elsewhere: one passage is mostly one thought
        if all(candidate.passage != one.passage for one in chosen):
            chosen.append(candidate)
        if len(chosen) == most or candidate.score < 0.75 * ranked[0].score:
            break
    return " ".join(f"{one.sentence} [{one.passage + 1}]" for one in chosen)


def _candidates(
    question: str, passages: Sequence[Passage], index: Index, language: str
) -> list[_Candidate]:
    wanted = extract_terms(question, language)
    numeric = _ASKS_NUMBER.search(question) is not None
    found: list[tuple[int, str]] = []
    seen: set[str] = set()
    for number, passage in enumerate(passages):
        spoken = detect_language(passage.text)
        for start, end in split_sentences(passage.text, spoken):
            for sentence in passage.text[start:end].split("; "):
                # shorter ones are headings
                if len(sentence.split()) >= 4 and sentence not in seen:
                    seen.add(sentence)
                    found.append((number, sentence))
    if not found:
        return []
    likeness = (
        encode_separately([sentence for _, sentence in found]) @ encode_separately([question])[0]
    )
    ranked = []
    for (number, sentence), like in zip(found, likeness.tolist(), strict=True):
        passage = passages[number]
        spoken = detect_language(passage.text)
        title = extract_terms(passage.title, spoken)
        own = extract_terms(sentence, spoken)
        # what the title says already, no sentence need say again: the rest is what is asked
        asked = [term for term in wanted if term not in title] or wanted
        score = 0.7 * index.coverage(asked, own) + 0.3 * index.coverage(wanted, [*own, *title])
        score += max(0.0, like)
        if numeric and _NUMBER.search(sentence):
            score += _HAS_NUMBER
        ranked.append(_Candidate(score - _RANK * number, sentence, number))
    return sorted(ranked, key=lambda one: (-one.score, one.passage))
