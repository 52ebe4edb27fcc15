"""Retrieval of chunks: lexical (BM25), dense (vectors), or hybrid, with optional expansion and reranking. Versioned by REPLY_VERSION in systems/pipeline/pipeline.py."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragstone.systems.pipeline.chunking import DocumentChunk
from ragstone.text.encoder import Vectors, encode_separately
from ragstone.text.sentences import split_sentences
from ragstone.text.terms import extract_terms

Retriever = Literal["bm25", "dense", "hybrid"]
Floats = npt.NDArray[np.float64]

RRF_CONSTANT = 60
"""The constant k of reciprocal-rank fusion, 1 / (k + rank), as its authors chose it."""
_FEEDBACK_COUNT = 3
"""Number of chunks, and of new terms, that query expansion takes from a first search; also the question's weight."""


class Index:
    """A search index of chunks; BM25 model and vectors are built when first needed."""

    def __init__(self, chunks: Sequence[DocumentChunk]) -> None:
        self.chunks = list(chunks)
        self.terms = [extract_terms(chunk.titled_text, chunk.language) for chunk in self.chunks]
        document_counts = Counter(term for terms in self.terms for term in set(terms))
        count = len(self.chunks)
        self.idf = {term: math.log(1 + count / document_counts[term]) for term in document_counts}
        self.unseen_idf = math.log(1 + count)
        """Weight of a term that no chunk contains."""

    def prepare(self, retriever: Retriever) -> None:
        """Build what the retriever needs, so that the latency of the first question does not include it."""
        if retriever != "dense":
            self._bm25  # noqa: B018 - a cached property, built on first access
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
        """Return positions and scores of the best chunks, best first.

        `pool` is the number of chunks that are reranked; without `rerank` it has no effect."""
        scores = self._score_chunks(question, language, retriever)
        if expand:
            scores = self._score_expanded(
                question, language, retriever, _choose_best(scores, _FEEDBACK_COUNT)
            )
        hits = _choose_best(scores, max(pool, top_k) if rerank else top_k)
        if not rerank:
            return [(position, float(scores[position])) for position in hits]
        reranked = self._score_again(question, language, hits)
        order = sorted(hits, key=lambda position: (-reranked[position], position))
        return [(position, reranked[position]) for position in order[:top_k]]

    def coverage(self, terms: Sequence[str], text_terms: Sequence[str]) -> float:
        """Compute the IDF-weighted share of the terms that occur in the text."""
        weights = {term: self.idf.get(term, self.unseen_idf) for term in terms}
        total = sum(weights.values())
        present = set(text_terms)
        return sum(weights[term] for term in weights if term in present) / total if total else 0.0

    @cached_property
    def _bm25(self) -> Any:
        import bm25s

        model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        # bm25s fails on a corpus without any token, as one of stop words alone is
        model.index([terms or [""] for terms in self.terms], show_progress=False)
        return model

    @cached_property
    def _vectors(self) -> Vectors:
        return encode_separately([chunk.titled_text for chunk in self.chunks])

    def _score_chunks(self, question: str, language: str, retriever: Retriever) -> Floats:
        if retriever == "bm25":
            return self._score_lexical(extract_terms(question, language))
        vector = encode_separately([question])[0]
        dense: Floats = (self._vectors @ vector).astype(np.float64)
        if retriever == "dense":
            return dense
        return _fuse_ranks(self._score_lexical(extract_terms(question, language)), dense)

    def _score_lexical(self, terms: Sequence[str]) -> Floats:
        # a question without a known term must score 0 everywhere; bm25s fails on an empty query
        known = [term for term in terms if term in self.idf]
        if not known:
            return np.zeros(len(self.chunks))
        return np.asarray(self._bm25.get_scores(known), np.float64)

    def _score_expanded(
        self, question: str, language: str, retriever: Retriever, first: Sequence[int]
    ) -> Floats:
        """Score the question expanded by a first search: by its rare terms, and towards its mean vector."""
        terms = extract_terms(question, language)
        weights: dict[str, float] = {}
        for position in first:
            for term in set(self.terms[position]) - set(terms):
                weights[term] = weights.get(term, 0.0) + self.idf[term]
        added = sorted(weights, key=lambda term: (-weights[term], term))[:_FEEDBACK_COUNT]
        # repeated, so that the terms of the question weigh more than the added ones
        lexical = self._score_lexical([*(terms * _FEEDBACK_COUNT), *added])
        if retriever == "bm25":
            return lexical
        vector = encode_separately([question])[0] + 0.3 * self._vectors[list(first)].mean(axis=0)
        dense = (self._vectors @ vector).astype(np.float64)
        return dense if retriever == "dense" else _fuse_ranks(lexical, dense)

    def _score_again(self, question: str, language: str, hits: Sequence[int]) -> dict[int, float]:
        """Score chunks by term coverage plus the similarity of their nearest sentence; too slow for the whole index."""
        terms = extract_terms(question, language)
        vector = encode_separately([question])[0]
        scores: dict[int, float] = {}
        for position in hits:
            chunk = self.chunks[position]
            sentences = [
                chunk.text[start:end] for start, end in split_sentences(chunk.text, chunk.language)
            ]
            similarities = (
                encode_separately([f"{chunk.title} {sentence}".strip() for sentence in sentences])
                @ vector
            )
            scores[position] = self.coverage(terms, self.terms[position]) + float(
                similarities.max(initial=0.0)
            )
        return scores


def _choose_best(scores: Floats, count: int) -> list[int]:
    """Return positions of the highest scores, best first; ties in the order of the chunks."""
    return [int(position) for position in np.argsort(-scores, kind="stable")[:count]]


def _fuse_ranks(*rankings: Floats) -> Floats:
    """Combine scores by reciprocal-rank fusion; a score of 0 contributes nothing."""
    total = np.zeros(len(rankings[0]))
    for scores in rankings:
        order = np.argsort(-scores, kind="stable")
        ranks = np.empty(len(scores))
        ranks[order] = np.arange(1, len(scores) + 1)
        total += np.where(scores > 0, 1.0 / (RRF_CONSTANT + ranks), 0.0)
    return total
