"""Conversion of rows to Samples by a mapper function that is compiled once per file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragstone.data.constructors import build_chunk, build_sample
from ragstone.data.field_values import (
    attach_ids,
    parse_cell,
    to_chunks,
    to_grades,
    to_id,
    to_ids,
    to_language,
    to_reference,
    to_text,
)
from ragstone.data.formats import Format, get_format, map_fields
from ragstone.data.messages import to_dialogue, to_steps
from ragstone.data.strict_json import BadRow, reparse_json
from ragstone.errors import DataError
from ragstone.locale.tags import to_language_tag
from ragstone.types import EMPTY, Dialogue, Ranked, Sample, Steps, ToolStep

Mapper = Callable[[Any, int], tuple[Sample, bool]]
"""Maps a parsed row and its position to the sample, and to whether the row has an id."""

Getter = Callable[[Mapping[str, Any]], Any]

_READ_FIELDS = (
    "question", "answer", "reference", "language", "group", "error", "id", "relevant", "meta",
    "messages", "steps", "expected_steps",
)  # fmt: skip
"""Fields with a getter each; contexts and their ids are read together by `_build_contexts_reader`."""

_RARE_FIELDS = ("language", "group", "error", "meta", "messages", "steps", "expected_steps")
"""Fields that most rows lack: one look at the columns tells so."""

_DialogueValues = tuple[Any, Any, Any]
_DIALOGUE_FIELDS = ("messages", "steps", "expected_steps")
_TO_DIALOGUE: tuple[Callable[[Any, str], Any], ...] = (to_dialogue, to_steps, to_steps)
_NO_DIALOGUE: _DialogueValues = (None, None, None)
_RareValues = tuple[str | None, str | None, str | None, Any, _DialogueValues]
"""Language, group, error, metadata and dialogue of a row."""
_NO_RARE: _RareValues = (None, None, None, None, _NO_DIALOGUE)
_NOTHING = (None,) * 6
_PLAIN_CLASSES = frozenset({str, type(None)})
"""Classes of values that need no conversion to a text."""

_MAX_META_CHARS = 4096
"""Longer texts of unmapped columns are not copied to `meta`."""

MEASURE_COLUMNS: Mapping[str, tuple[str, float]] = {
    "latency": ("latency", 1),
    "latency_s": ("latency", 1),
    "latency_seconds": ("latency", 1),
    "execution_time": ("latency", 1),
    "completion_time": ("latency", 1),
    "latency_ms": ("latency", 0.001),
    "latencyMs": ("latency", 0.001),
    "execution_time_ms": ("latency", 0.001),
    "first_token": ("first_token", 1),
    "time_to_first_token": ("first_token", 1),
    "ttft": ("first_token", 1),
    "ttft_ms": ("first_token", 0.001),
    "tokens": ("tokens", 1),
    "total_tokens": ("tokens", 1),
    "tokenUsage": ("tokens", 1),
    "cost": ("cost", 1),
    "cost_usd": ("cost", 1),
    "total_cost": ("cost", 1),
    "token_cost": ("cost", 1),
}
"""Columns for latency, first token, tokens and cost of the system under test: the `meta` key and the factor to its unit (seconds)."""


_last_mapper: tuple[Any, Mapper] = (None, lambda row, position: (Sample(""), False))
"""The shape and mapper of the last row. Threads may both replace it: each uses the pair that it read."""


def to_sample(row: str, shape: Mapping[str, Any], position: int) -> Sample:
    """Convert a stored row to its sample, the same as when the row was first read."""
    global _last_mapper
    last_shape, mapper = _last_mapper
    # rows of one run share the shape object, and a mapper is compiled once for all of them
    if last_shape is not shape:
        mapper = compile_shape(shape)
        _last_mapper = (shape, mapper)
    try:
        return mapper(reparse_json(row), position)[0]
    except (BadRow, ValueError, RecursionError) as bad:
        raise DataError(f"row {position}: {bad}") from None


def compile_shape(shape: Mapping[str, Any]) -> Mapper:
    """Build the mapper of a shape: `format`, and where needed `fields` and `cells`."""
    row_format = get_format(str(shape.get("format")))
    paths = map_fields(row_format, shape.get("fields"))
    return _build_mapper(row_format, paths, str(shape.get("cells", "")))


def _build_mapper(
    row_format: Format, paths: Mapping[str, tuple[str, ...]], cell_style: str
) -> Mapper:
    """Compile the mapper. `cell_style` says how lists stand in cells: "csv" (an empty cell is nothing), "table", or "" for
    JSON. The mapper runs for every row, so it compares classes, which is faster than `isinstance`."""
    get = {field: _build_getter(paths.get(field, ())) for field in _READ_FIELDS}
    get_id, get_question, get_answer = get["id"], get["question"], get["answer"]
    get_reference, get_relevant, get_meta = get["reference"], get["relevant"], get["meta"]
    get_language, get_group, get_error = get["language"], get["group"], get["error"]
    get_messages, get_steps, get_expected = (
        get["messages"], get["steps"], get["expected_steps"]
    )  # fmt: skip
    read_contexts = _build_contexts_reader(row_format, paths, cell_style)
    has_json_texts = row_format.name == "trulens"  # it stores texts as JSON strings, in quotes
    mapped_columns = frozenset(
        column for names in paths.values() for path in names for column in _list_heads(path)
    )
    rare_columns = frozenset(
        column
        for field in _RARE_FIELDS
        for path in paths.get(field, ())
        for column in _list_heads(path)
    )
    empty_reason = (
        f"has none of the columns {', '.join(_list_required(paths))}; fill one or remove the row"
    )

    def read_text(value: Any, field: str, row: Mapping[str, Any]) -> str | None:
        column = _find_column(paths[field], row)
        if has_json_texts:
            value = _decode_quoted(value)
        if field == "reference":
            return to_reference(value, column, loose=row_format.allows_nested_text)
        return to_text(
            value, column, loose=row_format.allows_nested_text, asking=field == "question"
        )

    def read_texts(row: Mapping[str, Any], *values: Any) -> list[str | None]:
        return [
            None if value is None else read_text(value, field, row)
            for field, value in zip(("question", "answer", "reference"), values, strict=True)
        ]

    def read_grades(value: Any, row: Mapping[str, Any]) -> Mapping[str, float]:
        column = paths["relevant"][0]
        if len(paths["relevant"]) > 1:
            column = _find_column(paths["relevant"], row)
        return to_grades(parse_cell(value, column) if cell_style else value, column)

    def read_language(value: Any, row: Mapping[str, Any]) -> str | None:
        tag = to_language_tag(value) if value.__class__ is str else None
        return tag or to_language(value, _find_column(paths["language"], row))

    def read_id(value: Any, row: Mapping[str, Any]) -> str | None:
        if value and value.__class__ is str:
            return str(value)
        return to_id(value, _find_column(paths["id"], row))

    def read_dialogue(
        row: Mapping[str, Any], values: _DialogueValues, exchange: tuple[Any, Any], contexts: Any
    ) -> tuple[tuple[Dialogue | None, Steps | None, Steps | None], Ranked | None]:
        messages, *calls = (
            None if value is None else convert(parse(value, column), column)
            for value, field, convert in zip(values, _DIALOGUE_FIELDS, _TO_DIALOGUE, strict=True)
            for column in [_find_column(paths[field], row) if value is not None else ""]
        )
        if messages is not None:
            messages = _drop_exchange(messages, *exchange)
        if contexts is None and calls[0]:
            contexts = _list_results(calls[0])
        return (messages, calls[0], calls[1]), contexts

    def parse(value: Any, column: str) -> Any:
        return parse_cell(value, column) if cell_style else value

    def read_rare(row: Mapping[str, Any], has_answer: bool) -> _RareValues:
        language, group, error = get_language(row), get_group(row), get_error(row)
        if group is not None and group.__class__ is not str:
            group = to_id(group, _find_column(paths["group"], row))
        if language is not None:
            language = read_language(language, row)
        if error is not None:
            error = _to_error(error, has_answer and row_format.error_only_without_answer)
        dialogue = get_messages(row), get_steps(row), get_expected(row)
        return language, group, error, get_meta(row), dialogue

    needs_preparation = cell_style == "csv" or row_format.convert is not None

    def map_row(row: Any, position: int) -> tuple[Sample, bool]:
        if row.__class__ is not dict:
            raise BadRow("the row is not an object; write {column: value, …}")
        if needs_preparation:
            row = _prepare_row(row, row_format, cell_style)
        question, answer, reference = get_question(row), get_answer(row), get_reference(row)
        # texts and None need no conversion: this saves a call in the common case
        classes = {question.__class__, answer.__class__, reference.__class__}
        if has_json_texts or not classes <= _PLAIN_CLASSES:
            question, answer, reference = read_texts(row, question, answer, reference)
        contexts = read_contexts(row)
        relevant = get_relevant(row)
        if relevant is not None:
            relevant = read_grades(relevant, row)
        rare = _NO_RARE if rare_columns.isdisjoint(row) else read_rare(row, answer is not None)
        language, group, error, metadata, dialogue = rare
        if (question, answer, contexts, relevant, reference, error) == _NOTHING:
            raise BadRow(empty_reason)
        meta = EMPTY
        if metadata is not None or not mapped_columns.issuperset(row):
            meta = _collect_meta(row, mapped_columns, metadata, has_cells=bool(cell_style))
        if dialogue != _NO_DIALOGUE:
            dialogue, contexts = read_dialogue(row, dialogue, (question, answer), contexts)
        sample_id = get_id(row)
        if sample_id is not None:
            sample_id = read_id(sample_id, row)
        name = sample_id or str(position)  # an empty text is no id
        return build_sample(
            name, question, answer, contexts, reference, relevant, language, group, meta, error,
            *dialogue,
        ), sample_id is not None  # fmt: skip

    return map_row


def parse_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the lists and objects that cells hold; a cell that only looks like one stays a text."""
    parsed: dict[str, Any] = {}
    for column, value in row.items():
        try:
            parsed[column] = parse_cell(value, column)
        except BadRow:
            parsed[column] = value
    return parsed


