"""The run of a plan in the store: an unfinished one that `--resume` finds, or a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.config import Plan, SystemPlan
from ragstone.config.metric_specs import to_spec
from ragstone.config.paths import anchor_plan
from ragstone.data import Dataset
from ragstone.engine import skip_stored
from ragstone.engine.identity import describe_change, identify_run
from ragstone.engine.reuse import identify_scores
from ragstone.errors import DataError, RagstoneError, RunNotFound
from ragstone.experiments.inputs import PreparedRun, has_spec, new_run_id
from ragstone.judges import Judge
from ragstone.registry import Metric
from ragstone.store import RunFacts, RunInfo, Store, StoredRun, to_metric_record
from ragstone.types import VALUE_VERSION

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
    if not (plan.resume or plan.restart) or plan.run_id is not None:
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


def find_answers(
    plan: Plan, dataset: Dataset, under_test: SystemUnderTest, store: Store, run_id: str
) -> str:
    """The run whose answers are taken: a new run asks everything, since a system can change behind its name."""
    from ragstone.experiments.answer import find_answering, has_paid, note_answering

    if plan.run_id is not None:
        return plan.run_id
    about = _build_data_identity(plan, _resolve_source(plan, dataset), under_test.identity)
    if plan.resume or plan.restart or plan.retry_errors:
        return run_id if has_paid(store, run_id) else find_answering(store, about) or run_id
    note_answering(store, about, run_id)
    return run_id


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


def open_run(prepared: PreparedRun) -> StoredRun:
    """The run to be resumed, or a new one in the store; raises RagstoneError for one that was scored in another way."""
    plan, store = prepared.plan, prepared.store
    facts = _build_facts(prepared)
    try:
        stored = _find_resumable(prepared, facts)
    except _OtherRun as other:
        if not plan.restart:
            raise RagstoneError(str(other)) from None
        return store.create(_new_info(prepared, facts, new_run_id()))
    if stored is not None:
        if plan.restart and not _has_same_rows(stored, prepared.dataset):
            return store.create(_new_info(prepared, facts, new_run_id()))
        return stored
    run_id = prepared.run_id
    # an unfinished run of the same questions, found before its metrics were known, may be another one
    if plan.run_id is None and any(info.id == run_id for info in store.runs()):
        run_id = new_run_id()
    return store.create(_new_info(prepared, facts, run_id))


def _has_same_rows(stored: StoredRun, dataset: Dataset) -> bool:
    try:
        next(skip_stored(stored, dataset, stored.count()), None)
    except DataError:
        return False
    return True


class _OtherRun(Exception):
    """The run to be resumed was scored in another way."""

    def __init__(self, run: str, change: str) -> None:
        super().__init__(
            f"cannot resume run {run}: {change}; resume it as it was started, "
            "or begin a new run with --restart"
        )


def _find_resumable(prepared: PreparedRun, facts: RunFacts) -> StoredRun | None:
    """The run to be resumed: the one named, or the newest unfinished one of the same data that was scored alike."""
    plan, store = prepared.plan, prepared.store
    names = [metric.name for metric in prepared.metrics]
    data = _build_data_identity(plan, facts.source, facts.system_identity)
    wanted = _build_identity(data, names, facts.identity)
    if plan.run_id is not None:
        try:
            stored = store.run(plan.run_id)
        # `run_id` without `--resume` names a new run (Slurm jobs and `tune` choose their ids in
        # advance)
        except RunNotFound:
            if plan.resume:
                raise
            return None
        change = _describe_change(stored.info, wanted)
        if change is not None:
            raise _OtherRun(stored.id, change)
        return stored
    if not (plan.resume or plan.restart or plan.retry_errors):
        return None
    others = []
    for info in store.runs():
        if (info.facts.source, info.facts.system_identity) != (facts.source, facts.system_identity):
            continue
        change = _describe_change(info, wanted)
        is_unfinished = info.status == "running"
        if change is None and (is_unfinished or plan.retry_errors):
            return store.run(info.id)
        has_same_metrics = [metric["name"] for metric in info.metrics] == names
        if change is not None and (is_unfinished or (plan.retry_errors and has_same_metrics)):
            others.append(_OtherRun(info.id, change))
    if others:
        raise others[0]
    return None


def _build_identity(
    data: Mapping[str, Any], metrics: Sequence[str], parts: Mapping[str, str]
) -> dict[str, str]:
    """All that must be equal; what a user most likely changed comes first, since it is what a refusal names."""
    first = {"source": data["source"], "metrics": ", ".join(metrics)}
    rest = {name: str(value) for name, value in data.items()}
    last = {name: parts[name] for name in _LAST_NAMED if name in parts}
    return {**first, **rest, **{n: v for n, v in parts.items() if n not in last}, **last}


_LAST_NAMED = ("code of ragstone", "ragstone")


def _describe_change(info: RunInfo, wanted: Mapping[str, str]) -> str | None:
    """What is not as it was when a run was started; None if nothing has changed."""
    if not info.facts.identity:
        return (
            "it was started by an older version of ragstone, which did not write down how it scores"
        )
    return describe_change(_identity_of(info), wanted)


def _identity_of(info: RunInfo) -> dict[str, str]:
    names = [metric["name"] for metric in info.metrics]
    return _build_identity(_data_identity_of(info), names, info.facts.identity)


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
        plan,
        metrics=specs,
        system=system,
        run_id=run_id,
        resume=False,
        restart=False,
        retry_errors=False,
    )
    # relative paths become absolute, because `--resume` may be typed in another folder
    return anchor_plan(whole, Path.cwd())


def _build_facts(prepared: PreparedRun) -> RunFacts:
    plan, inputs, under_test = prepared.plan, prepared.inputs, prepared.under_test
    identity = identify_run(prepared.judge, prepared.metrics, plan.language)
    facts = RunFacts(
        source=_resolve_source(plan, prepared.dataset),
        in_memory=inputs.list_in_memory(plan),
        metrics_by_data=not plan.metrics and inputs.metrics is None,
        command=inputs.command,
        folder=str(Path.cwd()) if inputs.command else None,
        benchmark=inputs.benchmark,
        judge_identity=_fingerprint_judge(prepared.judge),
        calibration=_describe_calibration(prepared.judge),
        value_version=VALUE_VERSION,
        identity=identity,
        scores_identity=identify_scores(plan, prepared.metrics, identity, prepared.dataset.shape),
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


def _describe_calibration(judge: Judge | None) -> dict[str, Any]:
    calibration = getattr(judge, "calibration", None)
    return {} if calibration is None else calibration.to_json()


def _fingerprint_judge(judge: Judge | None) -> str | None:
    if judge is None:
        return None
    from ragstone.judges.scale import fingerprint_judge

    return fingerprint_judge(judge)
