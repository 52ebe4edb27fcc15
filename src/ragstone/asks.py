"""Questions to a judge: what a metric yields and what it is sent back.

A metric that needs judgement is a generator. It yields a tuple of Asks (through `ask` or `ask_all`) and is sent
one Reply or JudgeFailed for each. Every kind of question has one constructor here, which fixes its values and
the JSON schema of its reply; every judge answers these kinds and no others.

Replies, by kind (`id`s are those given in the values, each covered exactly once):
    claims     {"claims": [{"text_id", "sentence", "claim"}]}      sentence = index into that text's sentences
    support    {"verdicts": [{"id", "verdict", "evidence": [{"source", "quote"}], "reason"}]}
    useful     {"grades": [{"id", "target", "grade", "reason"}]}   grade 0, 1 or 2, for each chunk × target
    aspects    {"aspects": [{"aspect", "covered", "quote"}]}       quote = verbatim part of the answer, "" if missing
    questions  {"evasive": bool, "questions": [text]}
    rate       {"level", "reason"}                                 level = index into the rubric's levels
    embed      {"vectors": [[float]]}                              one for each text
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.language import sentences
from ragstone.types import NOTHING_USED, Chunk, Usage

T = TypeVar("T")

Kind = Literal["claims", "support", "useful", "aspects", "questions", "rate", "embed"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge, known by its content."""

    kind: str
    values: Mapping[str, Any]
    schema: Mapping[str, Any]
    language: str | None = None
    repeat: int = 0
    """Counts deliberate repetitions of one question (test-retest), so that each is asked."""

    @property
    def content(self) -> dict[str, Any]:
        """Everything of the question that can change the reply."""
        return {
            "kind": self.kind,
            "values": self.values,
            "schema": self.schema,
            "language": self.language,
            "repeat": self.repeat,
        }

    @property
    def key(self) -> str:
        """SHA-256 of the content."""
        return digest(self.content)


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's answer that fits the Ask's schema, and what it took."""

    value: Any
    usage: Usage = NOTHING_USED
    notes: tuple[str, ...] = field(default=())
    """What a reader of the score should know (a jury that disagreed, a heuristic reply)."""


Answered = Reply | JudgeFailed | OutOfBudget
"""What the engine sends back for one Ask."""

Asking = Generator[tuple[Ask, ...], tuple[Answered, ...], T]
"""A metric in progress: yields Asks, is sent what came of them, returns its result."""


def ask(question: Ask) -> Asking[Any]:
    """Put one question; the value of its reply. Raises when the judge failed."""
    (value,) = yield from ask_all(question)
    return value


def ask_all(*questions: Ask) -> Asking[list[Any]]:
    """Put several questions at once; the values of their replies in the same order."""
    answered = yield questions
    for one in answered:
        if not isinstance(one, Reply):
            raise one
    return [one.value for one in answered if isinstance(one, Reply)]


def canonical(content: Any) -> str:
    """The one JSON text of a value: keys sorted, no white space, no NaN."""
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def digest(content: Any) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


def claims(*texts: str, language: str | None = None) -> Ask:
    """Split texts into atomic statements that stand on their own; ids are t1, t2, …"""
    items = [
        {
            "id": f"t{n}",
            "text": text,
            "sentences": [text[a:b] for a, b in sentences(text, language)],
        }
        for n, text in enumerate(texts, 1)
    ]
    row = _object(text_id=_STRING, sentence=_INTEGER, claim=_STRING)
    return Ask("claims", {"texts": items}, _object(claims=_array(row)), language)


@dataclass(frozen=True, slots=True)
class Case:
    """Statements to be checked against sources of their own."""

    claims: tuple[str, ...]
    sources: tuple[Chunk, ...]


def support(*cases: Case, language: str | None = None) -> Ask:
    """Check statements against sources; claim ids are c1, c2, … and source ids k1, k2, … through all cases."""
    items: list[dict[str, Any]] = []
    claim_number = source_number = 0
    for case in cases:
        claim_rows, source_rows = [], []
        for text in case.claims:
            claim_number += 1
            claim_rows.append({"id": f"c{claim_number}", "text": text})
        for source in case.sources:
            source_number += 1
            source_rows.append({"id": f"k{source_number}", "text": source.text})
        items.append({"claims": claim_rows, "sources": source_rows})
    row = _object(
        id=_STRING,
        verdict=_enum("supported", "contradicted", "not_found"),
        evidence=_array(_object(source=_STRING, quote=_STRING)),
        reason=_STRING,
    )
    return Ask("support", {"cases": items}, _object(verdicts=_array(row)), language)


def useful(
    question: str,
    chunks: Sequence[Chunk],
    targets: Mapping[str, str | None],
    *,
    wording: int = 1,
    language: str | None = None,
) -> Ask:
    """Grade each chunk 0, 1 or 2 for each target: a text to be reached (an answer, a reference), or None for the question alone."""
    values = {
        "question": question,
        "chunks": [{"id": f"k{n}", "text": chunk.text} for n, chunk in enumerate(chunks, 1)],
        "targets": dict(targets),
        "wording": wording,
    }
    row = _object(
        id=_STRING,
        target=_enum(*targets),
        grade={"type": "integer", "enum": [0, 1, 2]},
        reason=_STRING,
    )
    return Ask("useful", values, _object(grades=_array(row)), language)


def aspects(question: str, answer: str, *, language: str | None = None) -> Ask:
    """What the question asks for, and whether the answer covers each."""
    row = _object(aspect=_STRING, covered={"type": "boolean"}, quote=_STRING)
    return Ask(
        "aspects",
        {"question": question, "answer": answer},
        _object(aspects=_array(row)),
        language,
    )


def questions(answer: str, *, count: int = 3, language: str | None = None) -> Ask:
    """Questions that the answer would answer, and whether it is evasive."""
    return Ask(
        "questions",
        {"answer": answer, "count": count},
        _object(evasive={"type": "boolean"}, questions=_array(_STRING)),
        language,
    )


def rate(
    texts: Mapping[str, str],
    name: str,
    question: str,
    levels: Sequence[str],
    *,
    language: str | None = None,
) -> Ask:
    """Place named texts on a closed scale, worst level first."""
    values = {"texts": dict(texts), "name": name, "question": question, "levels": list(levels)}
    level = {"type": "integer", "enum": list(range(len(levels)))}
    return Ask("rate", values, _object(reason=_STRING, level=level), language)


def embed(*texts: str) -> Ask:
    """Vectors whose cosine says how alike texts are."""
    return Ask("embed", {"texts": list(texts)}, _object(vectors=_array(_array({"type": "number"}))))


_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}


def _enum(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _array(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
