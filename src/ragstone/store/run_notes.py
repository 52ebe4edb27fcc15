"""What people note of runs: tags, a text, the baseline mark, the bin. Runs in the bin are listed nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ragstone.store.runs import RunInfo
from ragstone.store.store import Store

MAX_TAGS, MAX_TAG_CHARS, MAX_NOTE_CHARS = 20, 60, 4000


@dataclass(frozen=True, slots=True)
class RunNotes:
    """The notes on one run."""

    tags: tuple[str, ...] = ()
    note: str = ""
    is_baseline: bool = False
    """Whether runs of the same data set are compared with it."""
    deleted: int = 0
    """When it was put into the bin, in microseconds since 1970; 0: it was not."""
    finished: int = 0
    """When its scores last became complete; 0 for an unfinished run and one of an earlier version."""


def load_run_notes(store: Store) -> dict[str, RunNotes]:
    """The notes by run id; a run without any is left out."""
    rows = store.read("SELECT run, tags, note, baseline, deleted, finished FROM run_notes")
    return {
        run: RunNotes(tuple(json.loads(tags)), note, bool(baseline), deleted, finished)
        for run, tags, note, baseline, deleted, finished in rows
    }


def has_labels(store: Store) -> bool:
    """Whether anybody has labelled anything in this store."""
    return bool(store.read("SELECT 1 FROM labels LIMIT 1"))


def measure_run(store: Store, info: RunInfo) -> float | None:
    """Seconds from the start of a run until its scores were complete, pauses included; None for an unfinished run."""
    rows = store.read("SELECT finished FROM run_notes WHERE run = ?", (info.id,))
    if not rows or not rows[0][0]:
        return None
    # the start is kept in whole seconds
    started = datetime.fromisoformat(info.created).timestamp()
    finished: int = rows[0][0]
    return max(0.0, finished / 1_000_000 - started)


def save_tags(store: Store, run: str, tags: Sequence[str]) -> tuple[str, ...]:
    """Replace the tags of a run; returns them as they are kept: trimmed, each once."""
    trimmed = (" ".join(tag.split())[:MAX_TAG_CHARS] for tag in tags)
    kept = tuple(dict.fromkeys(tag for tag in trimmed if tag))[:MAX_TAGS]
    _save(store, run, "tags", json.dumps(kept))
    return kept


def save_note(store: Store, run: str, note: str) -> None:
    """Replace the text on a run."""
    # no database holds NUL or half of a surrogate pair
    text = note.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    _save(store, run, "note", text.strip()[:MAX_NOTE_CHARS])


def mark_baseline(store: Store, run: str, *, among: Sequence[str], is_baseline: bool) -> None:
    """Make a run the baseline of its data set, or no longer; `among` are the runs of that data set."""
    for other in among:
        if other != run:
            _save(store, other, "baseline", 0)
    _save(store, run, "baseline", int(is_baseline))


def move_to_bin(store: Store, run: str, at: int) -> None:
    """Put a run into the bin; `at` 0 takes it out again."""
    _save(store, run, "deleted", at)


def _save(store: Store, run: str, column: str, value: Any) -> None:
    # the column is one of the names above, never a text from outside
    sql = (
        f"INSERT INTO run_notes (run, {column}) VALUES (?, ?)"  # noqa: S608
        f" ON CONFLICT (run) DO UPDATE SET {column} = excluded.{column}"
    )
    store.write(lambda db: db.execute_many(sql, [(run, value)])).result()
