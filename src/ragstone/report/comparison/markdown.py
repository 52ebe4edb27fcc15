"""A comparison as GitHub-flavoured Markdown, for a pull request or a step summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.report.comparison import sentences
from ragstone.report.comparison.samples import MovedView, Side, moved_views
from ragstone.report.markdown import code, escaped, table
from ragstone.report.words import Words, words
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.analysis.changes import Change
    from ragstone.analysis.compare import Comparison, Difference, Versus
    from ragstone.store import StoredRun

SAMPLES = 10
SIGNS = {"better": "🟢", "worse": "🔴", "equivalent": "⚪", "unclear": "⚪", "withheld": "🟡"}


def render(comparison: Comparison, runs: Mapping[str, StoredRun], language: str = "en") -> str:
    """The comparison as Markdown text."""
    say = words(language)
    parts = [[f"# {say('comparison')}"], [f"**{sentences.state(comparison, say).text}**"]]
    for versus in comparison.versus:
        parts += _versus(versus, comparison, runs, say)
    parts += [_judging(comparison, say), [escaped(sentences.method(comparison, say), 900)]]
    return "\n\n".join("\n".join(part) for part in parts if any(part)) + "\n"


def _versus(
    versus: Versus, comparison: Comparison, runs: Mapping[str, StoredRun], say: Words
) -> list[list[str]]:
    names = {"run": escaped(versus.run.name, 80), "baseline": escaped(comparison.baseline.name, 80)}
    differences = sorted(versus.differences, key=lambda one: one.resource)
    before, after = runs[comparison.baseline.id], runs[versus.run.id]
    return [
        [f"## {say('against', **names)}"],
        [escaped(line.text, 600) + "  " for line in sentences.notes(versus, comparison, say)],
        _table(differences, comparison, say),
        [
            f"- {code(one.metric)}: {escaped(line.text, 900)}"
            for one in differences
            for line in sentences.metric_notes(one, versus, comparison, say)
        ],
        _samples("regressed", versus.regressed, versus.regressed_count, before, after, say),
        _samples("fixed", versus.fixed, versus.fixed_count, before, after, say),
    ]


def _table(differences: Sequence[Difference], comparison: Comparison, say: Words) -> list[str]:
    heads = [say("metric"), say("verdict"), say("before"), say("after"), say("difference")]
    heads += [say("interval"), say(f"p_corrected.{comparison.correction}"), say("moved")]
    rows = [
        [
            f"{code(one.metric)} {'↑' if one.higher_is_better else '↓'}",
            f"{SIGNS[one.verdict]} {escaped(sentences.verdict(one, comparison.floor, say).text)}",
            say.number(one.before),
            say.number(one.after),
            f"**{sentences.signed(one.difference, say)}**",
            sentences.signed_interval(one, say),
            sentences.p_value(one.adjusted, say).replace("<", "&lt;"),
            sentences.moved(one, say),
        ]
        for one in differences
    ]
    return table(heads, rows, words=2)


def _samples(
    key: str, moved: Sequence[Change], total: int, before: StoredRun, after: StoredRun, say: Words
) -> list[str]:
    views = moved_views(moved[:SAMPLES], before, after, say)
    if not views:
        return [f"**{say(key)}**: {say('none_moved')}"]
    note = say("shown_most", shown=say.whole(len(views)), total=say.whole(total))
    lines = [f"<details><summary>{say(key)}: {note}</summary>", ""]
    for view in views:
        lines += _sample(view, say)
    return [*lines, "</details>"]


def _sample(view: MovedView, say: Words) -> list[str]:
    scores = ", ".join(f"{code(name)} {escaped(arrow)}" for name, arrow in view.scores)
    return [
        f"- **{escaped(view.id, 60)}** {escaped(view.question, 240)}  ",
        f"  {scores}",
        f"    - {say('before')}: {_side(view.before, say)}",
        f"    - {say('after')}: {_side(view.after, say)}",
        "",
    ]


def _side(side: Side, say: Words) -> str:
    if side.error:
        return escaped(say("system_error", error=side.error))
    said = escaped(side.answer or say("no_answer"), 400)
    found = "; ".join(
        f"{escaped(one.text, 120)} – *{escaped(one.verdict)}*"
        for one in side.findings
        if one.tone in ("bad", "warn")
    )
    return f"{said} ({found})" if found else said


def _judging(comparison: Comparison, say: Words) -> list[str]:
    infos = [comparison.baseline, *(versus.run for versus in comparison.versus)]
    if all(info.usage == NO_USAGE for info in infos):
        return []
    heads = [say(key) for key in ("run", "calls", "input_tokens", "output_tokens", "usd")]
    rows = [
        [
            escaped(info.name, 60),
            say.whole(info.usage.calls),
            say.whole(info.usage.input_tokens),
            say.whole(info.usage.output_tokens),
            escaped(say.money(info.usage.usd)),
        ]
        for info in infos
    ]
    return [f"## {say('judging')}", "", *table(heads, rows)]
