"""Merges the results of a cluster into the store in input order; results that come early wait on disk as shards."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ragstone.data import Dataset
from ragstone.data.ids import SeenIds
from ragstone.engine import Execution
from ragstone.errors import BadRows, DataError
from ragstone.scale.batches import RowBatch, digest_rows
from ragstone.scale.progress import write_progress
from ragstone.scale.shards import Shard, ShardFolder, decode_shard
from ragstone.store import NewRow, StoredRun
from ragstone.store.score_json import decode_scores


class ShardMerger:
    """Writes results into the store in input order; those that come early wait on disk as shards.

    `reusable` maps the first to the last position of the shards that an earlier attempt left. `seen` checks that ids are
    unique; None when the driver reads all rows and has checked that before."""

    def __init__(
        self, execution: Execution, shards: ShardFolder, reusable: Mapping[int, int], stored: int,
        seen: SeenIds | None, dataset: Dataset,
    ) -> None:  # fmt: skip
        self._execution = execution
        self._shards = shards
        self._reusable = reusable
        self._next_position = stored + 1
        self._seen_ids = seen
        self._dataset = dataset
        self._finished_batches: dict[int, RowBatch] = {}
        """Finished batches whose shard is on disk, by their first position."""
        self._writes: list[Any] = []
        """Futures of the store's writes that are not awaited yet, oldest first."""

    @property
    def pending(self) -> int:
        """Batches that are done and not merged."""
        return len(self._finished_batches)

    async def reuse_shard(self, batch: RowBatch) -> bool:
        """Whether an earlier attempt left this batch's shard; if so, the batch counts as finished."""
        if self._reusable.get(batch.first) != batch.last:
            return False
        shard = decode_shard(self._shards.get(batch.first, batch.last))
        if shard.rows != digest_rows(batch.read_texts()):
            raise DataError(
                f"samples {batch.first} to {batch.last} of {self._dataset.source} have changed since "
                f"run {self._execution.run.id} scored them; begin a new run with --restart"
            )
        self._finished_batches[batch.first] = batch
        return True

    async def add_result(self, batch: RowBatch, result: Mapping[str, Any]) -> None:
        """Take the result of a batch."""
        if "bad" in result:
            source = self._dataset.source
            # `at` is a line number, or a text that names the file too
            raise BadRows(
                [f"{at if isinstance(at, str) else f'{source}:{at}'}: {why}" for at, why in result["bad"]][:20],
                more=True,  # the rows of other batches are not read yet
            )  # fmt: skip
        if batch.first == self._next_position:
            await self._append_to_store(batch, decode_shard(result["shard"]))
            return
        # in a thread, because it waits for the disk and the event loop serves all workers
        await asyncio.to_thread(self._shards.put, batch.first, batch.last, result["shard"])
        self._finished_batches[batch.first] = batch

    async def merge_ready(self) -> None:
        """Merge the batches whose turn has come."""
        while (batch := self._finished_batches.pop(self._next_position, None)) is not None:
            await self._append_to_store(
                batch, decode_shard(self._shards.get(batch.first, batch.last))
            )
            # only when its rows are on disk may the shard go
            await self.flush()
            self._shards.drop(batch.first, batch.last)

    async def flush(self) -> None:
        """Wait until what was merged is on disk."""
        writes, self._writes = self._writes, []
        for write in writes:
            await asyncio.wrap_future(write)

    async def _append_to_store(self, batch: RowBatch, shard: Shard) -> None:
        rows, texts = [], batch.read_texts()
        if shard.rows != digest_rows(texts):
            raise DataError(
                f"samples {batch.first} to {batch.last} of {self._dataset.source} changed while they "
                "were scored; start a new run"
            )
        for line, text in zip(shard.lines, texts, strict=True):
            if self._seen_ids is not None and not self._seen_ids.add(line.id, line.position):
                raise BadRows(
                    [
                        f"{self._dataset.source}: row {line.position}: the id {line.id!r} was given to "
                        "an earlier row; give each row its own id, or none"
                    ]
                )
            sample_id = line.id if line.id is not None else str(line.position)
            rows.append(
                NewRow(line.position, sample_id, line.group, text, decode_scores(line.scores))
            )
        run = self._execution.run
        self._writes.append(run.store.append(run.id, rows))
        if len(self._writes) > 4:  # write-behind, but never far behind
            await asyncio.wrap_future(self._writes.pop(0))
        self._next_position = batch.last + 1
        self._execution.add_counts(len(rows), shard.failures, shard.usage)
        write_progress(self._execution.done, self._execution.total)


class ShardRescorer:
    """Replaces stored scores as new ones come; positions are known, so no order is kept."""

    pending = 0
    """As in `ShardMerger`; here nothing waits."""

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self.count = 0
        """Samples that have new scores."""

    async def reuse_shard(self, batch: RowBatch) -> bool:
        """False: rescored samples leave no shards."""
        return False

    async def add_result(self, batch: RowBatch, result: Mapping[str, Any]) -> None:
        """Take the result of a batch."""
        store = self._run.store
        writes = [
            store.rescore(self._run.id, line.position, decode_scores(line.scores))
            for line in decode_shard(result["shard"]).lines
        ]
        for write in writes:
            await asyncio.wrap_future(write)
        self.count += len(writes)

    async def merge_ready(self) -> None:
        """Nothing to do: `add_result` has written every result."""
