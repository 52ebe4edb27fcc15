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
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar

from ragstone.errors import JudgeFailed, OutOfBudget, Unscored
from ragstone.language import sentences
from ragstone.types import EMPTY, NOTHING_USED, Chunk, Usage

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
            "sentences": [text[a:b] for a, b in sentences(text, language)],
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


Take = Callable[[Any], Any]
"""Takes the value of one question's reply out of the value of a merged reply."""


class Merged(NamedTuple):
    """One question that stands for several, and how each of them takes its own reply out of the answer."""

    ask: Ask
    parts: tuple[tuple[int, Take], ...]
    """Index of an original Ask, and the function from the merged reply's value to the value it would have got."""


def merge(asks: Sequence[Ask]) -> list[Merged]:
    """The fewest questions that answer all of a sample's questions of one round.

    Identical questions are put once. Texts to split into claims go together. Claims against the same sources go
    together; where there is but one source (an answer against its reference, and the reverse), all such
    cases go together too. Targets of the same chunks in the same wording go together. Everything else, and a
    `support` of several cases, stays as it is. The result does not depend on the order of the questions.

    A row of the reply with an id that nobody gave is passed to every part, so that its reader refuses it."""
    groups: dict[Hashable, list[tuple[Ask, list[int]]]] = {}
    for index, one in enumerate(asks):
        group = groups.setdefault(_mergeable(one), [])
        for known, places in group:
            if known is one or known == one:
                places.append(index)
                break
        else:
            group.append((one, [index]))
    merged: list[Merged] = []
    for members in groups.values():
        indices = {id(one): places for one, places in members}
        for united, takes in _united([one for one, _ in members]):
            parts = [(index, take) for one, take in takes for index in indices[id(one)]]
            if len(parts) > 1:
                parts.sort(key=_index)
            merged.append(Merged(united, tuple(parts)))
    return sorted(merged, key=_kind_and_key)


def _index(part: tuple[int, Take]) -> int:
    return part[0]


def _kind_and_key(one: Merged) -> tuple[str, str]:
    return one.ask.kind, one.ask.key


def _mergeable(one: Ask) -> Hashable:
    """What two questions must share to be put as one; of a kind that is never united, only equal ones are."""
    values = one.values
    shared: tuple[Hashable, ...]
    if one.kind == "claims":
        shared = ()
    elif one.kind == "support" and len(values["cases"]) == 1:
        sources = _texts(values["cases"][0]["sources"])
        shared = sources if len(sources) != 1 else ()
    elif one.kind == "useful":
        shared = (values["question"], values["wording"], *_texts(values["chunks"]))
    else:
        return one.key
    return (one.kind, one.language, one.repeat, shared)


def _texts(items: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple([item["text"] for item in items])


def _united(members: Sequence[Ask]) -> Iterable[tuple[Ask, list[tuple[Ask, Take]]]]:
    if len(members) == 1:
        return [(members[0], [(members[0], _all_of_it)])]
    if members[0].kind == "claims":
        return [_one_splitting(members)]
    if members[0].kind == "support":
        return [_one_checking(members)]
    return _gradings(members)


def _all_of_it(value: Any) -> Any:
    return value


def _one_splitting(members: Sequence[Ask]) -> tuple[Ask, list[tuple[Ask, Take]]]:
    """`claims` over the distinct texts of several."""
    items = {item["text"]: item for one in members for item in one.values["texts"]}
    ids = {text: f"t{n}" for n, text in enumerate(sorted(items), 1)}
    texts = [{**items[text], "id": ids[text]} for text in sorted(items)]
    takes = []
    for one in members:
        own: dict[str, list[str]] = {name: [] for name in ids.values()}
        for item in one.values["texts"]:
            own[ids[item["text"]]].append(item["id"])
        takes.append((one, _rows("claims", "text_id", own)))
    return replace(members[0], values={"texts": texts}), takes


def _one_checking(members: Sequence[Ask]) -> tuple[Ask, list[tuple[Ask, Take]]]:
    """`support` of all claims of several, one case for each set of sources."""
    statements: dict[tuple[str, ...], dict[str, None]] = {}
    for one in sorted(members, key=lambda one: _texts(one.values["cases"][0]["claims"])):
        (case,) = one.values["cases"]
        here = statements.setdefault(_texts(case["sources"]), {})
        here.update(dict.fromkeys(_texts(case["claims"])))
    order = sorted(statements)
    united = support(
        *(Case(tuple(statements[key]), tuple(Chunk(text=text) for text in key)) for key in order)
    )
    homes = dict(zip(order, united.values["cases"], strict=True))
    every_claim = [claim["id"] for case in homes.values() for claim in case["claims"]]
    every_source = [source["id"] for case in homes.values() for source in case["sources"]]
    takes = []
    for one in members:
        (case,) = one.values["cases"]
        home = homes[_texts(case["sources"])]
        ids = {claim["text"]: claim["id"] for claim in home["claims"]}
        own: dict[str, list[str]] = {name: [] for name in every_claim}
        for claim in case["claims"]:
            own[ids[claim["text"]]].append(claim["id"])
        # another case's source must not pass for one of ours that has the same number
        names = {name: f"{name} of another case" for name in every_source}
        for mine, there in zip(case["sources"], home["sources"], strict=True):
            names[there["id"]] = mine["id"]
        takes.append((one, _rows("verdicts", "id", own, names)))
    first = members[0]
    return replace(united, language=first.language, repeat=first.repeat), takes


def _gradings(members: Sequence[Ask]) -> list[tuple[Ask, list[tuple[Ask, Take]]]]:
    """`useful` for all targets of several; a target's name stands for one text, so clashes stay apart."""
    groups: list[tuple[dict[str, str | None], list[Ask]]] = []
    for one in sorted(members, key=lambda one: one.key):
        own = one.values["targets"]
        for targets, inside in groups:
            if all(targets.get(name, text) == text for name, text in own.items()):
                targets.update(own)
                inside.append(one)
                break
        else:
            groups.append((dict(own), [one]))
    result = []
    for targets, inside in groups:
        first, names = inside[0], sorted(targets)
        united = useful(first.values["question"], (), {name: targets[name] for name in names})
        values = {**first.values, "targets": united.values["targets"]}
        united = replace(first, values=values, schema=united.schema)
        takes = [
            (one, _rows("grades", "target", {n: [n] * (n in one.values["targets"]) for n in names}))
            for one in inside
        ]
        result.append((united, takes))
    return result


def _rows(
    field: str, key: str, own: Mapping[str, Sequence[str]], sources: Mapping[str, str] = EMPTY
) -> Take:
    """Keeps the rows that are one's own, under one's own ids; other parts' are dropped, unknown ones kept."""

    def renamed(piece: Any) -> Any:
        known = piece.__class__ is dict or isinstance(piece, Mapping)
        name = piece.get("source") if known else None
        if isinstance(name, str) and name in sources:
            return {**piece, "source": sources[name]}
        return piece

    def take(value: Any) -> Any:
        rows = value.get(field) if isinstance(value, Mapping) else None
        if not isinstance(rows, list):
            return value
        kept: list[Any] = []
        for row in rows:
            name = row.get(key) if row.__class__ is dict or isinstance(row, Mapping) else None
            if not isinstance(name, str) or name not in own:
                kept.append(row)
                continue
            evidence = row.get("evidence")
            if sources and isinstance(evidence, list):
                row = {**row, "evidence": [renamed(piece) for piece in evidence]}
            kept += [{**row, key: mine} for mine in own[name]]
        return {**value, field: kept}

    return take