def _prepare_row(row: dict[str, Any], row_format: Format, cell_style: str) -> dict[str, Any]:
    """The row without empty cells, and flat where its format has a converter."""
    if cell_style == "csv":  # where an empty cell is the only way to say "nothing"
        row = {column: value for column, value in row.items() if value != ""}
    if row_format.convert is None:
        return row
    return row_format.convert(parse_cells(row) if cell_style else row)


def get_path(row: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path: a column of that exact name, else nested; lists are mapped over."""
    if path in row:
        return row[path]
    value: Any = row
    for step in path.split("."):
        value = _get_step(value, step)
        if value is None:
            return None
    return value


def _build_getter(paths: tuple[str, ...]) -> Getter:
    if not paths:
        return lambda row: None
    if len(paths) == 1 and "." not in paths[0]:
        column = paths[0]
        return lambda row: row.get(column)

    heads = frozenset(head for path in paths for head in _list_heads(path))

    def get_first_value(row: Mapping[str, Any]) -> Any:
        if heads.isdisjoint(row):  # the usual case of a field that few files have
            return None
        for path in paths:
            value = row.get(path) if "." not in path else get_path(row, path)
            if value is not None:
                return value
        return None

    return get_first_value


def _get_step(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list):
        if step.isascii() and step.isdigit() and len(step) < 9:
            return value[int(step)] if int(step) < len(value) else None
        return [_get_step(item, step) for item in value]
    return None


def _find_column(paths: tuple[str, ...], row: Mapping[str, Any]) -> str:
    """Find the column that a value came from, for an error message."""
    return next((path for path in paths if get_path(row, path) is not None), paths[0])


def _list_heads(path: str) -> Iterable[str]:
    return {path, path.split(".")[0]}


def _list_required(paths: Mapping[str, tuple[str, ...]]) -> list[str]:
    fields = ("question", "answer", "contexts", "context_ids", "reference", "relevant")
    return [paths[field][0] for field in fields if field in paths]


def _build_contexts_reader(
    row_format: Format, paths: Mapping[str, tuple[str, ...]], cell_style: str
) -> Callable[[Mapping[str, Any]], Ranked | None]:
    columns, id_columns = paths.get("contexts", ()), paths.get("context_ids", ())
    get_texts, get_ids = _build_getter(columns), _build_getter(id_columns)

    def read_contexts(row: Mapping[str, Any]) -> Ranked | None:
        texts, ids = get_texts(row), get_ids(row)
        ranked = None
        if texts is not None:
            column = _find_column(columns, row) if texts.__class__ is not list else columns[0]
            if cell_style:
                texts = parse_cell(texts, column)
            if texts.__class__ is str:
                if row_format.context_separator:
                    texts = texts.split(row_format.context_separator)
                elif row_format.allows_single_context:
                    texts = [texts] if texts.strip() else []
            elif texts.__class__ is dict and row_format.allows_single_context:
                texts = [texts]
            ranked = to_chunks(texts, column)
        if ids is None:
            return ranked
        id_column = _find_column(id_columns, row)
        names = to_ids(parse_cell(ids, id_column) if cell_style else ids, id_column)
        if ranked is None:
            return Ranked([build_chunk(name, "") for name in names])
        return attach_ids(ranked, names, _find_column(columns, row), id_column)

    return read_contexts


def _drop_exchange(messages: Dialogue, question: str | None, answer: str | None) -> Dialogue:
    """The messages before the question: some logs keep the question, or the whole exchange, among them."""
    ends = [("user", question)] if question is not None else []
    for end in ([*ends, ("assistant", answer)], ends):
        tail = [(message.role, message.content) for message in messages[-len(end) :]]
        if end and tail == end:
            messages = messages[: -len(end)]
            break
    return messages


def _list_results(steps: Iterable[ToolStep]) -> Ranked | None:
    """What tools returned as contexts; None when they returned nothing."""
    results = [build_chunk(step.tool, step.result) for step in steps if step.result]
    return Ranked(results) if results else None


def _to_error(value: Any, ignore: bool) -> str | None:
    """Convert an error column to the reason of a failure; false, empty and null are no error."""
    if ignore or not value:
        return None
    if isinstance(value, str):
        return value
    return "the system failed" if value is True else json.dumps(value, ensure_ascii=False)[:1000]


def _decode_quoted(value: Any) -> Any:
    """Decode a text that is stored as JSON, in quotes, as TruLens does."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return reparse_json(value)
        except ValueError:
            return value
    return value


def _collect_meta(
    row: Mapping[str, Any], mapped_columns: frozenset[str], metadata: Any, *, has_cells: bool
) -> Mapping[str, Any]:
    """Collect the metadata of a row and the small values of its unmapped columns."""
    meta: dict[str, Any] = {}
    if metadata is not None:
        metadata = parse_cell(metadata, "metadata") if has_cells else metadata
        meta = dict(metadata) if isinstance(metadata, dict) else {"metadata": metadata}
    for column, value in row.items():
        if column in mapped_columns or value is None:
            continue
        if column in MEASURE_COLUMNS:
            name, scale = MEASURE_COLUMNS[column]
            number = _to_number(value)
            if number is not None:
                # of two columns for one measure, as latency and latency_ms, the later one counts
                meta[name] = number if scale == 1 else number * scale
                continue
        if is_small(value):
            meta[column] = value
    return meta or EMPTY


def _to_number(value: Any) -> float | None:
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


def is_small(value: Any) -> bool:
    """Whether a value is short enough for the metadata of a sample."""
    if isinstance(value, str):
        return len(value) <= _MAX_META_CHARS
    if isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else value
        return len(value) <= 100 and all(
            not isinstance(item, list | dict) and is_small(item) for item in items
        )
    return True
