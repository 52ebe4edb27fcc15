"""Chunks and Samples built in half the time.

A frozen dataclass sets each field through a checked call; reading makes six such objects a row, which
was a fifth of the whole cost. Here the slots are filled directly. A test compares both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.types import Chunk, Ranked, Sample

_new = object.__new__
_chunk_id, _chunk_text, _chunk_score = (
    Chunk.__dict__[name].__set__ for name in ("id", "text", "score")
)
(_id, _question, _answer, _contexts, _reference, _relevant, _language, _group, _meta, _error) = (
    Sample.__dict__[name].__set__ for name in Sample.__slots__
)


def chunk(name: str, text: str, score: float | None = None) -> Chunk:
    """The same as Chunk(name, text, score)."""
    made = _new(Chunk)
    _chunk_id(made, name)
    _chunk_text(made, text)
    _chunk_score(made, score)
    return made


def sample(
    name: str,
    question: str | None,
    answer: str | None,
    contexts: Ranked | None,
    reference: str | None,
    relevant: Mapping[str, float] | None,
    language: str | None,
    group: str | None,
    meta: Mapping[str, Any],
    error: str | None,
) -> Sample:
    """The same as Sample(name, question, …)."""
    made = _new(Sample)
    _id(made, name)
    _question(made, question)
    _answer(made, answer)
    _contexts(made, contexts)
    _reference(made, reference)
    _relevant(made, relevant)
    _language(made, language)
    _group(made, group)
    _meta(made, meta)
    _error(made, error)
    return made
