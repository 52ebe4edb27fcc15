"""The summary of a run as a small table for a notebook cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.report import figures
from ragstone.report.render.html import load_template
from ragstone.report.words import load_words

if TYPE_CHECKING:
    from ragstone.analysis import Summary


def render(summary: Summary, language: str = "en") -> str:
    """The table as an HTML fragment, in the colours of the notebook."""
    say = load_words(language)
    lines = [
        (metric.metric, remark.text)
        for metric in summary.metrics
        for remark in figures.describe_metric(metric, summary.floor, say)
    ]
    return str(
        load_template("summary.html.j2").render(
            say=say,
            name=figures.shorten(summary.run.name or summary.run.id, 200),
            heading=figures.list_run_facts(summary, say),
            metrics=summary.metrics,
            lines=lines,
            gates=[figures.describe_gate(gate, say) for gate in summary.gates],
        )
    )
