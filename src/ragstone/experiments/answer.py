"""Samples without answers through the system under test, on their way to the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.asks import digest
from ragstone.data import Reading
from ragstone.store import Store
from ragstone.systems import Filled, Filling, System, filled, make_system

MEASURED = ("latency", "tokens", "cost")
"""What a system's replies are measured by besides the metrics that are asked for."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A system with what a run remembers of it."""

    system: System
    facts: Mapping[str, Any]
    """Of the run's plan: the system as it was named, its settings, all its parameters, and a hash of what it is."""


def chosen_system(spec: Any, settings: Mapping[str, Any] | None = None) -> Tested:
    """The system that a spec names, with these settings."""
    given = dict(settings or {})
    system = make_system(spec, **given)
    facts = {
        "system": spec if isinstance(spec, str) else system.name,
        "settings": given,
        "parameters": dict(system.parameters),
        "system_identity": digest(dict(system.identity())),
    }
    return Tested(system, facts)


async def answered(
    reading: Reading,
    under_test: Tested,
    store: Store,
    run: str,
    *,
    concurrency: int | None = None,
    watch: Callable[[Filled], None] | None = None,
) -> Reading:
    """The reading with the system's answers; those of earlier runs are taken from the store."""
    filling = Filling(under_test.system, store, run, concurrency=concurrency, watch=watch)
    return await filled(reading, filling)


def measured(reading: Reading) -> list[str]:
    """Latency, tokens, cost: those that the first replies come with."""
    seen = {name for record in reading.peek(20) for name in record.sample.meta}
    return [name for name in MEASURED if name in seen]
