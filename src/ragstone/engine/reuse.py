"""Scores of an earlier run, taken over batch by batch: the same rows, scored by the same code with the same judge.

Replies of a judge behind an API are kept in the store, so such samples would get the same scores again; without this
their questions would be put together, looked up and read once more, which takes most of the time of a second run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.asks import digest
from ragstone.config import Plan
from ragstone.data import Record
from ragstone.errors import StoreError
from ragstone.registry import Metric
from ragstone.registry.fingerprints import is_ours
from ragstone.store import ScoreBatch, StoredRun
from ragstone.store.rows import to_storable_json
from ragstone.types import FAILURES


def identify_scores(
    plan: Plan, metrics: Sequence[Metric], identity: Mapping[str, str], shape: Mapping[str, Any]
) -> str | None:
    """Return the hash by which a later run finds scores that it may take over; None where it must not.

    A user's metric may read more than its code shows, and a judge whose replies are not stored is asked in every run."""
    if plan.judge is None or not is_remote(plan.judge_settings()):
        return None
    if not all(is_ours(metric.function) for metric in metrics):
        return None
    return digest([dict(identity), dict(shape)])


def is_remote(settings: Mapping[str, Any]) -> bool:
    """Whether every model is behind an API; others are made anew in every run, or are code of the user's."""
    from ragstone.judges.dialects import DIALECTS

    members = settings.get("jury") or [settings.get("model")]
    specs = [member.get("model") if isinstance(member, Mapping) else member for member in members]
    return all(isinstance(spec, str) and spec.partition(":")[0] in DIALECTS for spec in specs)


def find_earlier_run(run: StoredRun) -> StoredRun | None:
    """Return the newest finished run of the store whose scores have the same identity, and None without one."""
    identity = run.info.facts.scores_identity
    return run.store.find_scored(identity, besides=run.id) if identity else None


def iter_sound_batches(run: StoredRun) -> Iterator[ScoreBatch]:
    """Yield the samples of an earlier run up to the first damage, which is for its own readers to report."""
    batches = run.batches(with_inputs=True)
    while True:
        try:
            batch = next(batches)
        except (StopIteration, StoreError):
            return
        yield batch


def count_same(batch: ScoreBatch, records: Sequence[Record]) -> int:
    """How many samples at the start of a batch are these records, and none of them a failure."""
    failed = [
        index
        for details in batch.details.values()
        for index, score in details.items()
        if score.outcome in FAILURES
    ]
    pairs = list(zip(batch.inputs, records, strict=False))[: min(failed, default=batch.count)]
    same = 0
    for row, record in pairs:
        if to_storable_json(record.row) != row:
            break
        same += 1
    return same


def count_replies(batch: ScoreBatch, samples: int) -> int:
    """How many replies of a judge the scores of the first samples were made of."""
    return sum(
        score.usage.calls + score.usage.hits
        for details in batch.details.values()
        for index, score in details.items()
        if index < samples
    )
