"""References and predictions from two files, matched into samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.sources import RowSource, RawRow, RejectedRow
from ragstone.data.formats import map_fields, get_format
from ragstone.data.dataset import Dataset, Record, read
from ragstone.data.rows import compile_shape, get_path
from ragstone.data.strict_json import reparse_json
from ragstone.errors import DataError
from ragstone.types import Sample

PREDICTION, PREDICTION_ERROR, PREDICTION_CONTEXTS = "prediction", "prediction_error", "prediction_contexts"
"""Columns that are added to a reference's row."""


def pair_predictions(
    refs: Any, preds: Any, *, skip_bad_rows: bool = False, limit: int | None = None
) -> Dataset:
    """Samples of the references, each with the prediction of its id, else of its position.

    A reference without a prediction is a sample with an error, so that it counts against the system.
    A prediction that no reference asks for is a bad row."""
    wanted = read(refs, skip_bad_rows=skip_bad_rows)
    given = read(preds, skip_bad_rows=skip_bad_rows)
    first = next(iter(wanted))
    by_id = _has_id(first, wanted.shape) and _has_id(next(iter(given)), given.shape)
    fields: dict[str, str] = {
        "answer": PREDICTION,
        "error": PREDICTION_ERROR,
        "contexts": PREDICTION_CONTEXTS,
        "reference": _find_reference_column(first, wanted.shape),
    }
    shape = {**wanted.shape, "fields": {**wanted.shape.get("fields", {}), **fields}}
    shown = f"{wanted.source} + {given.source}"
    return Dataset(
        shown,
        f"references ({wanted.format}) and predictions ({given.format})",
        shape,
        skip_bad_rows,
        limit,
        _container=RowSource(shown, lambda: _join_rows(wanted, given, by_id)),
    )


def _join_rows(wanted: Dataset, given: Dataset, by_id: bool) -> Iterator[RawRow]:
    answers: dict[str, Sample] = {
        record.sample.id if by_id else str(number): record.sample
        for number, record in enumerate(given, 1)
    }
    for complaint in given.bad:
        yield _to_rejected(complaint)
    matched = 0
    for number, record in enumerate(wanted, 1):
        key = record.sample.id if by_id else str(number)
        found = answers.pop(key, None)
        matched += found is not None
        yield f"{wanted.source}: row {number}", _add_prediction(record, found, given.source, wanted.shape)
    for complaint in wanted.bad:
        yield _to_rejected(complaint)
    if not matched:
        raise DataError(
            f"no prediction of {given.source!r} belongs to a reference of {wanted.source!r}; "
            "give both the same question_id, or none"
        )
    for key in answers:
        what = f"question_id {key!r}" if by_id else f"row {key}"
        why = f"{what} has no reference in {wanted.source}; remove it"
        yield f"{given.source}", RejectedRow(why)


def _add_prediction(record: Record, found: Sample | None, source: str, shape: Mapping[str, Any]) -> str:
    row = reparse_json(record.row)
    if shape.get("cells") == "csv":
        row = {column: value for column, value in row.items() if value != ""}
    if found is None:
        row[PREDICTION_ERROR] = f"no prediction in {source}"
    else:
        row[PREDICTION] = found.answer if found.answer is not None else found.reference
        if found.error is not None:
            row[PREDICTION_ERROR] = found.error
        elif row[PREDICTION] is None:
            row[PREDICTION_ERROR] = f"an empty prediction in {source}"
        if found.contexts is not None:
            row[PREDICTION_CONTEXTS] = [{"id": c.id, "text": c.text} for c in found.contexts]
    return json.dumps(row, ensure_ascii=False)


def _to_rejected(complaint: str) -> RawRow:
    place, _, why = complaint.partition(": ")
    return place, RejectedRow(why)


def _has_id(record: Record, shape: Mapping[str, Any]) -> bool:
    return compile_shape(shape)(reparse_json(record.row), 1)[1]


def _find_reference_column(record: Record, shape: Mapping[str, Any]) -> str:
    """Where the wanted answer stands: the format's reference, else its answer."""
    paths = map_fields(get_format(shape["format"]), shape.get("fields"))
    row = reparse_json(record.row)
    for field in ("reference", "answer"):
        for path in paths.get(field, ()):
            if get_path(row, path) not in (None, ""):
                return path
    raise DataError('the references have neither "reference" nor "answer"; name one of them so')
