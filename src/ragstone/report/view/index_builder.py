"""Builds the index of a run: its values and traits as columns of numbers, its texts for searching.

The columns are plain NumPy files that are mapped, not read: a filter over a million samples takes milliseconds and
little memory. Ids and titles are in a SQLite file, with the searchable texts under FTS5; a PostgreSQL store searches texts
itself. The files lie beside the store, or in the user's cache, and are made again when they are missing or the run has
changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.analysis.classes import choose_deciders
from ragstone.analysis.classify import classify, find_language
from ragstone.analysis.scales import find_scales
from ragstone.errors import StoreError
from ragstone.report.figures import shorten
from ragstone.report.view.summaries import make_private_folder
from ragstone.store import StoredRow, StoredRun
from ragstone.store.server_texts import TEXT_FIELDS, ServerTexts
from ragstone.types import Sample, Score

INDEX_VERSION = 2
"""Rises when a file or a column changes: `RunIndex.open` then takes older indexes for missing, and they are made again."""
FACTS_FILE = "facts.json"
TEXTS_FILE = "texts.db"
VALUE_COLUMN = "value{}"
"""File name, without .npy, of the values of the metric of that number."""
ORDER_COLUMN = "order{}"
"""Of the samples in the order of that metric's values."""
CODE_COLUMN = "code{}"
"""Of the words of the trait of that number."""
VERDICT_COLUMN = "verdicts"
TITLE_CHARS = 140
MAX_FIELD_VALUES = 200
"""Different values of a field of the data beyond which it is no filter."""
MAX_FIELD_CHARS = 80
MAX_VERDICTS = 60
"""Different verdicts that fit into the bits of a column."""
BATCH_ROWS = 2000
"""Rows that are written together; progress is reported and a stop is noticed this often."""

_CREATE_ROWS = (
    "CREATE TABLE rows (position INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL)"
)
_CREATE_TEXTS = f"CREATE VIRTUAL TABLE texts USING fts5({', '.join(TEXT_FIELDS)}, content='', tokenize='unicode61 remove_diacritics 2')"


class IndexStopped(Exception):
    """The index is not wanted any more: the server is stopping."""


@dataclass(slots=True)
class _Codes:
    """A column of words as small numbers; 0 stands for none."""

    numbers: dict[str, int] = field(default_factory=dict)
    column: array[int] = field(default_factory=lambda: array("H"))
    is_full: bool = False

    def add(self, word: str, limit: int) -> None:
        """Append the number of a word; a column with more different words than the limit is given up."""
        number = self.numbers.get(word, 0) if word else 0
        if word and not number and not self.is_full:
            if len(self.numbers) >= limit:
                self.is_full = True
            else:
                number = self.numbers[word] = len(self.numbers) + 1
        self.column.append(number)


@dataclass(slots=True)
class _Columns:
    """The columns of a run as they grow."""

    metrics: tuple[str, ...]
    rows: int = 0
    values: dict[str, array[float]] = field(default_factory=dict)
    codes: dict[str, _Codes] = field(default_factory=dict)
    """`class`, `language`, `outcome.METRIC`, `label.METRIC`, `meta.FIELD`."""
    verdicts: dict[str, int] = field(default_factory=dict)
    """Verdict → its bit."""
    verdict_bits: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, sample: Sample, scores: Mapping[str, Score], kind: str, language: str) -> None:
        """Append one sample."""
        bits = 0
        for name in self.metrics:
            score = scores.get(name)
            value = None if score is None else score.value
            self.values.setdefault(name, array("d")).append(
                float("nan") if value is None else value
            )
            if score is not None:
                if not score.ok:
                    self._add_code(f"outcome.{name}", score.outcome)
                if score.label:
                    self._add_code(f"label.{name}", score.label)
                bits |= self._mark_verdicts(score)
        self.verdict_bits.append(bits)
        self._add_code("class", kind)
        self._add_code("language", language)
        for name, value in sample.meta.items():
            word = _to_field_value(value)
            if word:
                self._add_code(f"meta.{name}", word)
        self.rows += 1
        for codes in self.codes.values():
            if len(codes.column) < self.rows:
                codes.column.append(0)

    def _add_code(self, name: str, word: str) -> None:
        codes = self.codes.get(name)
        if codes is None:
            codes = self.codes[name] = _Codes()
            codes.column.frombytes(bytes(2 * self.rows))  # none in the rows so far
        if not codes.is_full and len(codes.column) == self.rows:
            codes.add(word, MAX_FIELD_VALUES)

    def _mark_verdicts(self, score: Score) -> int:
        bits = 0
        for finding in score.findings:
            verdict = finding.verdict
            if verdict not in self.verdicts and len(self.verdicts) < MAX_VERDICTS:
                self.verdicts[verdict] = len(self.verdicts)
            if verdict in self.verdicts:
                bits |= 1 << self.verdicts[verdict]
        return bits


