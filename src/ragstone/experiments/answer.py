"""The system under test, which answers the samples on their way to the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
    watch: Callable[[AnswerProgress], None] | None = None,
    reuse: bool = True,
) -> tuple[Dataset, SystemUnderTest]:
    """The dataset with the system's answers, and the system with its cold start.

    Answers of earlier runs are taken from the store unless `reuse` is False."""
    runner = build_runner(under_test, store, run, watch)
    runner.reuse = reuse
    answers = await answer_dataset(dataset, runner)
    return answers, note_cold_start(under_test, runner)


def build_runner(
    under_test: SystemUnderTest,
    store: Store,
    run: str,
    watch: Callable[[AnswerProgress], None] | None = None,
) -> SystemRunner:
    """The runner of a system, which warms it up before the first question that counts."""
    warmup = getattr(under_test.system, "warmup", DEFAULT_WARMUP)
    return SystemRunner(under_test.system, store, run, warmup=warmup, on_progress=watch)


def note_cold_start(under_test: SystemUnderTest, runner: SystemRunner) -> SystemUnderTest:
    """The system with the time of its first call, when this runner made it."""
    seconds = under_test.cold_start if runner.cold_start is None else runner.cold_start
    return replace(under_test, cold_start=seconds)


def list_measured(dataset: Dataset) -> list[str]:
    """Latency, tokens, cost: those that the first replies come with."""
    # peeked records are still read later, so looking costs nothing
    seen = {name for record in dataset.peek(20) for name in record.sample.meta}
    return [name for name in MEASURED_METRICS if name in seen]
