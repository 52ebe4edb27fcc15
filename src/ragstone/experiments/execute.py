"""A plan carried out: data read, system asked, metrics chosen, samples scored into a run of the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.config import Plan, reveal
from ragstone.config.metric_specs import resolve_metrics
from ragstone.data import Dataset, read
from ragstone.engine import Execution
from ragstone.engine.garbage import relax_garbage_collection
from ragstone.errors import RagstoneError
from ragstone.experiments.calibration import calibrate_judge
from ragstone.experiments.choose import choose_metrics
from ragstone.experiments.inputs import PreparedRun, RunInputs, RunObserver, is_judge, new_run_id
from ragstone.experiments.resume import find_answers, find_begun_run, open_run
from ragstone.judges import Judge, sends_jobs
from ragstone.metrics import resolve
from ragstone.registry import Metric
from ragstone.scale import open_execution
from ragstone.store import Store, StoredRun

if TYPE_CHECKING:
    from ragstone.experiments.answer import SystemUnderTest
    from ragstone.labels import Label

KEEP_BYTES = 8_000_000
"""Files up to this size are read into memory before anything is scored, and only once."""

OUTAGE_SECONDS = 60.0
"""How long a run waits for a database server that restarts: replies that are paid for stay in memory until then."""

CHECK_FIRST_BYTES = 64_000_000
"""For a judge, files up to this size are read through for bad rows before anything is scored: judging takes far longer."""


async def execute_plan(
    plan: Plan,
    inputs: RunInputs = RunInputs(),  # noqa: B008  frozen
    observer: RunObserver = RunObserver(),  # noqa: B008
    *,
    own_loop: bool = False,
) -> StoredRun:
    """Carry out a plan, or the rest of it; with `own_loop`, connections of a judge that was given are closed too."""
    # first of all: a mistake in the labels must show before anything is paid for
    labels = _read_labels(plan)
    prepared = await _prepare_run(plan, inputs, observer)
    plan = prepared.plan
    judge, store, dataset = prepared.judge, prepared.store, prepared.dataset
    # before the run is stored and before the first call to a judge: a bad row must not leave half a
    # run behind
    total = _check_rows(prepared)
    stored = open_run(prepared)
    store.wait_for_server(OUTAGE_SECONDS)
    if observer.started is not None:
        observer.started(stored, dataset)
    try:
        if sends_jobs(judge):
            from ragstone.experiments.jobs import keep_run_jobs

            with keep_run_jobs(store, stored.id, observer.job_sent):
                await _score(prepared, stored, total, observer)
        else:
            await _score(prepared, stored, total, observer)
    finally:
        # A judge that was given stays open for its owner, except for connections bound to a loop of ours.
        must_close = judge is not inputs.judge or (own_loop and getattr(judge, "reopens", False))
        if judge is not None and must_close:
            await judge.close()
    if labels is not None:
        from ragstone.labels import add_labels, attach_content

        attached, _ = attach_content(stored, labels)
        add_labels(store, attached)
    stored.refresh()
    return stored


def _read_labels(plan: Plan) -> Sequence[Label] | None:
    if plan.labels is None:
        return None
    from ragstone.labels import read_labels

    return read_labels(plan.labels).labels


async def _score(
    prepared: PreparedRun, stored: StoredRun, total: int | None, observer: RunObserver
) -> None:
    """Score what the run lacks."""
    plan, judge = prepared.plan, prepared.judge
    if plan.on is not None and sends_jobs(judge):
        raise RagstoneError(f"--on {plan.on} and batch: true exclude each other; leave one out")
    if plan.on is not None and prepared.inputs.judge is not None and plan.judge is None:
        raise RagstoneError(
            f"{prepared.inputs.judge!r} cannot be sent to workers; name the judge: offline, "
            "openai:MODEL, gguf:PATH, hf:PATH, nli:PATH, python:file.py:function"
        )
    async with open_execution(
        plan, stored, prepared.metrics, judge,
        total=total, watch=observer.progress, size=_find_size(prepared),
    ) as execution:  # fmt: skip
        with relax_garbage_collection():
            await _carry_out(execution, prepared, stored)


def _find_size(prepared: PreparedRun) -> int | None:
    """The size of the file of the samples in bytes, if they come from one."""
    source = prepared.source
    is_file = isinstance(source, str) and prepared.plan.system is None and os.path.isfile(source)
    return os.path.getsize(source) if is_file else None


async def _carry_out(execution: Execution, prepared: PreparedRun, stored: StoredRun) -> None:
    plan, dataset = prepared.plan, prepared.dataset
    # in this order: new answers first, then the samples that were never scored, then failures
    # of the judge
    if plan.retry_errors and prepared.under_test is not None:
        await execution.replace_failed_answers(dataset)
    # a run that is done is only retried
    if stored.info.status != "done":
        count = await execution.score_new(dataset)
        prepared.store.finish(stored.id, total=count, bad_count=dataset.bad_count, bad=dataset.bad)
    if plan.retry_errors:
        await execution.retry_failures()


async def _prepare_run(plan: Plan, inputs: RunInputs, observer: RunObserver) -> PreparedRun:
    for folder in plan.code_folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    dataset = open_dataset(plan, inputs.samples)
    named = _resolve_named_metrics(plan, inputs)
    has_system = plan.system is not None
    metrics: list[Metric] = []
    # shown before the store is opened: an observer that refuses the metrics leaves nothing behind
    if not has_system:  # else the answers decide which metrics fit
        metrics = _show_metrics(_choose_metrics(plan, inputs, named, dataset), observer)
    store = inputs.store or Store.open(reveal(plan.store))
    if plan.judge is not None:
        from ragstone.experiments.cascade_bounds import resolve_bounds

        plan = replace(plan, judge=resolve_bounds(plan.judge, store, plan.language))
    run_id, under_test = plan.run_id or new_run_id(), None
    if has_system:
        under_test = _build_system(plan, inputs)
        run_id = find_begun_run(plan, dataset, named, under_test, store) or run_id
        scope = None
        if not inputs.shares_answers:
            scope = find_answers(plan, dataset, under_test, store, run_id)
        dataset, under_test = await _ask_system(
            plan, dataset, under_test, store, run_id, observer, scope
        )
        metrics = _choose_metrics(plan, inputs, named, dataset)
        # metrics that fit the data include these already
        from ragstone.experiments.answer import list_measured

        if named is not None:
            families = {metric.family for metric in metrics}
            metrics += [resolve(name) for name in list_measured(dataset) if name not in families]
        _show_metrics(metrics, observer)
    judge = _build_judge(plan, inputs, metrics)
    if judge is not None and inputs.judge is None:
        plan = calibrate_judge(plan, judge, store)
    return PreparedRun(plan, inputs, store, dataset, metrics, judge, run_id, under_test)


def open_dataset(plan: Plan, samples: Any = None) -> Dataset:
    """The samples of a plan's data, or the given ones, read as the plan says."""
    if isinstance(samples, Dataset):
        return samples
    data = plan.data
    return read(
        data.path if samples is None else samples,
        format=data.format,
        fields=data.fields or None,
        skip_bad_rows=data.skip_bad_rows,
        limit=data.limit,
    )


