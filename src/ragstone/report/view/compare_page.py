"""The page that compares two to six runs: league, verdicts in the words of `compare`, and answers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.analysis.compare import compare
from ragstone.analysis.league import build_league
from ragstone.analysis.recommend import recommend
from ragstone.report.figures import format_moment
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.remarks import shorten
from ragstone.report.view.catalogue import RunEntry, group_by_data, name_data
from ragstone.report.view.frame import ViewFrame
from ragstone.store import StoredRun

MAX_RUNS = 6
SHOWN_CHANGES = 50
"""Samples shown that became better, and as many that became worse."""
DIRECTIONS = ("better", "worse")


def render_chooser(frame: ViewFrame, entries: Sequence[RunEntry], chosen: Sequence[str]) -> str:
    """The page before enough runs are chosen."""
    groups = [
        (
            name_data(some[0].info),
            [
                (
                    entry.info.id,
                    shorten(entry.info.name or entry.info.id, 80),
                    format_moment(entry.info.created),
                    entry.info.id in chosen or (entry.notes.is_baseline and not chosen),
                )
                for entry in some
            ],
        )
        for some in group_by_data(entries).values()
    ]
    return frame.fill(
        "view_chooser.html.j2",
        title=frame.t("view.nav.compare"),
        groups=groups,
        most=MAX_RUNS,
        is_few=len(chosen) == 1,
        is_many=len(chosen) > MAX_RUNS,
    )


def render_comparison(frame: ViewFrame, runs: Sequence[StoredRun]) -> str:
    """The comparison of the runs with the first."""
    metric, direction = frame.get("metric"), frame.get("direction")
    shared = [
        str(described["name"])
        for described in runs[0].info.metrics
        if all(described["name"] in [m["name"] for m in run.info.metrics] for run in runs)
    ]
    wanted = [metric] if metric in shared else None
    comparison = compare(runs, metrics=wanted, samples=SHOWN_CHANGES, anyway=True)
    league, advice = None, None
    if len(runs) > 2 and wanted is None:  # a league is of all metrics
        league = build_league(runs, comparison.primary)
        advice = recommend(league, comparison)
    if direction in DIRECTIONS:
        # the verdicts stay; only the samples of the other direction are left out
        left_out = "regressed" if direction == "better" else "fixed"
        comparison = replace(
            comparison,
            versus=tuple(replace(v, **{left_out: ()}) for v in comparison.versus),  # type: ignore[arg-type]
        )
    page = ComparisonPage(
        frame.t, comparison, {run.id: run for run in runs}, league=league, recommendation=advice
    )
    return frame.fill(
        "view_comparison.html.j2",
        page=page,
        metrics=shared,
        metric=metric,
        runs=[(run.id, shorten(run.info.name or run.id, 80)) for run in runs],
        directions=[(name, frame.t(f"view.direction.{name}")) for name in DIRECTIONS],
        direction=direction,
    )
