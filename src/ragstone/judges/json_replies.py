"""One JSON document out of a model's text, and whether it fits its schema. Strict where it matters: a doubtful reply is no reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any


class ReplyFault(Exception):
    """Why a reply cannot be used, in words that fit into a re-ask."""


def extract_json(text: str) -> Any:
    """The one JSON object in the text: bare, fenced or in prose. Two different ones are a fault."""
    body = _after_thinking(text).strip()
    if not body:
        raise ReplyFault("the reply was empty")
    if body.startswith("{") and body.endswith("}"):
        try:
            return _DECODER.decode(body)
        except (ValueError, RecursionError) as broken:
            if "twice" in str(broken):
                raise ReplyFault("a key of the JSON document occurs twice") from None
    found = _all_documents(body)  # perhaps fenced, in prose, or two: look closer
    if not found:
        raise ReplyFault("the reply held no complete JSON document")
    if any(other != found[0] for other in found[1:]):
        raise ReplyFault("the reply held several different JSON documents")
    return found[0]


Fit = Callable[[Any, str], Any]
"""Gives a value as its schema wants it, or raises a Fault that says where it does not fit."""


def fit_value(value: Any, schema: Mapping[str, Any], place: str = "") -> Any:
    """The value as the schema wants it, unknown fields dropped; a Fault says where it does not fit."""
    return compile_schema(schema)(value, place)


def compile_schema(schema: Mapping[str, Any]) -> Fit:
    """`fit_value` for one schema, which is read once and not for every value."""
    kind = schema.get("type")
    if kind == "object":
        return _object(schema)
    if kind == "array":
        return _array(schema)
    return _scalar(kind, schema)


def _object(schema: Mapping[str, Any]) -> Fit:
    fields = [
        (name, inner == _TEXT, compile_schema(inner), name in schema["required"])
        for name, inner in schema["properties"].items()
    ]

    def fit(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise ReplyFault(f"{_where(place)} is not an object")
        found = {}
        for name, plain, inner, required in fields:
            if name in value:
                one = value[name]
                # most fields are plain texts: they need no call each
                found[name] = one if plain and one.__class__ is str else inner(one, name)
            elif required:
                raise ReplyFault(f"{_where(place)} lacks {name!r}")
        return found

    return fit


def _array(schema: Mapping[str, Any]) -> Fit:
    item = compile_schema(schema["items"])

    def fit(value: Any, place: str) -> Any:
        if not isinstance(value, list):
            raise ReplyFault(f"{_where(place)} is not a list")
        return [item(one, place) for one in value]

    return fit


_TEXT = {"type": "string"}


def _where(place: str) -> str:
    return repr(place) if place else "the reply"


def format_example(schema: Mapping[str, Any], **fixed: str) -> str:
    """The schema as an example a model can follow; `fixed` gives the text of some fields."""
    return _CHOICE.sub(r"\1", json.dumps(_example(schema, fixed), ensure_ascii=False))


_CHOICE = re.compile(r'"((?:true|\d+)(?:\|(?:false|\d+))+)"')
"""A choice of numbers or truth values in an example: no quotation marks, lest the model copies them."""


def _scalar(kind: Any, schema: Mapping[str, Any]) -> Fit:
    choice = schema.get("enum")

    def fit(value: Any, place: str) -> Any:
        if kind in ("integer", "number"):
            value = _number(value, kind, place)
        elif kind == "boolean":
            if not isinstance(value, bool):
                raise ReplyFault(f"{_where(place)} is not true or false")
        elif not isinstance(value, str):
            raise ReplyFault(f"{_where(place)} is not a text")
        if choice is not None and value not in choice:
            raise ReplyFault(f"{_where(place)} is {_short(value)}, not one of {json.dumps(choice)}")
        return value

    return fit


def _number(value: Any, kind: str, place: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReplyFault(f"{_where(place)} is not a number")
    if not math.isfinite(value):
        raise ReplyFault(f"{_where(place)} is not a finite number")
    if kind == "integer":
        if value != int(value):
            raise ReplyFault(f"{_where(place)} is not a whole number")
        return int(value)
    return value


def _short(value: Any) -> str:
    return json.dumps(value if not isinstance(value, str) else value[:40], ensure_ascii=False)


def _after_thinking(text: str) -> str:
    """What follows a reasoning model's open thoughts; a draft in there is not the reply."""
    head = text.lstrip()
    if head.startswith("<think>"):
        return head.partition("</think>")[2]
    return text


def _all_documents(text: str) -> list[Any]:
    found: list[Any] = []
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found


_TRIES = 200


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different; JSON with a key twice says two things at once."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)


def _example(schema: Mapping[str, Any], fixed: Mapping[str, str], name: str = "") -> Any:
    if name in fixed:
        return fixed[name]
    kind = schema.get("type")
    if kind == "object":
        return {key: _example(inner, fixed, key) for key, inner in schema["properties"].items()}
    if kind == "array":
        return [_example(schema["items"], fixed, name)]
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    return {"integer": 0, "number": 0.5, "boolean": "true|false"}.get(str(kind), "…")
