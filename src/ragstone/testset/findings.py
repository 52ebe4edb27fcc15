"""What can be wrong with an item of a test set, with its proof and the change that would mend it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ragstone.testset.items import UNANSWERABLE

FaultKind = Literal[
    "no_question",
    "no_reference",
    "duplicate",
    "near_duplicate",
    "ambiguous",
    "leaked",
    "not_self_contained",
    "unknown_document",
    "wrong_document",
    "wrong_value",
    "quote_not_verbatim",
    "not_answerable",
    "answerable",
    "answered_elsewhere",
]
FAULTS: tuple[FaultKind, ...] = get_args(FaultKind)
"""What can be wrong with an item; those from `unknown_document` on show only with the documents."""

FixKind = Literal["drop", "set"]


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of one row: it is dropped, or fields of it are set."""

    kind: FixKind
    values: Mapping[str, Any] = field(default_factory=dict)
    """Field → its new value, where fields are set."""

    def describe(self, drop: str) -> str:
        """The change as a line shows it: the word for `drop`, or `relevant = {"a.md": 1}`."""
        if self.kind == "drop":
            return drop
        return ", ".join(
            f"{name} = {json.dumps(value, ensure_ascii=False)}"
            for name, value in self.values.items()
        )


DROP = Fix("drop")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with one item."""

    kind: FaultKind
    id: str
    text: str
    """The question, or what there is of it."""
    detail: str = ""
    """The proof: the twin, the sentence of the document, the value that it lacks."""
    fix: Fix | None = None
    """None where only a person can say what is right."""


@dataclass(frozen=True, slots=True)
class Hint:
    """An item that is said to have no answer, and the passage that may answer it: no finding, and not counted as
    one."""

    id: str
    text: str
    """The question."""
    detail: str
    """The document and its sentence."""


def apply_fixes(
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    faults: Sequence[Fault],
    columns: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """The rows, each given with the id of its item, as the fixes of these faults make them; a row is changed once.

    `columns` are the columns of fields that are called otherwise in this file."""
    fixes: dict[str, Fix] = {}
    for fault in faults:
        if fault.fix is not None and (fault.id not in fixes or fault.fix.kind == "drop"):
            fixes[fault.id] = fault.fix
    mended = []
    for key, row in rows:
        fix = fixes.get(key)
        if fix is None:
            mended.append(dict(row))
        elif fix.kind == "set":
            values = {(columns or {}).get(name, name): value for name, value in fix.values.items()}
            mended.append(_mend_kind({**row, **values}, fix))
    return mended


def _mend_kind(row: dict[str, Any], fix: Fix) -> dict[str, Any]:
    """The row without the kind of a question that nothing answers, where the fix gives it an answer."""
    meta = row.get("meta")
    if fix.values.get("relevant") and isinstance(meta, Mapping) and meta.get("kind") in UNANSWERABLE:  # fmt: skip
        return {**row, "meta": {name: value for name, value in meta.items() if name != "kind"}}
    return row
