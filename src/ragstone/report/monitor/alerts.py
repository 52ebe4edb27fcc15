"""An alert as people read it: what moved, since when, which slice, examples, what to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.locale.messages import LocalFloat
from ragstone.monitor.alert_text import format_alert, name_alert_state
from ragstone.monitor.alerts.alert import Alert
from ragstone.report.monitor.charts import AlertSpan
from ragstone.report.monitor.times import format_length, format_minute, format_with_zone
from ragstone.report.remarks import Severity, shorten
from ragstone.report.translator import Translator

SEVERITIES: dict[str, Severity] = {
    "ok": "good",
    "resolved": "good",
    "pending": "warn",
    "no_data": "warn",
    "judge_failing": "warn",
    "firing": "bad",
}


@dataclass(frozen=True, slots=True)
class AlertExample:
    """An interaction that shows what an alert is about."""

    id: str
    question: str
    answer: str
    value: str
    href: str = ""
    """Its page, where there is one."""


@dataclass(frozen=True, slots=True)
class AlertView:
    """One alert in words."""

    id: str
    state: str
    severity: Severity
    kind: str
    metric: str
    title: str
    when: str
    slice: str
    examples: tuple[AlertExample, ...]
    symptoms: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Symptom → cause and advice."""
    open: bool
    basis: tuple[str, ...] = ()
    """When it began, with an interval; what it is compared with; what people said before and since."""
    before: tuple[AlertExample, ...] = ()
    """Interactions from before it."""
    handling: tuple[str, ...] = ()
    """Who took it on, until when it is muted, and notes."""


def view_alert(
    alert: Alert, now: int, t: Translator, link: Callable[[str], str] = lambda id: ""
) -> AlertView:
    """The alert at a time, which says how long it lasts; `link` gives the page of an interaction."""
    facts = alert.facts
    return AlertView(
        id=alert.id,
        state=name_state(alert.state, t),
        severity=SEVERITIES.get(alert.state, "plain"),
        kind=t.translate("alert_kind", alert.kind),
        metric=alert.metric,
        title=shorten(describe_alert(alert, t), 600),
        when=_describe_time(alert, now, t),
        slice=_describe_slice(facts.get("part"), t),
        examples=_view_examples(facts.get("examples", ()), t, link),
        before=_view_examples(facts.get("before_examples", ()), t, link),
        basis=tuple(_describe_basis(facts, t)),
        handling=tuple(_describe_handling(alert, now, t)),
        symptoms=tuple(_describe_symptom(item, t.language) for item in facts.get("advice", ())),
        open=alert.open,
    )


def _view_examples(
    items: Sequence[Mapping[str, Any]], t: Translator, link: Callable[[str], str]
) -> tuple[AlertExample, ...]:
    return tuple(
        AlertExample(
            id=str(item.get("id", "")),
            question=shorten(str(item.get("question") or ""), 200),
            answer=shorten(str(item.get("answer") or ""), 200),
            value=t.number(item["value"]) if item.get("value") is not None else "",
            href=link(str(item.get("id", ""))),
        )
        for item in items
    )


def _describe_basis(facts: Mapping[str, Any], t: Translator) -> Iterator[str]:
    """Onset, reference period and feedback of a drop; an alert of an earlier version lacks some."""
    if "since_interval_us" in facts:
        low, high = (format_minute(int(at), t) for at in facts["since_interval_us"])
        yield t("alert_onset", time=format_minute(int(facts["since_us"]), t), low=low, high=high)
    if facts.get("phrase") == "drop" and "reference_us" in facts:
        since, until = (format_minute(int(at), t) for at in facts["reference_us"])
        yield t("alert_reference", since=since, until=until)
    feedback = facts.get("feedback")
    if feedback:
        yield t(
            "alert_feedback",
            before=t.number(feedback["before"], 2),
            before_n=t.whole(int(feedback["before_n"])),
            after=t.number(feedback["after"], 2),
            after_n=t.whole(int(feedback["after_n"])),
        )


def _describe_handling(alert: Alert, now: int, t: Translator) -> Iterator[str]:
    taken = alert.acknowledged
    if taken is not None:
        text = t("alert_taken", by=taken.by, time=format_minute(taken.at, t))
        yield f"{text}: {taken.text}" if taken.text else text
    if alert.muted_until > now:
        yield t("alert_muted", time=format_minute(alert.muted_until, t))
    for entry in alert.notes:
        yield f"{format_minute(entry.at, t)} {entry.by}: {entry.text}"


def describe_alert(alert: Alert, t: Translator) -> str:
    """What moved, by how much, since when, in a language and a time zone."""
    facts = dict(alert.facts)
    # Without its facts an alert can only show the English title it was stored with.
    if "phrase" not in facts:
        return alert.title
    if "since" in facts and "since_us" in facts:
        # The stored text is in UTC, for notifications; a page has a reader with a zone.
        facts["since"] = format_with_zone(int(facts["since_us"]), t)
    return format_alert(_localize_numbers(facts, t), t.language)


def _localize_numbers(facts: Mapping[str, Any], t: Translator) -> dict[str, Any]:
    return {
        name: LocalFloat(value, t("decimal")) if isinstance(value, float)
        else _localize_numbers(value, t) if isinstance(value, Mapping)
        else value
        for name, value in facts.items()
    }  # fmt: skip


def name_state(state: str, t: Translator) -> str:
    """A state in words."""
    return name_alert_state(state, t.language)


def mark_alerts(alerts: Sequence[Alert], metric: str, where: tuple[str, str] | None, t: Translator) -> list[AlertSpan]:  # fmt: skip
    """The alerts that a metric's chart shows: its own, of the whole or of the slice `where` (field and value; None for all)."""
    return [
        AlertSpan(
            # a drop begins before it is found
            int(alert.facts.get("since_us", alert.opened))
            if alert.kind == "drop"
            else alert.opened,
            alert.closed,
            describe_alert(alert, t),
            tuple(alert.facts["since_interval_us"]) if "since_interval_us" in alert.facts else None,
        )
        for alert in alerts
        if alert.metric == metric
        and (not alert.field or where is None or (alert.field, alert.value) == where)
    ]


def _describe_time(alert: Alert, now: int, t: Translator) -> str:
    since = format_minute(alert.opened, t)
    if alert.closed is None:
        lasts = t("alert_lasts", length=format_length(max(now - alert.opened, 0), t))
        return f"{t('alert_since', time=since)}, {lasts}"
    return t(
        "alert_over",
        since=since,
        until=format_minute(alert.closed, t),
        length=format_length(alert.closed - alert.opened, t),
    )


def _describe_slice(part: Mapping[str, Any] | None, t: Translator) -> str:
    if not part:
        return ""
    return t(
        "alert_slice",
        field=shorten(str(part["field"]), 60),
        value=shorten(str(part["value"]), 80),
        share=t.percent(part["share"]),
        before=t.number(part["before"]),
        after=t.number(part["after"]),
        explained=t.percent(part["explained"], 0),
    )


def _describe_symptom(
    item: Mapping[str, Any], language: str
) -> tuple[str, tuple[tuple[str, str], ...]]:
    def choose_text(texts: Mapping[str, str]) -> str:
        return texts.get(language) or texts.get("en", "")

    causes = tuple(
        (choose_text(cause["cause"]), choose_text(cause["advice"])) for cause in item["causes"][:3]
    )
    return choose_text(item["symptom"]), causes
