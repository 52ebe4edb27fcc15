"""JSON schemas of the replies, one for each kind of Ask. Cached replies depend on them byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any


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


_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}
_BOOLEAN: dict[str, Any] = {"type": "boolean"}
_QUOTES = _array(_object(source=_STRING, quote=_STRING))

CLAIMS = _object(claims=_array(_object(text_id=_STRING, sentence=_INTEGER, claim=_STRING)))
SUPPORT = _object(
    verdicts=_array(
        _object(
            id=_STRING,
            verdict=_enum("supported", "contradicted", "not_found"),
            evidence=_QUOTES,
            reason=_STRING,
        )
    )
)
ASPECTS = _object(aspects=_array(_object(aspect=_STRING, covered=_BOOLEAN, quote=_STRING)))
PREFER = _object(reason=_STRING, better=_enum("A", "B", "tie"))
QUESTIONS = _object(evasive=_BOOLEAN, questions=_array(_STRING))
STANDALONE = _object(question=_STRING)
TURNS = _object(
    turns=_array(
        _object(id=_STRING, addresses=_BOOLEAN, contradicts=_STRING, quote=_STRING, reason=_STRING)
    )
)
GOAL = _object(reason=_STRING, turn=_STRING)
EMBED = _object(vectors=_array(_array({"type": "number"})))
SOLVE = _object(answers=_array(_object(id=_STRING, told=_BOOLEAN, answer=_STRING, quote=_STRING)))
_TEST_ITEM = {
    "id": _STRING, "question": _STRING, "answer": _STRING, "evidence": _QUOTES,
    "difficulty": _enum("easy", "medium", "hard"),
}  # fmt: skip
_EARLIER_TURN = {"earlier_question": _STRING, "earlier_answer": _STRING}
TOLD = _object(yes=_BOOLEAN)
WRITE = _object(items=_array(_object(**_TEST_ITEM)))
WRITE_FOLLOW_UPS = _object(items=_array(_object(**_TEST_ITEM, **_EARLIER_TURN)))


@lru_cache(maxsize=64)
def build_useful_schema(targets: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a `useful` reply about these targets."""
    grade = {"type": "integer", "enum": [0, 1, 2]}
    row = _object(id=_STRING, target=_enum(*targets), grade=grade, reason=_STRING)
    return _object(grades=_array(row))


def build_rate_schema(level_count: int) -> dict[str, Any]:
    """Return the schema of a `rate` reply on a scale of so many levels."""
    level = {"type": "integer", "enum": list(range(level_count))}
    return _object(reason=_STRING, level=level)
