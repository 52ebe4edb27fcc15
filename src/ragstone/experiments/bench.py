"""Several systems on one test set: a Run each, then which is better, what each setting does, and whose fault the loss is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.analysis.ablate import Effects, effects, grid
from ragstone.analysis.compare import MARGIN, Comparison, compare
from ragstone.analysis.significance import Correction
from ragstone.errors import RagstoneError
from ragstone.experiments.answer import chosen_system
from ragstone.experiments.blame import ASKED, Blame, Condition, contexts_for, split, texts_of
from ragstone.experiments.run import Run, aevaluate
from ragstone.judges import Judge
from ragstone.registry import Spec
from ragstone.store import Store
from ragstone.types import Chunk, Sample

if TYPE_CHECKING:
    from ragstone.engine import Progress
    from ragstone.systems import Filled

Found = TypeVar("Found")

Watching = Callable[[str, "Filled | Progress"], None]
"""Told the configuration's name and how far its answers or its scores are."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One Run a configuration, in the order given, and how they compare."""

    runs: dict[str, Run]
    comparison: Comparison | None
    """None when there is only one configuration."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """One Run for each combination of settings, and what each setting does to each metric."""

    runs: dict[str, Run]
    settings: tuple[dict[str, Any], ...]
    """Of each run, in the same order."""
    effects: tuple[Effects, ...]


def bench(
    samples: Any,
    configurations: Mapping[str, Any],
    metrics: Sequence[Spec] | None = None,
    **options: Any,
) -> Bench:
    """Run named configurations on one test set and compare them; takes the options of `abench`."""
    return finished(abench(samples, configurations, metrics, **options))


async def abench(
    samples: Any,
    configurations: Mapping[str, Any],
    metrics: Sequence[Spec] | None = None,
    *,
    system: Any = None,
    baseline: str | None = None,
    judge: Any = None,
    store: str | Path | Store | None = None,
    margin: float = MARGIN,
    correction: Correction = "holm",
    watch: Watching | None = None,
    **options: Any,
) -> Bench:
    """One Run each, sharing the judge and its replies, then the comparison with the baseline.

    A configuration is a system (whatever `make_system` takes), or settings of `system`. What is left of the options goes
    to `evaluate`. Interrupted, it goes on where it was: answers and judgements are in the store."""
    if not configurations:
        raise RagstoneError("no configuration is named; give at least one system")
    if baseline is not None and baseline not in configurations:
        raise RagstoneError(f"the baseline {baseline!r} is not among {', '.join(configurations)}")
    kept = Store.open(store)
    shared = shared_judge(judge)
    plans = {name: _configured(name, given, system) for name, given in configurations.items()}
    for spec, settings in plans.values():
        await chosen_system(
            spec, settings
        ).system.close()  # a mistake in the last one shows before the first is paid for
    runs: dict[str, Run] = {}
    try:
        for name, (spec, settings) in plans.items():
            seen = _told(watch, name)
            runs[name] = await aevaluate(
                samples, metrics, judge=shared, name=name, store=kept, system=spec,
                settings=settings, watch=seen, asked=seen, **options,
            )  # fmt: skip
    finally:
        if shared is not None and shared is not judge:
            await shared.close()
    if len(runs) < 2:
        return Bench(runs, None)
    names = list(runs)
    first = names.index(baseline) if baseline is not None else 0
    stored = [run.stored for run in runs.values()]
    return Bench(runs, compare(stored, baseline=first, margin=margin, correction=correction))


def ablate(
    samples: Any,
    system: Any,
    vary: Mapping[str, Sequence[Any]],
    metrics: Sequence[Spec] | None = None,
    **options: Any,
) -> Ablation:
    """Run a grid of settings and say what each does; takes the options of `aablate`."""
    return finished(aablate(samples, system, vary, metrics, **options))


async def aablate(
    samples: Any,
    system: Any,
    vary: Mapping[str, Sequence[Any]],
    metrics: Sequence[Spec] | None = None,
    *,
    full: bool = False,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Ablation:
    """The first value of each factor is the one in force; `full` runs every combination, else one factor varies at a time."""
    combinations = grid(vary, full=full)
    named = {_label(one, combinations[0], full): one for one in combinations}
    configurations = {name: {**(settings or {}), **one} for name, one in named.items()}
    found = await abench(samples, configurations, metrics, system=system, **options)
    pairs = [(named[name], run.stored) for name, run in found.runs.items()]
    first = next(iter(found.runs.values()))
    scored = [one.metric for one in first.summary().metrics if one.scored]
    return Ablation(
        found.runs,
        tuple(named[name] for name in found.runs),
        tuple(effects(pairs, metric) for metric in scored) if len(pairs) > 1 else (),
    )


async def ablame(
    run: Run,
    system: Any,
    metric: Spec,
    *,
    documents: Mapping[str, str] | None = None,
    judge: Any = None,
    store: str | Path | Store | None = None,
    limit: int = 100,
    settings: Mapping[str, Any] | None = None,
) -> Blame:
    """Ask the system again from gold, mixed, shuffled and no contexts, for the worst samples of a run, and split their loss.

    `documents` (id → text) holds the relevant ones; without it, those that any sample of the run retrieved are known."""
    from ragstone.metrics import resolve
    from ragstone.systems import takes_contexts

    measure = resolve(metric)
    if measure.bounds is None:
        raise RagstoneError(f"{measure.name} has no best value to fall short of; blame needs one")
    under_test = chosen_system(system, settings).system
    if not takes_contexts(under_test):
        raise RagstoneError(
            f"the system {under_test.name!r} cannot be given contexts; blame needs "
            "answer_with(question, contexts)"
        )
    rows = list(run.rows())
    known = texts_of(row.sample for row in rows)
    known |= {name: Chunk(name, text) for name, text in (documents or {}).items()}
    chosen = [
        (row.sample, contexts)
        for row in _worst_first(run, rows, measure.name)
        if (contexts := contexts_for(row.sample, known)) is not None
    ][:limit]
    if not chosen:
        raise RagstoneError(
            "no failing sample has relevant documents whose text is known; pass documents={id: text}"
        )
    asked: dict[Condition, list[Sample]] = {"retrieved": [sample for sample, _ in chosen]}
    for condition in ASKED:
        asked[condition] = []
        for sample, contexts in chosen:
            reply = await under_test.answer_with(  # type: ignore[attr-defined]
                sample.question or "", contexts[condition], sample
            )
            # scored against what it was given, but for answers from nothing: those have no contexts to hold
            asked[condition].append(
                replace(sample, answer=reply.answer, contexts=contexts[condition], error=None)
            )
    await under_test.close()
    values = {
        condition: await _values(some, measure.name, judge, store or run.stored.store)
        for condition, some in asked.items()
    }
    both = [i for i in range(len(chosen)) if all(i in found for found in values.values())]
    if not both:
        raise RagstoneError(
            f"{measure.name} could not be scored under every condition for any sample"
        )
    low, high = measure.bounds
    best, worst = (high, low) if measure.higher_is_better else (low, high)
    table = {name: [found[i] for i in both] for name, found in values.items()}
    return split(measure.name, table, best=best, worst=worst)


def blame(run: Run, system: Any, metric: Spec, **options: Any) -> Blame:
    """Split the loss of a run's worst samples over retrieval, ordering, noise and generation; see `ablame`."""
    return finished(ablame(run, system, metric, **options))


