"""The summary of a run, or a few nodes of a report, as a fragment for a notebook cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.report import figures
from ragstone.report.render.html import load_template
from ragstone.report.translator import load_translator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.analysis import Summary
    from ragstone.report.document import Node


def render(summary: Summary, language: str = "en") -> str:
    """The table as an HTML fragment, in the colours of the notebook."""
    t = load_translator(language)
    lines = [
        (metric.metric, remark.text)
        for metric in summary.metrics
        for remark in figures.describe_metric(metric, summary.floor, t)
    ]
    return str(
        load_template("summary.html.j2").render(
            t=t,
            name=figures.shorten(summary.run.name or summary.run.id, 200),
            heading=figures.list_run_facts(summary, t),
            metrics=summary.metrics,
            lines=lines,
            gates=[figures.describe_gate(gate, t) for gate in summary.gates],
        )
    )


def render_nodes(nodes: Sequence[Node], language: str = "en") -> str:
    """Nodes of a report as an HTML fragment, without charts and samples."""
    t = load_translator(language)
    return str(load_template("fragment.html.j2").render(t=t, shown=nodes, samples=()))
