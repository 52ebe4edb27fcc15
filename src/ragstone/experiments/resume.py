"""The run of a plan in the store: an unfinished one that `--resume` finds, or a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.config import Plan, SystemPlan
from ragstone.config.metric_specs import to_spec
from ragstone.config.paths import anchor_plan
from ragstone.data import Dataset
from ragstone.engine.reuse import identify_scores
from ragstone.errors import RagstoneError, RunNotFound
from ragstone.experiments.inputs import PreparedRun, has_spec, new_run_id
from ragstone.judges import Judge
from ragstone.registry import Metric
from ragstone.store import RunFacts, RunInfo, Store, StoredRun, to_metric_record

if TYPE_CHECKING:
    from ragstone.experiments.answer import SystemUnderTest


def find_begun_run(
    plan: Plan,
    dataset: Dataset,
    named: Sequence[Metric] | None,
    under_test: SystemUnderTest,
    store: Store,
) -> str | None:
    """The unfinished run of the same questions and the same system, whose metrics the answers may still decide."""
    if not plan.resume or plan.run_id is not None:
        return None
    from ragstone.experiments.answer import MEASURED_METRICS

    wanted = _build_data_identity(plan, _resolve_source(plan, dataset), under_test.identity)
    names = None if named is None else {metric.name for metric in named}
    for info in store.runs():
        scored = {metric["name"] for metric in info.metrics}
        # measured metrics are added once answers are there, so a stored run may have them without
        # their being named
        fits = names is None or not scored - names - set(MEASURED_METRICS)
        if info.status == "running" and fits and _data_identity_of(info) == wanted:
            return info.id
    return None


def _build_data_identity(plan: Plan, source: str, system_identity: str | None) -> dict[str, Any]:
    """What must be the same for a run to be resumed, besides metrics and judge."""
    return {
        "source": source,
        "language": plan.language,
        "limit": plan.data.limit,
        "format": plan.data.format,
        "fields": dict(plan.data.fields) or None,
        "skip_bad_rows": plan.data.skip_bad_rows,
        "system_identity": system_identity,
    }


def _data_identity_of(info: RunInfo) -> dict[str, Any]:
    return _build_data_identity(info.plan, info.facts.source, info.facts.system_identity)


def _add_metrics_and_judge(
    identity: dict[str, Any], metrics: Sequence[str], judge: str | None
) -> dict[str, Any]:
    # the order is the order in which `_reject_other_plan` complains: what a user most likely
    # changed comes first
    first = {"source": identity["source"], "metrics": list(metrics), "judge": judge}
    return {**first, **identity}


def open_run(prepared: PreparedRun) -> StoredRun:
    """The run to be resumed, or a new one in the store."""
    facts = _build_facts(prepared)
    stored = _find_resumable(prepared, facts)
    if stored is not None:
        if stored.info.facts.scores_identity != facts.scores_identity:
            # names are the same, but not all that scores: nothing may be taken over from such a run
            prepared.store.forget_scores_identity(stored)
            stored.refresh()
        return stored
    run_id = prepared.run_id
    # an unfinished run that turns out to be of another judge keeps its id
    if prepared.plan.run_id is None and any(info.id == run_id for info in prepared.store.runs()):
        run_id = new_run_id()
    return prepared.store.create(_new_info(prepared, facts, run_id))


def _find_resumable(prepared: PreparedRun, facts: RunFacts) -> StoredRun | None:
    """The run to be resumed: the one named, or the newest one of the same plan that is not done."""
    plan, store = prepared.plan, prepared.store
    wanted = _add_metrics_and_judge(
        _build_data_identity(plan, facts.source, facts.system_identity),
        [metric.name for metric in prepared.metrics],
        _name_judge(prepared.judge),
    )
    if plan.run_id is not None:
        try:
            stored = store.run(plan.run_id)
        # `run_id` without `--resume` names a new run (Slurm jobs and `tune` choose their ids in
        # advance)
        except RunNotFound:
            if plan.resume:
                raise
            return None
        _reject_other_plan(stored.info, wanted)
        return stored
    if plan.resume or plan.retry_errors:
        for info in store.runs():
            if (info.status == "running" or plan.retry_errors) and _identity_of(info) == wanted:
                return store.run(info.id)
    return None


def _identity_of(info: RunInfo) -> dict[str, Any]:
    names = [metric["name"] for metric in info.metrics]
    return _add_metrics_and_judge(_data_identity_of(info), names, info.judge)


def _reject_other_plan(info: RunInfo, wanted: dict[str, Any]) -> None:
    before = _identity_of(info)
    for key, now in wanted.items():
        if before[key] != now:
            raise RagstoneError(
                f"run {info.id} was started with another {key} ({before[key]!r}, now {now!r}); "
                "start a new run without --resume"
            )


def _new_info(prepared: PreparedRun, facts: RunFacts, run_id: str) -> RunInfo:
    plan, dataset = prepared.plan, prepared.dataset
    return RunInfo(
        id=run_id,
        name=plan.name or Path(dataset.source).stem or "run",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        status="running",
        plan=_plan_to_store(prepared, run_id),
        shape=dataset.shape,
        source=dataset.source,
        format=dataset.format,
        metrics=tuple(to_metric_record(metric) for metric in prepared.metrics),
        judge=_name_judge(prepared.judge),
        facts=facts,
    )


def _plan_to_store(prepared: PreparedRun, run_id: str) -> Plan:
    """The plan with what was chosen in it, such that any process can resume it from any folder."""
    plan, under_test = prepared.plan, prepared.under_test
    system = plan.system
    if system is not None and under_test is not None and prepared.inputs.system is not None:
        # the object itself cannot be stored; its name is for display, and `in_memory` says that it
        # cannot be resumed
        system = SystemPlan(under_test.name, system.settings)
    specs = tuple(to_spec(m) if has_spec(m) else m.name for m in prepared.metrics)
    whole = replace(
        plan, metrics=specs, system=system, run_id=run_id, resume=False, retry_errors=False
    )
    # relative paths become absolute, because `--resume` may be typed in another folder
    return anchor_plan(whole, Path.cwd())


def _build_facts(prepared: PreparedRun) -> RunFacts:
    plan, inputs, under_test = prepared.plan, prepared.inputs, prepared.under_test
    judge_identity = _fingerprint_judge(prepared.judge)
    facts = RunFacts(
        source=_resolve_source(plan, prepared.dataset),
        in_memory=inputs.list_in_memory(plan),
        metrics_by_data=not plan.metrics and inputs.metrics is None,
        command=inputs.command,
        folder=str(Path.cwd()) if inputs.command else None,
        judge_identity=judge_identity,
        scores_identity=identify_scores(
            plan, prepared.metrics, judge_identity, prepared.dataset.shape
        ),
    )
    if under_test is None:
        return facts
    return replace(
        facts,
        system=under_test.name,
        parameters=under_test.parameters,
        system_identity=under_test.identity,
        cold_start=under_test.cold_start,
    )


def _resolve_source(plan: Plan, dataset: Dataset) -> str:
    path = plan.data.path
    if path is not None and Path(path).exists():
        return str(Path(path).resolve())
    return dataset.source


def _name_judge(judge: Judge | None) -> str | None:
    return judge.name if judge is not None else None


def _fingerprint_judge(judge: Judge | None) -> str | None:
    if judge is None:
        return None
    from ragstone.judges.scale import fingerprint_judge

    return fingerprint_judge(judge)
