"""What stands in a column, as a Sample holds it: texts, ranked chunks, graded ids."""

from __future__ import annotations

import ast
import io
import json
import math
import tokenize
from collections.abc import Mapping
from typing import Any

from ragstone.data.quick import chunk
from ragstone.data.strict import BadRow, parse
from ragstone.types import Chunk, Ranked

_TEXT_KEYS = ("text", "page_content", "content", "contents", "passage", "body", "document")
_ID_KEYS = ("id", "doc_id", "_id", "chunk_id", "document_id", "docid", "id_", "doc_uri", "uri")
_SCORE_KEYS = ("score", "similarity", "relevance_score", "similarity_score")
_GRADE_KEYS = ("grade", "relevance", "score", "rating")
_SPOKEN_KEYS = ("content", "text", "answer", "output", "response", "question", "query", "input")
_ASKING = frozenset({"user", "human"})
_ANSWERING = frozenset({"assistant", "ai", "model", "bot"})


def text_of(value: Any, column: str, *, loose: bool = False, asking: bool = False) -> str | None:
    """A text; a number as it is written; with `loose`, what messages and objects say."""
    if isinstance(value, str):
        return value
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if loose:
        found = _said(value, asking)
        if found is not None:
            return found
    raise BadRow(f'"{column}" is {_kind(value)}; give a text')


def reference_of(value: Any, column: str, *, loose: bool = False) -> str | None:
    """The wanted answer; of several the first, of wanted facts all, a line each."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        if not value:
            return None
        return "\n".join(value) if column.endswith("facts") else str(value[0])
    return text_of(value, column, loose=loose)


def id_of(value: Any, column: str) -> str | None:
    """A sample's or document's id: a text, or a whole number as text; empty means none."""
    if isinstance(value, str):
        return value or None
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # tables turn whole numbers into floats where a cell is empty
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise BadRow(f'"{column}" is {_kind(value)}; give a text or a whole number as id')


def chunks_of(value: Any, column: str) -> Ranked:
    """Ranked chunks from a list of texts or of objects with a text, an id or both."""
    if not isinstance(value, list):
        raise BadRow(f'"{column}" is {_kind(value)}; give a list of texts or of {{"id", "text"}}')
    found = []
    for rank, item in enumerate(value, 1):
        # The two usual kinds are read here: five calls less a sample.
        if item.__class__ is str and item:
            found.append(chunk("", item))
            continue
        if item.__class__ is dict:
            name, text = item.get("id"), item.get("text")
            if name.__class__ is str and text.__class__ is str and name and len(item) == 2:
                found.append(chunk(name, text))
                continue
        found.append(_chunk(item, column, rank))
    return Ranked(found)


def ids_of(value: Any, column: str) -> list[str]:
    """Document ids from a list of texts or whole numbers."""
    if not isinstance(value, list):
        raise BadRow(f'"{column}" is {_kind(value)}; give a list of ids')
    ids = [id_of(item, f"{column}[{at}]") for at, item in enumerate(value)]
    if None in ids:
        raise BadRow(
            f'"{column}" has an empty id at [{ids.index(None)}]; give each document its id'
        )
    return [found for found in ids if found is not None]


def with_ids(texts: Ranked, ids: list[str], column: str, id_column: str) -> Ranked:
    """The chunks with the ids of another column, which must be as many."""
    if len(texts) != len(ids):
        raise BadRow(
            f'"{column}" has {len(texts)} items and "{id_column}" has {len(ids)}; '
            "give one id for each text"
        )
    return Ranked(
        [chunk(name, item.text, item.score) for name, item in zip(ids, texts, strict=True)]
    )


def relevant_of(value: Any, column: str) -> Mapping[str, float]:
    """Id → grade, from a mapping, a list of ids (grade 1), or a list of {"id", "grade"}.

    Grades are kept as given; below zero, as in some TREC qrels, means judged not relevant."""
    if isinstance(value, dict):
        return {
            name: grade
            if grade.__class__ is int and -99 < grade < 99
            else _grade(grade, column, name)
            for name, grade in value.items()
        }
    if not isinstance(value, list):
        raise BadRow(f'"{column}" is {_kind(value)}; give a list of ids or {{id: grade}}')
    grades: dict[str, float] = {}
    for at, item in enumerate(value):
        name, grade = (item, 1) if not isinstance(item, dict) else _graded(item, column, at)
        found = id_of(name, f"{column}[{at}]")
        if found is None:
            raise BadRow(f'"{column}" has no id at [{at}]; give the id of a document')
        grades[found] = max(grade, grades.get(found, grade))
    return grades


def cell(value: Any, column: str) -> Any:
    """A list or object that a table's cell holds as JSON or as a Python literal."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[:1] not in ("[", "{", "("):
        return value
    try:
        return parse(text)
    except BadRow as refused:
        try:
            found = ast.literal_eval(text)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            raise BadRow(f'the list in "{column}": {refused}') from None
    if _runs_together(text):
        # Python would join 'a' 'b' into 'ab': two chunks would silently become one.
        raise BadRow(
            f'the list in "{column}" has no commas between its items, as numpy prints it; '
            "write it as JSON"
        )
    try:
        return parse(json.dumps(found))
    except (TypeError, ValueError, RecursionError):
        raise BadRow(f'the list in "{column}" holds what JSON cannot; write JSON') from None


