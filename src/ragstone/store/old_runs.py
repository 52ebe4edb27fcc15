"""Runs as versions before 10 stored them, for moving them into the present tables.

Versions 6 to 9 kept some hundred samples in one row of `sample_blocks` and `score_blocks`, the scores metric by metric;
versions 1 to 5 a sample in a row, its scores as JSON."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from ragstone.store.database import Connection
from ragstone.store.rows import NewRow, insert_rows, prepare_rows
from ragstone.store.score_json import decode_scores, score_from_json
from ragstone.types import Score

TABLES = ("old_samples", "old_scores", "sample_blocks", "score_blocks")

_SELECT_FIRST = "SELECT first FROM score_blocks WHERE run = ? ORDER BY first"
_SELECT_BLOCK = (
    "SELECT first, last, keys, numbers, details, evidence, body FROM score_blocks"
    " JOIN sample_blocks USING (run, first) WHERE run = ? AND first = ?"
)
# by ranges of the key: of a server's cursor all rows would come at once
_SELECT_ROWS = (
    "SELECT place, id, cluster, input, scores FROM old_scores JOIN old_samples USING (run, place)"
    " WHERE run = ? AND place > ? ORDER BY place LIMIT 500"
)


def move_run(db: Connection, run: int) -> None:
    """Move the samples of the run with this number, inside one transaction: a kill in the middle leaves them as they were."""
    # marked first: where two processes try at once, the second waits here and then finds it done
    db.execute("UPDATE runs SET layout = layout WHERE number = ?", (run,))
    if list(db.execute("SELECT 1 FROM runs WHERE number = ? AND layout = 'rows'", (run,))):
        return
    for rows in _iter_old_rows(db, run):
        insert_rows(db, run, prepare_rows(rows))
    for table in TABLES:
        db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608
    db.execute("UPDATE runs SET layout = 'rows' WHERE number = ?", (run,))
    drop_old_tables(db)


def drop_old_tables(db: Connection) -> None:
    """Drop the tables of earlier versions once no run is in them."""
    if not list(db.execute("SELECT 1 FROM runs WHERE layout = 'old' LIMIT 1")):
        for table in TABLES:
            db.execute(f"DROP TABLE IF EXISTS {table}")


def _iter_old_rows(db: Connection, run: int) -> Iterator[list[NewRow]]:
    last = 0
    while stored := list(db.execute(_SELECT_ROWS, (run, last))):
        yield [
            NewRow(place, id, cluster, row, decode_scores(scores))
            for place, id, cluster, row, scores in stored
        ]
        last = stored[-1][0]
    for (first,) in list(db.execute(_SELECT_FIRST, (run,))):
        for block in db.execute(_SELECT_BLOCK, (run, first)):
            yield _decode_block(*block)


def _decode_block(
    first: int, last: int, keys: str, numbers: bytes, details: bytes, evidence: bytes, body: bytes
) -> list[NewRow]:
    described = json.loads(keys)
    _check(described, (numbers, details, evidence))
    count = last - first + 1
    texts = _remove_checksum(bytes(body)).decode("utf-8", "surrogatepass").split("\n")
    doubles = array("d", _decompress(numbers))
    if sys.byteorder == "big":
        doubles.byteswap()
    if len(texts) != count or len(doubles) != count * len(described["metrics"]):
        raise ValueError("samples are missing")
    scores: list[dict[str, Score]] = [{} for _ in range(count)]
    more: dict[str, Any] = json.loads(_decompress(details) or b"{}")
    found: dict[str, Any] = json.loads(_decompress(evidence) or b"{}")
    for place, name in enumerate(described["metrics"]):
        column = doubles[place * count : (place + 1) * count]
        fields = {index: item for item, indices in more.get(name, ()) for index in indices}
        findings = dict(found.get(name, ()))
        for index, value in enumerate(column):
            has_value = value == value  # NaN stands for none
            if index in fields:
                item = dict(fields[index]) | ({"value": value} if has_value else {})
                scores[index][name] = score_from_json(item | {"findings": findings.get(index, ())})
            elif has_value:
                scores[index][name] = Score(value)
    ids = described.get("ids") or [str(position) for position in range(first, last + 1)]
    groups = described.get("groups") or [None] * count
    return [
        NewRow(first + index, ids[index], groups[index], texts[index], scores[index])
        for index in range(count)
    ]


def _check(keys: dict[str, Any], parts: Iterable[bytes]) -> None:
    """Raise where the checksum of a block does not match; blocks of the first version with blocks have none."""
    given = keys.pop("check", None)
    text = json.dumps(keys, ensure_ascii=True, separators=(",", ":"))
    check = zlib.crc32(text.encode())
    for part in parts:
        check = zlib.crc32(bytes(part), check)
    if given is not None and given != check:
        raise ValueError("the checksum does not match")


def _remove_checksum(body: bytes) -> bytes:
    lines, mark, check = body.rpartition(b"\n#")
    if not mark or len(check) != 8:
        return body
    if b"%08x" % zlib.crc32(lines) != check:
        raise ValueError("the checksum does not match")
    return lines


def _decompress(body: bytes) -> bytes:
    return zlib.decompress(body) if body else b""
