"""The report of a period as Markdown, fit for a chat or a repository."""

from __future__ import annotations

from ragstone.monitor.windows.summary import time_zone
from ragstone.report.failures import sentences
from ragstone.report.markdown import code, escaped, table
from ragstone.report.monitor import period
from ragstone.report.monitor.alerts import alert_view
from ragstone.report.monitor.charts import blocks
from ragstone.report.monitor.rows import mean_cell
from ragstone.report.monitor.times import exact
from ragstone.report.words import Words, words


def render(whole: period.Whole, language: str = "en") -> str:
    """The report as text."""
    report = whole.report
    say = words(language, time_zone(report.zone))
    parts = [
        [f"# {say(f'period.{report.period}')}"],
        [" · ".join(escaped(fact) for fact in period.heading(report, say))],
        [f"**{escaped(period.headline(report, say).text)}**"],
        _changes(whole, say),
        _alerts(whole, say),
        _classes(whole, say),
        _advice(whole, say),
        _costs(whole, say),
        _worst(whole, say),
    ]
    return "\n\n".join("\n".join(part) for part in parts if any(part)) + "\n"


def _changes(whole: period.Whole, say: Words) -> list[str]:
    report = whole.report
    rows = [
        [
            code(one.name) if one.name in report.now.metrics else escaped(period.called(one.name, say)),
            escaped(period.verdict(one, say)),
            blocks(period.points(report, one.name)),
            mean_cell(one.now, say),
            mean_cell(one.before, say),
            period.difference(one, say),
        ]
        for one in report.changes
    ]  # fmt: skip
    if not rows:
        return []
    keys = ("metric", "verdict", "trend", "this_period", "period_before", "change")
    against = say("against_unit", unit=say(f"unit.{report.period}"))
    return [
        f"## {say('metrics')} ({against})",
        "",
        *table([say(key) for key in keys], rows, words=3),
        "",
        say("verdict_note"),
    ]


def _alerts(whole: period.Whole, say: Words) -> list[str]:
    lines = [f"## {say('alerts')}", ""]
    if not whole.report.alerts:
        return [*lines, say("no_alerts")]
    for alert in whole.report.alerts:
        one = alert_view(alert, whole.report.until, say)
        lines.append(f"- **{one.state}** {escaped(one.title, 600)} ({escaped(one.when)})")
        if one.slice:
            lines.append(f"  {escaped(one.slice)}")
        lines += [
            f"  - {escaped(e.id, 80)} {escaped(e.question)} {e.value}".rstrip()
            for e in one.examples
        ]
        for symptom, causes in one.symptoms[:1]:
            advice = "; ".join(escaped(text) for _, text in causes)
            lines.append(f"  - {escaped(symptom)}. **{say('then_try')}:** {advice}")
    return lines


def _classes(whole: period.Whole, say: Words) -> list[str]:
    if whole.failures is None:
        return []
    rows = [
        [escaped(row.name), escaped(row.means), row.count, row.share, row.interval]
        for row in sentences.class_rows(whole.failures, say)
    ]
    heads = [say(key) for key in ("class", "meaning_column", "count", "rate", "interval")]
    note = period.newest_note(whole, say)
    return [
        f"## {say('failures')}",
        "",
        *table(heads, rows, words=2),
        *(["", note] if note else []),
    ]


def _advice(whole: period.Whole, say: Words) -> list[str]:
    lines = [f"## {say('diagnosis')}", ""]
    for one in sentences.diagnosis_views(whole.diagnoses, say):
        lines += [f"### {escaped(one.title)}", ""]
        lines += [f"- {escaped(text, 500)}" for text in one.evidence]
        lines.append("")
        lines += [
            f"1. {escaped(item.cause)}. **{say('then_try')}:** {escaped(item.advice)}"
            for item in one.advice
        ]
        lines.append("")
    return lines if whole.diagnoses else []


def _costs(whole: period.Whole, say: Words) -> list[str]:
    rows = [[escaped(cell) for cell in row] for row in period.costs(whole.report, say)]
    return [
        f"## {say('costs')}",
        "",
        *table(["", say("this_period"), say("period_before")], rows),
    ]


def _worst(whole: period.Whole, say: Words) -> list[str]:
    if not whole.worst:
        return []
    rows = []
    for one in whole.worst:
        scores = ", ".join(
            f"{code(name)} {say.number(score.value) if score.ok else escaped(say.outcome(score.outcome))}"
            for name, score in one.scores.items()
        )
        question = escaped(one.interaction.question or say("no_question"), 120)
        answer = escaped(one.interaction.answer or "", 160)
        rows.append([escaped(one.id, 60), exact(one.interaction.at, say), question, answer, scores])
    heads = ["id", say("time"), say("question"), say("answer"), say("scores")]
    by = escaped(say("worst_of", metric=period.called(whole.worst_by, say)))
    return [f"## {say('worst_interactions')} ({by})", "", *table(heads, rows, words=5)]
