"""Benchmarks: several systems on one test set, a Run each, then which is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import RESOURCES
from ragstone.analysis.compare import MARGIN
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.significance import Correction
from ragstone.config import Plan, reveal
from ragstone.config.metric_specs import resolve_metrics
from ragstone.config.storable import is_storable
from ragstone.display import Displayed
from ragstone.engine.sync import run_sync
from ragstone.errors import RagstoneError
from ragstone.experiments.answer import (
    SystemUnderTest,
    build_system,
    find_answering,
    note_answering,
)
from ragstone.experiments.calibration import calibrate_judge
from ragstone.experiments.cascade_bounds import resolve_bounds
from ragstone.experiments.compare import ComparisonResult, build_frame, compare
from ragstone.experiments.execute import execute_plan, open_dataset
from ragstone.experiments.inputs import (
    RunInputs,
    RunObserver,
    is_judge,
    new_run_id,
    with_system,
)
from ragstone.experiments.interleave import MAX_INTERLEAVED_SYSTEMS, answer_in_turn
from ragstone.experiments.records import keep_bench
from ragstone.experiments.run import Run, plan_evaluation
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.registry import MetricSpec
from ragstone.store import Store
from ragstone.store.experiments import load_experiments
from ragstone.systems import AnswerProgress
from ragstone.systems.factory import SYSTEM_KINDS

if TYPE_CHECKING:
    from ragstone.engine import Progress

BenchWatch = Callable[[str, "AnswerProgress | Progress"], None]
"""Called with the configuration's name and how far its answers or its scores are."""


@dataclass(frozen=True, slots=True, repr=False)
class Bench(Displayed):
    """One Run per configuration, in the order given, and how they compare."""

    runs: dict[str, Run]
    result: ComparisonResult | None
    """The comparison with its league; None when there is only one configuration."""

    @property
    def comparison(self) -> Comparison | None:
        """The configurations against the baseline."""
        return None if self.result is None else self.result.comparison

    def to_frame(self) -> Any:
        """One row a configuration, one column a metric: its mean. `result.to_frame()` has intervals and standings."""
        rows = [
            {"configuration": name, **{m.metric: m.mean for m in run.summary().metrics}}
            for name, run in self.runs.items()
        ]
        return build_frame(rows).set_index("configuration")

    def __repr__(self) -> str:
        return f"<Bench: {', '.join(self.runs)}>"


def bench(
    samples: Any,
    configurations: Mapping[str, Any],
    metrics: Sequence[MetricSpec] | None = None,
    **options: Any,
) -> Bench:
    """Run named configurations on one test set and compare them; takes the options of `abench`."""
    return run_sync(lambda: abench(samples, configurations, metrics, **options))


async def abench(
    samples: Any,
    configurations: Mapping[str, Any],
    metrics: Sequence[MetricSpec] | None = None,
    *,
    system: Any = None,
    baseline: str | None = None,
    judge: Any = None,
    store: str | Path | Store | None = None,
    primary: str | None = None,
    margin: float = MARGIN,
    correction: Correction = "bonferroni",
    watch: BenchWatch | None = None,
    **options: Any,
) -> Bench:
    """One Run each, sharing the judge and its replies, then the comparison with the baseline.

    A configuration is a system (whatever `make_system` takes), or settings of `system`. The remaining options go
    to `evaluate`. The `primary` metric decides; it is the first that measures quality unless named. Interrupted, the same call resumes: answers and judgements are in the store."""
    plan, inputs, observer = plan_evaluation(samples, metrics, judge=judge, store=store, **options)
    if watch is None and observer.progress is not None:  # in a notebook: one bar for all of them
        watch = partial(_show_in_notebook, observer)
    if system is not None:
        plan, inputs = with_system(plan, inputs, system)
    return await bench_plan(
        plan, configurations, inputs, baseline=baseline, primary=primary, margin=margin,
        correction=correction, watch=watch,
    )  # fmt: skip


async def bench_plan(
    plan: Plan,
    configurations: Mapping[str, Any],
    inputs: RunInputs = RunInputs(),  # noqa: B008  frozen
    *,
    baseline: str | None = None,
    primary: str | None = None,
    margin: float = MARGIN,
    correction: Correction = "bonferroni",
    watch: BenchWatch | None = None,
) -> Bench:
    """Carry out the plan for each configuration, then compare the runs; outputs and gates of the plan are not used."""
    if not configurations:
        raise RagstoneError("no configuration is named; give at least one system")
    if baseline is not None and baseline not in configurations:
        raise RagstoneError(f"the baseline {baseline!r} is not among {', '.join(configurations)}")
    # one judge for all runs: its limits on calls and money hold for the whole benchmark, not for
    # each run
    shared = share_judge(plan, inputs)
    store = inputs.store or Store.open(reveal(plan.store))
    if shared is not None and inputs.judge is None:
        calibrate_judge(plan, shared, store)
    inputs = replace(inputs, store=store, judge=inputs.judge if shared is None else shared)
    # the plan's gates and reports are about one run; a benchmark reports on all of them together
    plan = replace(plan, output=(), gates={})
    systems = {
        name: _resolve_configuration(name, given, plan, inputs)
        for name, given in configurations.items()
    }
    benchmark = _hash_benchmark(plan, inputs, systems)
    begun = _find_begun(store, benchmark) if len(systems) > 1 else {}
    run_ids = {name: begun.get(name) or _find_run_id(store, benchmark, name) for name in systems}
    for name, run in run_ids.items():
        note_answering(store, [benchmark, name], run)
    inputs = replace(inputs, benchmark=benchmark)
    runs: dict[str, Run] = {}
    try:
        built = await _answer_configurations(plan, inputs, systems, run_ids, watch)
        for name, (spec, settings) in systems.items():
            # a finished run is taken as it is; one that would be scored in another way now begins anew
            named = replace(plan, name=name, run_id=run_ids[name], restart=name in begun)
            own_plan, own_inputs = with_system(named, inputs, spec, settings)
            callback = _bind_watch(watch, name)
            observer = RunObserver(progress=callback, answers=callback)
            own_inputs = replace(own_inputs, under_test=built.get(name))
            runs[name] = Run(await execute_plan(own_plan, own_inputs, observer))
    finally:
        if shared is not None:
            await shared.close()
    if len(runs) < 2:
        return Bench(runs, None)
    stored = [run.stored for run in runs.values()]
    options: dict[str, Any] = {
        "baseline": list(runs).index(baseline) if baseline is not None else 0,
        "primary": primary or _find_primary(stored[0].info.metrics),
        "margin": margin,
        "correction": correction,
    }
    result = compare(stored, league=True, **options)
    keep_bench(store, stored, **options)
    return Bench(runs, result)


