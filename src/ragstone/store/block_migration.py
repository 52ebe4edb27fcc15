"""Moves the samples and scores of stores before version 6, one row a sample, into blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragstone.store.blocks import BLOCK_SAMPLES, NewRow, cut_blocks, encode_block, insert_blocks
from ragstone.store.database import Connection

# by ranges of the key and not with one cursor: of a server's cursor all rows would come at once
_SELECT_ROWS = (
    "SELECT place, id, cluster, input, scores FROM scores JOIN samples USING (run, place)"
    " WHERE run = ? AND place > ? ORDER BY place LIMIT ?"
)


def move_rows_to_blocks(db: Connection) -> None:
    """Move the rows of every run, inside the transaction of the migration: a kill in the middle leaves the old store."""
    for (run,) in list(db.execute("SELECT number FROM runs ORDER BY number")):
        last = 0
        while stored := list(db.execute(_SELECT_ROWS, (run, last, BLOCK_SAMPLES))):
            rows = [NewRow(*fields) for fields in stored]
            insert_blocks(db, run, [encode_block(part) for part in cut_blocks(rows)])
            last = rows[-1].position
    for table in ("samples", "scores"):
        db.execute(f"DROP TABLE {table}")


CONVERSIONS: Mapping[int, Callable[[Connection], None]] = {6: move_rows_to_blocks}
"""Version of a store → what is done with its data after the statements of its migration."""