def finished(work: Coroutine[Any, Any, Found]) -> Found:
    """The result of the work, also inside a running event loop (Jupyter): then in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _values(
    samples: Sequence[Sample], metric: str, judge: Any, store: Any
) -> dict[int, float]:
    """The metric's value at each place where there is one."""
    found = await aevaluate(
        samples, [metric], judge=judge, store=":memory:" if judge is None else store
    )
    scored = {}
    for position, _, _, values in found.stored.values():
        value = values[metric]
        if isinstance(value, float):
            scored[position - 1] = value
    if judge is not None:
        found.delete()
    return scored


def _worst_first(run: Run, rows: Sequence[Any], metric: str) -> list[Any]:
    """The samples that fall short in the metric, the worst first; all of them when the run was not scored with it."""
    described = next((one for one in run.info.metrics if one["name"] == metric), None)
    if described is None:
        return list(rows)
    best = described["bounds"][1] if described["higher_is_better"] else described["bounds"][0]
    short = [
        (abs(best - value), row)
        for row in rows
        if (value := row.scores[metric].value) is not None and value != best
    ]
    return [row for _, row in sorted(short, key=lambda pair: -pair[0])]


def _configured(name: str, given: Any, system: Any) -> tuple[Any, dict[str, Any]]:
    """The system and settings of one configuration."""
    if isinstance(given, Mapping):
        settings = dict(given)
        own = settings.pop("system", None)
        kinds = {"pipeline", "url", "predictions", "python"}
        if own is None and kinds & set(settings):
            return given, {}
        if own is None and system is None:
            raise RagstoneError(f"the configuration {name!r} names no system; add one, or `system`")
        return (own if own is not None else system), settings
    return given, {}


def shared_judge(judge: Any) -> Judge | None:
    """One judge for all runs: what it was asked once it is not asked again."""
    if judge is None or (hasattr(judge, "answer") and hasattr(judge, "identity")):
        return judge  # type: ignore[no-any-return]
    from ragstone.judges.factory import make_judge

    return make_judge(judge)


def _told(watch: Watching | None, name: str) -> Callable[[Any], None] | None:
    return None if watch is None else lambda progress: watch(name, progress)


def _label(settings: Mapping[str, Any], base: Mapping[str, Any], full: bool) -> str:
    changed = settings if full else {k: v for k, v in settings.items() if v != base[k]}
    shown = [f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in changed.items()]
    return ", ".join(shown) or "in force"