def _runs_together(text: str) -> bool:
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


def _chunk(item: Any, column: str, rank: int) -> Chunk:
    if item.__class__ is dict:
        inner = item.get("node")
        body = inner if isinstance(inner, dict) else item
        text = _first(body, _TEXT_KEYS)
        name = _first(body, _ID_KEYS)
        if name is None:
            about = body.get("metadata") or body.get("meta")
            if isinstance(about, dict):
                name = _first(about, (*_ID_KEYS, "source"))
        if text is not None and not isinstance(text, str):
            raise BadRow(f'the text of "{column}"[{rank - 1}] is {_kind(text)}; give a text')
        found = id_of(name, f"{column}[{rank - 1}].id") if name is not None else None
        if text is None and found is None:
            raise BadRow(
                f'"{column}"[{rank - 1}] has neither a text nor an id; give {{"id", "text"}}'
            )
        # A chunk is never nameless and empty: an empty one is called by its rank.
        return Chunk(found or ("" if text else f"#{rank}"), text or "", _score(item))
    if item == "":
        return Chunk(f"#{rank}", "")
    raise BadRow(
        f'"{column}"[{rank - 1}] is {_kind(item)}; give a list of texts or of {{"id", "text"}}'
    )


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None


def _score(item: Mapping[str, Any]) -> float | None:
    value = _first(item, _SCORE_KEYS)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _graded(item: Mapping[str, Any], column: str, at: int) -> tuple[Any, float]:
    name = _first(item, _ID_KEYS)
    grade = _first(item, _GRADE_KEYS)
    return name, 1 if grade is None else _grade(grade, column, name if name is not None else at)


def _grade(value: Any, column: str, name: Any) -> float:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float) and abs(value) < 1e300 and math.isfinite(value):
        return value
    raise BadRow(f'the grade of {name!r} in "{column}" is {_kind(value)}; give a number')


def _said(value: Any, asking: bool) -> str | None:
    """The text inside messages, parts or an object, as logging tools nest it."""
    for _ in range(8):  # choices → message → content → parts → text, and no endless chase
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            value = _turn(value, asking)
        elif isinstance(value, dict):
            value = _member(value)
        else:
            return None
    return None


def _turn(items: list[Any], asking: bool) -> Any:
    if not items:
        return None
    if all(isinstance(item, dict) for item in items):
        wanted = _ASKING if asking else _ANSWERING
        for item in reversed(items):
            if str(item.get("role") or item.get("type") or "").lower() in wanted:
                return item
    return items[-1] if asking else items[0]


def _member(value: dict[str, Any]) -> Any:
    for key in ("messages", "choices", "message", "kwargs", *_SPOKEN_KEYS):
        if value.get(key) is not None:
            return value[key]
    texts = [item for item in value.values() if isinstance(item, str)]
    return texts[0] if len(texts) == 1 else None


def _kind(value: Any) -> str:
    """A value as a complaint names it."""
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:20]}"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else "an object"
