"""Alert rules for missing data and failing judges: while they fire, quality is unknown rather than good or bad."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.analysis.stats import wilson_interval
from ragstone.config.alerts import Alerts
from ragstone.config.durations import parse_duration
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import RuleResult, RuleState
from ragstone.monitor.alerts.drop_rules import format_minute
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import POOLED_JUDGEMENTS
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS

MIN_JUDGEMENTS = 10
"""With fewer judgements a judge is never reported as failing."""


def evaluate_no_data_rules(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int
) -> list[RuleResult]:
    """Whether interactions, and scores of each metric, still arrive."""
    limit = parse_duration(settings.no_data)
    ((last,),) = archive.store.read("SELECT MAX(at) FROM interactions WHERE at < ?", (now,))
    # a store that never had an interaction is not silent, it has not begun
    if last is None:
        return []
    is_silent = now - int(last) >= limit
    facts = {
        "phrase": "no_data",
        "since": format_minute(int(last)),
        "hours": (now - int(last)) / HOUR_MICROS,
    }
    result = RuleResult(
        "no_data",
        "no_data",
        "firing" if is_silent else "ok",
        title=format_alert(facts),
        facts=facts,
    )
    return [
        result,
        *(_evaluate_missing_scores(archive, metric, limit, is_silent, now) for metric in metrics),
    ]


def _evaluate_missing_scores(
    archive: Archive, metric: str, limit: int, is_silent: bool, now: int
) -> RuleResult:
    """Whether a metric has had no scores for `limit` microseconds; `is_silent` says that there are no interactions either."""
    ((last,),) = archive.store.read(
        "SELECT MAX(at) FROM monitor_scores WHERE metric = ? AND at < ?", (metric, now)
    )
    rule = f"no_data:{metric}"
    if last is None or is_silent:  # without any interactions, the rule `no_data` fires instead
        return RuleResult(rule, "no_data", "unknown", metric)
    facts = {
        "phrase": "no_scores",
        "metric": metric,
        "since": format_minute(int(last)),
        "hours": (now - int(last)) / HOUR_MICROS,
    }
    state: RuleState = "firing" if now - int(last) >= limit else "ok"
    return RuleResult(rule, "no_data", state, metric, title=format_alert(facts), facts=facts)


def evaluate_judge_rules(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int
) -> list[RuleResult]:
    """Whether each metric's judge fails too often, over the last judgements of at most a day."""
    return [_evaluate_judge(archive, settings, metric, now) for metric in metrics]


def _evaluate_judge(archive: Archive, settings: Alerts, metric: str, now: int) -> RuleResult:
    judgements, failures = _count_recent_judgements(archive, metric, now)
    rule = f"judge_failing:{metric}"
    if judgements < MIN_JUDGEMENTS:
        return RuleResult(rule, "judge_failing", "unknown", metric)
    facts = {
        "phrase": "judge_failing",
        "metric": metric,
        "share": failures / judgements,
        "tries": judgements,
        "failures": failures,
    }
    # The lower end of the interval: a share above the limit by chance alone does not fire.
    is_failing = wilson_interval(failures, judgements)[0] > settings.judge_failures
    return RuleResult(
        rule,
        "judge_failing",
        "firing" if is_failing else "ok",
        metric,
        title=format_alert(facts),
        facts=facts,
        resolve=parse_duration(settings.resolve),
    )


def _count_recent_judgements(archive: Archive, metric: str, now: int) -> tuple[int, int]:
    """Judgements and failures of the last hour, or of up to a day when the hour has too few."""
    judgements = failures = 0
    for since in (now - HOUR_MICROS, now - 6 * HOUR_MICROS, now - DAY_MICROS):
        rows = archive.store.read(
            "SELECT outcome, COUNT(*) FROM monitor_scores WHERE metric = ? AND at >= ? AND at < ?"
            " GROUP BY outcome",
            (metric, since, now),
        )
        counts = {str(outcome): int(count) for outcome, count in rows}
        failures = counts.get("judge_error", 0)
        judgements = counts.get("ok", 0) + failures
        if judgements >= POOLED_JUDGEMENTS:
            break
    return judgements, failures
