"""The page of figures: of one run those of its report with failures and diagnosis, of several their comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.compare import compare
from ragstone.analysis.diagnose import Diagnosis, diagnose
from ragstone.analysis.failures import Failures, analyse_failures
from ragstone.analysis.league import build_league
from ragstone.analysis.recommend import recommend
from ragstone.analysis.slices import Slice
from ragstone.labels import correct_run
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.pages.failures import FailureLinks, FailurePage
from ragstone.report.pages.run import RunPage
from ragstone.report.remarks import shorten
from ragstone.report.view.catalogue import RunEntry
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.review_page import READABLE_SAMPLES, OpenedRun
from ragstone.report.view.sample_state import format_trait


def render_figures(frame: ViewFrame, entries: Sequence[RunEntry]) -> str:
    """The page; the first of several runs is the baseline."""
    if len(entries) > 1:
        return _render_comparison(frame, entries)
    entry, t = entries[0], frame.t
    summary = entry.summary
    assert summary is not None
    is_small = summary.samples <= READABLE_SAMPLES
    failures = None
    if is_small:
        corrections = correct_run(entry.run)
        metrics = tuple(replace(m, corrected=corrections.get(m.metric)) for m in summary.metrics)
        summary = replace(summary, metrics=metrics)
        failures = FailurePage(
            t, *_analyse(OpenedRun(entry)), entry.run, _build_links(frame, entry)
        )
    return frame.fill(
        "view_figures.html.j2",
        title=shorten(entry.info.name or entry.info.id, 200),
        page=RunPage(t, entry.run, summary, is_opened=is_small),
        failures=failures,
        by_command="" if is_small else t("view.diagnose_by_command", run=entry.info.id),
        back=frame.href("review", run=entry.info.id),
    )


def _render_comparison(frame: ViewFrame, entries: Sequence[RunEntry]) -> str:
    runs = [entry.run for entry in entries]
    comparison = compare(runs, samples=0, anyway=True)  # the samples are on the review page
    league, advice = None, None
    if len(runs) > 2:
        league = build_league(runs, comparison.primary)
        advice = recommend(league, comparison)
    page = ComparisonPage(
        frame.t, comparison, {run.id: run for run in runs}, league=league, recommendation=advice
    )
    back = frame.href("review", run=[run.id for run in runs])
    return frame.fill(
        "view_figures.html.j2", title=page.title, page=page, failures=None, by_command="", back=back
    )


def _build_links(frame: ViewFrame, entry: RunEntry) -> FailureLinks:
    run = entry.info.id

    def to_slice(slice: Slice) -> str:
        trait = _to_trait(slice)
        return frame.href("review", run=run, is_=trait) if trait else ""

    return FailureLinks(
        lambda position: frame.href("review", run=run, at=str(position)),
        lambda kind: frame.href("review", run=run, is_=f"class:{kind}"),
        to_slice,
    )


def _to_trait(slice: Slice) -> str:
    """The filter of a slice, where the list of samples has one: a language or a field of the data."""
    if not slice.is_tagged or slice.field in ("language_pair", "group"):
        return ""
    return format_trait(f"{'' if slice.field == 'language' else 'meta.'}{slice.field}", slice.value)


@lru_cache(maxsize=8)
def _analyse(opened: OpenedRun) -> tuple[Failures, list[Diagnosis]]:
    entry = opened.entry
    assert entry.summary is not None
    failures = analyse_failures(entry.run)
    return failures, list(diagnose(entry.run, entry.summary, failures, load_symptoms([])))
