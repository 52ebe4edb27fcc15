"""A plan carried out: data read, system asked, metrics chosen, samples scored into a run of the store."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from ragstone.config import Plan, SystemPlan, reveal
from ragstone.config.metric_specs import NoSpec, resolve_metrics, to_spec
from ragstone.config.paths import anchor_plan
from ragstone.config.storable import is_storable
from ragstone.data import Dataset, read
from ragstone.engine import Execution, ProgressCallback
from ragstone.errors import RagstoneError, RunNotFound
from ragstone.experiments.answer import (
    MEASURED_METRICS,
    SystemUnderTest,
    answer_samples,
    build_system,
    list_measured,
)
from ragstone.experiments.choose import choose_metrics
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.metrics import resolve
from ragstone.registry import Metric
from ragstone.store import RunFacts, RunInfo, Store, StoredRun, describe_metric
from ragstone.systems import AnswerProgress

CHECK_FIRST_BYTES = 64_000_000
"""Files up to this size are read through for bad rows before anything is scored."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run is given as Python objects, in the place of what its plan names."""

    samples: Any = None
    """Anything that `read` takes, or a Dataset; None: the plan's data."""
    metrics: tuple[Metric, ...] | None = None
    """None: those that the plan names, or that fit the data."""
    judge: Any = None
    """A Judge or a function; None: the plan's."""
    system: Any = None
    """An object that `make_system` takes; None: the plan's."""
    store: Store | None = None
    """None: the plan's."""
    command: tuple[str, ...] = ()
    """What was typed, to be shown with the run."""

    def list_in_memory(self, plan: Plan) -> tuple[str, ...]:
        """What of the run is not in its plan, so that no other process can do it again."""
        given = {
            "samples": self.samples is not None,
            "metrics": not all(map(_has_spec, self.metrics or ())),
            "judge": self.judge is not None and plan.judge is None,
            "system": self.system is not None,
        }
        return tuple(name for name, is_given in given.items() if is_given)


@dataclass(frozen=True, slots=True)
class RunObserver:
    """Callbacks that follow a run; each may be None."""

    progress: ProgressCallback | None = None
    """Called with a Progress now and then."""
    answers: Callable[[AnswerProgress], None] | None = None
    """Called as the system under test answers."""
    metrics: Callable[[Sequence[Metric]], None] | None = None
    """Called once the metrics are chosen, before anything is paid for or stored; it may refuse them."""
    started: Callable[[StoredRun, Dataset], None] | None = None
    """Called when the run stands in the store."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A plan with everything at hand that scoring needs."""

    plan: Plan
    inputs: RunInputs
    store: Store
    reading: Dataset
    metrics: Sequence[Metric]
    judge: Judge | None
    run_id: str
    under_test: SystemUnderTest | None

    @property
    def source(self) -> Any:
        """The data as given: a path, or objects."""
        return self.plan.data.path if self.inputs.samples is None else self.inputs.samples


async def execute_plan(
    plan: Plan,
    inputs: RunInputs = RunInputs(),  # noqa: B008  frozen
    observer: RunObserver = RunObserver(),  # noqa: B008
    *,
    own_loop: bool = False,
) -> StoredRun:
    """Carry out a plan, or the rest of it; with `own_loop`, connections of a judge that was given are closed too."""
    prepared = await _prepare(plan, inputs, observer)
    judge, store, reading = prepared.judge, prepared.store, prepared.reading
    total = _check_rows(prepared)
    stored = _open_run(prepared)
    if observer.started is not None:
        observer.started(stored, reading)
    execution = _build_execution(prepared, stored, total, observer.progress)
    try:
        if plan.retry_errors and prepared.under_test is not None:
            await execution.replace_failed_answers(reading)
        if stored.info.status != "done":
            count = await execution.score_new(reading)
            store.finish(stored.id, total=count, bad_count=reading.bad_count, bad=reading.bad)
        if plan.retry_errors:
            await execution.retry_failures()
    finally:
        # A judge that was given stays open for its owner, except for connections bound to a loop of ours.
        closes = judge is not inputs.judge or (own_loop and getattr(judge, "reopens", False))
        if judge is not None and closes:
            await judge.close()
    stored.refresh()
    return stored


async def _prepare(plan: Plan, inputs: RunInputs, observer: RunObserver) -> _Prepared:
    for folder in plan.code_folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    reading = open_reading(plan, inputs.samples)
    named = _resolve_named(plan, inputs)
    has_system = plan.system is not None
    metrics: list[Metric] = []
    if not has_system:  # else the answers decide which metrics fit
        metrics = _announce(choose_metrics(named, reading), observer)
    store = inputs.store or Store.open(reveal(plan.store))
    run_id, under_test = plan.run_id or new_run_id(), None
    if has_system:
        under_test = _build_system(plan, inputs)
        run_id = _find_begun(plan, reading, named, under_test, store) or run_id
        reading = await _ask_system(plan, reading, under_test, store, run_id, observer)
        metrics = choose_metrics(named, reading)
        if named is not None:
            families = {metric.family for metric in metrics}
            metrics += [resolve(name) for name in list_measured(reading) if name not in families]
        _announce(metrics, observer)
    judge = _build_judge(plan, inputs, metrics)
    return _Prepared(plan, inputs, store, reading, metrics, judge, run_id, under_test)


