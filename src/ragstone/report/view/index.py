"""The index of a run, open for reading: which samples fit a filter, in which order, and how they are spread."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import StoreError
from ragstone.report.view.index_builder import (
    CODE_COLUMN,
    FACTS_FILE,
    INDEX_VERSION,
    ORDER_COLUMN,
    TEXTS_FILE,
    VALUE_COLUMN,
    VERDICT_COLUMN,
)
from ragstone.store.server_texts import ServerTexts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Column = NDArray[np.float64]

POSITION = "position"
"""Sorts by the order of the data."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Values of a metric from the lowest to the highest, both included unless `excludes_high`."""

    metric: str
    low: float | None = None
    high: float | None = None
    excludes_high: bool = False


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """Which samples are wanted, and in which order."""

    text: str = ""
    ranges: tuple[ValueRange, ...] = ()
    traits: tuple[tuple[str, str], ...] = ()
    """Trait (`verdict`, `class`, `language`, `outcome.METRIC`, `label.METRIC`, `meta.FIELD`) and value."""
    positions: tuple[int, ...] | None = None
    """Only these samples; None: all."""
    excluded_positions: tuple[int, ...] = ()
    sort: str = POSITION
    descending: bool = False


@dataclass(frozen=True, slots=True)
class RowHead:
    """A sample as a list shows it, without its texts."""

    position: int
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class TraitCount:
    """How many samples have a value of a trait."""

    value: str
    count: int


