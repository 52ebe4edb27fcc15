"""Conversions of column values to the fields of a Sample: texts, ids, languages, ranked chunks, grades."""

from __future__ import annotations

import ast
import io
import json
import math
import tokenize
from collections.abc import Mapping
from typing import Any

from ragstone.data.strict_json import BadRow, parse_json
from ragstone.locale.tags import TAG_HINT, to_language_tag
from ragstone.types import Chunk, Ranked

_TEXT_KEYS = ("text", "page_content", "content", "contents", "passage", "body", "document")
_ID_KEYS = ("id", "doc_id", "_id", "chunk_id", "document_id", "docid", "id_", "doc_uri", "uri")
_SCORE_KEYS = ("score", "similarity", "relevance_score", "similarity_score")
_GRADE_KEYS = ("grade", "relevance", "score", "rating")
_MESSAGE_KEYS = ("content", "text", "answer", "output", "response", "question", "query", "input")
_USER_ROLES = frozenset({"user", "human"})
_ASSISTANT_ROLES = frozenset({"assistant", "ai", "model", "bot"})


def to_text(value: Any, column: str, *, loose: bool = False, asking: bool = False) -> str | None:
    """Convert a value to text; a number is formatted; with `loose`, messages and objects are searched for their text.

    `asking`: the text is a question, so of several messages the last of the user is taken, else one of the assistant."""
    if isinstance(value, str):
        return value
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if loose:
        text = _unwrap_text(value, asking)
        if text is not None:
            return text
    raise BadRow(f'"{column}" is {_describe_type(value)}; give a text')


