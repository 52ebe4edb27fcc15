"""Readings of silence and of a failing judge: neither health nor degradation."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.analysis.stats import wilson
from ragstone.config.alerts import Alerts
from ragstone.config.durations import duration
from ragstone.monitor.alerts.alert import Reading
from ragstone.monitor.alerts.drop_rules import shown_time
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import POOLED
from ragstone.monitor.rollups.refresh import DAY
from ragstone.monitor.statements import HOUR
from ragstone.monitor.wording import sentence

LEAST_TRIES = 10
"""Judgements under which a judge cannot be called failing."""


def silence_readings(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int
) -> list[Reading]:
    """Whether interactions, and scores of each metric, still come in."""
    limit = duration(settings.no_data)
    ((last,),) = archive.store.read("SELECT MAX(at) FROM interactions WHERE at < ?", (now,))
    if last is None:
        return []
    silent = now - int(last) >= limit
    facts = {"phrase": "no_data", "since": shown_time(int(last)), "hours": (now - int(last)) / HOUR}
    found = [
        Reading(
            "no_data", "no_data", "firing" if silent else "ok",
            title=sentence(facts), facts=facts,
        )
    ]  # fmt: skip
    return found + [_scores(archive, metric, limit, silent, now) for metric in metrics]


def _scores(archive: Archive, metric: str, limit: int, silent: bool, now: int) -> Reading:
    ((last,),) = archive.store.read(
        "SELECT MAX(at) FROM monitor_scores WHERE metric = ? AND at < ?", (metric, now)
    )
    rule = f"no_data:{metric}"
    if last is None or silent:  # the silence of everything has an alert of its own
        return Reading(rule, "no_data", "unknown", metric)
    facts = {
        "phrase": "no_scores",
        "metric": metric,
        "since": shown_time(int(last)),
        "hours": (now - int(last)) / HOUR,
    }
    gone = now - int(last) >= limit
    return Reading(
        rule, "no_data", "firing" if gone else "ok", metric, title=sentence(facts), facts=facts
    )


def judge_readings(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int
) -> list[Reading]:
    """Whether each metric's judge fails too often: the last judgements, as far back as a day."""
    return [_judge(archive, settings, metric, now) for metric in metrics]


def _judge(archive: Archive, settings: Alerts, metric: str, now: int) -> Reading:
    tries, failures = _last_judgements(archive, metric, now)
    rule = f"judge_failing:{metric}"
    if tries < LEAST_TRIES:
        return Reading(rule, "judge_failing", "unknown", metric)
    facts = {
        "phrase": "judge_failing",
        "metric": metric,
        "share": failures / tries,
        "tries": tries,
        "failures": failures,
    }
    # The cautious end: a share that only chance lifts above the limit is no failing judge.
    bad = wilson(failures, tries)[0] > settings.judge_failures
    return Reading(
        rule,
        "judge_failing",
        "firing" if bad else "ok",
        metric,
        title=sentence(facts),
        facts=facts,
        resolve=duration(settings.resolve),
    )


def _last_judgements(archive: Archive, metric: str, now: int) -> tuple[int, int]:
    """Judgements and failures of the last hour, or of the last so many when it has few."""
    counts: list[tuple[int, int]] = []
    for since in (now - HOUR, now - 6 * HOUR, now - DAY):
        rows = archive.store.read(
            "SELECT outcome, COUNT(*) FROM monitor_scores WHERE metric = ? AND at >= ? AND at < ?"
            " GROUP BY outcome",
            (metric, since, now),
        )
        by = {str(outcome): int(n) for outcome, n in rows}
        failed = by.get("judge_error", 0)
        counts.append((by.get("ok", 0) + failed, failed))
        if counts[-1][0] >= POOLED:
            break
    return counts[-1]
