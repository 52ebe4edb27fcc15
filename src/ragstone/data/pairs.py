"""Pairs of references and predictions from two files, matched into samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.dataset import Dataset, Record, read
from ragstone.data.formats import get_format, map_fields
from ragstone.data.rows import get_path
from ragstone.data.sources import RawRow, RejectedRow, RowSource, to_rejected_row
from ragstone.data.strict_json import reparse_json
from ragstone.errors import DataError
from ragstone.types import Sample

PREDICTION, PREDICTION_ERROR, PREDICTION_CONTEXTS = (
    "prediction",
    "prediction_error",
    "prediction_contexts",
)
"""Columns added to the row of a reference."""


def pair_predictions(
    refs: Any, preds: Any, *, skip_bad_rows: bool = False, limit: int | None = None
) -> Dataset:
    """Match each reference with the prediction of the same id or, where either file has no ids, the same position.

    A reference without a prediction is a sample with an error, so that it counts against the system.
    A prediction without a reference is a bad row."""
    references = read(refs, skip_bad_rows=skip_bad_rows)
    predictions = read(preds, skip_bad_rows=skip_bad_rows)
    first = next(iter(references))
    by_id = first.has_id and next(iter(predictions)).has_id
    fields: dict[str, str] = {
        "answer": PREDICTION,
        "error": PREDICTION_ERROR,
        "contexts": PREDICTION_CONTEXTS,
        "reference": _find_reference_column(first, references.shape),
    }
    shape = {**references.shape, "fields": {**references.shape.get("fields", {}), **fields}}
    if shape.get("cells") == "csv":
        shape["cells"] = (
            "table"  # `_add_prediction` drops the empty cells; an empty prediction stays
        )
    name = f"{references.source} + {predictions.source}"
    return Dataset(
        name,
        f"references ({references.format}) and predictions ({predictions.format})",
        shape,
        skip_bad_rows,
        limit,
        _row_source=RowSource(name, lambda: _join_rows(references, predictions, by_id)),
    )


def _join_rows(references: Dataset, predictions: Dataset, by_id: bool) -> Iterator[RawRow]:
    answers: dict[str, Sample] = {
        record.sample.id if by_id else str(number): record.sample
        for number, record in enumerate(predictions, 1)
    }
    yield from map(to_rejected_row, predictions.bad)
    matched = 0
    for number, record in enumerate(references, 1):
        key = record.sample.id if by_id else str(number)
        prediction = answers.pop(key, None)
        matched += prediction is not None
        yield (
            f"{references.source}: row {number}",
            _add_prediction(record, prediction, predictions.source, references.shape),
        )
    yield from map(to_rejected_row, references.bad)
    if not matched:
        raise DataError(
            f"no prediction of {predictions.source!r} belongs to a reference of {references.source!r}; "
            "give both the same question_id, or none"
        )
    for key in answers:
        label = f"question_id {key!r}" if by_id else f"row {key}"
        reason = f"{label} has no reference in {references.source}; remove it"
        yield f"{predictions.source}", RejectedRow(reason)


def _add_prediction(
    record: Record, prediction: Sample | None, source: str, shape: Mapping[str, Any]
) -> str:
    row = reparse_json(record.row)
    if shape.get("cells") == "csv":
        # an empty cell is no value; here, for the answer added below may be empty and is one
        row = {column: value for column, value in row.items() if value != ""}
    if prediction is None:
        row[PREDICTION_ERROR] = f"no prediction in {source}"
    else:
        # a predictions file may be in a format that reads its answers as references
        row[PREDICTION] = (
            prediction.answer if prediction.answer is not None else prediction.reference
        )
        if prediction.error is not None:
            row[PREDICTION_ERROR] = prediction.error
        elif row[PREDICTION] is None:
            row[PREDICTION_ERROR] = f"an empty prediction in {source}"
        if prediction.contexts is not None:
            row[PREDICTION_CONTEXTS] = [
                {"id": chunk.id, "text": chunk.text} for chunk in prediction.contexts
            ]
    return json.dumps(row, ensure_ascii=False)


def _find_reference_column(record: Record, shape: Mapping[str, Any]) -> str:
    """Find the column of the reference answer: the format's reference, else its answer."""
    paths = map_fields(get_format(shape["format"]), shape.get("fields"))
    row = reparse_json(record.row)
    for field in ("reference", "answer"):
        for path in paths.get(field, ()):
            if get_path(row, path) not in (None, ""):
                return path
    raise DataError('the references have neither "reference" nor "answer"; name one of them so')
