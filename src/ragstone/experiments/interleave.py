"""Several systems asked the same questions in turn, so that what slows the machine for a while slows all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from ragstone.data import Dataset
from ragstone.experiments.answer import SystemUnderTest, build_runner, note_cold_start
from ragstone.store import Store

MAX_INTERLEAVED_SYSTEMS = 4
"""More systems are asked one after the other: each may hold a model in memory."""
SHUFFLE_SEED = 20


async def answer_in_turn(
    dataset: Dataset,
    systems: Mapping[str, SystemUnderTest],
    store: Store,
    run_ids: Mapping[str, str],
    bind_watch: Callable[[str], Any],
) -> dict[str, SystemUnderTest]:
    """Ask the systems in blocks of questions, each block in another order; the replies go to the store.

    A block is as large as the smallest concurrency, so that each system has as many in flight as it may.
    `bind_watch` gives the progress callback of the system of a name, or None."""
    runners = {
        name: build_runner(under_test, store, run_ids[name], bind_watch(name), scope=run_ids[name])
        for name, under_test in systems.items()
    }
    block = min(under_test.system.concurrency for under_test in systems.values())
    shuffle = random.Random(SHUFFLE_SEED)
    records = iter(dataset)
    while samples := [record.sample for record in islice(records, block)]:
        for name in shuffle.sample(list(runners), len(runners)):
            await runners[name].ask_samples(samples)
    return {name: note_cold_start(systems[name], runner) for name, runner in runners.items()}
