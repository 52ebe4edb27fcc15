"""Whether some passage of the corpus answers a question: few figures of the nearest passages, weighed by a
logistic model.

No rule reads as a person does: a passage with all words of a question need not answer it, and one in other words may.
bench/testset_answers.py fits the weights, measures them on corpora that they were not fitted on, and draws the
curve from
which the two bars were taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ragstone.data.documents import Document
from ragstone.judges.offline.alignment import align, index_sources
from ragstone.judges.offline.reading import NAME, NUMBER, read
from ragstone.systems.pipeline.chunking import DocumentChunk, chunk_documents
from ragstone.testset.baselines import Search
from ragstone.testset.question_terms import extract_question_stems
from ragstone.testset.reader import MAX_READ_CHARS, find_best_sentence
from ragstone.text.encoder import encode_separately
from ragstone.text.language import detect_language
from ragstone.text.sentences import split_sentences
from ragstone.text.terms import extract_terms

WEIGHTS: Mapping[str, float] = {
    "bias": -7.01,
    "words": 1.45,
    "document": 3.02,
    "passage": 3.42,
    "sentence": 2.02,
    "names": 2.07,
    "lead": 1.73,
}
"""Fitted by bench/testset_answers.py; `PassageFigures` has the figures under the same names."""
JUDGED_WEIGHTS: Mapping[str, float] = {
    "bias": -5.68,
    "words": 0.89,
    "document": 2.83,
    "passage": 2.53,
    "sentence": 1.25,
    "names": 1.66,
    "lead": 0.80,
    "yes": 1.56,
}
"""The same where a small model has read the passage; `yes` weighs the log-odds that it gives."""
SURE_CHANCE = 0.8
"""Chance from which a passage is said to answer a question that should have no answer."""
HINT_CHANCE = 0.5
"""Chance from which somebody should look whether it does."""
SEARCHED_DOCUMENTS = 6
READ_PASSAGES = 4
"""Passages of these documents that are compared in full: those with most of the question's words."""
PASSAGE_WORDS, OVERLAP_WORDS = 80, 25
MAX_LEAD = 0.6
JUDGED_CHANCE, LARGE_CHANCE = 0.1, 0.03
"""Chances below which the likeliest passage is not worth the time of a small judge, and of one that reads all and
quotes."""
MAX_SHOWN_WORDS = 120
"""Of a passage, to a judge."""


class PassageFigures(NamedTuple):
    """What is known of a passage and a question, each between 0 and 1, and where it stands."""

    words: float
    """Share of the question's words that the passage has under its title."""
    document: float
    """Share that the whole document has."""
    passage: float
    """Nearness of question and passage in meaning."""
    sentence: float
    """Nearness of the nearest sentence."""
    names: float
    """Share of the question's names and numbers that the passage has."""
    lead: float
    """How far it is ahead of all passages of other documents."""
    source: str
    """Id of the document."""
    text: str = ""
    """The passage under its title."""


class FoundAnswer(NamedTuple):
    """What may answer a question."""

    chance: float
    source: str
    quote: str
    """The sentence of the document that comes closest to the question."""
    figures: PassageFigures
    """Of the passage."""


class _Passage(NamedTuple):
    source: str
    language: str
    text: str
    sentences: tuple[str, ...]
    terms: frozenset[str]


def find_answers(question: str, language: str | None, search: Search) -> list[FoundAnswer]:
    """The passages of the corpus that may answer a question, the likeliest first; none where none has a word of
    it."""
    documents = search.find_nearest(question, language, SEARCHED_DOCUMENTS)
    found = measure_passages(question, language, documents, search)
    homes = {document.document: document for document in documents}
    answers = []
    for figures in sorted(found, key=compute_chance, reverse=True):
        home = homes[figures.source]
        # the sentence is looked for by the words of the whole document: nearness alone names it less often
        best = find_best_sentence(question, home.text, home.title, home.language)
        if best is not None:
            answers.append(
                FoundAnswer(compute_chance(figures), figures.source, best.sentence, figures)
            )
    return answers


def cut_passage(text: str) -> str:
    """What a judge is shown of a passage: all of it, but for a table or a list that is one endless sentence."""
    words = text.split()
    return text if len(words) <= MAX_SHOWN_WORDS else " ".join(words[:MAX_SHOWN_WORDS])


