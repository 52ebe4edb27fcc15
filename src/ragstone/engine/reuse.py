"""Scores of an earlier run, taken over block by block: the same rows, scored by the same code with the same judge.

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
from ragstone.store import StoredRun
from ragstone.store.blocks import EncodedBlock, ScoreBlock, encode_rows, mark_as_found
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


def iter_whole_blocks(run: StoredRun) -> Iterator[tuple[ScoreBlock, list[str]]]:
    """Yield the blocks of an earlier run with their rows, up to the first damaged one: that is for its own readers to report."""
    blocks = run.store.full_blocks(run.id)
    while True:
        try:
            block = next(blocks)
        except (StopIteration, StoreError):
            return
        yield block


def copy_block(
    block: ScoreBlock, rows: Sequence[str], records: Sequence[Record]
) -> EncodedBlock | None:
    """Return a block of an earlier run for these records; None where a row differs or a score is a failure."""
    if [record.row for record in records] != rows or _has_failures(block):
        return None
    last = block.first + block.count - 1
    return EncodedBlock(block.first, last, encode_rows(rows), mark_as_found(block))


def _has_failures(block: ScoreBlock) -> bool:
    return any(
        detail.get("outcome") in FAILURES
        for details in block.details.values()
        for _, detail in details
    )
