"""Extracts the JSON document from a model's text and fits it to its schema.

What is right in substance and off in form is read: `"text t1"` or `1` for `t1`, a number as a string, an object where
a list of one was wanted, null for nothing. What can be read in two ways is rejected. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone.locale.messages import Argument, compose

Fit = Callable[[Any, str], Any]
"""Takes a value and the name of its field ("" for the whole reply), returns it as the schema wants it; raises ReplyFault."""

DISPENSABLE_FIELDS = frozenset({"reason"})
"""Texts that decide nothing: a reply without them is used."""

MAX_DECODE_ATTEMPTS = 200
"""Opening braces in a text at which a document is looked for."""


class ReplyFault(Exception):
    """Why a reply cannot be used, worded for the prompt that asks again."""

    def __init__(self, code: str, /, **arguments: Argument) -> None:
        self.reason = compose(code, **arguments)
        super().__init__(self.reason)


def extract_json(text: str) -> Any:
    """Return the one JSON object in the text, bare, fenced or in prose; several different ones are a fault."""
    body = _skip_thinking(text).strip()
    if not body:
        raise ReplyFault("reply_empty")
    if body.startswith("{") and body.endswith("}"):
        try:
            return _decode_object(body)
        except (ValueError, RecursionError) as error:
            if "twice" in str(error):  # raised by `_build_object`
                raise ReplyFault("key_twice") from None
    documents = _find_documents(body)
    if not documents:
        raise ReplyFault("no_json")
    if any(other != documents[0] for other in documents[1:]):
        raise ReplyFault("several_json")
    return documents[0]


def _decode_object(text: str) -> Any:
    """Decode one object: by msgspec where it certainly has no key twice, which is several times as fast."""
    from msgspec.json import decode, encode  # here, since most commands read no reply

    try:
        value = decode(text)
        # a key that came again was dropped, and its colon with it; a colon may also be written as an escape
        is_whole = encode(value).count(b":") == text.count(":") and "\\u003" not in text
    except (ValueError, OverflowError, RecursionError):  # no JSON, or more than msgspec reads
        is_whole = False
    return value if is_whole else _DECODER.decode(text)


def fit_value(value: Any, schema: Mapping[str, Any], place: str = "") -> Any:
    """Return the value as the schema wants it, unknown fields dropped; raises ReplyFault where it does not fit."""
    return compile_schema(schema)(value, place)


def compile_schema(schema: Mapping[str, Any]) -> Fit:
    """Return the function that fits values to one schema, which is then read only once."""
    kind = schema.get("type")
    if is_keyed(schema):
        return _compile_keyed(schema)
    if kind == "object":
        return _compile_object(schema)
    if kind == "array":
        return _compile_array(schema)
    return _compile_scalar(kind, schema)


def is_keyed(schema: Mapping[str, Any]) -> bool:
    """Whether a schema is that of an object with ids for keys, which is read as a list of rows."""
    ids = schema.get("properties", ())
    return bool(ids) and all(map(_ID.fullmatch, ids))


def format_example(schema: Mapping[str, Any], **fixed: str) -> str:
    """Return an example of the schema that a model can follow; `fixed` gives the text of some fields."""
    example = json.dumps(_build_example(schema, fixed), ensure_ascii=False)
    return _CHOICE.sub(r"\1", example).replace('"…": "…"', "…")  # no key to be copied


def _compile_object(schema: Mapping[str, Any]) -> Fit:
    fields = [
        (name, inner == {"type": "string"}, compile_schema(inner), name in schema["required"])
        for name, inner in schema["properties"].items()
    ]

    def fit(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise ReplyFault("fault_not_object", place=_name_place(place))
        fitted = {}
        for name, is_text, fit_field, required in fields:
            if name in value:
                given = value[name]
                # most fields are plain texts: a call for each would be slow
                fitted[name] = given if is_text and type(given) is str else fit_field(given, name)
            elif name in DISPENSABLE_FIELDS:
                fitted[name] = ""
            elif required:
                raise ReplyFault("fault_lacks", place=_name_place(place), name=name)
        return fitted

    return fit


def _compile_keyed(schema: Mapping[str, Any]) -> Fit:
    """Fit an object by id to a list of rows with an `id`; a list of such rows is read too.

    Missing and unknown ids are no fault of the form: whoever knows the items says so."""
    fit_row = compile_schema(next(iter(schema["properties"].values())))
    ids = list(schema["properties"])

    def fit(value: Any, place: str) -> Any:
        if isinstance(value, list):
            if not all(isinstance(row, dict) and "id" in row for row in value):
                raise ReplyFault("fault_lacks", place=_name_place(place), name="id")
            pairs = [(row["id"], row) for row in value]
        elif isinstance(value, dict):
            pairs = list(value.items())
        else:
            raise ReplyFault("fault_not_object", place=_name_place(place))
        return [
            {"id": str(_find_choice(name, ids)), **fit_row(row, str(name))} for name, row in pairs
        ]

    return fit


def _compile_array(schema: Mapping[str, Any]) -> Fit:
    fit_item = compile_schema(schema["items"])
    item_type = {"object": dict, "string": str}.get(schema["items"].get("type"), ())
    # nothing is an instance of (): a single number is not taken for a list of one

    def fit(value: Any, place: str) -> Any:
        if value is None:
            return []
        if isinstance(value, item_type):
            value = [value]
        if not isinstance(value, list):
            raise ReplyFault("fault_not_list", place=_name_place(place))
        return [fit_item(item, place) for item in value]

    return fit


def _compile_scalar(kind: Any, schema: Mapping[str, Any]) -> Fit:
    choices = schema.get("enum")

    def fit(value: Any, place: str) -> Any:
        if kind in ("integer", "number"):
            value = _fit_number(value, kind, place)
        elif kind == "boolean":
            value = _fit_boolean(value, place)
        elif choices is not None:
            value = _find_choice(value, choices)
        else:
            value = _fit_text(value, place)
        if choices is not None and value not in choices:
            shown = value[:40] if isinstance(value, str) else value
            raise ReplyFault(
                "fault_not_choice",
                place=_name_place(place),
                value=json.dumps(shown, ensure_ascii=False),
                choice=json.dumps(choices),
            )
        return value

    return fit


def _find_choice(value: Any, choices: Sequence[str]) -> Any:
    """Return the one choice that the value can mean; the value itself when there is none.

    Words are compared without regard to case and joints (`Not found`); an id may have a word before it and marks
    around it (`claim c1:`), or be given by its number."""
    if value in choices or not isinstance(value, str | int) or isinstance(value, bool):
        return value
    spelled = _JOINT.sub("_", str(value).strip()).casefold()
    meant = [choice for choice in choices if choice.casefold() == spelled]
    match = _LABELLED_ID.fullmatch(str(value))
    if not meant and match and all(map(_ID.fullmatch, choices)):
        named = match[1].casefold()
        meant = [choice for choice in choices if named in (choice, choice.lstrip(_LETTERS))]
    return meant[0] if len(meant) == 1 else value


def _fit_text(value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ReplyFault("fault_not_text", place=_name_place(place))
    return value


def _fit_boolean(value: Any, place: str) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().casefold())
    if not isinstance(value, bool):
        raise ReplyFault("fault_not_boolean", place=_name_place(place))
    return value


def _fit_number(value: Any, kind: str, place: str) -> int | float:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReplyFault("fault_not_number", place=_name_place(place))
    if not math.isfinite(value):
        raise ReplyFault("fault_not_finite", place=_name_place(place))
    if kind == "integer":
        if value != int(value):
            raise ReplyFault("fault_not_whole", place=_name_place(place))
        return int(value)
    return value


_ID = re.compile(r"[a-z]+\d+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LABELLED_ID = re.compile(r"\W*(?:[^\W\d]+\W+)?([A-Za-z]*\d+)\W*")
_JOINT = re.compile(r"[\s_-]+")
_WHOLE_NUMBER = re.compile(r"-?\d{1,9}")


def _name_place(place: str) -> str:
    return repr(place) if place else compose("the_reply")


def _skip_thinking(text: str) -> str:
    """Return what follows a reasoning model's thoughts: a draft in there is not the reply."""
    head = text.lstrip()
    if head.startswith("<think>"):
        return head.partition("</think>")[2]
    return text


