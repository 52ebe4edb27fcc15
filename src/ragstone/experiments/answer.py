"""The system under test, which answers the samples on their way to the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.asks import digest
from ragstone.data import Dataset
from ragstone.store import Store
from ragstone.systems import AnswerProgress, System, SystemRunner, answer_dataset, make_system

MEASURED_METRICS = ("latency", "tokens", "cost")
"""Metrics of a system's replies that are added to those that are asked for."""


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
    concurrency: int | None = None,
    watch: Callable[[AnswerProgress], None] | None = None,
) -> Dataset:
    """The reading with the system's answers; those of earlier runs are taken from the store."""
    runner = SystemRunner(under_test.system, store, run, concurrency=concurrency, on_progress=watch)
    return await answer_dataset(dataset, runner)


def list_measured(dataset: Dataset) -> list[str]:
    """Latency, tokens, cost: those that the first replies come with."""
    # peeked records are still read later, so looking costs nothing
    seen = {name for record in dataset.peek(20) for name in record.sample.meta}
    return [name for name in MEASURED_METRICS if name in seen]
