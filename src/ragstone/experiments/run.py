"""The door for Python: `evaluate` samples, get a Run, ask it things."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.data import Reading, read
from ragstone.engine import Execution, ProgressCallback
from ragstone.errors import RagstoneError, RunNotFound
from ragstone.experiments.answer import MEASURED, Tested, answered, chosen_system, measured
from ragstone.judges import Judge
from ragstone.metrics import REGISTERED, resolve
from ragstone.registry import Metric, Spec
from ragstone.store import RunInfo, Store, StoredRow, StoredRun, describe
from ragstone.types import Sample, Score

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.systems import Filled

CHECK_FIRST_BYTES = 64_000_000
"""Files up to this size are read through for bad rows before anything is scored."""


class Run:
    """A finished or unfinished run: its summary, scores and reports."""

    def __init__(self, stored: StoredRun) -> None:
        self.stored = stored
        self._summary: Summary | None = None

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

            plan = self.stored.info.plan
            self._summary = summarise(
                self.stored, floor=plan.get("floor", 0.95), gates=plan.get("gates") or {}
            )
        return self._summary

    def scores(self) -> dict[str, dict[str, Score]]:
        """Sample id → metric → Score, in input order."""
        return {sample_id: scores for _, sample_id, _, scores in self.stored.scores()}

    def rows(self) -> Iterator[StoredRow]:
        """Every sample with its input row and scores, streamed in input order."""
        return self.stored.rows()

    def write(self, path: str | Path, *, language: str = "en") -> Path:
        """Write a report or export; the extension says which (.html .md .csv .jsonl .json .xml .parquet)."""
        from ragstone import report

        report.write(self.stored, self.summary(), Path(path), language)
        return Path(path)

    def to_pandas(self) -> Any:
        """One row a sample, one column a metric; unscored cells are missing values."""
        try:
            import pandas
        except ImportError:
            raise RagstoneError("to_pandas needs pandas: pip install pandas") from None
        names = [metric["name"] for metric in self.info.metrics]
        ids, columns = [], {name: [] for name in names}  # type: ignore[var-annotated]
        for _, sample_id, _, scores in self.stored.scores():
            ids.append(sample_id)
            for name in names:
                columns[name].append(scores[name].value)
        return pandas.DataFrame({"id": ids, **columns}).astype(dict.fromkeys(names, "Float64"))

    def delete(self) -> None:
        """Remove the run from its store."""
        self.stored.store.delete(self.id)

    def __repr__(self) -> str:
        return f"<Run {self.id}: {self.stored.count()} samples, {self.info.status}>"

    def __str__(self) -> str:
        from ragstone.report import terminal

        return terminal.text(self.summary())

    def _repr_html_(self) -> str:
        from ragstone.report import html

        return html.summary_html(self.summary(), "en")


@dataclass(frozen=True, slots=True)
class Request:
    """Everything `evaluate` was asked to do."""

    samples: Any
    metrics: Sequence[Spec] | None = None
    judge: Any = None
    name: str | None = None
    store: str | Path | Store | None = None
    language: str | None = None
    concurrency: int | None = None
    resume: bool = False
    run_id: str | None = None
    retry_errors: bool = False
    limit: int | None = None
    skip_bad_rows: bool = False
    format: str | None = None
    fields: Mapping[str, str] | None = None
    floor: float = 0.95
    gates: Mapping[str, str] | None = None
    watch: ProgressCallback | None = None
    started: Callable[[StoredRun, Reading], None] | None = None
    command: Sequence[str] | None = None
    system: Any = None
    settings: Mapping[str, Any] | None = None
    asked: Callable[[Filled], None] | None = None
    on: str | None = None


def evaluate(
    samples: Any,
    metrics: Sequence[Spec] | None = None,
    *,
    judge: Any = None,
    name: str | None = None,
    store: str | Path | Store | None = None,
    language: str | None = None,
    concurrency: int | None = None,
    resume: bool = False,
    run_id: str | None = None,
    retry_errors: bool = False,
    limit: int | None = None,
    skip_bad_rows: bool = False,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    floor: float = 0.95,
    gates: Mapping[str, str] | None = None,
    watch: ProgressCallback | None = None,
    started: Callable[[StoredRun, Reading], None] | None = None,
    command: Sequence[str] | None = None,
    system: Any = None,
    settings: Mapping[str, Any] | None = None,
    asked: Callable[[Filled], None] | None = None,
    on: str | None = None,
) -> Run:
    """Score samples (a path, Samples, dicts, a DataFrame) and return the Run; also inside a running event loop.

    With a `system` (whatever `make_system` takes, with these `settings`) its answers are scored; `asked` watches them come.
    With `on` (`dask`, `dask:4`, `dask://host:port`, a scheduler's file) the workers of a Dask cluster do the scoring."""
    request = Request(
        samples, metrics, judge, name, store, language, concurrency, resume, run_id, retry_errors,
        limit, skip_bad_rows, format, fields, floor, gates, watch, started, command, system,
        settings, asked, on,
    )  # fmt: skip
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_carry_out(request, own_loop=True))
    return _in_thread(request)