def _choose_metrics(
    plan: Plan, inputs: RunInputs, named: list[Metric] | None, dataset: Dataset
) -> list[Metric]:
    judge = plan.judge if inputs.judge is None else inputs.judge
    return choose_metrics(named, dataset, judge=judge, language=plan.language)


def _resolve_named_metrics(plan: Plan, inputs: RunInputs) -> list[Metric] | None:
    if inputs.metrics is not None:
        return list(inputs.metrics)
    return resolve_metrics(plan.metrics) if plan.metrics else None


def _show_metrics(metrics: list[Metric], observer: RunObserver) -> list[Metric]:
    if observer.metrics is not None:
        observer.metrics(metrics)
    return metrics


def _build_system(plan: Plan, inputs: RunInputs) -> SystemUnderTest:
    assert plan.system is not None
    if inputs.under_test is not None:
        return inputs.under_test
    from ragstone.experiments.answer import build_system

    spec = plan.system.spec if inputs.system is None else inputs.system
    return build_system(spec, plan.system.settings)


async def _ask_system(
    plan: Plan,
    dataset: Dataset,
    under_test: SystemUnderTest,
    store: Store,
    run_id: str,
    observer: RunObserver,
    scope: str | None,
) -> tuple[Dataset, SystemUnderTest]:
    from ragstone.experiments.answer import answer_samples

    # Failures are asked for again under another id, so that the stored failures do not answer.
    answers_id = new_run_id() if plan.retry_errors else run_id
    answers = await answer_samples(
        dataset, under_test, store, answers_id, scope=scope, watch=observer.answers
    )
    await under_test.system.close()
    return answers


def _build_judge(plan: Plan, inputs: RunInputs, metrics: Sequence[Metric]) -> Judge | None:
    if not any(metric.judged for metric in metrics):
        return None
    if is_judge(inputs.judge):
        given: Judge = inputs.judge
        return given
    from ragstone.judges.factory import make_judge  # every kind of judge

    return make_judge(plan.judge_settings() if inputs.judge is None else inputs.judge)


def _check_rows(prepared: PreparedRun) -> int | None:
    """Raise for bad rows before any cost; the number of samples if it was worth counting them."""
    source = prepared.source
    if hasattr(source, "__len__") and not isinstance(source, str | bytes):
        return len(source)
    if not isinstance(source, str) or source == "-":
        return None
    path = Path(source)
    judge, size = prepared.judge, path.stat().st_size if path.is_file() else None
    if size is not None and size <= min(KEEP_BYTES, CHECK_FIRST_BYTES):
        # packed ones may unpack to much more
        return prepared.dataset.check(keep=2 * KEEP_BYTES)
    # a file is read twice only where a bad row at its end would waste much: paid calls, or hours
    is_worth = judge is not None and size is not None and size <= CHECK_FIRST_BYTES
    is_paid = judge is not None and not judge.local
    return prepared.dataset.check() if is_worth or is_paid else None
