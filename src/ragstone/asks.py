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
    write      {"items": [{"id", "question", "answer", "evidence": [{"source", "quote"}], "difficulty"}]}
    solve      {"answers": [{"id", "told": bool, "answer", "quote"}]}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar

from ragstone.errors import JudgeFailed, OutOfBudget, Unscored
from ragstone.text.sentences import split_sentences
from ragstone.types import NOTHING_USED, Chunk, Usage

T = TypeVar("T")

Kind = Literal[
    "claims", "support", "useful", "aspects", "questions", "rate", "embed", "write", "solve"
]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge, known by its content."""

    kind: str
    values: Mapping[str, Any]
    schema: Mapping[str, Any]
    language: str | None = None
    repeat: int = 0
    """Counts deliberate repetitions of one question (test-retest), so that each is asked."""
    _key: str = field(default="", init=False, repr=False, compare=False)

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
        if not self._key:  # wanted again and again on the way from merging to the cache
            # the canonical JSON of `content`, with the schema's half of it made once
            text = (
                f'{{"kind":{_text(self.kind)},"language":{_word(self.language)},'
                f'"repeat":{self.repeat},"schema":{_schema_text(self.schema)},'
                f'"values":{_text(self.values)}}}'
            )
            found = hashlib.sha256(text.encode("ascii")).hexdigest()
            object.__setattr__(self, "_key", found)
        return self._key


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


def together(*generators: Asking[T]) -> Asking[list[T | Unscored]]:
    """Advance several generators round by round, putting all their questions of a round at once.

    Each ends with its result, or with the outcome it raised: one failure does not end the others."""
    ended: dict[int, T | Unscored] = {}
    sent: dict[int, tuple[Answered, ...] | None] = dict.fromkeys(range(len(generators)))
    while True:
        asked: dict[int, tuple[Ask, ...]] = {}
        for n, replies in sent.items():
            try:
                asked[n] = next(generators[n]) if replies is None else generators[n].send(replies)
            except StopIteration as end:
                ended[n] = end.value
            except Unscored as outcome:
                ended[n] = outcome
        if not asked:
            return [ended[n] for n in range(len(generators))]
        answered = yield tuple(one for asks in asked.values() for one in asks)
        at, sent = 0, {}
        for n, asks in asked.items():
            sent[n] = answered[at : at + len(asks)]
            at += len(asks)


def canonical(content: Any) -> str:
    """The one JSON text of a value: keys sorted, no white space, no NaN."""
    return _text(content)


_text = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode


def _word(text: str | None) -> str:
    return "null" if text is None else _text(text)


_schemas: dict[int, tuple[Mapping[str, Any], str]] = {}


def _schema_text(schema: Mapping[str, Any]) -> str:
    """The canonical JSON of a schema; a few schemas serve all questions, and nobody changes them."""
    known = _schemas.get(id(schema))
    if known is None:
        if len(_schemas) >= _KEPT_SCHEMAS:
            _schemas.clear()
        # the schema is kept beside its text, so that no other object can take over its id
        known = _schemas[id(schema)] = (schema, _text(schema))
    return known[1]


_KEPT_SCHEMAS = 256


def digest(content: Any) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


def claims(*texts: str, language: str | None = None) -> Ask:
    """Split texts into atomic statements that stand on their own; ids are t1, t2, …"""
    items = [
        {
            "id": f"t{n}",
            "text": text,
            "sentences": [text[a:b] for a, b in split_sentences(text, language)],
        }
        for n, text in enumerate(texts, 1)
    ]
    return Ask("claims", {"texts": items}, _CLAIMS, language)


class Case(NamedTuple):
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
    return Ask("support", {"cases": items}, _SUPPORT, language)


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
    return Ask("useful", values, _useful_schema(tuple(targets)), language)


def aspects(question: str, answer: str, *, language: str | None = None) -> Ask:
    """What the question asks for, and whether the answer covers each."""
    return Ask(
        "aspects",
        {"question": question, "answer": answer},
        _ASPECTS,
        language,
    )


def questions(answer: str, *, count: int = 3, language: str | None = None) -> Ask:
    """Questions that the answer would answer, and whether it is evasive."""
    return Ask(
        "questions",
        {"answer": answer, "count": count},
        _QUESTIONS,
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
    return Ask("embed", {"texts": list(texts)}, _EMBED)


@dataclass(frozen=True, slots=True)
class Order:
    """A question to be written: its kind, and the style or person it is written as."""

    kind: str
    style: str = ""


def write(sources: Sequence[Chunk], orders: Sequence[Order], *, language: str | None = None) -> Ask:
    """Write test questions about sources; order ids are q1, q2, … and source ids k1, k2, …"""
    values = {
        "sources": [{"id": f"k{n}", "text": one.text} for n, one in enumerate(sources, 1)],
        "orders": [
            {"id": f"q{n}", "kind": one.kind, "style": one.style} for n, one in enumerate(orders, 1)
        ],
    }
    turns = any(one.kind == "follow_up" for one in orders)
    return Ask("write", values, _WRITE_TURNS if turns else _WRITE, language)


@dataclass(frozen=True, slots=True)
class Problem:
    """Questions to be answered from sources of their own."""

    questions: tuple[str, ...]
    sources: tuple[Chunk, ...]


def solve(*problems: Problem, language: str | None = None) -> Ask:
    """Answer questions from sources alone; question ids are q1, q2, … and source ids k1, k2, … through all cases."""
    items: list[dict[str, Any]] = []
    question_number = source_number = 0
    for problem in problems:
        question_rows, source_rows = [], []
        for text in problem.questions:
            question_number += 1
            question_rows.append({"id": f"q{question_number}", "text": text})
        for source in problem.sources:
            source_number += 1
            source_rows.append({"id": f"k{source_number}", "text": source.text})
        items.append({"questions": question_rows, "sources": source_rows})
    return Ask("solve", {"cases": items}, _SOLVE, language)


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


_CLAIMS = _object(claims=_array(_object(text_id=_STRING, sentence=_INTEGER, claim=_STRING)))
_SUPPORT = _object(
    verdicts=_array(
        _object(
            id=_STRING,
            verdict=_enum("supported", "contradicted", "not_found"),
            evidence=_array(_object(source=_STRING, quote=_STRING)),
            reason=_STRING,
        )
    )
)
_ASPECTS = _object(
    aspects=_array(_object(aspect=_STRING, covered={"type": "boolean"}, quote=_STRING))
)
_QUESTIONS = _object(evasive={"type": "boolean"}, questions=_array(_STRING))
_QUOTES = _array(_object(source=_STRING, quote=_STRING))
_WRITTEN = {
    "id": _STRING, "question": _STRING, "answer": _STRING, "evidence": _QUOTES,
    "difficulty": _enum("easy", "medium", "hard"),
}  # fmt: skip
_TURNS = {"earlier_question": _STRING, "earlier_answer": _STRING}
_WRITE = _object(items=_array(_object(**_WRITTEN)))
_WRITE_TURNS = _object(items=_array(_object(**_WRITTEN, **_TURNS)))
_SOLVE = _object(
    answers=_array(_object(id=_STRING, told={"type": "boolean"}, answer=_STRING, quote=_STRING))
)
_EMBED = _object(vectors=_array(_array({"type": "number"})))


@lru_cache(maxsize=64)
def _useful_schema(targets: tuple[str, ...]) -> dict[str, Any]:
    grade = {"type": "integer", "enum": [0, 1, 2]}
    row = _object(id=_STRING, target=_enum(*targets), grade=grade, reason=_STRING)
    return _object(grades=_array(row))
