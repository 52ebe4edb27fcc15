"""Labelling in the viewer: the queue of a run, one sample, preferences; every label is on disk before the next page."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from ragstone.errors import DataError, RagstoneError, RunNotFound
from ragstone.labels import Label, Target, load_labels, save_labels
from ragstone.labels.label import SKIP, hash_content, parse_target, parse_value
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.label_page import (
    is_swapped,
    render_preference,
    render_queue,
    render_sample_labels,
    render_start,
)
from ragstone.server.responses import RequestError
from ragstone.server.view_state import VIEW_STATE, ViewState
from ragstone.store import StoredRow, StoredRun

MAX_COMMENT_CHARS = 4000


def show_label(state: ViewState, frame: ViewFrame) -> str:
    """`GET /label`: what to label, the next unit of a queue (`run`, `on`), one sample (`run`, `at`) or a preference."""
    entries = state.list_choices()
    if not frame.get("run") or not frame.author:
        return render_start(frame, entries)
    run = state.store.run(frame.get("run"))
    if frame.get("at"):
        return render_sample_labels(frame, run, read_row(run, frame.get_number("at", 1, 2**40)))
    target = parse_target(frame.get("on") or "claim")
    if target == "preference":
        against = state.store.run(frame.get("against"))
        row, other, left = _find_pair(run, against, frame.author)
        return render_preference(frame, run, against, row, other, left)
    try:
        with state.desk.lock:
            return render_queue(frame, state.desk.open_session(run, target, frame.author))
    except RunNotFound:
        raise
    except RagstoneError as error:  # the run has no judgement of this kind
        return render_start(frame, entries, str(error))


def read_row(run: StoredRun, position: int) -> StoredRow:
    """A sample by its position."""
    try:
        return run.row(position)
    except IndexError:
        raise RunNotFound(f"the run has no sample {position}") from None


def _find_pair(
    run: StoredRun, against: StoredRun, author: str
) -> tuple[StoredRow | None, StoredRow | None, int]:
    """The first sample with two different answers that the person has not compared, and how many were compared."""
    done = {
        label.sample
        for label in load_labels(run.store, run=run.id, target="preference")
        if label.author == author and label.item == against.id
    }
    for row, other in zip(run.rows(), against.rows(), strict=False):
        if row.id == other.id and row.id not in done and row.sample.answer != other.sample.answer:
            return row, other, len(done)
    return None, None, len(done)


def store_label(state: ViewState, form: dict[str, str], author: str) -> str:
    """Keep one label of a form; returns the address of the page to go on with."""
    run = state.store.run(form.get("run", ""))
    target = parse_target(form.get("on", ""))
    if form.get("do") == "undo":
        return _take_back_last(run, target, form, author)
    item, given = form.get("item", ""), form.get("value", "")
    comment = form.get("comment", "").strip()[:MAX_COMMENT_CHARS]
    position = form.get("at", "")
    if not (position.isascii() and position.isdigit() and len(position) < 12):
        raise DataError("the label names no sample")
    row = read_row(run, int(position))
    if given == "undo":
        _store(run, row, target, item, author, (None, ""), comment)
    elif target == "preference":
        _store(run, row, target, item, author, _read_preference(row, given), comment)
    elif form.get("queue"):
        _store_in_queue(state, run, row, target, item, author, given)
    else:
        _store(run, row, target, item, author, _read_value(target, given), comment)
    return _build_next_query(run, target, form)


def _build_next_query(run: StoredRun, target: Target, form: dict[str, str]) -> str:
    """The query of the page after a label: the next unit of the queue, the next question on the sample, or the review."""
    if form.get("review"):
        return urlencode(parse_qsl(form["review"]))
    pairs = {"run": run.id, "lang": form.get("lang", "")}
    if form.get("queue") or target == "preference":
        pairs |= {"on": target, "against": form.get("item", "") if target == "preference" else ""}
        return urlencode({name: value for name, value in pairs.items() if value})
    pairs |= {"at": form["at"], "done": "saved", "state": form.get("state", "")}
    unit = form.get("unit", "")
    if unit.isascii() and unit.isdigit() and len(unit) < 4:
        # the next question is marked, so that one key after another labels a sample
        pairs["unit"] = str(int(unit) + (form.get("value") != "undo"))
    query = urlencode({name: value for name, value in pairs.items() if value})
    return f"{query}#u{pairs['unit']}" if "unit" in pairs else query


def _take_back_last(run: StoredRun, target: Target, form: dict[str, str], author: str) -> str:
    """Take back the label that the form names, if it is the person's own and still counts."""
    number = form.get("number", "")
    for label in load_labels(run.store, run=run.id, target=target):
        if label.author == author and str(label.number) == number:
            save_labels(
                run.store, [replace(label, value=None, word="", comment="", at=0, number=0)]
            )
    pairs = {"run": run.id, "on": target, "lang": form.get("lang", "")}
    return urlencode({name: value for name, value in pairs.items() if value})


def _read_value(target: Target, given: str) -> tuple[float | None, str]:
    if target == "note":
        return None, given.strip()[:MAX_COMMENT_CHARS]
    try:
        # buttons send numbers on the scale of labels; words are read as in a file
        return parse_value(target, float(given), (0.0, 1.0))
    except ValueError:
        try:
            return parse_value(target, given)
        except ValueError as error:
            raise DataError(str(error)) from None


def _read_preference(row: StoredRow, given: str) -> tuple[float | None, str]:
    if given in ("tie", SKIP):
        return parse_value("preference", given)
    if given not in ("left", "right"):
        raise DataError("give left, right or tie")
    is_first = (given == "left") != is_swapped(row.id)
    return parse_value("preference", "first" if is_first else "second")


def _store_in_queue(
    state: ViewState,
    run: StoredRun,
    row: StoredRow,
    target: Target,
    item: str,
    author: str,
    given: str,
) -> None:
    with state.desk.lock:
        session = state.desk.open_session(run, target, author)
        for choice in session.choose_next(2):  # as the page did
            if choice.unit.key == (row.id, item):
                value, word = _read_value(target, given)
                session.save(choice, word or (SKIP if value is None else value))
                return
    # labelled meanwhile in another window: a revision
    _store(run, row, target, item, author, _read_value(target, given), "")


def _store(
    run: StoredRun,
    row: StoredRow,
    target: Target,
    item: str,
    author: str,
    value: tuple[float | None, str],
    comment: str,
) -> None:
    # a revision keeps how the unit was drawn, which the statistics of labels need
    earlier = next(
        (
            label
            for label in load_labels(run.store, run=run.id, target=target)
            if (label.sample, label.item, label.author) == (row.id, item, author)
        ),
        None,
    )
    label = Label(
        sample=row.id, target=target, value=value[0], word=value[1], item=item, author=author,
        at=time.time_ns() // 1000, run=run.id, comment=comment,
        content=hash_content(row.sample, target, item),
        origin=earlier.origin if earlier is not None else "viewer",
        sampling_probability=earlier.sampling_probability if earlier is not None else None,
    )  # fmt: skip
    save_labels(run.store, [label])


async def save_form(request: web.Request, form: dict[str, str], author: str) -> str:
    """Keep the label of a form in a thread."""
    if not author:
        raise RequestError(422, "say who you are first")
    try:
        return await asyncio.to_thread(store_label, request.app[VIEW_STATE], form, author)
    except RunNotFound as error:
        raise RequestError(404, str(error)) from None
    except DataError as error:
        raise RequestError(422, str(error)) from None
