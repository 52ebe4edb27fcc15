"""Pieces found for a question: by words (BM25), by meaning (vectors), or both, reranked if wanted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragstone.systems.pipeline.chunking import Piece
from ragstone.text.encoder import Vectors, encode_separately
from ragstone.text.sentences import split_sentences
from ragstone.text.terms import extract_terms

Retriever = Literal["bm25", "dense", "hybrid"]
Floats = npt.NDArray[np.float64]

FUSION = 60
"""The constant of reciprocal-rank fusion: 1 / (60 + rank), as its authors chose it."""
_FEEDBACK = 3
"""Pieces and new words that query expansion takes from a first search."""


class Index:
    """The pieces of a collection, ready to be searched; each part is built when it is first needed."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = list(pieces)
        self.terms = [extract_terms(piece.shown, piece.language) for piece in self.pieces]
        held = Counter(term for found in self.terms for term in set(found))
        count = len(self.pieces)
        self.idf = {term: math.log(1 + count / held[term]) for term in held}
        self.rarest = math.log(1 + count)
        """The weight of a word that no piece has."""

    def prepare(self, retriever: Retriever) -> None:
        """Build what searching needs, so that the first question does not wait for it."""
        if retriever != "dense":
            self._bm25  # noqa: B018 - built when first looked at
        if retriever != "bm25":
            self._vectors  # noqa: B018

    def search(
        self,
        question: str,
        language: str,
        *,
        retriever: Retriever,
        top_k: int,
        rerank: bool,
        pool: int,
        expand: bool,
    ) -> list[tuple[int, float]]:
        """Places of the best pieces with their scores, best first."""
        scores = self._scores(question, language, retriever)
        if expand:
            scores = self._expanded(question, language, retriever, _best(scores, _FEEDBACK))
        found = _best(scores, max(pool, top_k) if rerank else top_k)
        if not rerank:
            return [(at, float(scores[at])) for at in found]
        again = self._reranked(question, language, found)
        order = sorted(found, key=lambda at: (-again[at], at))
        return [(at, again[at]) for at in order[:top_k]]

    def coverage(self, wanted: Sequence[str], held: Sequence[str]) -> float:
        """The share of the wanted words, rare ones counting more, that stand in the text."""
        weights = {term: self.idf.get(term, self.rarest) for term in wanted}
        total = sum(weights.values())
        there = set(held)
        return sum(weights[term] for term in weights if term in there) / total if total else 0.0

    @cached_property
    def _bm25(self) -> Any:
        import bm25s

        model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        model.index([found or [""] for found in self.terms], show_progress=False)
        return model

    @cached_property
    def _vectors(self) -> Vectors:
        return encode_separately([piece.shown for piece in self.pieces])

    def _scores(self, question: str, language: str, retriever: Retriever) -> Floats:
        if retriever == "bm25":
            return self._lexical(extract_terms(question, language))
        vector = encode_separately([question])[0]
        dense: Floats = (self._vectors @ vector).astype(np.float64)
        if retriever == "dense":
            return dense
        return _fused(self._lexical(extract_terms(question, language)), dense)

    def _lexical(self, wanted: Sequence[str]) -> Floats:
        known = [term for term in wanted if term in self.idf]
        if not known:
            return np.zeros(len(self.pieces))
        return np.asarray(self._bm25.get_scores(known), np.float64)

    def _expanded(
        self, question: str, language: str, retriever: Retriever, first: Sequence[int]
    ) -> Floats:
        """Scores for the question with what the first search found: rare words of it, and its direction."""
        wanted = extract_terms(question, language)
        worth: dict[str, float] = {}
        for at in first:
            for term in set(self.terms[at]) - set(wanted):
                worth[term] = worth.get(term, 0.0) + self.idf[term]
        new = sorted(worth, key=lambda term: (-worth[term], term))[:_FEEDBACK]
        lexical = self._lexical(
            [*(wanted * _FEEDBACK), *new]
        )  # the question's own words count more
        if retriever == "bm25":
            return lexical
        vector = encode_separately([question])[0] + 0.3 * self._vectors[list(first)].mean(axis=0)
        dense = (self._vectors @ vector).astype(np.float64)
        return dense if retriever == "dense" else _fused(lexical, dense)

    def _reranked(self, question: str, language: str, found: Sequence[int]) -> dict[int, float]:
        """Words that the piece covers plus the likeness of its nearest sentence: too dear for all pieces, fine for a few."""
        wanted = extract_terms(question, language)
        vector = encode_separately([question])[0]
        scores: dict[int, float] = {}
        for at in found:
            piece = self.pieces[at]
            parts = [
                piece.text[start:end] for start, end in split_sentences(piece.text, piece.language)
            ]
            likeness = (
                encode_separately([f"{piece.title} {part}".strip() for part in parts]) @ vector
            )
            scores[at] = self.coverage(wanted, self.terms[at]) + float(likeness.max(initial=0.0))
        return scores


def _best(scores: Floats, count: int) -> list[int]:
    """Places of the highest scores, best first; equal scores in the order of the pieces."""
    return [int(at) for at in np.argsort(-scores, kind="stable")[:count]]


def _fused(*rankings: Floats) -> Floats:
    """Reciprocal-rank fusion; a piece that a search scored nothing gets nothing from it."""
    total = np.zeros(len(rankings[0]))
    for scores in rankings:
        order = np.argsort(-scores, kind="stable")
        ranks = np.empty(len(scores))
        ranks[order] = np.arange(1, len(scores) + 1)
        total += np.where(scores > 0, 1.0 / (FUSION + ranks), 0.0)
    return total