async def aevaluate(samples: Any, metrics: Sequence[Spec] | None = None, **options: Any) -> Run:
    """`evaluate` for code that awaits; takes the same options."""
    return await _carry_out(Request(samples, metrics, **options))


async def _carry_out(request: Request, *, own_loop: bool = False) -> Run:
    reading = (
        request.samples
        if isinstance(request.samples, Reading)
        else read(
            request.samples,
            format=request.format,
            fields=request.fields,
            skip_bad_rows=request.skip_bad_rows,
            limit=request.limit,
        )
    )
    store = Store.open(request.store)
    under_test, run_id = None, request.run_id or new_id()
    if request.system is not None:
        under_test, reading, run_id = await _answered(request, reading, store, run_id)
    metrics = chosen_metrics(request.metrics, reading)
    if under_test is not None and request.metrics is not None:
        named = {metric.family for metric in metrics}
        metrics += [resolve(name) for name in measured(reading) if name not in named]
    judge = _judge(request.judge, metrics)
    total = _check(reading, request.samples, judge, metrics)
    plan = _plan(request, reading, metrics, judge, under_test)
    stored = _resumed(store, request, plan)
    if stored is None:
        # an unfinished run that turns out to be of another judge keeps its id
        taken = request.run_id is None and any(info.id == run_id for info in store.runs())
        new = new_id() if taken else run_id
        stored = store.create(_new_info(request, reading, metrics, judge, plan, new))
    if request.started is not None:
        request.started(stored, reading)
    execution = _execution(request, stored, metrics, judge, total)
    try:
        if request.retry_errors and under_test is not None:
            await execution.replace_failed_answers(reading)
        if stored.info.status != "done":
            count = await execution.score_new(reading)
            store.finish(stored.id, total=count, bad_count=reading.bad_count, bad=reading.bad)
        if request.retry_errors:
            await execution.retry_failures()
    finally:
        # a judge that was given stays the giver's, but its connections end with a loop of our own
        ends = judge is not request.judge or (own_loop and getattr(judge, "reopens", False))
        if judge is not None and ends:
            await judge.close()
    stored.refresh()
    return Run(stored)


def _execution(
    request: Request,
    stored: StoredRun,
    metrics: Sequence[Metric],
    judge: Judge | None,
    total: int | None,
) -> Execution:
    """The run as one process carries it out, or as the workers of a cluster do."""
    if request.on is None:
        return Execution(
            stored, metrics, judge, request.concurrency, total=total, watch=request.watch
        )
    from ragstone.scale import on_cluster

    return on_cluster(
        request.on, stored, metrics, judge, request.judge, request.concurrency,
        total=total, watch=request.watch, source=None if request.system is not None else request.samples,
    )  # fmt: skip


async def _answered(
    request: Request, reading: Reading, store: Store, run_id: str
) -> tuple[Tested, Reading, str]:
    """The system, the samples with its answers, and the run that they belong to: an unfinished one when resuming."""
    under_test = chosen_system(request.system, request.settings)
    if request.resume and request.run_id is None:
        begun = _begun(request, reading, under_test, store)
        run_id = begun or run_id
    # what failed in the run is asked again under another name, so that its kept failures do not answer
    asking = new_id() if request.retry_errors else run_id
    answers = await answered(
        reading, under_test, store, asking, concurrency=request.concurrency, watch=request.asked
    )
    await under_test.system.close()
    return under_test, answers, run_id


def _begun(request: Request, reading: Reading, under_test: Tested, store: Store) -> str | None:
    """The unfinished run of the same questions and the same system, whose metrics the answers may still decide."""
    plan = _plan(request, reading, (), None, under_test)
    known = [key for key in _SAME if key not in ("metrics", "judge")]
    wanted = None if request.metrics is None else {resolve(one).name for one in request.metrics}
    for info in store.runs():
        same = all(info.plan.get(key) == plan.get(key) for key in known)
        scored = set(info.plan.get("metrics") or ())
        if wanted is not None and scored - wanted - set(MEASURED):
            same = False
        if info.status == "running" and same:
            return info.id
    return None


def chosen_metrics(specs: Sequence[Spec] | None, reading: Reading) -> list[Metric]:
    """The metrics named, or those without a judge whose fields the first samples have."""
    if specs is None:
        return default_metrics(first_samples(reading))
    if isinstance(specs, str):
        specs = [specs]
    metrics = [resolve(spec) for spec in specs]
    if not metrics:
        raise RagstoneError("no metric is named; `ragstone metrics` lists them")
    names = [metric.name for metric in metrics]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RagstoneError(f"{', '.join(twice)} is named twice; name each metric once")
    return metrics