def to_reference(value: Any, column: str, *, loose: bool = False) -> str | None:
    """Convert a value to the reference answer: the first of several, but all expected facts, one a line."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        if not value:
            return None
        return "\n".join(value) if column.endswith("facts") else str(value[0])
    return to_text(value, column, loose=loose)


def to_id(value: Any, column: str) -> str | None:
    """Convert a text or whole number to the id of a sample or document; an empty text is no id."""
    if isinstance(value, str):
        return value or None
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # tables turn whole numbers into floats where a cell is empty
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise BadRow(f'"{column}" is {_describe_type(value)}; give a text or a whole number as id')


def to_language(value: Any, column: str) -> str | None:
    """Convert a text to a language tag; an empty text names no language."""
    tag = to_language_tag(value) if isinstance(value, str) else None
    if tag is None and value not in (None, ""):
        raise BadRow(f'"{column}" is {str(value)[:60]!r}; {TAG_HINT}')
    return tag


def to_chunks(value: Any, column: str) -> Ranked:
    """Convert a list of texts, or of objects with a text, an id or both, to ranked chunks."""
    if not isinstance(value, list):
        raise BadRow(
            f'"{column}" is {_describe_type(value)}; give a list of texts or of {{"id", "text"}}'
        )
    return Ranked([_to_chunk(item, column, rank) for rank, item in enumerate(value, 1)])


def to_ids(value: Any, column: str) -> list[str]:
    """Convert a list of texts or whole numbers to document ids."""
    if not isinstance(value, list):
        raise BadRow(f'"{column}" is {_describe_type(value)}; give a list of ids')
    ids = [to_id(item, f"{column}[{at}]") for at, item in enumerate(value)]
    if None in ids:
        raise BadRow(
            f'"{column}" has an empty id at [{ids.index(None)}]; give each document its id'
        )
    return [name for name in ids if name is not None]


def attach_ids(texts: Ranked, ids: list[str], column: str, id_column: str) -> Ranked:
    """Give the chunks the ids of another column, which must have the same length."""
    if len(texts) != len(ids):
        raise BadRow(
            f'"{column}" has {len(texts)} items and "{id_column}" has {len(ids)}; '
            "give one id for each text"
        )
    return Ranked(Chunk(name, item.text, item.score) for name, item in zip(ids, texts, strict=True))


def to_grades(value: Any, column: str) -> Mapping[str, float]:
    """Convert a mapping, a list of ids (grade 1), or a list of {"id", "grade"} to id → grade.

    Grades stay unchanged; below zero, as in some TREC qrels, means judged not relevant."""
    if isinstance(value, dict):
        return {name: _to_grade(grade, column, name) for name, grade in value.items()}
    if not isinstance(value, list):
        raise BadRow(f'"{column}" is {_describe_type(value)}; give a list of ids or {{id: grade}}')
    grades: dict[str, float] = {}
    for at, item in enumerate(value):
        name, grade = (item, 1) if not isinstance(item, dict) else _get_graded_id(item, column, at)
        document_id = to_id(name, f"{column}[{at}]")
        if document_id is None:
            raise BadRow(f'"{column}" has no id at [{at}]; give the id of a document')
        # a document listed twice counts once, with its best grade
        grades[document_id] = max(grade, grades.get(document_id, grade))
    return grades


def parse_cell(value: Any, column: str) -> Any:
    """Parse a list or object that a table cell holds as JSON or as a Python literal."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[:1] not in ("[", "{", "("):
        return value
    try:
        return parse_json(text)
    except BadRow as error:
        try:
            literal = ast.literal_eval(text)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            raise BadRow(f'the list in "{column}": {error}') from None
    if _has_adjacent_strings(text):
        # Python would join 'a' 'b' into 'ab': two chunks would silently become one.
        raise BadRow(
            f'the list in "{column}" has no commas between its items, as numpy prints it; '
            "write it as JSON"
        )
    try:
        return parse_json(json.dumps(literal))
    except (TypeError, ValueError, RecursionError):
        raise BadRow(f'the list in "{column}" holds what JSON cannot; write JSON') from None


def _has_adjacent_strings(text: str) -> bool:
    """Whether two string literals stand side by side without a comma, as in a printed numpy array; True when unsure."""
    before = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and before == tokenize.STRING:
                return True
            if token.type not in (tokenize.NL, tokenize.NEWLINE):
                before = token.type
    except (tokenize.TokenError, SyntaxError):
        return True
    return False


def _to_chunk(item: Any, column: str, rank: int) -> Chunk:
    if isinstance(item, str):
        return Chunk("" if item else f"#{rank}", item)
    if isinstance(item, dict):
        name, text = item.get("id"), item.get("text")
        if len(item) == 2 and name and isinstance(name, str) and isinstance(text, str):
            return Chunk(name, text)  # as most files have it
        inner = item.get("node")
        body = inner if isinstance(inner, dict) else item
        text = _get_first(body, _TEXT_KEYS)
        name = _get_first(body, _ID_KEYS)
        if name is None:
            metadata = body.get("metadata") or body.get("meta")
            if isinstance(metadata, dict):
                name = _get_first(metadata, (*_ID_KEYS, "source"))
        if text is not None and not isinstance(text, str):
            raise BadRow(
                f'the text of "{column}"[{rank - 1}] is {_describe_type(text)}; give a text'
            )
        chunk_id = to_id(name, f"{column}[{rank - 1}].id") if name is not None else None
        if text is None and chunk_id is None:
            raise BadRow(
                f'"{column}"[{rank - 1}] has neither a text nor an id; give {{"id", "text"}}'
            )
        # A chunk has an id or a text: an empty one is identified by its rank.
        # The score stands beside the node, not inside it.
        return Chunk(chunk_id or ("" if text else f"#{rank}"), text or "", _get_score(item))
    raise BadRow(
        f'"{column}"[{rank - 1}] is {_describe_type(item)}; give a list of texts or of {{"id", "text"}}'
    )


def _get_first(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None


def _get_score(item: Mapping[str, Any]) -> float | None:
    value = _get_first(item, _SCORE_KEYS)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _get_graded_id(item: Mapping[str, Any], column: str, at: int) -> tuple[Any, float]:
    name = _get_first(item, _ID_KEYS)
    grade = _get_first(item, _GRADE_KEYS)
    return name, 1 if grade is None else _to_grade(grade, column, name if name is not None else at)


def _to_grade(value: Any, column: str, name: Any) -> float:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float) and abs(value) < 1e300 and math.isfinite(value):
        return value
    raise BadRow(f'the grade of {name!r} in "{column}" is {_describe_type(value)}; give a number')


def _unwrap_text(value: Any, asking: bool) -> str | None:
    """Find the text inside messages, parts or an object, as logging tools nest it."""
    for _ in range(8):  # choices → message → content → parts → text, with a margin
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            value = _choose_message(value, asking)
        elif isinstance(value, dict):
            value = _choose_member(value)
        else:
            return None
    return None


def _choose_message(items: list[Any], asking: bool) -> Any:
    if not items:
        return None
    if all(isinstance(item, dict) for item in items):
        roles = _USER_ROLES if asking else _ASSISTANT_ROLES
        for item in reversed(items):
            if str(item.get("role") or item.get("type") or "").lower() in roles:
                return item
    # the last message is what was asked; of several answers the first is what a user sees
    return items[-1] if asking else items[0]


def _choose_member(value: dict[str, Any]) -> Any:
    """The member that holds the text, by its key; of other objects the only text, if there is just one."""
    for key in ("messages", "choices", "message", "kwargs", *_MESSAGE_KEYS):
        if value.get(key) is not None:
            return value[key]
    texts = [item for item in value.values() if isinstance(item, str)]
    return texts[0] if len(texts) == 1 else None


def _describe_type(value: Any) -> str:
    """Name the type of a value for an error message."""
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:20]}"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else "an object"
