"""The pages of experiments: their list, and each benchmark, ablation or search with its picture, its runs and its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ragstone.analysis.compare import MARGIN, compare
from ragstone.analysis.effects import compute_effects, format_settings
from ragstone.analysis.league import build_league
from ragstone.analysis.recommend import recommend
from ragstone.errors import RunNotFound
from ragstone.report.figures import format_moment
from ragstone.report.pages import Page
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.pages.effects import EffectsPage
from ragstone.report.pages.tuning import SearchView, TuningPage
from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator
from ragstone.report.view.frame import ViewFrame
from ragstone.store import Store, StoredRun
from ragstone.store.experiments import StoredExperiment

SHOWN_CHANGES = 10
"""Samples shown that moved most, each way, of each run against the baseline."""
MAX_TRIALS = 500


def render_experiments(frame: ViewFrame, experiments: Sequence[StoredExperiment]) -> str:
    """The list, newest first."""
    t = frame.t
    rows = [
        (
            t(f"view.kind.{experiment.kind}"),
            frame.href("experiment", id=experiment.id),
            name_experiment(experiment),
            format_moment(experiment.created),
            t.whole(len(experiment.runs)),
        )
        for experiment in experiments
    ]
    return frame.fill("view_experiments.html.j2", title=t("view.nav.experiments"), rows=rows)


def name_experiment(experiment: StoredExperiment) -> str:
    """The data set of an experiment as a list shows it."""
    return shorten(PurePath(experiment.name).name or experiment.name, 80)


def render_experiment(frame: ViewFrame, experiment: StoredExperiment, store: Store) -> str:
    """The page of one experiment; it is made again from its runs, so that what is shown is what they hold."""
    t = frame.t
    runs = _open_runs(store, experiment.runs)
    lost = len(experiment.runs) - len(runs)
    page: Page | None = None
    if experiment.kind == "tuning":
        page = _open_search(frame, experiment, runs)
    elif len(runs) > 1:
        build = _open_bench if experiment.kind == "bench" else _open_ablation
        page = build(frame, experiment, runs)
    listed = [] if experiment.kind == "tuning" else _list_runs(frame, list(runs.values()))
    return frame.fill(
        "view_experiment.html.j2",
        page=page,
        listed=listed,
        linked=set(runs),
        most=MAX_TRIALS,
        lost=t.count("view.lost_runs", lost) if lost else "",
        title=f"{t(f'view.kind.{experiment.kind}')}: {name_experiment(experiment)}",
        facts=[t.count("view.run", len(runs)), format_moment(experiment.created)],
    )


def _open_runs(store: Store, ids: Sequence[str]) -> dict[str, StoredRun]:
    """The runs that are still there, in their order."""
    runs = {}
    for id in ids:
        try:
            run = store.run(id)
        except RunNotFound:  # deleted since
            continue
        if run.id == id:
            runs[id] = run
    return runs


def _compare(
    runs: Sequence[StoredRun], t: Translator, *, margin: float = MARGIN, **options: Any
) -> ComparisonPage:
    """The comparison of runs with its league; `options` are those of `compare`."""
    comparison = compare(runs, margin=margin, anyway=True, **options)
    by_id = {run.id: run for run in runs}
    if not comparison.paired:
        return ComparisonPage(t, comparison, by_id)
    league = build_league(runs, comparison.primary)
    advice = recommend(league, comparison, margin)
    return ComparisonPage(t, comparison, by_id, league=league, recommendation=advice)


def _open_bench(
    frame: ViewFrame, experiment: StoredExperiment, runs: Mapping[str, StoredRun]
) -> Page:
    options = dict(experiment.body)
    ids, wanted = list(runs), experiment.runs[options.pop("baseline")]
    # without its baseline the first of the others takes its place
    baseline = ids.index(wanted) if wanted in ids else 0
    return _compare(
        list(runs.values()), frame.t, baseline=baseline, samples=SHOWN_CHANGES, **options
    )


def _open_ablation(
    frame: ViewFrame, experiment: StoredExperiment, runs: Mapping[str, StoredRun]
) -> Page:
    settings = dict(zip(experiment.runs, experiment.body["settings"], strict=True))
    pairs = [(settings[id], run) for id, run in runs.items()]
    effects = [compute_effects(pairs, metric) for metric in experiment.body["metrics"]]
    compared = _compare(
        list(runs.values()), frame.t, primary=experiment.body.get("primary"), samples=0
    )
    return EffectsPage(frame.t, effects, experiment.name, (), compared)


def _open_search(
    frame: ViewFrame, experiment: StoredExperiment, runs: Mapping[str, StoredRun]
) -> Page:
    t, record = frame.t, experiment.body
    search = SearchView.from_record(record)
    before, after = (runs.get(record[name]) for name in ("baseline_run", "winner_run"))
    if before is None or after is None or search.is_unchanged:
        return TuningPage(t, search)
    metrics = list(dict.fromkeys((*record["objective"], *search.against)))
    page = _compare(
        [before, after],
        t,
        metrics=metrics,
        primary=metrics[0],
        margin=search.margin,
        samples=SHOWN_CHANGES,
    )
    # what quality is traded against may well become worse: that is no regression
    judged = replace(page.comparison, judged=tuple(record["objective"]))
    return replace(page, comparison=judged, recommendation=None, search=search)


def _list_runs(frame: ViewFrame, runs: Sequence[StoredRun]) -> list[tuple[str, str, str, str]]:
    """The runs of an experiment: name, address, the settings that it had, samples."""
    rows = []
    for run in runs:
        system = run.info.plan.system
        settings = {} if system is None else system.settings
        text = format_settings(settings) if settings else "–"
        name, href = shorten(run.info.name or run.id, 80), frame.href("review", run=run.id)
        rows.append((name, href, shorten(text, 300), frame.t.whole(run.info.total or run.count())))
    return rows
