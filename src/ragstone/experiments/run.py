"""`evaluate` samples and get a Run: its summary, scores and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragstone.config import Data, Plan
from ragstone.config.metric_specs import NoSpec, to_spec
from ragstone.config.plan import StorableSpec
from ragstone.config.storable import is_storable
from ragstone.data import Dataset
from ragstone.display import Displayed
from ragstone.engine import ProgressCallback
from ragstone.engine.sync import run_sync
from ragstone.errors import RagstoneError
from ragstone.experiments.choose import resolve_specs
from ragstone.experiments.execute import execute_plan
from ragstone.experiments.inputs import RunInputs, RunObserver, with_system
from ragstone.experiments.notebook_bar import NotebookBar, is_in_notebook
from ragstone.registry import Metric, MetricSpec
from ragstone.store import RunInfo, Store, StoredRow, StoredRun
from ragstone.store.run_notes import has_labels
from ragstone.types import Score

if TYPE_CHECKING:
    from ragstone.analysis.cascade import CascadeSummary
    from ragstone.analysis.corrected import MetricCorrection
    from ragstone.analysis.failures import Failures
    from ragstone.analysis.headline import Headline
    from ragstone.analysis.scales import UnfitGate
    from ragstone.analysis.summary import Summary
    from ragstone.analysis.value_versions import OutdatedGate
    from ragstone.experiments.compare import ComparisonResult
    from ragstone.experiments.diagnosis import DiagnosisResult
    from ragstone.systems import AnswerProgress


class Run(Displayed):
    """A finished or unfinished run: its summary, scores and reports."""

    def __init__(self, stored: StoredRun) -> None:
        self.stored = stored
        self._summary: Summary | None = None
        self._headline: Headline | None = None

    @classmethod
    def open(cls, name: str = "last", *, store: str | Path | Store | None = None) -> Run:
        """A run from the store by id, start of id, name, or `last`."""
        return cls(Store.open(store, must_exist=True).run(name))

    @property
    def id(self) -> str:
        """The run's id in its store."""
        return self.stored.id

    @property
    def info(self) -> RunInfo:
        """The facts of the run."""
        return self.stored.info

    def summary(self) -> Summary:
        """Each metric's mean, interval, coverage and reasons, and the gates."""
        if self._summary is None:
            from ragstone.analysis.summary import summarise

            info = self.stored.info
            summary = summarise(
                self.stored,
                floor=info.plan.floor,
                gates=info.plan.gates,
                corrections=self._correct_by_labels(),
                cascades=self._summarise_cascades(),
            )
            self._summary = replace(
                summary,
                unfit_gates=self._find_unfit_gates(),
                outdated_gates=self._find_outdated_gates(summary),
            )
        return self._summary

    # What few runs have is imported only for those: a short run is mostly imports.

    def _correct_by_labels(self) -> dict[str, MetricCorrection]:
        if not has_labels(self.stored.store):
            return {}
        from ragstone.labels import correct_run

        return correct_run(self.stored)

    def _summarise_cascades(self) -> dict[str, CascadeSummary]:
        if self.info.judge is None:
            return {}
        from ragstone.analysis.cascade import summarise_cascade

        return summarise_cascade(self.stored)

    def _find_unfit_gates(self) -> tuple[UnfitGate, ...]:
        if not self.info.plan.gates:
            return ()
        from ragstone.analysis.scales import find_unfit_gates

        return find_unfit_gates(self.stored)

    def headline(self) -> Headline:
        """The leading figure, how many samples fail and why, and the worst claims; read once."""
        if self._headline is None:
            from ragstone.analysis.headline import find_headline

            self._headline = find_headline(self.stored, self.summary())
        return self._headline

    def _find_outdated_gates(self, summary: Summary) -> tuple[OutdatedGate, ...]:
        missed = [(gate.metric, gate.rule) for gate in summary.gates if gate.passed is False]
        if not missed:
            return ()
        from ragstone.analysis.value_versions import find_outdated_gates

        return find_outdated_gates(self.stored, missed)

    def scores(self) -> dict[str, dict[str, Score]]:
        """Sample id → metric → Score, in input order."""
        return {sample_id: scores for _, sample_id, _, scores in self.stored.scores()}

    def rows(self) -> Iterator[StoredRow]:
        """Every sample with its input row and scores, streamed in input order."""
        return self.stored.rows()

    def to_frame(self) -> Any:
        """One row per sample, one column per metric; unscored cells are missing values."""
        try:
            import pandas
        except ImportError:
            raise RagstoneError("to_frame needs pandas: pip install pandas") from None
        names = [metric["name"] for metric in self.info.metrics]
        ids, columns = [], {name: [] for name in names}  # type: ignore[var-annotated]
        for _, sample_id, _, scores in self.stored.scores():
            ids.append(sample_id)
            for name in names:
                columns[name].append(scores[name].value)
        return pandas.DataFrame({"id": ids, **columns}).astype(dict.fromkeys(names, "Float64"))

    def compare_with(self, baseline: Run | str, **options: Any) -> ComparisonResult:
        """This run against a baseline, given itself or by name: better, worse, or what it takes to tell; takes the options of `compare`."""
        from ragstone.experiments.compare import compare

        return compare([baseline, self], store=self.stored.store, **options)

    def failures(
        self,
        *,
        limits: Mapping[str, float] | Literal["classic"] | None = None,
        by: Sequence[str] | None = None,
    ) -> Failures:
        """The failure class of every sample, and where failures gather.

        `limits` by class or metric; `classic` are the usual ones (recall 0.5, answer_correctness 0.7, faithfulness 0.8, …),
        for a judge that says yes or no: one that states probabilities is read by its verdicts."""
        from ragstone.analysis.failures import analyse_failures

        return analyse_failures(self.stored, thresholds=limits, by=by)

    def diagnose(self, *, thresholds: Mapping[str, float] | None = None, language: str | None = None) -> DiagnosisResult:  # fmt: skip
        """What goes wrong, by class, with the likely causes and what to try, as `ragstone diagnose` says it."""
        from ragstone.experiments.diagnosis import diagnose_run

        return diagnose_run(self, thresholds, language)

    def delete(self) -> None:
        """Remove the run from its store."""
        self.stored.store.delete(self.id)

    def __repr__(self) -> str:
        count = self.stored.count()
        return f"<Run {self.id}: {count} sample{'s' * (count != 1)}, {self.info.status}>"


