"""Results of a cluster into the store in input order; what comes early waits on the shelf, on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ragstone.data import Dataset
from ragstone.data.ids import SeenIds
from ragstone.engine import Execution
from ragstone.errors import BadRows, DataError
from ragstone.scale.pieces import Piece, digest_rows
from ragstone.scale.progress import write_progress
from ragstone.scale.shards import Shard, Shelf, decode_shard
from ragstone.store import NewRow, StoredRun


class Merging:
    """Results into the store in input order; what comes early waits on the shelf, on disk."""

    def __init__(
        self, execution: Execution, shelf: Shelf, kept: Mapping[int, int], stored: int,
        seen: SeenIds | None, reading: Dataset,
    ) -> None:  # fmt: skip
        self._execution = execution
        self._shelf = shelf
        self._kept = kept
        self._next = stored + 1
        self._seen = seen
        self._reading = reading
        self._pieces: dict[int, Piece] = {}
        """Finished pieces on the shelf, by their first position."""
        self._writes: list[Any] = []

    @property
    def waiting(self) -> int:
        """Pieces that are done and not merged."""
        return len(self._pieces)

    async def there(self, piece: Piece) -> bool:
        """Whether an earlier attempt left this piece's shard."""
        if self._kept.get(piece.first) != piece.last:
            return False
        shard = decode_shard(self._shelf.get(piece.first, piece.last))
        if shard.rows != digest_rows(piece.texts()):
            raise DataError(
                f"samples {piece.first} to {piece.last} of {self._reading.source} have changed since "
                f"run {self._execution.run.id} scored them; start a new run without --resume"
            )
        self._pieces[piece.first] = piece
        return True

    async def take(self, piece: Piece, result: Mapping[str, Any]) -> None:
        """A piece has come back."""
        if "bad" in result:
            source = self._reading.source
            raise BadRows(
                [f"{at if isinstance(at, str) else f'{source}:{at}'}: {why}" for at, why in result["bad"]][:20],
                more=True,
            )  # fmt: skip
        if piece.first == self._next:
            await self._merge(piece, decode_shard(result["shard"]))
            return
        await asyncio.to_thread(self._shelf.put, piece.first, piece.last, result["shard"])
        self._pieces[piece.first] = piece

    async def advance(self) -> None:
        """Merge the pieces whose turn has come."""
        while (piece := self._pieces.pop(self._next, None)) is not None:
            await self._merge(piece, decode_shard(self._shelf.get(piece.first, piece.last)))
            await self.settle()
            self._shelf.drop(piece.first, piece.last)

    async def settle(self) -> None:
        """Wait until what was merged is on disk."""
        writes, self._writes = self._writes, []
        for write in writes:
            await asyncio.wrap_future(write)

    async def _merge(self, piece: Piece, shard: Shard) -> None:
        rows, texts = [], piece.texts()
        if shard.rows != digest_rows(texts):
            raise DataError(
                f"samples {piece.first} to {piece.last} of {self._reading.source} changed while they "
                "were scored; start a new run"
            )
        for line, text in zip(shard.lines, texts, strict=True):
            if self._seen is not None and not self._seen.add(line.id, line.position):
                raise BadRows(
                    [
                        f"{self._reading.source}: row {line.position}: the id {line.id!r} was given to "
                        "an earlier row; give each row its own id, or none"
                    ]
                )
            sample_id = line.id if line.id is not None else str(line.position)
            rows.append(NewRow(line.position, sample_id, line.group, text, line.scores))
        run = self._execution.run
        self._writes.append(run.store.append(run.id, rows))
        if len(self._writes) > 4:  # write-behind, but never far behind
            await asyncio.wrap_future(self._writes.pop(0))
        self._next = piece.last + 1
        self._execution.add_counts(len(rows), shard.failures, shard.usage)
        write_progress(self._execution.done, self._execution.total)


class Rescoring:
    """New scores in the place of stored ones, as they come: their places are known, so no order is kept."""

    waiting = 0

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self.count = 0
        """Samples that have new scores."""

    async def there(self, piece: Piece) -> bool:
        """Nothing is left of an earlier attempt."""
        return False

    async def take(self, piece: Piece, result: Mapping[str, Any]) -> None:
        """A piece has come back."""
        store = self._run.store
        writes = [
            store.rescore(self._run.id, line.position, line.scores)
            for line in decode_shard(result["shard"]).lines
        ]
        for write in writes:
            await asyncio.wrap_future(write)
        self.count += len(writes)

    async def advance(self) -> None:
        """Nothing waits."""
