"""References and predictions from two files, matched into samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.containers import Container, Raw, Refused
from ragstone.data.formats import mapping, named
from ragstone.data.read import Reading, Record, read
from ragstone.data.rows import compile_shape, path_in
from ragstone.data.strict import reparse
from ragstone.errors import DataError
from ragstone.types import Sample

PREDICTION, FAULT, RETRIEVED = "prediction", "prediction_error", "prediction_contexts"
"""Columns that are added to a reference's row."""


def pair(
    refs: Any, preds: Any, *, skip_bad_rows: bool = False, limit: int | None = None
) -> Reading:
    """Samples of the references, each with the prediction of its id, else of its position.

    A reference without a prediction is a sample with an error, so that it counts against the system.
    A prediction that no reference asks for is a bad row."""
    wanted = read(refs, skip_bad_rows=skip_bad_rows)
    given = read(preds, skip_bad_rows=skip_bad_rows)
    first = next(iter(wanted))
    by_id = _has_id(first, wanted.shape) and _has_id(next(iter(given)), given.shape)
    fields: dict[str, str] = {
        "answer": PREDICTION,
        "error": FAULT,
        "contexts": RETRIEVED,
        "reference": _reference_column(first, wanted.shape),
    }
    shape = {**wanted.shape, "fields": {**wanted.shape.get("fields", {}), **fields}}
    shown = f"{wanted.source} + {given.source}"
    return Reading(
        shown,
        f"references ({wanted.format}) and predictions ({given.format})",
        shape,
        skip_bad_rows,
        limit,
        _container=Container(shown, lambda: _joined(wanted, given, by_id)),
    )


def _joined(wanted: Reading, given: Reading, by_id: bool) -> Iterator[Raw]:
    answers: dict[str, Sample] = {
        record.sample.id if by_id else str(number): record.sample
        for number, record in enumerate(given, 1)
    }
    for complaint in given.bad:
        yield _told(complaint)
    matched = 0
    for number, record in enumerate(wanted, 1):
        key = record.sample.id if by_id else str(number)
        found = answers.pop(key, None)
        matched += found is not None
        yield f"{wanted.source}: row {number}", _with(record, found, given.source, wanted.shape)
    for complaint in wanted.bad:
        yield _told(complaint)
    if not matched:
        raise DataError(
            f"no prediction of {given.source!r} belongs to a reference of {wanted.source!r}; "
            "give both the same question_id, or none"
        )
    for key in answers:
        what = f"question_id {key!r}" if by_id else f"row {key}"
        why = f"{what} has no reference in {wanted.source}; remove it"
        yield f"{given.source}", Refused(why)


def _with(record: Record, found: Sample | None, source: str, shape: Mapping[str, Any]) -> str:
    row = reparse(record.row)
    if shape.get("cells") == "csv":
        row = {column: value for column, value in row.items() if value != ""}
    if found is None:
        row[FAULT] = f"no prediction in {source}"
    else:
        row[PREDICTION] = found.answer if found.answer is not None else found.reference
        if found.error is not None:
            row[FAULT] = found.error
        elif row[PREDICTION] is None:
            row[FAULT] = f"an empty prediction in {source}"
        if found.contexts is not None:
            row[RETRIEVED] = [{"id": c.id, "text": c.text} for c in found.contexts]
    return json.dumps(row, ensure_ascii=False)


def _told(complaint: str) -> Raw:
    place, _, why = complaint.partition(": ")
    return place, Refused(why)


def _has_id(record: Record, shape: Mapping[str, Any]) -> bool:
    return compile_shape(shape)(reparse(record.row), 1)[1]


def _reference_column(record: Record, shape: Mapping[str, Any]) -> str:
    """Where the wanted answer stands: the format's reference, else its answer."""
    paths = mapping(named(shape["format"]), shape.get("fields"))
    row = reparse(record.row)
    for field in ("reference", "answer"):
        for path in paths.get(field, ()):
            if path_in(row, path) not in (None, ""):
                return path
    raise DataError('the references have neither "reference" nor "answer"; name one of them so')
