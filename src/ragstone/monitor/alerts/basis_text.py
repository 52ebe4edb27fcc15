"""What a stream is compared with, and how soon a drop would be found, in words."""

from __future__ import annotations

from ragstone.locale.catalogue import LANGUAGES, load_phrases
from ragstone.locale.messages import LocalFloat
from ragstone.monitor.alert_text import to_one_line
from ragstone.monitor.alerts.drop_rules import TARGET_RISE, MetricStream
from ragstone.monitor.drift.hourly import has_bounds
from ragstone.monitor.drift.references import get_metric_range
from ragstone.monitor.drift.sequential_test import TARGET_DROP
from ragstone.monitor.interactions import format_iso


def describe_basis(stream: MetricStream, language: str) -> str:
    """The reference period of a stream, whether it is its own, and the power of the test."""
    phrases = load_phrases(language if language in LANGUAGES else LANGUAGES[0], "alerts")
    name = stream.metric + (f" {stream.field}={stream.value}" if stream.field else "")
    since, until = (format_iso(at)[:10] for at in stream.reference_us or (0, 0))
    text = phrases[f"basis.{stream.basis}"].format(
        name=to_one_line(name, 60), since=since, until=until
    )
    return text if stream.delay_hours is None else f"{text}; {describe_power(stream, language)}"


def describe_value_change(stream: MetricStream, language: str) -> str:
    """That the metric's values changed, and when; empty where they did not."""
    if not stream.values_since_us:
        return ""
    phrases = load_phrases(language if language in LANGUAGES else LANGUAGES[0], "alerts")
    day = format_iso(stream.values_since_us)[:10]
    return phrases["basis.values"].format(name=to_one_line(stream.metric, 60), day=day)


def describe_power(stream: MetricStream, language: str) -> str:
    """How soon a drop would be found, in words; empty where none of the stated size would be."""
    if stream.delay_hours is None:
        return ""
    phrases = load_phrases(language if language in LANGUAGES else LANGUAGES[0], "alerts")
    hours = max(1, round(stream.delay_hours))
    length = phrases["hours.one" if hours == 1 else "hours.many"].format(n=hours)
    if not has_bounds(stream.metric):
        return phrases["power.change"].format(share=f"{TARGET_RISE:.0%}", length=length)
    sign = load_phrases(language if language in LANGUAGES else LANGUAGES[0], "report")["decimal"]
    drop = LocalFloat(TARGET_DROP * get_metric_range(stream.metric), sign)
    return phrases["power.drop"].format(drop=drop, length=length)