class RunIndex:
    """The index of one run; any thread may use it."""

    def __init__(
        self, folder: Path, facts: Mapping[str, Any], server: ServerTexts | None = None
    ) -> None:
        self._folder = folder
        self._server = server
        """The database, where it searches texts itself."""
        self.stamp = int(facts["stamp"])
        """The state of the run that it was made of."""
        self.rows = int(facts["rows"])
        self.metrics: tuple[str, ...] = tuple(facts["metrics"])
        self._codes: Mapping[str, list[str]] = facts["codes"]
        self._verdicts: list[str] = facts["verdicts"]
        self._columns: dict[str, Any] = {}
        """Columns that were mapped once."""
        self._lock = threading.Lock()
        self._texts = sqlite3.connect(
            f"{(folder / TEXTS_FILE).absolute().as_uri()}?mode=ro&immutable=1",
            uri=True,
            check_same_thread=False,
        )
        # searches of the last few addresses: paging through one must not search again
        self._search = lru_cache(maxsize=4)(self._search_texts)

    @classmethod
    def open(cls, folder: Path, server: ServerTexts | None = None) -> RunIndex | None:
        """The index in a folder; None where there is none that this version can read."""
        try:
            facts = json.loads((folder / FACTS_FILE).read_text(encoding="ascii"))
            if facts.get("version") != INDEX_VERSION:
                return None
            return cls(folder, facts, server)
        except (OSError, ValueError, KeyError, sqlite3.Error):
            return None

    def close(self) -> None:
        """Close the file of texts."""
        with self._lock:
            self._texts.close()

    # ── which samples ─────────────────────────────────────────────────────────────────────

    def select(self, wanted: SampleQuery) -> Mask:
        """Whether each sample fits, in the order of the data."""
        import numpy as np

        mask = np.ones(self.rows, dtype=bool)
        for part in wanted.ranges:
            values = self.load_values(part.metric)
            if values is None:
                mask[:] = False
                continue
            # comparisons with NaN are false: a sample without a value is in no range
            mask &= values >= (-np.inf if part.low is None else part.low)
            high = np.inf if part.high is None else part.high
            mask &= values < high if part.excludes_high else values <= high
        for trait, value in wanted.traits:
            mask &= self._match_trait(trait, value)
        if wanted.positions is not None:
            mask &= self._mark_positions(wanted.positions)
        mask &= ~self._mark_positions(wanted.excluded_positions)
        if wanted.text.strip():
            mask &= self._search(wanted.text)
        return mask

    def _mark_positions(self, positions: Sequence[int]) -> Mask:
        import numpy as np

        marked = np.zeros(self.rows, dtype=bool)
        marked[[at - 1 for at in positions if 1 <= at <= self.rows]] = True
        return marked

    def order(self, mask: Mask, wanted: SampleQuery) -> NDArray[np.int64]:
        """Positions of the samples that fit, sorted."""
        import numpy as np

        if wanted.sort not in self.metrics:
            indices = np.flatnonzero(mask)
            return (indices[::-1] if wanted.descending else indices) + 1
        order = self._load(ORDER_COLUMN.format(self.metrics.index(wanted.sort)))
        values = self.load_values(wanted.sort)
        assert values is not None
        scored = int(np.count_nonzero(~np.isnan(values)))
        if wanted.descending:
            # samples without a value stay last either way
            order = np.concatenate((order[:scored][::-1], order[scored:]))
        chosen: NDArray[np.int64] = order[mask[order]].astype(np.int64) + 1
        return chosen

    def load_values(self, metric: str) -> Column | None:
        """The values of a metric, NaN where there is none; None for a metric that the run does not have."""
        if metric not in self.metrics:
            return None
        values: Column = self._load(VALUE_COLUMN.format(self.metrics.index(metric)))
        return values

    def _match_trait(self, trait: str, value: str) -> Mask:
        import numpy as np

        if trait == "verdict" and value in self._verdicts:
            bit = np.uint64(1 << self._verdicts.index(value))
            return np.asarray((self._load(VERDICT_COLUMN) & bit) > 0)
        words = self._codes.get(trait, [])
        if value not in words:
            return np.zeros(self.rows, dtype=bool)
        return np.asarray(self._load_codes(trait) == words.index(value) + 1)

    # ── how they are spread ───────────────────────────────────────────────────────────────

    def list_traits(self) -> list[str]:
        """The traits that there is something to choose from."""
        return [*(["verdict"] if self._verdicts else []), *(name for name, words in self._codes.items() if words)]  # fmt: skip

    def count_trait(self, trait: str, mask: Mask) -> list[TraitCount]:
        """The values of a trait among the samples that fit, the most frequent first."""
        import numpy as np

        if trait == "verdict":
            bits = self._load(VERDICT_COLUMN)[mask]
            counts = [
                int(np.count_nonzero(bits & np.uint64(1 << number)))
                for number in range(len(self._verdicts))
            ]
            words = self._verdicts
        else:
            words = self._codes.get(trait, [])
            numbers = self._load_codes(trait)[mask]
            counts = np.bincount(numbers, minlength=len(words) + 1)[1:].tolist()
        pairs = [TraitCount(word, n) for word, n in zip(words, counts, strict=False) if n]
        return sorted(pairs, key=lambda pair: -pair.count)

    def read_codes(self, trait: str) -> tuple[NDArray[np.int64], list[str]]:
        """A trait as numbers, 0 for none, and the words of the numbers from 1."""
        return self._load_codes(trait), self._codes.get(trait, [])

    # ── texts ─────────────────────────────────────────────────────────────────────────────

    def read_heads(self, positions: Sequence[int]) -> list[RowHead]:
        """Id and title of some samples, in the order given."""
        if not positions:
            return []
        marks = ", ".join("?" * len(positions))
        rows = self._read(
            f"SELECT position, id, title FROM rows WHERE position IN ({marks})",  # noqa: S608
            positions,
        )
        heads = {position: RowHead(position, id, title) for position, id, title in rows}
        return [heads[position] for position in positions if position in heads]

    def find_positions(self, ids: Sequence[str]) -> dict[str, int]:
        """Where samples of these ids stand; of an id that repeats, the first."""
        positions: dict[str, int] = {}
        for start in range(0, len(ids), 500):
            part = ids[start : start + 500]
            marks = ", ".join("?" * len(part))
            sql = f"SELECT id, MIN(position) FROM rows WHERE id IN ({marks}) GROUP BY id"  # noqa: S608
            positions.update(self._read(sql, part))
        return positions

    def _search_texts(self, text: str) -> Mask:
        import numpy as np

        mask = np.zeros(self.rows, dtype=bool)
        terms = split_terms(text)
        if not terms:
            return mask
        if self._server is not None:
            joined = self._server.search(terms, self.rows)
        else:
            # joined by SQLite: a million rows as Python objects would take longer than the search
            sql = "SELECT group_concat(rowid) FROM texts WHERE texts MATCH ?"
            ((joined,),) = self._read(sql, (to_match_query(terms),))
        if joined:
            mask[np.fromstring(joined, dtype=np.int64, sep=",") - 1] = True
        return mask

    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._texts.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as fault:
            raise StoreError(f"the index {str(self._folder)!r} failed: {fault}; delete it, it is made again") from None  # fmt: skip

    def _load_codes(self, trait: str) -> Any:
        import numpy as np

        if trait not in self._codes:
            return np.zeros(self.rows, dtype=np.uint8)
        return self._load(CODE_COLUMN.format(list(self._codes).index(trait)))

    def _load(self, name: str) -> Any:
        import numpy as np

        column = self._columns.get(name)
        if column is not None:
            return column
        try:
            column = np.load(self._folder / f"{name}.npy", mmap_mode="r" if self.rows else None)
            self._columns[name] = column
            return column
        except (OSError, ValueError) as fault:
            raise StoreError(f"the index {str(self._folder)!r} failed: {fault}; delete it, it is made again") from None  # fmt: skip


def split_terms(text: str) -> list[tuple[str, bool]]:
    """What a search asks for, and whether by its start: every word, a part in quotes as a phrase, a word with * by its start."""
    terms = []
    for phrase, word in re.findall(r'"([^"]*)"|(\S+)', text):
        cleaned = (phrase or word).replace('"', " ").strip()
        is_start = not phrase and cleaned.endswith("*")
        cleaned = cleaned.rstrip("*")
        if re.search(r"\w", cleaned):
            terms.append((cleaned, is_start))
    return terms


def to_match_query(terms: Sequence[tuple[str, bool]]) -> str:
    """The terms as FTS5 takes them: in quotes nothing is an operator."""
    return " ".join(f'"{text}"' + ("*" if is_start else "") for text, is_start in terms)
