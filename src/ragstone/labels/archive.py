"""Labels in the store: rows are only added, the latest of one person on one item counts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.labels.label import MONITOR, Label, Target, hash_content
from ragstone.store import Store, StoredRun
from ragstone.store.database import Connection
from ragstone.types import Sample

_FIELDS = (
    "run", "sample", "target", "item", "author", "at", "value", "word", "comment", "content",
    "sampling_probability", "origin",
)  # fmt: skip
_COLUMNS = ["chance" if name == "sampling_probability" else name for name in _FIELDS]
_SELECT = f"SELECT number, {', '.join(_COLUMNS)} FROM labels"  # noqa: S608
_INSERT = f"INSERT INTO labels ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608


def save_labels(store: Store, labels: Iterable[Label]) -> int:
    """Add labels, on disk when it returns; those without a time get the current one. Returns how many."""
    now = time.time_ns() // 1000
    dated = (label if label.at else replace(label, at=now) for label in labels)
    rows = [tuple(_encode(name, getattr(label, name)) for name in _FIELDS) for label in dated]
    store.write(lambda db: db.execute_many(_INSERT, rows)).result()
    return len(rows)


def save_sampling_probabilities(store: Store, probabilities: Mapping[int, float | None]) -> None:
    """Set the sampling probability of stored labels by number: it follows from the whole draw, which grows with each label."""
    rows = [(probability, number) for number, probability in probabilities.items()]

    def write(db: Connection) -> None:
        db.execute_many("UPDATE labels SET chance = ? WHERE number = ?", rows)

    if rows:
        store.write(write).result()


def load_revisions(
    store: Store, *, run: str | None = None, target: Target | None = None
) -> list[Label]:
    """Every label that was ever stored, oldest first."""
    wanted = [
        (name, value) for name, value in (("run", run), ("target", target)) if value is not None
    ]
    where = " AND ".join(f"{name} = ?" for name, _ in wanted)
    sql = f"{_SELECT}{' WHERE ' + where if where else ''} ORDER BY number"
    return [_to_label(row) for row in store.read(sql, [value for _, value in wanted])]


def load_labels(
    store: Store, *, run: str | None = None, target: Target | None = None
) -> list[Label]:
    """The labels that count: of each person the latest on each item, without those taken back."""
    return select_current(load_revisions(store, run=run, target=target))


def select_current(revisions: Iterable[Label]) -> list[Label]:
    """Of each person the latest label on each item, without those taken back, oldest first."""
    latest: dict[tuple[str, ...], Label] = {}
    for label in revisions:
        key = _locate(label)
        # removed first, so that a revision takes the place of its time
        latest.pop(key, None)
        if not label.is_withdrawn:
            latest[key] = label
    return list(latest.values())


def load_run_labels(run: StoredRun, target: Target | None = None) -> list[Label]:
    """The labels that count for a run: those of its samples whose labelled texts are the same there.

    Labels of another run on the same texts count too, so that a second judge needs no second labelling."""
    return match_labels(run, load_labels(run.store, target=target))


def match_labels(run: StoredRun, labels: Sequence[Label]) -> list[Label]:
    """Those of the labels that count for a run."""
    wanted = {label.sample for label in labels}
    if not wanted:
        return []
    positions = run.store.find_positions(run.id, sorted(wanted))
    samples: dict[str, Sample] = {}
    matched = []
    for label in labels:
        if label.sample not in positions or label.run == MONITOR:
            continue
        if not label.content:
            if label.run in ("", run.id):
                matched.append(label)
            continue
        if label.sample not in samples:
            samples[label.sample] = run.row(positions[label.sample]).sample
        if label.content == hash_content(samples[label.sample], label.target, label.item):
            matched.append(label)
    return matched


def attach_content(run: StoredRun, labels: Sequence[Label]) -> tuple[list[Label], list[Label]]:
    """Labels of a run's samples with the hash of their texts, and those whose sample the run does not have."""
    wanted = {label.sample for label in labels}
    samples = {row.id: row.sample for row in run.rows() if row.id in wanted} if wanted else {}
    attached, unknown = [], []
    for label in labels:
        sample = samples.get(label.sample)
        if sample is None:
            unknown.append(label)
            continue
        content = label.content or hash_content(sample, label.target, label.item)
        attached.append(replace(label, run=label.run or run.id, content=content))
    return attached, unknown


def add_labels(store: Store, labels: Sequence[Label]) -> int:
    """Save the labels on those items of a person on which the last of them says what the store does not; returns how many."""
    stored = {_locate(label): _identify(label) for label in load_labels(store)}
    final = {_locate(label): _identify(label) for label in labels}
    fresh: list[Label] = []
    before: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for label in labels:
        place, said = _locate(label), _identify(label)
        if final[place] != stored.get(place) and before.get(place) != said:
            fresh.append(label)
            before[place] = said
    return save_labels(store, fresh)


def _locate(label: Label) -> tuple[str, ...]:
    """The item and the person; who decides a disagreement may have labelled the item before, and both labels are kept."""
    return (*label.key, label.author, "x" if label.origin == "adjudicated" else "")


def _identify(label: Label) -> tuple[Any, ...]:
    said = label.value, label.word, label.comment, label.sampling_probability
    return (*label.key, label.author, *said)


def _to_label(row: tuple[Any, ...]) -> Label:
    number, *values = row
    fields = {name: _decode(name, value) for name, value in zip(_FIELDS, values, strict=True)}
    return Label(number=int(number), **fields)


_TEXTS = frozenset({"item", "author", "word", "comment"})
"""Texts of people and judges, kept as JSON in ASCII: no character of theirs can break a database."""


def _encode(name: str, value: Any) -> Any:
    return json.dumps(value) if name in _TEXTS else value


def _decode(name: str, value: Any) -> Any:
    return json.loads(value) if name in _TEXTS else value
