"""Failure classes and advice as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.report.failures import sentences
from ragstone.report.markdown import escaped, table
from ragstone.report.words import Words, words

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures
    from ragstone.store import StoredRun

EXAMPLES = 5


def render(
    failures: Failures,
    diagnoses: Sequence[Diagnosis] | None,
    run: StoredRun,
    language: str = "en",
) -> str:
    """The analysis, and the diagnosis if there is one, as Markdown text."""
    say = words(language)
    parts = [
        [f"# {say('failures')}: {escaped(failures.run.name, 80)}"],
        [f"**{sentences.state(failures, say).text}**"],
        _classes(failures, say),
        [f"- {escaped(line.text)}" for line in sentences.notes(failures, say)],
        _slices(failures, say),
        *([] if diagnoses is None else [_diagnosis(diagnoses, say)]),
        *_examples(failures, run, say),
    ]
    return "\n\n".join("\n".join(part) for part in parts if any(part)) + "\n"


def _classes(failures: Failures, say: Words) -> list[str]:
    heads = [say("class"), say("meaning_column"), say("count"), say("rate"), say("interval")]
    rows = [
        [escaped(row.name), escaped(row.means), row.count, row.share, row.interval]
        for row in sentences.class_rows(failures, say)
    ]
    return table(heads, rows, words=2)


def _slices(failures: Failures, say: Words) -> list[str]:
    note = escaped(sentences.slices_note(failures, say))
    if not failures.worse:
        return [note]
    rows = [[escaped(text) for text in sentences.slice_cells(one, say)] for one in failures.worse]
    return [f"## {say('slices_worse')}", "", *table(sentences.slice_heads(say), rows), "", note]


def _diagnosis(diagnoses: Sequence[Diagnosis], say: Words) -> list[str]:
    lines = [f"## {say('diagnosis')}", ""]
    if not diagnoses:
        return [*lines, say("no_symptoms")]
    for one in sentences.diagnosis_views(diagnoses, say):
        doubt = "" if one.sure else f" ({say('perhaps')})"
        lines += [f"### {escaped(one.title)}{doubt}", ""]
        lines += [f"- {escaped(text, 500)}" for text in one.evidence]
        lines.append("")
        for advice in one.advice:
            lines.append(
                f"1. {escaped(advice.cause)}. **{say('then_try')}:** {escaped(advice.advice)}"
            )
            if advice.command:
                lines += ["", "    ```sh", f"    {advice.command}", "    ```", ""]
        lines.append("")
    return lines


def _examples(failures: Failures, run: StoredRun, say: Words) -> list[list[str]]:
    parts = []
    for kind, some in sentences.examples(failures, run, say, EXAMPLES):
        lines = [f"## {say('examples')}: {sentences.class_name(kind, say)}", ""]
        for one in some:
            lines.append(f"- **{escaped(one.id, 60)}** {escaped(one.question)}  ")
            if one.answer:
                lines.append(f"  {say('answer')}: {escaped(one.answer)}  ")
            lines += [f"  {escaped(text, 900)}  " for text in (one.values, *one.details) if text]
        parts.append(lines)
    return parts
