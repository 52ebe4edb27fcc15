"""The report of a run: its tables, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from ragstone.analysis import Summary
from ragstone.analysis.corrected import CorrectedMean, MetricCorrection
from ragstone.report import document as doc
from ragstone.report.builders.run import build_summary

ESTIMATE = CorrectedMean(
    labels=40, units=120, judge_mean=0.6, mean=0.5, low=0.41, high=0.59, sample_low=0.44,
    sample_high=0.56, alone=0.52, alone_low=0.35, alone_high=0.69, weight=0.9, needed=None,
)  # fmt: skip


@pytest.fixture
def known(summary: Summary) -> Summary:
    """One metric, each of whose figures is another."""
    metric = replace(
        summary.metrics[1], total=120, applicable=110, scored=105, mean=0.6, sd=0.25, minimum=0.1,
        maximum=0.9, median=0.7, low=0.5, high=0.8, method="t", clusters=None, complete=True,
        corrected=MetricCorrection("correctness", ESTIMATE),
    )  # fmt: skip
    return replace(summary, metrics=(metric,))


def find_tables(
    nodes: Sequence[doc.Node], medium: doc.Medium, width: int
) -> Iterator[doc.ReportTable]:
    for node in doc.select_nodes(nodes, medium, width):
        if isinstance(node, doc.Section):
            yield from find_tables(node.nodes, medium, width)
        elif isinstance(node, doc.ReportTable):
            yield node


def read_table(
    summary: Summary, id: str, medium: doc.Medium, width: int = 0
) -> list[tuple[str, str]]:
    """Heads and cells of the only row."""
    tables = find_tables(build_summary(summary).body, medium, width)
    (table,) = [table for table in tables if table.id == id]
    heads, (row,), _ = doc.select_columns(table, medium, width)
    cells = [doc.to_plain_text(doc.to_cell(cell).text) for cell in row.cells]
    return list(zip([doc.to_plain_text(column.head) for column in heads], cells, strict=True))


def test_every_figure_of_a_metric_stands_under_its_name(known: Summary) -> None:
    assert read_table(known, "figures", "page") == [
        ("Metric", "token_f1 ↑"), ("Mean", "0.600"), ("95% interval", "0.500 – 0.800"),
        ("SD", "0.250"), ("Median", "0.700"), ("Min", "0.100"), ("Max", "0.900"),
        ("Scored", "105"), ("Applicable", "110"), ("All", "120"), ("Method", "t"),
    ]  # fmt: skip


def test_a_wide_terminal_draws_the_interval_on_the_scale_of_the_metric(known: Summary) -> None:
    cells = dict(read_table(known, "figures", "terminal", 118))
    assert cells[""] == "··········━┿━━━━····"


def test_corrected_means_stand_beside_what_the_judge_says(known: Summary) -> None:
    assert read_table(known, "corrected", "page") == [
        ("Metric", "token_f1 ↑"), ("labelled", "correct answers"), ("labels", "40"),
        ("judge", "0.600"), ("corrected", "0.500"), ("population, 95 %", "0.410 – 0.590"),
        ("these samples, 95 %", "0.440 – 0.560"), ("labels alone", "0.520 (0.350 – 0.690)"),
    ]  # fmt: skip
