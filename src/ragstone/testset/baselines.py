"""Trivial baselines of a test set: how much the first document of BM25, or one constant answer, gets right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.systems.pipeline.chunking import DocumentChunk
from ragstone.testset.index import CorpusIndex, Documents
from ragstone.text.evidence import find_quote
from ragstone.text.language import ABSTENTIONS, detect_language
from ragstone.text.refusals import is_refusal
from ragstone.text.terms import extract_terms
from ragstone.text.words import fold_text
from ragstone.types import Sample

SEARCHED_DOCUMENTS = 3
"""Documents that are looked at for a question."""
SEARCHED_WORDS = 10
"""Words of a question that are searched for, the rarest: those that most documents have decide nothing."""


@dataclass(frozen=True, slots=True)
class TrivialBaselines:
    """Shares of questions that a trivial system gets right; high ones mean that the test set is too easy."""

    constant: float
    """Share of all questions whose reference is the commonest one."""
    constant_answer: str
    """That reference."""
    first: float | None = None
    """Share of the questions with relevant documents where BM25's first document is one; None without documents."""
    answer_in_first: float | None = None
    """Share of them where that document also holds the reference word for word."""


class Search:
    """BM25 over whole documents, on disk: none of them is held in memory."""

    def __init__(self, documents: Documents) -> None:
        self._index = CorpusIndex(documents)
        # on the instance, not as a decorator of the method: that cache would keep every index alive
        self.find_nearest = lru_cache(maxsize=256)(self._find_nearest)
        """The nearest documents to a question, best first; asked twice for each, searched once."""

    def _find_nearest(
        self, question: str, language: str | None, most: int = SEARCHED_DOCUMENTS
    ) -> list[DocumentChunk]:
        stems = self._index.sort_rarest(
            extract_terms(question, detect_language(question, language)), SEARCHED_WORDS
        )
        return [
            DocumentChunk(
                document.id,
                document.text,
                document.title,
                detect_language(document.text[:2000], document.language),
            )
            for document in self._index.find_with_any(stems, most=most)
        ]

    def measure_held_share(self, piece: DocumentChunk, text: str) -> float:
        """The share of a text's words, rare ones counting more, that stand in a document."""
        return self.measure_text_share(piece.titled_text, text, piece.language)

    def measure_text_share(self, held_by: str, text: str, given: str | None) -> float:
        """The same for the text of a document."""
        language = detect_language(text, given)
        wanted = set(extract_terms(text, language))
        if not wanted:
            return 1.0
        held = wanted.intersection(extract_terms(held_by, language))
        weight = self.weigh_words(wanted)
        return sum(weight[word] for word in held) / sum(weight.values())

    def weigh_words(self, words: Iterable[str]) -> dict[str, float]:
        """How much each word counts: the more, the fewer documents have it."""
        count = self._index.count + 1
        return {
            word: math.log(1 + count / (self._index.count_documents(word) + 0.5)) for word in words
        }

    def close(self) -> None:
        """Remove the index on disk."""
        self._index.close()

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def join_turns(sample: Sample) -> str:
    """The question with the turns before it."""
    history = sample.meta.get("history") or ()
    return "\n".join([*map(str, history), sample.question or ""])


def measure_baselines(samples: Sequence[Sample], search: Search | None) -> TrivialBaselines:
    """Measure both baselines on these samples; without a search only the constant answer."""
    shown, constant = _find_constant(samples)
    answerable = [sample for sample in samples if list_relevant(sample)]
    if search is None or not answerable:
        return TrivialBaselines(constant, shown)
    first = held = 0
    for sample in answerable:
        hits = search.find_nearest(join_turns(sample), sample.language)
        if hits and hits[0].document in list_relevant(sample):
            first += 1
            held += find_quote(sample.reference or "", hits[0].titled_text) is not None
    return TrivialBaselines(constant, shown, first / len(answerable), held / len(answerable))


def _find_constant(samples: Sequence[Sample]) -> tuple[str, float]:
    """The commonest reference and its share of all questions; an item without one is not answered by saying
    nothing."""
    given = Counter(_fold_reference(sample) for sample in samples if sample.reference)
    if not given:
        return "", 0.0
    common, times = given.most_common(1)[0]
    shown = (sample.reference or "" for sample in samples if _fold_reference(sample) == common)
    return next(shown), times / len(samples)


def list_relevant(sample: Sample) -> list[str]:
    """The documents that the set says are relevant; grade 0 names one that was looked at and is not."""
    return [name for name, grade in (sample.relevant or {}).items() if grade > 0]


def is_abstention(sample: Sample) -> bool:
    """Whether the set says that nothing answers: by our words, or by others (`I don't know`) where no document is
    relevant."""
    reference = sample.reference or ""
    if fold_text(reference) in _ABSTENTIONS:
        return True
    is_bare = bool(reference.strip()) and not list_relevant(sample)
    return is_bare and is_refusal(reference, sample.language)


def _fold_reference(sample: Sample) -> str:
    """The reference as it is compared; an abstention is one answer in every language."""
    return fold_text(ABSTENTIONS[0] if is_abstention(sample) else sample.reference or "")


_ABSTENTIONS = frozenset(map(fold_text, ABSTENTIONS))
