"""The report of a run: its tables, cell by cell."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from paged import print_text, run_page
from ragstone.analysis import Summary
from ragstone.analysis.corrected import CorrectedMean, MetricCorrection
from ragstone.report import html
from ragstone.store import StoredRun

ESTIMATE = CorrectedMean(
    labels=40,
    units=120,
    judge_mean=0.6,
    mean=0.5,
    low=0.41,
    high=0.59,
    sample_low=0.44,
    sample_high=0.56,
    alone=0.52,
    alone_low=0.35,
    alone_high=0.69,
    weight=0.9,
    needed=None,
)


@pytest.fixture
def known(summary: Summary) -> Summary:
    """One metric, each of whose figures is another."""
    metric = replace(
        summary.metrics[1],
        total=120,
        applicable=110,
        scored=105,
        mean=0.6,
        sd=0.25,
        minimum=0.1,
        maximum=0.9,
        median=0.7,
        low=0.5,
        high=0.8,
        method="t",
        clusters=None,
        complete=True,
        corrected=MetricCorrection("correctness", ESTIMATE),
    )
    return replace(summary, metrics=(metric,))


def read_table(page: str, id: str) -> list[tuple[str, str]]:
    """Heads and cells of the only row of a table."""
    table = page[page.index(f'aria-labelledby="h-{id}"><table') :].partition("</table>")[0]
    texts = [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", part)]
        for part in table.split("<tbody>")
    ]
    return list(zip(*texts, strict=True))


def test_every_figure_of_a_metric_stands_under_its_name(run: StoredRun, known: Summary) -> None:
    assert read_table(html.render(run_page(run, known)), "figures") == [
        ("Metric", "token_f1 ↑"),
        ("Mean", "0.600"),
        ("95% interval", "0.500 – 0.800"),
        ("SD", "0.250"),
        ("Median", "0.700"),
        ("Min", "0.100"),
        ("Max", "0.900"),
        ("Scored", "105"),
        ("Applicable", "110"),
        ("All", "120"),
        ("Method", "t"),
    ]


def test_a_wide_terminal_draws_the_interval_on_the_scale_of_the_metric(
    run: StoredRun, known: Summary
) -> None:
    assert "··········━┿━━━━····" in print_text(run_page(run, known), 118)


def test_corrected_means_stand_beside_what_the_judge_says(run: StoredRun, known: Summary) -> None:
    assert read_table(html.render(run_page(run, known)), "corrected") == [
        ("Metric", "token_f1 ↑"),
        ("labelled", "correct answers"),
        ("labels", "40"),
        ("judge", "0.600"),
        ("corrected", "0.500"),
        ("population, 95 %", "0.410 – 0.590"),
        ("these samples, 95 %", "0.440 – 0.560"),
        ("labels alone", "0.520 (0.350 – 0.690)"),
    ]