def build_index(
    run: StoredRun, folder: Path, stamp: int, on_progress: Callable[[int], bool]
) -> None:
    """Build the index of a run into a folder, whole or not at all.

    `on_progress` is told how many samples are in and says whether to continue. `stamp` says which state of the run it is
    of."""
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        make_private_folder(draft)
        columns = _read_rows(run, draft, on_progress)
        _write_columns(columns, draft)
        _write_facts(columns, draft, stamp)
        _put_in_place(draft, folder)
    except OSError as fault:
        raise StoreError(
            f"cannot write the index {str(folder)!r} ({fault.strerror}); make room or make the folder writable"
        ) from None
    except sqlite3.Error as fault:
        raise StoreError(f"cannot write the index {str(folder)!r}: {fault}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _put_in_place(draft: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        draft.rename(folder)
    except OSError:
        # a second viewer of the store may have put its own there in between; it is of the same run
        if not (folder / FACTS_FILE).exists():
            raise


def _read_rows(run: StoredRun, draft: Path, on_progress: Callable[[int], bool]) -> _Columns:
    columns = _Columns(tuple(str(metric["name"]) for metric in run.info.metrics))
    deciders = choose_deciders(run.info.metrics, find_scales(run), {})
    server = run.store.open_texts(run.id)
    texts = sqlite3.connect(draft / TEXTS_FILE, isolation_level=None, check_same_thread=False)
    try:
        # nothing is lost if the machine stops meanwhile: a draft is thrown away
        texts.execute("PRAGMA journal_mode = OFF")
        texts.execute("PRAGMA synchronous = OFF")
        texts.execute("BEGIN")
        texts.execute(_CREATE_ROWS)
        if server is None:
            texts.execute(_CREATE_TEXTS)
        else:
            server.prepare()
        batch: list[StoredRow] = []
        for row in run.rows():
            kind = classify(row.sample, row.scores, deciders, position=row.position).kind
            columns.add(row.sample, row.scores, kind, find_language(row.sample))
            batch.append(row)
            if len(batch) == BATCH_ROWS:
                _write_texts(texts, batch, server)
                batch.clear()
                if not on_progress(columns.rows):
                    raise IndexStopped
        _write_texts(texts, batch, server)
        texts.execute("CREATE INDEX rows_by_id ON rows (id)")
        if server is None:
            texts.execute("INSERT INTO texts(texts) VALUES ('optimize')")
        texts.execute("COMMIT")
    finally:
        texts.close()
    return columns


def _write_texts(
    texts: sqlite3.Connection, batch: Iterable[StoredRow], server: ServerTexts | None
) -> None:
    rows, searched = [], []
    for row in batch:
        sample = row.sample
        question = _clean(sample.question)
        id = _clean(row.id)
        rows.append((row.position, id, shorten(question, TITLE_CHARS)))
        answer = _clean(sample.answer or sample.error)
        searched.append((row.position, (id, question, answer, _clean(sample.reference))))
    texts.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
    if server is not None:
        server.save(searched)
        return
    texts.executemany(
        "INSERT INTO texts(rowid, id, question, answer, reference) VALUES (?, ?, ?, ?, ?)",
        ((position, *fields) for position, fields in searched),
    )


def _clean(text: str | None) -> str:
    # SQLite takes no lone surrogates, which texts under test may hold
    return (text or "").encode("utf-8", "replace").decode("utf-8")


def _write_columns(columns: _Columns, draft: Path) -> None:
    import numpy as np

    for number, name in enumerate(columns.metrics):
        values = np.frombuffer(columns.values.get(name, array("d")), dtype=np.float64)
        np.save(draft / f"{VALUE_COLUMN.format(number)}.npy", values)
        # stable, so that equal values stay in the order of the data; what has no value comes last
        order = np.argsort(values, kind="stable").astype(np.uint32)
        np.save(draft / f"{ORDER_COLUMN.format(number)}.npy", order)
    for number, codes in enumerate(_list_codes(columns).values()):
        column = np.frombuffer(codes.column, dtype=np.uint16)
        small = len(codes.numbers) < 256
        np.save(
            draft / f"{CODE_COLUMN.format(number)}.npy",
            column.astype(np.uint8) if small else column,
        )
    np.save(draft / f"{VERDICT_COLUMN}.npy", np.frombuffer(columns.verdict_bits, dtype=np.uint64))


def _list_codes(columns: _Columns) -> dict[str, _Codes]:
    return {name: codes for name, codes in columns.codes.items() if not codes.is_full}


def _write_facts(columns: _Columns, draft: Path, stamp: int) -> None:
    facts = {
        "version": INDEX_VERSION,
        "stamp": stamp,
        "rows": columns.rows,
        "metrics": columns.metrics,
        "codes": {name: list(codes.numbers) for name, codes in _list_codes(columns).items()},
        "verdicts": list(columns.verdicts),
    }
    (draft / FACTS_FILE).write_text(json.dumps(facts), encoding="ascii")


def _to_field_value(value: Any) -> str:
    """A value of the data that a filter can offer: a short text, a number that counts, yes or no."""
    if isinstance(value, bool):
        return str(value)  # as slices of failures name it
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and len(value) <= MAX_FIELD_CHARS:
        return re.sub(r"\s+", " ", value).strip()
    return ""