def _find_documents(text: str) -> list[Any]:
    documents: list[Any] = []
    start = text.find("{")
    for _ in range(MAX_DECODE_ATTEMPTS):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            documents.append(value)
        start = text.find("{", end)
    return documents


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; a key that occurs twice makes it ambiguous."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_build_object, parse_constant=_reject_constant)
_CHOICE = re.compile(r'"((?:true|\d+)(?:\|(?:false|\d+|…))+)"')
"""A choice of numbers or truth values in an example: shown without quotation marks, which the model would copy."""


def _build_example(schema: Mapping[str, Any], fixed: Mapping[str, str], name: str = "") -> Any:
    if name in fixed:
        return fixed[name]
    kind = schema.get("type")
    if is_keyed(schema):
        return _build_keyed_example(schema, fixed)
    if kind == "object":
        fields = schema["properties"].items()
        return {key: _build_example(inner, fixed, key) for key, inner in fields}
    if kind == "array":
        return [_build_example(schema["items"], fixed, name)]
    if "enum" in schema:
        return "|".join(_shorten_choices([str(choice) for choice in schema["enum"]]))
    return {"integer": 0, "number": 0.5, "boolean": "true|false"}.get(str(kind), "…")


def _build_keyed_example(schema: Mapping[str, Any], fixed: Mapping[str, str]) -> Any:
    """The first and the last row in full: after a single one a small model stops."""
    ids = list(schema["properties"])
    row = _build_example(schema["properties"][ids[0]], fixed)
    between = {"…": "…"} if len(ids) > 2 else {}
    return {ids[0]: row, **between, ids[-1]: row}


def _shorten_choices(choices: list[str]) -> list[str]:
    is_long = len(choices) > MAX_SHOWN_CHOICES
    return [*choices[:2], "…", choices[-1]] if is_long else choices


MAX_SHOWN_CHOICES = 8
"""Choices of a field that an example lists; of more, the first and the last."""
