"""Extractive answers without a model: the sentences of the contexts that fit the question best, with citations. Versioned by REPLY_VERSION in systems/pipeline/pipeline.py."""

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
"""Language → what is answered when nothing fits; ABSTENTIONS must stay in this order."""

_ASKS_NUMBER = re.compile(
    r"\b(how (?:many|much|long|soon|old|far|high|heavy|large)|when|what time|which date|price|costs?|hours|"
    r"cu[aá]nt[oa]s?|cu[aá]ndo|qué hora|horarios?|precio|cuesta)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez)\b",
    re.IGNORECASE,
)
_NUMBER_BONUS = 0.15
"""Score of a sentence with a number when the question asks for one."""
_RANK_PENALTY = 0.02
"""Deduction for each rank: the retriever's order decides between similar sentences."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A context that an answer is extracted from; its position in the list is the n of its citation [n]."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    sentence: str
    passage: int
    """Position of its passage, from 0."""


def extract_answer(
    question: str,
    passages: Sequence[Passage],
    index: Index,
    *,
    language: str,
    max_sentences: int,
    min_score: float,
) -> str:
    """Extract up to `max_sentences` sentences with [n] citations; an abstention when none reaches `min_score`."""
    ranked = _rank_candidates(question, passages, index, language)
    if not ranked or ranked[0].score < min_score:
        return REFUSALS[language]
    chosen: list[_Candidate] = []
    for candidate in ranked:
        # each further sentence must come from another passage: one passage mostly makes one point
        if all(candidate.passage != earlier.passage for earlier in chosen):
            chosen.append(candidate)
        if len(chosen) == max_sentences or candidate.score < 0.75 * ranked[0].score:
            break
    return " ".join(f"{candidate.sentence} [{candidate.passage + 1}]" for candidate in chosen)


def _rank_candidates(
    question: str, passages: Sequence[Passage], index: Index, language: str
) -> list[_Candidate]:
    question_terms = extract_terms(question, language)
    asks_number = _ASKS_NUMBER.search(question) is not None
    languages = [detect_language(passage.text) for passage in passages]
    title_terms = [
        extract_terms(passage.title, language_of_title)
        for passage, language_of_title in zip(passages, languages, strict=True)
    ]
    sentences = _list_sentences(passages, languages)
    if not sentences:
        return []
    similarities = (
        encode_separately([sentence for _, sentence in sentences])
        @ encode_separately([question])[0]
    )
    ranked = []
    for (number, sentence), similarity in zip(sentences, similarities.tolist(), strict=True):
        title = title_terms[number]
        sentence_terms = extract_terms(sentence, languages[number])
        # a sentence need not repeat the terms of its title; when the title has all of them, all
        # count again
        open_terms = [term for term in question_terms if term not in title] or question_terms
        score = 0.7 * index.coverage(open_terms, sentence_terms) + 0.3 * index.coverage(
            question_terms, [*sentence_terms, *title]
        )
        score += max(0.0, similarity)
        if asks_number and _NUMBER.search(sentence):
            score += _NUMBER_BONUS
        ranked.append(_Candidate(score - _RANK_PENALTY * number, sentence, number))
    return sorted(ranked, key=lambda candidate: (-candidate.score, candidate.passage))


def _list_sentences(passages: Sequence[Passage], languages: Sequence[str]) -> list[tuple[int, str]]:
    """The number of a passage and a sentence of it, each sentence once."""
    passage_of: dict[str, int] = {}
    for number, passage in enumerate(passages):
        for start, end in split_sentences(passage.text, languages[number]):
            for sentence in passage.text[start:end].split("; "):
                if len(sentence.split()) >= 4:  # shorter sentences are mostly headings
                    passage_of.setdefault(sentence, number)
    return [(number, sentence) for sentence, number in passage_of.items()]
