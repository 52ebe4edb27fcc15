"""An alert as people read it: what moved, since when, which slice, examples, what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.monitor.alerts.alert import Alert
from ragstone.monitor.wording import STATES, sentence
from ragstone.report.figures import shortened
from ragstone.report.monitor.charts import Mark
from ragstone.report.monitor.times import length, shown, with_zone
from ragstone.report.words import Words

TONES = {
    "ok": "good",
    "resolved": "good",
    "pending": "warn",
    "no_data": "warn",
    "judge_failing": "warn",
    "firing": "bad",
}


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """An interaction that shows what an alert is about."""

    id: str
    question: str
    answer: str
    value: str


@dataclass(frozen=True, slots=True)
class AlertView:
    """One alert in words."""

    id: str
    state: str
    tone: str
    kind: str
    metric: str
    title: str
    when: str
    slice: str
    examples: tuple[ExampleLine, ...]
    symptoms: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Symptom → cause and advice."""
    open: bool


def alert_view(one: Alert, now: int, say: Words) -> AlertView:
    """The alert at a time, which says how long it lasts."""
    facts = one.facts
    return AlertView(
        id=one.id,
        state=state_text(one.state, say),
        tone=TONES.get(one.state, "plain"),
        kind=say.known("alert_kind", one.kind),
        metric=one.metric,
        title=shortened(title(one, say), 600),
        when=_when(one, now, say),
        slice=_slice(facts.get("part"), say),
        examples=tuple(
            ExampleLine(
                id=str(item.get("id", "")),
                question=shortened(str(item.get("question") or ""), 200),
                answer=shortened(str(item.get("answer") or ""), 200),
                value=say.number(item["value"]) if item.get("value") is not None else "",
            )
            for item in facts.get("examples", ())
        ),
        symptoms=tuple(_symptom(item, say.language) for item in facts.get("advice", ())),
        open=one.open,
    )


def title(one: Alert, say: Words) -> str:
    """What moved, by how much, since when, in a language and a time zone."""
    facts = dict(one.facts)
    if "phrase" not in facts:
        return one.title
    if "since" in facts and "since_us" in facts:
        facts["since"] = with_zone(int(facts["since_us"]), say)
    return sentence(_with_commas(facts) if say.language == "es" else facts, say.language)


class _Comma(float):
    """A number that every format writes with a decimal comma."""

    def __format__(self, form: str) -> str:
        return super().__format__(form).replace(".", ",")


def _with_commas(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _Comma(value) if isinstance(value, float)
        else _with_commas(value) if isinstance(value, Mapping)
        else value
        for name, value in facts.items()
    }  # fmt: skip


def state_text(state: str, say: Words) -> str:
    """A state in words."""
    return STATES[say.language].get(state, state)


def marks(alerts: Sequence[Alert], metric: str, where: tuple[str, str] | None, say: Words) -> list[Mark]:  # fmt: skip
    """The alerts that a metric's chart shows: its own, of the whole or of the slice that is looked at."""
    return [
        Mark(one.opened, one.closed, title(one, say))
        for one in alerts
        if one.metric == metric
        and (not one.field or where is None or (one.field, one.value) == where)
    ]


def _when(one: Alert, now: int, say: Words) -> str:
    since = shown(one.opened, say)
    if one.closed is None:
        lasts = say("alert_lasts", length=length(max(now - one.opened, 0), say))
        return f"{say('alert_since', time=since)}, {lasts}"
    return say(
        "alert_over",
        since=since,
        until=shown(one.closed, say),
        length=length(one.closed - one.opened, say),
    )


def _slice(part: Mapping[str, Any] | None, say: Words) -> str:
    if not part:
        return ""
    return say(
        "alert_slice",
        field=shortened(str(part["field"]), 60),
        value=shortened(str(part["value"]), 80),
        share=say.percent(part["share"]),
        before=say.number(part["before"]),
        after=say.number(part["after"]),
        explained=say.percent(part["explained"], 0),
    )


def _symptom(item: Mapping[str, Any], language: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    def said(texts: Mapping[str, str]) -> str:
        return texts.get(language) or texts.get("en", "")

    causes = tuple((said(one["cause"]), said(one["advice"])) for one in item["causes"][:3])
    return said(item["symptom"]), causes