def evaluate(
    samples: Any,
    metrics: Sequence[MetricSpec] | None = None,
    *,
    judge: Any = None,
    name: str | None = None,
    store: str | Path | Store | None = None,
    language: str | None = None,
    concurrency: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    restart: bool = False,
    run_id: str | None = None,
    retry_errors: bool = False,
    limit: int | None = None,
    skip_bad_rows: bool = False,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    floor: float = 0.95,
    gates: Mapping[str, str] | None = None,
    watch: ProgressCallback | None = None,
    started: Callable[[StoredRun, Dataset], None] | None = None,
    command: Sequence[str] | None = None,
    system: Any = None,
    settings: Mapping[str, Any] | None = None,
    asked: Callable[[AnswerProgress], None] | None = None,
    on: str | None = None,
) -> Run:
    """Score samples (a path, Samples, dicts, a DataFrame) and return the Run; also inside a running event loop.

    With a `system` (whatever `make_system` takes, with these `settings`) its answers are scored.
    `asked` is called as answers come, `watch` as scores do, `started` once the run is in the store.
    `workers` processes of this machine score text metrics and the embedded judge: without it, all cores where that pays.
    With `on` (`dask`, `dask:4`, `dask://host:port`, a scheduler's file) the workers of a Dask cluster do the scoring."""
    plan, inputs, observer = plan_evaluation(
        samples, metrics, judge=judge, name=name, store=store, language=language,
        concurrency=concurrency, workers=workers, resume=resume, restart=restart, run_id=run_id, retry_errors=retry_errors,
        limit=limit, skip_bad_rows=skip_bad_rows, format=format, fields=fields, floor=floor,
        gates=gates, watch=watch, started=started, command=command, system=system,
        settings=settings, asked=asked, on=on,
    )  # fmt: skip
    return run_plan(plan, inputs, observer)


async def aevaluate(
    samples: Any, metrics: Sequence[MetricSpec] | None = None, **options: Any
) -> Run:
    """`evaluate` for code that awaits; takes the same options."""
    plan, inputs, observer = plan_evaluation(samples, metrics, **options)
    return Run(await execute_plan(plan, inputs, observer))


def run_plan(
    plan: Plan,
    inputs: RunInputs = RunInputs(),  # noqa: B008  frozen
    observer: RunObserver = RunObserver(),  # noqa: B008
) -> Run:
    """Carry out a plan; also inside a running event loop."""
    return Run(run_sync(lambda: execute_plan(plan, inputs, observer, own_loop=True)))


def _name_jury(spec: Any) -> Any:
    """The judge as a plan writes it: a list of judges is a jury."""
    return {"jury": list(spec)} if isinstance(spec, list | tuple) else spec


def plan_evaluation(
    samples: Any,
    metrics: Sequence[MetricSpec] | None = None,
    *,
    judge: Any = None,
    store: str | Path | Store | None = None,
    limit: int | None = None,
    skip_bad_rows: bool = False,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    gates: Mapping[str, str] | None = None,
    watch: ProgressCallback | None = None,
    started: Callable[[StoredRun, Dataset], None] | None = None,
    command: Sequence[str] | None = None,
    system: Any = None,
    settings: Mapping[str, Any] | None = None,
    asked: Callable[[AnswerProgress], None] | None = None,
    shares_answers: bool = False,
    **options: Any,
) -> tuple[Plan, RunInputs, RunObserver]:
    """The plan of an `evaluate` call, and beside it what only this process has."""
    path = str(samples) if isinstance(samples, str | PathLike) else None
    named = None if metrics is None else tuple(resolve_specs(metrics))
    spec = judge if is_storable(judge) else None
    open_store, place = (store, None) if isinstance(store, Store) else (None, store)
    plan = Plan(
        data=Data(path, format, dict(fields or {}), limit, skip_bad_rows),
        metrics=tuple(map(_spec_of, named or ())),
        judge=_name_jury(spec),
        gates=dict(gates or {}),
        store=None if place is None else str(place),
        **options,
    )
    inputs = RunInputs(
        samples=samples if path is None else None,
        metrics=named,
        judge=judge if spec is None else None,
        store=open_store,
        command=tuple(command or ()),
        shares_answers=shares_answers,
    )
    if system is not None:
        plan, inputs = with_system(plan, inputs, system, settings)
    return plan, inputs, _observe(watch, asked, started)


def _observe(
    watch: ProgressCallback | None,
    asked: Callable[[AnswerProgress], None] | None,
    started: Callable[[StoredRun, Dataset], None] | None,
) -> RunObserver:
    """Who is told of the progress; in a notebook, where nobody else is, a bar."""
    if is_in_notebook() and watch is None and asked is None:
        bar = NotebookBar()
        watch, asked = bar.show_scores, bar.show_answers
    return RunObserver(progress=watch, answers=asked, started=started)


def _spec_of(metric: Metric) -> StorableSpec:
    """What a plan stores of a metric; of one that only this process has, the name."""
    try:
        return to_spec(metric)
    except NoSpec:
        return metric.name
