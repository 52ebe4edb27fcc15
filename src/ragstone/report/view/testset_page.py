"""The pages of test sets kept in the store: their list, and the items of one with their history, to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ragstone.analysis.columns import RESOURCES
from ragstone.labels import Label
from ragstone.report.remarks import shorten
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.runs_page import build_pager
from ragstone.store import Store
from ragstone.store.testsets import ItemRevision, list_testsets, load_history, load_items
from ragstone.types import Sample

ITEMS_PER_PAGE = 50
MAX_REVISIONS = 20


def to_item(
    sample: Sample, labels: Sequence[Label] = (), reference: str | None = None
) -> dict[str, Any]:
    """A sample as an item of a test set: its answer is a candidate for the reference where it has none of its own.

    The item says so (`meta.reference`), and what people said of the answer (`meta.label`)."""
    row: dict[str, Any] = {"id": sample.id, "question": sample.question}
    # what the answer took says nothing of the question
    meta = {str(name): value for name, value in sample.meta.items() if name not in RESOURCES}
    if reference:
        row["reference"] = reference
    elif sample.reference:
        row["reference"] = sample.reference
    elif sample.answer:
        row["reference"], meta["reference"] = sample.answer, "candidate"
    if sample.relevant:
        row["relevant"] = dict(sample.relevant)
    if sample.contexts:
        row["contexts"] = [{"id": chunk.id, "text": chunk.text} for chunk in sample.contexts]
    if sample.language:
        row["language"] = sample.language
    said = [
        label
        for label in labels
        if label.target in ("support", "correctness") and label.value is not None
    ]
    if said:
        meta["label"] = ", ".join(f"{label.target} {label.value:g}" for label in said)
    if meta:
        row["meta"] = meta
    return row


def edit_item(row: Mapping[str, Any], reference: str, relevant: str) -> dict[str, Any]:
    """An item with another reference and other relevant ids, one a line; their grades stay where the ids do."""
    edited = {name: value for name, value in row.items() if name not in ("reference", "relevant")}
    if reference:
        edited["reference"] = reference
    known = row.get("relevant") or {}
    ids = [line.strip() for line in relevant.splitlines() if line.strip()]
    if ids:
        edited["relevant"] = {id: known.get(id, 1) for id in ids}
    meta = {name: value for name, value in (row.get("meta") or {}).items() if name != "reference"}
    edited.pop("meta", None)
    if meta:
        edited["meta"] = meta
    return edited


def render_testsets(frame: ViewFrame, store: Store) -> str:
    """The list, by name."""
    rows = [
        (
            info.name,
            frame.href("testset", name=info.name),
            frame.t.whole(info.items),
            _format(info.changed),
        )
        for info in list_testsets(store)
    ]
    return frame.fill("view_testsets.html.j2", title=frame.t("view.nav.testsets"), rows=rows)


def render_testset(frame: ViewFrame, store: Store, name: str) -> str:
    """The items of one test set."""
    items = load_items(store, name)
    page = frame.get_number("page", 1, 1 + len(items) // ITEMS_PER_PAGE)
    shown = items[(page - 1) * ITEMS_PER_PAGE : page * ITEMS_PER_PAGE]
    return frame.fill(
        "view_testset.html.j2",
        title=name,
        items=[
            (_view(item), [_view(old) for old in _list_history(store, name, item)])
            for item in shown
        ],
        total=frame.t.whole(len(items)),
        pages=build_pager(frame, page, len(items), ITEMS_PER_PAGE),
        export=frame.href("testset.jsonl", name=name),
        command=f'ragstone testset check --stored "{name}"',
    )


def _list_history(store: Store, name: str, item: ItemRevision) -> list[ItemRevision]:
    return load_history(store, name, item.id)[1 : MAX_REVISIONS + 1] if item.number > 1 else []


def _view(item: ItemRevision) -> dict[str, str]:
    row = item.row
    return {
        "id": item.id,
        "question": shorten(str(row.get("question") or ""), 400),
        "reference": str(row.get("reference") or ""),
        "relevant": "\n".join(map(str, row.get("relevant") or {})),
        "is_candidate": "yes" if (row.get("meta") or {}).get("reference") == "candidate" else "",
        "origin": item.origin,
        "author": item.author,
        "at": _format(item.at),
    }


def _format(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")