def default_metrics(samples: Iterable[Sample]) -> list[Metric]:
    """Every metric that asks no judge, needs no extra, and finds its fields in one of the samples."""
    from ragstone.metrics.scoring import starter

    seen = list(samples)
    metrics = [
        metric
        for metric in REGISTERED.values()
        if not metric.judged
        and metric.extra is None
        and metric.function.__module__.startswith("ragstone.")
        and any(isinstance(score := starter(metric)(sample), Score) and score.ok for sample in seen)
    ]
    if not metrics:
        raise RagstoneError(
            "the first samples have the fields of no metric; name metrics with -m, or map your "
            "columns with --field (`ragstone metrics` says what each needs)"
        )
    return metrics


def first_samples(reading: Reading, count: int = 100) -> list[Sample]:
    """The first samples of a reading, which can still be read from its start afterwards."""
    return [record.sample for record in reading.peek(count)]


def _judge(given: Any, metrics: Sequence[Metric]) -> Judge | None:
    if not any(metric.judged for metric in metrics):
        return None
    if hasattr(given, "answer") and hasattr(given, "identity"):
        return given  # type: ignore[no-any-return]
    from ragstone.judges.factory import make_judge

    return make_judge(given if given is not None else "offline")


def _check(
    reading: Reading, source: Any, judge: Judge | None, metrics: Sequence[Metric]
) -> int | None:
    """Complain about bad rows before any cost; the number of samples if it was worth counting them."""
    if hasattr(source, "__len__") and not isinstance(source, str | bytes | Path):
        return len(source)
    if not isinstance(source, str | Path) or str(source) == "-":
        return None
    path = Path(source)
    small = path.is_file() and path.stat().st_size <= CHECK_FIRST_BYTES
    paid = judge is not None and not judge.local
    return reading.check() if small or paid else None


def _plan(
    request: Request,
    reading: Reading,
    metrics: Sequence[Metric],
    judge: Judge | None,
    under_test: Tested | None,
) -> dict[str, Any]:
    source = reading.source
    if isinstance(request.samples, str | Path) and Path(request.samples).exists():
        source = str(Path(request.samples).resolve())
    return {
        "source": source,
        "metrics": [metric.name for metric in metrics],
        "judge": judge.name if judge is not None else None,
        "language": request.language,
        "limit": request.limit,
        "format": request.format,
        "fields": dict(request.fields) if request.fields else None,
        "skip_bad_rows": request.skip_bad_rows,
        "floor": request.floor,
        "gates": dict(request.gates) if request.gates else None,
        "command": list(request.command) if request.command else None,
        "folder": str(Path.cwd()) if request.command else None,
        "ragstone": __version__,
        **(under_test.facts if under_test is not None else {}),
    }


_SAME = (
    "source", "metrics", "judge", "language", "limit", "format", "fields", "skip_bad_rows", "system_identity",
)  # fmt: skip


def _resumed(store: Store, request: Request, plan: Mapping[str, Any]) -> StoredRun | None:
    """The run to go on with: the one named, or the newest one of the same plan that is not done."""
    if request.run_id is not None:
        try:
            stored = store.run(request.run_id)
        except RunNotFound:
            if request.resume:
                raise
            return None
        differs = [key for key in _SAME if stored.info.plan.get(key) != plan.get(key)]
        if differs:
            raise RagstoneError(
                f"run {stored.id} was started with another {differs[0]} "
                f"({stored.info.plan.get(differs[0])!r}, now {plan.get(differs[0])!r}); "
                "start a new run without --resume"
            )
        return stored
    if not (request.resume or request.retry_errors):
        return None
    for info in store.runs():
        if all(info.plan.get(key) == plan.get(key) for key in _SAME) and (
            info.status == "running" or request.retry_errors
        ):
            return store.run(info.id)
    return None


def new_id() -> str:
    """An id that tells when the run was made."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _new_info(
    request: Request,
    reading: Reading,
    metrics: Sequence[Metric],
    judge: Judge | None,
    plan: Mapping[str, Any],
    run_id: str,
) -> RunInfo:
    now = datetime.now(UTC)
    return RunInfo(
        id=run_id,
        name=request.name or Path(reading.source).stem or "run",
        created=now.isoformat(timespec="seconds"),
        status="running",
        plan=plan,
        shape=reading.shape,
        source=reading.source,
        format=reading.format,
        metrics=tuple(describe(metric) for metric in metrics),
        judge=judge.name if judge is not None else None,
    )


def _in_thread(request: Request) -> Run:
    """Inside a running event loop (Jupyter), on a loop of its own in a thread of its own."""
    results: list[Run] = []
    errors: list[BaseException] = []
    loop = asyncio.new_event_loop()
    task: list[asyncio.Task[Run]] = []

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            task.append(loop.create_task(_carry_out(request, own_loop=True)))
            results.append(loop.run_until_complete(task[0]))
        except BaseException as raised:
            errors.append(raised)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    thread = threading.Thread(target=work, name="ragstone-evaluate", daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task[0].cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return results[0]