def compute_chance(figures: PassageFigures, yes: float | None = None) -> float:
    """The chance that a passage with these figures answers the question; `yes` is that of a small model that has
    read it."""
    known = figures._asdict()
    weights = WEIGHTS
    if yes is not None:
        weights, known = JUDGED_WEIGHTS, known | {"yes": to_log_odds(yes)}
    logit = sum(weight * known.get(name, 1.0) for name, weight in weights.items())
    return 1 / (1 + math.exp(-logit))


LEAST_CHANCE = 0.002
"""No opinion counts for more than this chance of being wrong."""


def to_log_odds(chance: float) -> float:
    bounded = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return math.log(bounded / (1 - bounded))


def measure_passages(
    question: str, language: str | None, documents: Sequence[DocumentChunk], search: Search
) -> list[PassageFigures]:
    """Figures of the passages of these documents that have most of the question's words."""
    language = detect_language(question, language)
    weights = search.weigh_words(extract_question_stems(question, language))
    ranked = sorted(
        (
            (_measure_share(weights, passage.terms), held, number, passage)
            for document in documents
            for held, passages in [_measure_document(weights, document)]
            for number, passage in enumerate(passages)
        ),
        key=lambda row: (-row[0] - 0.1 * row[1], row[3].source, row[2]),
    )[:READ_PASSAGES]
    measured = [_compare(question, language, held, passage) for _, held, _, passage in ranked]
    return [_set_lead(figures, measured) for figures in measured]


def _measure_document(
    weights: Mapping[str, float], document: DocumentChunk
) -> tuple[float, tuple[_Passage, ...]]:
    """Share of the weighted words that a document has, and its passages."""
    text = document.text[:MAX_READ_CHARS]
    passages = _split_passages(document.document, text, document.title, document.language)
    return _measure_share(weights, frozenset().union(*(one.terms for one in passages))), passages


@lru_cache(maxsize=64)
def _split_passages(source: str, text: str, title: str, language: str) -> tuple[_Passage, ...]:
    """The passages of a document, which is cached because many questions find it."""
    chunks = chunk_documents(
        [Document(source, text, title, language)],
        size=PASSAGE_WORDS,
        overlap=OVERLAP_WORDS,
        by="sentence",
        titles=True,
    )
    return tuple(
        _Passage(
            source,
            language,
            chunk.titled_text,
            tuple(chunk.text[a:b] for a, b in split_sentences(chunk.text, language)),
            frozenset(extract_terms(chunk.titled_text, language)),
        )
        for chunk in chunks
    )


def _measure_share(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    held = sum(weight for word, weight in weights.items() if word in terms)
    return held / max(sum(weights.values()), 1e-6)


def _compare(question: str, language: str, held: float, passage: _Passage) -> PassageFigures:
    """Figures of one passage, without its lead; `held` is the share of its document."""
    words, names = _align_words(question, language, passage)
    sentences = passage.sentences or (passage.text,)
    vectors = encode_separately([question, passage.text, *sentences])
    near = np.maximum(vectors[1:] @ vectors[0], 0.0).tolist()
    return PassageFigures(
        words, held, near[0], max(near[1:]), names, 0.0, passage.source, passage.text
    )


def _align_words(question: str, language: str, passage: _Passage) -> tuple[float, float]:
    """Shares of a question's words and of its names and numbers that a passage has; 1 of names where there are
    none."""
    alignment = align(
        read(question, language), index_sources((read(passage.text, passage.language),))
    )
    found = [bool(units) for units in alignment.places]
    named = [
        is_found
        for word, is_found in zip(alignment.words, found, strict=True)
        if word.kind in (NAME, NUMBER)
    ]
    return sum(found) / max(len(found), 1), sum(named) / len(named) if named else 1.0


def _set_lead(figures: PassageFigures, measured: Sequence[PassageFigures]) -> PassageFigures:
    others = [one.words + one.passage for one in measured if one.source != figures.source]
    lead = figures.words + figures.passage - max(others) if others else MAX_LEAD
    return figures._replace(lead=min(lead, MAX_LEAD))
