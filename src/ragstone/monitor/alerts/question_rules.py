"""Alert rules on what people ask: each complete day's questions against those of the reference period."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from ragstone.config.alerts import Alerts
from ragstone.config.durations import parse_duration
from ragstone.monitor.alerts.alert import RuleResult
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.questions import (
    QuestionProfile,
    build_question_profile,
    compare_questions,
    format_day,
    sample_interactions,
)
from ragstone.monitor.purge import drop_purged_examples
from ragstone.monitor.state import load_state, lock_alerts, save_state
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.store.database import Connection


def evaluate_question_rules(archive: Archive, settings: Alerts, now: int) -> list[RuleResult]:
    """The results of yesterday's questions; computed once per day and cached in the store.

    The keys of the cached JSON (`mark`, `readings`, `usual`) are those of existing stores."""
    yesterday = now - now % DAY_MICROS - DAY_MICROS
    span = _find_reference_span(archive, settings)
    # a day of the reference period is not compared with the period itself
    if span is None or yesterday < span[1] or now < span[1]:
        return []
    cache_key = f"{settings.reference} {span[0]} {yesterday}"
    body = load_state(archive, "questions:day")
    if body is not None and json.loads(body)["mark"] == cache_key:
        return [RuleResult.from_json(result) for result in json.loads(body)["readings"]]
    profile = _load_profile(archive, settings, span, now)
    if profile is None:
        return []
    interactions = sample_interactions(archive, yesterday, yesterday + DAY_MICROS)
    results = compare_questions(
        profile,
        interactions,
        format_day(yesterday),
        settings.false_alarms,
        parse_duration(settings.resolve),
    )
    archive.run(lambda db: _save_results(db, cache_key, results, now)).result()
    return results


def _save_results(db: Connection, cache_key: str, results: Sequence[RuleResult], now: int) -> None:
    """Cache a day's results without examples that were purged while they were computed."""
    lock_alerts(db, now)
    plain = [
        replace(result, facts=drop_purged_examples(db, result.facts)).to_json()
        for result in results
    ]
    body = json.dumps({"mark": cache_key, "readings": plain}, allow_nan=False)
    save_state(db, "questions:day", body, now)


def _load_profile(
    archive: Archive, settings: Alerts, span: tuple[int, int], now: int
) -> QuestionProfile | None:
    cache_key = f"{settings.reference} {span[0]}"
    body = load_state(archive, "questions:usual")
    if body is not None and json.loads(body)["mark"] == cache_key:
        return QuestionProfile.from_json(json.loads(body)["usual"])
    profile = build_question_profile(sample_interactions(archive, *span))
    if profile is not None:
        text = json.dumps({"mark": cache_key, "usual": profile.to_json()})
        archive.run(lambda db: save_state(db, "questions:usual", text, now)).result()
    return profile


def _find_reference_span(archive: Archive, settings: Alerts) -> tuple[int, int] | None:
    """Start and end of the reference period: fixed dates, or a length counted from the first interaction ever seen."""
    if "/" in settings.reference:
        first, last = (parse_local_time(part.strip()) for part in settings.reference.split("/", 1))
        return first, last
    # The cached profile keeps the start when the first interactions are purged.
    known = load_state(archive, "questions:usual")
    if known is not None:
        spec, start = json.loads(known)["mark"].rsplit(" ", 1)  # as `_load_profile` writes it
        if spec == settings.reference:
            return int(start), int(start) + parse_duration(spec) // 2
    ((at,),) = archive.store.read("SELECT MIN(at) FROM interactions")
    if at is None:
        return None
    start = int(at) - int(at) % HOUR_MICROS
    # as for scores, half of the period is enough to begin with
    return start, start + parse_duration(settings.reference) // 2
