"""Shards: finished batches on disk, each in a file that is written atomically, until it is their turn to go into the store.

The first line is a JSON object about the whole shard, then follows one line per sample. The same scores give the same
bytes, whichever worker made them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from ragstone.errors import StoreError
from ragstone.types import Usage


@dataclass(frozen=True, slots=True)
class ShardLine:
    """One scored sample; its fields are written and read in this order."""

    position: int
    id: str | None
    """None when its row gave it none; it is then known by its position."""
    group: str | None
    scores: str
    """As the store encodes them."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A scored batch."""

    lines: tuple[ShardLine, ...]
    rows: str
    """Digest of the rows it was made from (`digest_rows`)."""
    failures: int
    """Scores that are failures, of all metrics."""
    usage: Usage


def encode_shard(lines: Sequence[ShardLine], rows: str, failures: int, usage: Usage) -> bytes:
    """The bytes of a shard; `rows` is the digest of its rows."""
    used = list(astuple(usage))
    head = {"count": len(lines), "rows": rows, "failures": failures, "usage": used}
    body = [json.dumps([line.position, line.id, line.group, line.scores]) for line in lines]
    return "\n".join([json.dumps(head), *body, ""]).encode("ascii")


def decode_shard(data: bytes) -> Shard:
    """The shard that `encode_shard` wrote."""
    head, *body = data.decode("ascii").splitlines()
    facts: dict[str, Any] = json.loads(head)
    lines = tuple(ShardLine(*json.loads(text)) for text in body)
    if len(lines) != facts["count"]:
        raise ValueError("the shard was cut off")
    return Shard(lines, facts["rows"], facts["failures"], Usage(*facts["usage"]))


class ShardFolder:
    """The folder of a run's shards that wait for earlier ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, first: int, last: int, data: bytes) -> None:
        """Write a shard so that it is there whole, or not at all, even after a power failure."""
        path = self._get_path(first, last)
        part = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as full:
            part.unlink(missing_ok=True)
            raise StoreError(
                f"cannot write the shard {path.name} in {str(self.folder)!r}: {full.strerror}; "
                "make room and resume with --resume"
            ) from None

    def get(self, first: int, last: int) -> bytes:
        """The bytes of a shard that was put here."""
        return self._get_path(first, last).read_bytes()

    def drop(self, first: int, last: int) -> None:
        """Forget a shard whose lines are in the store."""
        self._get_path(first, last).unlink(missing_ok=True)

    def list_pending(self, after: int) -> dict[int, int]:
        """First → last position of the shards that start after this position; the others are deleted, as the store has their rows."""
        last_by_first: dict[int, int] = {}
        for path in sorted(self._list_files()):
            first, last = map(int, path.stem.split("-"))
            if first <= after:
                path.unlink()
            else:
                last_by_first[first] = last
        return last_by_first

    def clear(self) -> None:
        """Remove the folder, which is empty when all went well."""
        for path in self._list_files():
            path.unlink()
        for part in self.folder.glob("*.part"):
            part.unlink()
        if self.folder.is_dir():
            self.folder.rmdir()

    def _list_files(self) -> Iterator[Path]:
        return self.folder.glob("*-*.jsonl")

    def _get_path(self, first: int, last: int) -> Path:
        # padded, so that names sort as numbers do
        return self.folder / f"{first:012d}-{last:012d}.jsonl"
