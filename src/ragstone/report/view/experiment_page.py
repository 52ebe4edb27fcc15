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
from ragstone.report import document as doc
from ragstone.report.builders.comparison import ComparisonReport
from ragstone.report.builders.effects import EffectsReport
from ragstone.report.builders.parts import (
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.builders.tuning import SearchView
from ragstone.report.figures import format_moment, shorten
from ragstone.report.view.frame import ViewFrame
from ragstone.store import Store, StoredRun
from ragstone.store.experiments import StoredExperiment

SHOWN_CHANGES = 10
"""Samples shown that moved most, each way, of each run against the baseline."""
MAX_TRIALS = 500


def render_experiments(frame: ViewFrame, experiments: Sequence[StoredExperiment]) -> str:
    """The list, newest first."""
    t = frame.t
    columns = [
        *build_text_columns(t, "view.experiment", "view.data", "view.date"),
        *build_number_columns(t, "runs"),
    ]
    rows = [
        (
            doc.TableCell(t(f"view.kind.{experiment.kind}"), href=frame.href("experiment", id=experiment.id)),
            doc.TableCell(name_experiment(experiment)),
            doc.TableCell(format_moment(experiment.created), style="date"),
            t.whole(len(experiment.runs)),
        )
        for experiment in experiments
    ]  # fmt: skip
    nodes: list[doc.Node] = [doc.Section((build_table(columns, rows),), "panel")]
    if not rows:
        nodes = [doc.Section((doc.Paragraph(t("view.no_experiments")),), "panel")]
    return frame.fill(
        "view_experiment.html.j2", title=t("view.nav.experiments"), nodes=nodes, back="", facts=()
    )


def name_experiment(experiment: StoredExperiment) -> str:
    """The data set of an experiment as a list shows it."""
    return shorten(PurePath(experiment.name).name or experiment.name, 80)


def render_experiment(frame: ViewFrame, experiment: StoredExperiment, store: Store) -> str:
    """The page of one experiment; it is made again from its runs, so that what is shown is what they hold."""
    t = frame.t
    runs = _open_runs(store, experiment.runs)
    lost = len(experiment.runs) - len(runs)
    nodes: list[doc.Node] = []
    if lost:
        nodes.append(doc.Paragraph(t.count("view.lost_runs", lost), "warn"))
    if experiment.kind == "tuning":
        nodes += _build_search(frame, experiment, runs)
    elif len(runs) > 1:
        build = _build_bench if experiment.kind == "bench" else _build_ablation
        nodes += build(frame, experiment, runs)
    if experiment.kind != "tuning" and runs:
        nodes.append(_build_runs(frame, list(runs.values())))
    return frame.fill(
        "view_experiment.html.j2", back=frame.href("experiments"), nodes=nodes,
        title=f"{t(f'view.kind.{experiment.kind}')}: {name_experiment(experiment)}",
        facts=[t.count("view.run", len(runs)), format_moment(experiment.created)],
    )  # fmt: skip


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


def _report_on(
    runs: Sequence[StoredRun], language: str, *, margin: float = MARGIN, **options: Any
) -> ComparisonReport:
    """The comparison of runs with its league; `options` are those of `compare`."""
    comparison = compare(runs, margin=margin, anyway=True, **options)
    by_id = {run.id: run for run in runs}
    if not comparison.paired:
        return ComparisonReport(comparison, by_id, language)
    league = build_league(runs, comparison.primary)
    advice = recommend(league, comparison, margin)
    return ComparisonReport(comparison, by_id, language, league=league, recommendation=advice)


def _build_bench(
    frame: ViewFrame, experiment: StoredExperiment, runs: Mapping[str, StoredRun]
) -> Sequence[doc.Node]:
    options = dict(experiment.body)
    ids, wanted = list(runs), experiment.runs[options.pop("baseline")]
    # without its baseline the first of the others takes its place
    baseline = ids.index(wanted) if wanted in ids else 0
    report = _report_on(list(runs.values()), frame.t.language, baseline=baseline, samples=SHOWN_CHANGES, **options)  # fmt: skip
    return report.document().body


def _build_ablation(
    frame: ViewFrame, experiment: StoredExperiment, runs: Mapping[str, StoredRun]
) -> Sequence[doc.Node]:
    settings = dict(zip(experiment.runs, experiment.body["settings"], strict=True))
    pairs = [(settings[id], run) for id, run in runs.items()]
    effects = [compute_effects(pairs, metric) for metric in experiment.body["metrics"]]
    language = frame.t.language
    compared = _report_on(list(runs.values()), language, primary=experiment.body.get("primary"), samples=0)  # fmt: skip
    report = EffectsReport(effects, experiment.name, language, (), compared)
    return report.document().body


def _build_search(
    frame: ViewFrame, experiment: StoredExperiment, runs: Mapping[str, StoredRun]
) -> Sequence[doc.Node]:
    t, record = frame.t, experiment.body
    view = SearchView.from_record(record)

    def link(run: str) -> str:
        return frame.href("run", run=run) if run in runs else ""

    parts = (*view.build_front(t), view.build_trials(t, link, MAX_TRIALS))
    remarks = view.describe(t)
    before, after = (runs.get(record[name]) for name in ("baseline_run", "winner_run"))
    if before is None or after is None or view.is_unchanged:
        return (*(doc.Paragraph(remark.text, remark.severity) for remark in remarks), *parts)
    metrics = list(dict.fromkeys((*record["objective"], *view.against)))
    report = _report_on([before, after], t.language, metrics=metrics, primary=metrics[0], margin=view.margin, samples=SHOWN_CHANGES)  # fmt: skip
    # what quality is traded against may well become worse: that is no regression
    judged = replace(report.comparison, judged=tuple(record["objective"]))
    report = replace(report, comparison=judged, recommendation=None, remarks=remarks, extra=parts)
    return report.document().body


def _build_runs(frame: ViewFrame, runs: Sequence[StoredRun]) -> doc.Node:
    """The runs of an experiment, each a link, with the settings that it had."""
    t = frame.t
    columns = [*build_text_columns(t, "run", "view.settings"), *build_number_columns(t, "view.samples")]  # fmt: skip
    rows = []
    for run in runs:
        system = run.info.plan.system
        settings = {} if system is None else system.settings
        text = format_settings(settings) if settings else "–"
        name = doc.TableCell(shorten(run.info.name or run.id, 80), href=frame.href("run", run=run.id))  # fmt: skip
        rows.append((name, shorten(text, 300), t.whole(run.info.total or run.count())))
    return build_panel("runs", t("runs"), build_table(columns, rows, id="runs"))
