"""A row into a Sample, by a mapping that is compiled once a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ragstone.data.formats import Format, mapping, named
from ragstone.data.quick import chunk
from ragstone.data.quick import sample as quick_sample
from ragstone.data.strict import BadRow, reparse
from ragstone.data.values import (
    cell,
    chunks_of,
    id_of,
    ids_of,
    reference_of,
    relevant_of,
    text_of,
    with_ids,
)
from ragstone.errors import DataError
from ragstone.types import EMPTY, Ranked, Sample

Mapper = Callable[[Any, int], tuple[Sample, bool]]
"""A parsed row and its position → the sample, and whether the row gave it an id."""

Get = Callable[[Mapping[str, Any]], Any]
T = TypeVar("T")

_KEPT_TEXT = 4096
"""Longer texts of unknown columns stay in the row alone."""

_NUMBERS: Mapping[str, tuple[str, float]] = {
    "latency": ("latency", 1),
    "latency_s": ("latency", 1),
    "latency_seconds": ("latency", 1),
    "execution_time": ("latency", 1),
    "completion_time": ("latency", 1),
    "latency_ms": ("latency", 0.001),
    "latencyMs": ("latency", 0.001),
    "execution_time_ms": ("latency", 0.001),
    "tokens": ("tokens", 1),
    "total_tokens": ("tokens", 1),
    "tokenUsage": ("tokens", 1),
    "cost": ("cost", 1),
    "cost_usd": ("cost", 1),
    "total_cost": ("cost", 1),
    "token_cost": ("cost", 1),
}
"""Columns that mean the latency in seconds, the tokens or the cost of the system under test."""


def sample_of(row: str, shape: Mapping[str, Any], position: int) -> Sample:
    """The sample of a stored row, the same as when the row was first read."""
    global _last
    known, mapper = _last
    if known is not shape:
        mapper = compile_shape(shape)
        _last = (shape, mapper)
    try:
        return mapper(reparse(row), position)[0]
    except (BadRow, ValueError, RecursionError) as bad:
        raise DataError(f"row {position}: {bad}") from None


def compile_shape(shape: Mapping[str, Any]) -> Mapper:
    """The function that maps rows of this shape: `format`, and if need be `fields` and `cells`."""
    known = named(str(shape.get("format")))
    paths = mapping(known, shape.get("fields"))
    return _mapper(known, paths, str(shape.get("cells", "")))


def _mapper(known: Format, paths: Mapping[str, tuple[str, ...]], cells: str) -> Mapper:
    get = {field: _getter(paths.get(field, ())) for field in (*_TEXTS, *_OTHERS)}
    get_id, get_question, get_answer = get["id"], get["question"], get["answer"]
    get_reference, get_relevant, get_meta = get["reference"], get["relevant"], get["meta"]
    get_language, get_group, get_error = get["language"], get["group"], get["error"]
    contexts_of = _contexts(known, paths, cells)
    quoted = known.name == "trulens"
    used = frozenset(
        column for names in paths.values() for path in names for column in _heads(path)
    )
    empty = f"has none of the columns {', '.join(_wanted(paths))}; fill one or remove the row"

    def text(value: Any, field: str, row: Mapping[str, Any]) -> str | None:
        column = _source(paths[field], row)
        if quoted:
            value = _unquoted(value)
        if field == "reference":
            return reference_of(value, column, loose=known.loose)
        return text_of(value, column, loose=known.loose, asking=field == "question")

    def graded(value: Any, row: Mapping[str, Any]) -> Mapping[str, float]:
        column = paths["relevant"][0]
        if len(paths["relevant"]) > 1:
            column = _source(paths["relevant"], row)
        return relevant_of(cell(value, column) if cells else value, column)

    def sample(row: Any, position: int) -> tuple[Sample, bool]:
        if row.__class__ is not dict:
            raise BadRow("the row is not an object; write {column: value, …}")
        if cells == "csv":
            row = {column: value for column, value in row.items() if value != ""}
        # The checks for str spare the common case a call; every other kind goes through `text`.
        question, answer, reference = get_question(row), get_answer(row), get_reference(row)
        if question is not None and (question.__class__ is not str or quoted):
            question = text(question, "question", row)
        if answer is not None and (answer.__class__ is not str or quoted):
            answer = text(answer, "answer", row)
        if reference is not None and (reference.__class__ is not str or quoted):
            reference = text(reference, "reference", row)
        contexts = contexts_of(row)
        relevant = get_relevant(row)
        if relevant is not None:
            relevant = graded(relevant, row)
        language, group, error = get_language(row), get_group(row), get_error(row)
        if group is not None and group.__class__ is not str:
            group = id_of(group, _source(paths["group"], row))
        if language is not None and language.__class__ is not str:
            language = text(language, "language", row)
        if error is not None:
            error = _error(error, answer is not None and known.error_if_silent)
        if (
            question is None
            and answer is None
            and contexts is None
            and relevant is None
            and reference is None
            and error is None
        ):
            raise BadRow(empty)
        meta = _extras(row, used, get_meta(row), bool(cells))
        given = get_id(row)
        if given is not None and (given.__class__ is not str or not given):
            given = id_of(given, _source(paths["id"], row))
        return quick_sample(
            str(position) if given is None else given,
            question,
            answer,
            contexts,
            reference,
            relevant,
            language,
            group,
            meta,
            error,
        ), given is not None

    return sample


def path_in(row: Mapping[str, Any], path: str) -> Any:
    """What stands at a dotted path: a column of that very name, else nested; lists are mapped over."""
    if path in row:
        return row[path]
    value: Any = row
    for step in path.split("."):
        value = _step(value, step)
        if value is None:
            return None
    return value


_TEXTS = ("question", "answer", "reference", "language", "group", "error")
_OTHERS = ("id", "relevant", "meta")


def _getter(paths: tuple[str, ...]) -> Get:
    if not paths:
        return lambda row: None
    if len(paths) == 1 and "." not in paths[0]:
        column = paths[0]
        return lambda row: row.get(column)

    def get(row: Mapping[str, Any]) -> Any:
        for path in paths:
            value = row.get(path) if "." not in path else path_in(row, path)
            if value is not None:
                return value
        return None

    return get


def _step(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list):
        if step.isascii() and step.isdigit() and len(step) < 9:
            return value[int(step)] if int(step) < len(value) else None
        return [_step(item, step) for item in value]
    return None


def _source(paths: tuple[str, ...], row: Mapping[str, Any]) -> str:
    """The column that a value came from, for a complaint."""
    return next((path for path in paths if path_in(row, path) is not None), paths[0])


def _heads(path: str) -> Iterable[str]:
    return {path, path.split(".")[0]}


def _wanted(paths: Mapping[str, tuple[str, ...]]) -> list[str]:
    fields = ("question", "answer", "contexts", "context_ids", "reference", "relevant")
    return [paths[field][0] for field in fields if field in paths]


def _contexts(
    known: Format, paths: Mapping[str, tuple[str, ...]], cells: str
) -> Callable[[Mapping[str, Any]], Ranked | None]:
    columns, id_columns = paths.get("contexts", ()), paths.get("context_ids", ())
    get_texts, get_ids = _getter(columns), _getter(id_columns)

    def contexts(row: Mapping[str, Any]) -> Ranked | None:
        texts, ids = get_texts(row), get_ids(row)
        ranked = None
        if texts is not None:
            column = _source(columns, row) if texts.__class__ is not list else columns[0]
            if cells:
                texts = cell(texts, column)
            if texts.__class__ is str:
                if cells == "csv" and known.joined:
                    texts = texts.split(known.joined)
                elif known.text_contexts:
                    texts = [texts] if texts.strip() else []
            elif texts.__class__ is dict and known.text_contexts:
                texts = [texts]
            ranked = chunks_of(texts, column)
        if ids is None:
            return ranked
        id_column = _source(id_columns, row)
        names = ids_of(cell(ids, id_column) if cells else ids, id_column)
        if ranked is None:
            return Ranked([chunk(name, "") for name in names])
        return with_ids(ranked, names, _source(columns, row), id_column)

    return contexts


def _error(value: Any, ignore: bool) -> str | None:
    """Why the system gave nothing; false, empty and null are no error."""
    if ignore or not value:
        return None
    if isinstance(value, str):
        return value
    return "the system failed" if value is True else json.dumps(value, ensure_ascii=False)[:1000]


def _unquoted(value: Any) -> Any:
    """TruLens stores texts as JSON: a quoted text is the text inside the quotes."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return reparse(value)
        except ValueError:
            return value
    return value


def _extras(
    row: Mapping[str, Any], used: frozenset[str], about: Any, cells: bool
) -> Mapping[str, Any]:
    """What else the row says: its metadata and the small values of unmapped columns."""
    meta: dict[str, Any] = {}
    if about is not None:
        about = cell(about, "metadata") if cells else about
        meta = dict(about) if isinstance(about, dict) else {"metadata": about}
    for column, value in row.items():
        if column in used or value is None:
            continue
        if column in _NUMBERS:
            name, scale = _NUMBERS[column]
            number = _amount(value)
            if number is not None:
                meta[name] = number if scale == 1 else number * scale
                continue
        if _small(value):
            meta[column] = value
    return meta or EMPTY


def _amount(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("total")
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e300 else None


def _small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _KEPT_TEXT
    if isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else value
        return len(value) <= 100 and all(
            not isinstance(item, list | dict) and _small(item) for item in items
        )
    return True


_last: tuple[Any, Mapper] = (None, lambda row, position: (Sample(""), False))