def _hash_benchmark(
    plan: Plan, inputs: RunInputs, systems: Mapping[str, tuple[Any, dict[str, Any]]]
) -> str:
    """A hash of what makes two calls the same benchmark; how each run is scored is compared when it is resumed."""
    metrics = plan.metrics if inputs.metrics is None else [m.name for m in inputs.metrics]
    named = {
        name: (spec if is_storable(spec) else type(spec).__qualname__, settings)
        for name, (spec, settings) in systems.items()
    }
    content = sha256(repr((named, metrics, plan.language)).encode())
    for record in open_dataset(plan, inputs.samples):
        content.update(record.row.encode() + b"\n")
    return content.hexdigest()[:16]


def _find_begun(store: Store, benchmark: str) -> dict[str, str]:
    """Configuration → its run in an interrupted benchmark: one whose runs were never compared."""
    compared = {run for experiment in load_experiments(store) for run in experiment.runs}
    return {
        info.name: info.id
        for info in reversed(store.runs())
        if info.facts.benchmark == benchmark and info.id not in compared
    }


def _find_run_id(store: Store, benchmark: str, name: str) -> str:
    """The run that has only answers so far, as an interrupted benchmark leaves it, or a new one."""
    begun = find_answering(store, [benchmark, name])
    is_run = any(info.id == begun for info in store.runs())
    return new_run_id() if begun is None or is_run else begun


def _find_primary(metrics: Sequence[Mapping[str, Any]]) -> str | None:
    """The first metric that measures quality: who lists metrics puts the one that matters first."""
    names = [str(about["name"]) for about in metrics if about.get("family") not in RESOURCES]
    return next(iter(names), None)


async def _answer_configurations(
    plan: Plan,
    inputs: RunInputs,
    systems: Mapping[str, tuple[Any, dict[str, Any]]],
    run_ids: Mapping[str, str],
    watch: BenchWatch | None,
) -> dict[str, SystemUnderTest]:
    """Ask all systems in turn before the first run is scored; returns them as built, or nothing when they are too many for it."""
    # all are built first: a mistake in the last configuration shows before the first is paid for
    if len(systems) > MAX_INTERLEAVED_SYSTEMS:
        for spec, settings in systems.values():
            await build_system(spec, settings).system.close()
        return {}
    built = {name: build_system(spec, settings) for name, (spec, settings) in systems.items()}
    assert inputs.store is not None
    dataset = open_dataset(plan, inputs.samples)
    return await answer_in_turn(
        dataset, built, inputs.store, run_ids, lambda name: _bind_watch(watch, name)
    )


def share_judge(plan: Plan, inputs: RunInputs) -> Judge | None:
    """One judge for all runs, to be closed after them; None when one is given already, or none is needed."""
    metrics = resolve_metrics(plan.metrics) if inputs.metrics is None else inputs.metrics
    named = plan.judge if inputs.judge is None else inputs.judge
    if named is None or is_judge(named) or not any(metric.judged for metric in metrics):
        return None
    resolved = replace(
        plan, judge=resolve_bounds(plan.judge, inputs.store or reveal(plan.store), plan.language)
    )
    return make_judge(resolved.judge_settings() if inputs.judge is None else inputs.judge)


def _resolve_configuration(
    name: str, given: Any, plan: Plan, inputs: RunInputs
) -> tuple[Any, dict[str, Any]]:
    """The system and settings of one configuration."""
    if not isinstance(given, Mapping):
        return given, {}
    settings = dict(given)
    own_system = settings.pop("system", None)
    if own_system is not None:
        return own_system, settings
    # a mapping with the name of a kind of system (`url`, …) is itself the spec of one
    if set(SYSTEM_KINDS) & set(settings):
        return given, {}
    if plan.system is None:
        raise RagstoneError(f"the configuration {name!r} names no system; add one, or `system`")
    base = plan.system.spec if inputs.system is None else inputs.system
    return base, {**plan.system.settings, **settings}


def _show_in_notebook(observer: RunObserver, _: str, progress: Any) -> None:
    show = observer.answers if isinstance(progress, AnswerProgress) else observer.progress
    if show is not None:
        show(progress)


def _bind_watch(watch: BenchWatch | None, name: str) -> Callable[[Any], None] | None:
    return None if watch is None else lambda progress: watch(name, progress)