def open_reading(plan: Plan, samples: Any = None) -> Dataset:
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


def with_system(
    plan: Plan, inputs: RunInputs, system: Any, settings: Mapping[str, Any] | None = None
) -> tuple[Plan, RunInputs]:
    """The plan with this system under test, which goes into the inputs when only this process has it."""
    if isinstance(system, PathLike):
        system = str(system)
    spec, given = (system, None) if is_storable(system) else ("", system)
    named = replace(plan, system=SystemPlan(spec, dict(settings or {})))
    return named, replace(inputs, system=given)


def new_run_id() -> str:
    """An id that tells when the run was made."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _resolve_named(plan: Plan, inputs: RunInputs) -> list[Metric] | None:
    if inputs.metrics is not None:
        return list(inputs.metrics)
    return resolve_metrics(plan.metrics) if plan.metrics else None


def _announce(metrics: list[Metric], observer: RunObserver) -> list[Metric]:
    if observer.metrics is not None:
        observer.metrics(metrics)
    return metrics


# ── the system under test ─────────────────────────────────────────────────────────────────


def _build_system(plan: Plan, inputs: RunInputs) -> SystemUnderTest:
    assert plan.system is not None
    spec = plan.system.spec if inputs.system is None else inputs.system
    return build_system(spec, plan.system.settings)


def _find_begun(
    plan: Plan,
    reading: Dataset,
    named: Sequence[Metric] | None,
    under_test: SystemUnderTest,
    store: Store,
) -> str | None:
    """The unfinished run of the same questions and the same system, whose metrics the answers may still decide."""
    if not plan.resume or plan.run_id is not None:
        return None
    wanted = _identity(plan, _find_source(plan, reading), under_test.identity)
    names = None if named is None else {metric.name for metric in named}
    for info in store.runs():
        scored = {metric["name"] for metric in info.metrics}
        fits = names is None or not scored - names - set(MEASURED_METRICS)
        if info.status == "running" and fits and _stored_identity(info) == wanted:
            return info.id
    return None


async def _ask_system(
    plan: Plan,
    reading: Dataset,
    under_test: SystemUnderTest,
    store: Store,
    run_id: str,
    observer: RunObserver,
) -> Dataset:
    # Failures are asked for again under another id, so that the stored failures do not answer.
    asking = new_run_id() if plan.retry_errors else run_id
    answers = await answer_samples(
        reading, under_test, store, asking, concurrency=plan.concurrency, watch=observer.answers
    )
    await under_test.system.close()
    return answers


# ── the run in the store ──────────────────────────────────────────────────────────────────


def _identity(plan: Plan, source: str, system_identity: str | None) -> dict[str, Any]:
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


def _stored_identity(info: RunInfo) -> dict[str, Any]:
    return _identity(info.plan, info.facts.source, info.facts.system_identity)


def _whole_identity(
    identity: dict[str, Any], metrics: Sequence[str], judge: str | None
) -> dict[str, Any]:
    first = {"source": identity["source"], "metrics": list(metrics), "judge": judge}
    return {**first, **identity}


def _open_run(prepared: _Prepared) -> StoredRun:
    """The run to be resumed, or a new one in the store."""
    facts = _build_facts(prepared)
    stored = _find_run(prepared, facts)
    if stored is not None:
        return stored
    run_id = prepared.run_id
    # an unfinished run that turns out to be of another judge keeps its id
    if prepared.plan.run_id is None and any(info.id == run_id for info in prepared.store.runs()):
        run_id = new_run_id()
    return prepared.store.create(_new_info(prepared, facts, run_id))


def _find_run(prepared: _Prepared, facts: RunFacts) -> StoredRun | None:
    """The run to be resumed: the one named, or the newest one of the same plan that is not done."""
    plan, store = prepared.plan, prepared.store
    wanted = _whole_identity(
        _identity(plan, facts.source, facts.system_identity),
        [metric.name for metric in prepared.metrics],
        _name_of(prepared.judge),
    )
    if plan.run_id is not None:
        try:
            stored = store.run(plan.run_id)
        except RunNotFound:
            if plan.resume:
                raise
            return None
        _refuse_other_plan(stored.info, wanted)
        return stored
    if plan.resume or plan.retry_errors:
        for info in store.runs():
            if (info.status == "running" or plan.retry_errors) and _info_identity(info) == wanted:
                return store.run(info.id)
    return None


def _info_identity(info: RunInfo) -> dict[str, Any]:
    names = [metric["name"] for metric in info.metrics]
    return _whole_identity(_stored_identity(info), names, info.judge)


def _refuse_other_plan(info: RunInfo, wanted: dict[str, Any]) -> None:
    before = _info_identity(info)
    for key, now in wanted.items():
        if before[key] != now:
            raise RagstoneError(
                f"run {info.id} was started with another {key} ({before[key]!r}, now {now!r}); "
                "start a new run without --resume"
            )


def _new_info(prepared: _Prepared, facts: RunFacts, run_id: str) -> RunInfo:
    plan, reading = prepared.plan, prepared.reading
    return RunInfo(
        id=run_id,
        name=plan.name or Path(reading.source).stem or "run",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        status="running",
        plan=_plan_to_store(prepared, run_id),
        shape=reading.shape,
        source=reading.source,
        format=reading.format,
        metrics=tuple(describe_metric(metric) for metric in prepared.metrics),
        judge=_name_of(prepared.judge),
        facts=facts,
    )


def _plan_to_store(prepared: _Prepared, run_id: str) -> Plan:
    """The plan with what was chosen in it, such that any process can resume it from any folder."""
    plan, under_test = prepared.plan, prepared.under_test
    system = plan.system
    if system is not None and under_test is not None and prepared.inputs.system is not None:
        system = SystemPlan(under_test.name, system.settings)
    specs = tuple(to_spec(m) if _has_spec(m) else m.name for m in prepared.metrics)
    whole = replace(
        plan, metrics=specs, system=system, run_id=run_id, resume=False, retry_errors=False
    )
    return anchor_plan(whole, Path.cwd())


def _build_facts(prepared: _Prepared) -> RunFacts:
    plan, inputs, under_test = prepared.plan, prepared.inputs, prepared.under_test
    facts = RunFacts(
        source=_find_source(plan, prepared.reading),
        in_memory=inputs.list_in_memory(plan),
        command=inputs.command,
        folder=str(Path.cwd()) if inputs.command else None,
    )
    if under_test is None:
        return facts
    return replace(
        facts,
        system=under_test.name,
        parameters=under_test.parameters,
        system_identity=under_test.identity,
    )


def _find_source(plan: Plan, reading: Dataset) -> str:
    path = plan.data.path
    if path is not None and Path(path).exists():
        return str(Path(path).resolve())
    return reading.source


def _has_spec(metric: Metric) -> bool:
    try:
        to_spec(metric)
    except NoSpec:
        return False
    return True


# ── scoring ───────────────────────────────────────────────────────────────────────────────


def _build_judge(plan: Plan, inputs: RunInputs, metrics: Sequence[Metric]) -> Judge | None:
    if not any(metric.judged for metric in metrics):
        return None
    if is_judge(inputs.judge):
        given: Judge = inputs.judge
        return given
    return make_judge(plan.judge_settings() if inputs.judge is None else inputs.judge)


def is_judge(value: Any) -> bool:
    """Whether a value is a judge already, not the spec of one."""
    return hasattr(value, "answer") and hasattr(value, "identity")


def _name_of(judge: Judge | None) -> str | None:
    return judge.name if judge is not None else None


def _check_rows(prepared: _Prepared) -> int | None:
    """Complain about bad rows before any cost; the number of samples if it was worth counting them."""
    source = prepared.source
    if hasattr(source, "__len__") and not isinstance(source, str | bytes):
        return len(source)
    if not isinstance(source, str) or source == "-":
        return None
    path = Path(source)
    small = path.is_file() and path.stat().st_size <= CHECK_FIRST_BYTES
    paid = prepared.judge is not None and not prepared.judge.local
    return prepared.reading.check() if small or paid else None


def _build_execution(
    prepared: _Prepared, stored: StoredRun, total: int | None, watch: ProgressCallback | None
) -> Execution:
    """The run as one process carries it out, or as the workers of a cluster do."""
    plan, metrics, judge = prepared.plan, prepared.metrics, prepared.judge
    if plan.on is None:
        return Execution(stored, metrics, judge, plan.concurrency, total=total, watch=watch)
    from ragstone.scale import build_cluster_execution

    if judge is not None and prepared.inputs.judge is not None and plan.judge is None:
        raise RagstoneError(
            f"{prepared.inputs.judge!r} cannot be sent to workers; name the judge: offline, "
            "openai:MODEL, hf:PATH, python:file.py:function"
        )
    return build_cluster_execution(
        plan, stored, metrics, judge, total=total, watch=watch,
        source=None if plan.system is not None else prepared.source,
    )  # fmt: skip
