"""Spanish pairs as a RAG system would show them: the right context among others."""

from __future__ import annotations

import random
import zlib
from typing import Any


def crowded(rows: list[dict[str, Any]], folds: int) -> list[dict[str, Any]]:
    """The Spanish rows once more, each among four contexts of other documents of its fold: a claim in a RAG system
    is laid on several chunks of which few have to do with it."""
    mine = [row for row in rows if row["set"] == "inferes"]
    shelves: dict[int, list[tuple[str, str]]] = {}
    for row in mine:
        shelves.setdefault(_shelf(row, folds), []).append((row["group"], row["context"]))
    made = []
    for n, row in enumerate(mine):
        luck = random.Random(f"crowd{n}")
        others = [c for group, c in shelves[_shelf(row, folds)] if group != row["group"]]
        texts = [row["context"], *luck.sample(others, 4)]
        luck.shuffle(texts)
        made.append({**row, "chunks": texts, "crowded": True})
    return made


def _shelf(row: dict[str, Any], folds: int) -> int:
    return zlib.crc32(f"f{row['group']}".encode()) % folds
