"""Readings of what people ask, once for each day that is over."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from ragstone.config.alerts import Alerts
from ragstone.config.durations import duration
from ragstone.monitor.alerts.alert import Reading
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.questions import (
    Usual,
    compare_questions,
    day_name,
    learn_questions,
    sampled,
)
from ragstone.monitor.purge import known_examples
from ragstone.monitor.rollups.refresh import DAY
from ragstone.monitor.state import lock_watching, put_document, read_document
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.summary import moment_of
from ragstone.store.database import Connection


def question_readings(archive: Archive, settings: Alerts, now: int) -> list[Reading]:
    """The readings of yesterday's questions; those of a day are worked out once and kept."""
    yesterday = now - now % DAY - DAY
    span = _span(archive, settings)
    if span is None or yesterday < span[1] or now < span[1]:
        return []
    mark = f"{settings.reference} {span[0]} {yesterday}"
    body = read_document(archive, "questions:day")
    if body is not None and json.loads(body)["mark"] == mark:
        return [Reading(**one) for one in json.loads(body)["readings"]]
    usual = _usual(archive, settings, span, now)
    if usual is None:
        return []
    some = sampled(archive, yesterday, yesterday + DAY)
    found = compare_questions(
        usual, some, day_name(yesterday), settings.false_alarms, duration(settings.resolve)
    )
    archive.run(lambda db: _remember(db, mark, found, now)).result()
    return found


def _remember(db: Connection, mark: str, found: Sequence[Reading], now: int) -> None:
    """Keep a day's readings, without what was forgotten while they were made."""
    lock_watching(db, now)
    kept = [asdict(replace(one, facts=known_examples(db, one.facts))) for one in found]
    body = json.dumps({"mark": mark, "readings": kept}, allow_nan=False)
    put_document(db, "questions:day", body, now)


def _usual(archive: Archive, settings: Alerts, span: tuple[int, int], now: int) -> Usual | None:
    mark = f"{settings.reference} {span[0]}"
    body = read_document(archive, "questions:usual")
    if body is not None and json.loads(body)["mark"] == mark:
        return Usual.load(json.loads(body)["usual"])
    usual = learn_questions(sampled(archive, *span))
    if usual is not None:
        text = json.dumps({"mark": mark, "usual": usual.dump()})
        archive.run(lambda db: put_document(db, "questions:usual", text, now)).result()
    return usual


def _span(archive: Archive, settings: Alerts) -> tuple[int, int] | None:
    """The reference period: the settings' own, or a length from the first interaction ever seen on."""
    if "/" in settings.reference:
        first, last = (moment_of(part.strip()) for part in settings.reference.split("/", 1))
        return first, last
    known = read_document(archive, "questions:usual")
    if known is not None:
        spec, start = json.loads(known)["mark"].rsplit(" ", 1)
        if spec == settings.reference:
            return int(start), int(start) + duration(spec)
    ((at,),) = archive.store.read("SELECT MIN(at) FROM interactions")
    if at is None:
        return None
    start = int(at) - int(at) % HOUR
    return start, start + duration(settings.reference)
