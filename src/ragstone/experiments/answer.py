"""The system under test, which answers the samples on their way to the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ragstone.asks import digest
from ragstone.data import Dataset
from ragstone.store import Store
from ragstone.systems import AnswerProgress, System, SystemRunner, answer_dataset, make_system
from ragstone.systems.protocol import MEASURES

MEASURED_METRICS = MEASURES
"""Metrics of a system's replies that are added to those that are asked for."""
DEFAULT_WARMUP = 1
"""Warm-up calls of a system that does not say how many."""


@dataclass(frozen=True, slots=True)
class SystemUnderTest:
    """A system with what a run stores of it."""

    system: System
    name: str
    """As it was named, or the name it gives itself."""
    settings: Mapping[str, Any]
    parameters: Mapping[str, Any]
    """All of its parameters, defaults included."""
    identity: str
    """Hash of everything that can change its answers."""
    cold_start: float | None = None
    """Seconds of the first warm-up call."""


def build_system(spec: Any, settings: Mapping[str, Any] | None = None) -> SystemUnderTest:
    """The system that a spec names, with these settings."""
    given = dict(settings or {})
    system = make_system(spec, **given)
    return SystemUnderTest(
        system,
        spec if isinstance(spec, str) else system.name,
        given,
        dict(system.parameters),
        digest(dict(system.identity())),
    )


async def answer_samples(
    dataset: Dataset,
    under_test: SystemUnderTest,
    store: Store,
    run: str,
    *,
    scope: str | None = None,
    watch: Callable[[AnswerProgress], None] | None = None,
) -> tuple[Dataset, SystemUnderTest]:
    """The dataset with the system's answers, and the system with its cold start; stored answers of the scope are taken."""
    runner = build_runner(under_test, store, run, watch, scope=scope)
    answers = await answer_dataset(dataset, runner)
    return answers, note_cold_start(under_test, runner)


def build_runner(
    under_test: SystemUnderTest,
    store: Store,
    run: str,
    watch: Callable[[AnswerProgress], None] | None = None,
    *,
    scope: str | None = None,
) -> SystemRunner:
    """The runner of a system, which warms it up before the first question that counts."""
    warmup = getattr(under_test.system, "warmup", DEFAULT_WARMUP)
    return SystemRunner(
        under_test.system, store, run, scope=scope, warmup=warmup, on_progress=watch
    )


def note_answering(store: Store, about: Any, run: str) -> None:
    """Note which run asks a system now, so that it can be resumed before anything is scored."""
    key = digest({"answers of": about})
    row = (key, run, "answering", "", "{}", 0, 0, 0, 0.0, datetime.now(UTC).isoformat(timespec="seconds"))  # fmt: skip
    store.write(lambda db: db.execute_many(_NOTE, [row])).result()


def find_answering(store: Store, about: Any) -> str | None:
    """The run that asked last."""
    rows = store.read("SELECT run FROM replies WHERE key = ?", (digest({"answers of": about}),))
    return str(rows[0][0]) if rows else None


def has_paid(store: Store, run: str) -> bool:
    """Whether answers of the system are stored for a run."""
    sql = "SELECT 1 FROM replies WHERE run = ? AND kind = 'system' LIMIT 1"
    return bool(store.read(sql, (run,)))


_NOTE = (
    "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (key) DO UPDATE SET run = excluded.run"
)


def note_cold_start(under_test: SystemUnderTest, runner: SystemRunner) -> SystemUnderTest:
    """The system with the time of its first call, when this runner made it."""
    seconds = under_test.cold_start if runner.cold_start is None else runner.cold_start
    return replace(under_test, cold_start=seconds)


def list_measured(dataset: Dataset) -> list[str]:
    """Latency, tokens, cost: those that the first replies come with."""
    # peeked records are still read later, so looking costs nothing
    seen = {name for record in dataset.peek(20) for name in record.sample.meta}
    return [name for name in MEASURED_METRICS if name in seen]
