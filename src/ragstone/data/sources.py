"""Files into row texts: jsonl, JSON documents, CSV and parquet, each row with its line.

A container yields `(line, text)`, where the text is one JSON document, or `(line, Refused(why))`."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ragstone.data.json_rows import split_rows
from ragstone.errors import DataError, MissingExtra, nearest

SPOOL_MEMORY_BYTES = 8 << 20
"""Bytes of a stream kept in memory before it goes to a temporary file."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """Why there is no row here, and what to do."""

    why: str


RawRow = tuple[int | str, str | RejectedRow]
"""The line (or the whole place) and the row's text."""


@dataclass(frozen=True, slots=True)
class RowSource:
    """Something that can be read again and again, row by row."""

    shown: str
    rows: Callable[[], Iterator[RawRow]]
    cells: str = ""
    """How lists stand in columns: "csv" (all cells are texts), "table" (texts may hold lists)."""
    line_format: str = ""
    """What the source is when it is made of lines instead of rows with columns."""
    is_native: bool = False
    """Whether the rows were written from Samples: their columns are ours, whatever else they may fit."""


def open_source(source: str) -> RowSource:
    """The container that a path or `-` names, by its ending and its first bytes."""
    if source == "-":
        spooled = _spool(sys.stdin.buffer)
        return _detect_source("-", ReopenableFile(source, spooled))
    path = check_path(source)
    if not path.is_file():  # a pipe: it can be read only once
        with translate_errors(source), path.open("rb") as stream:
            return _detect_source(source, ReopenableFile(source, _spool(stream)))
    return _detect_source(source, ReopenableFile(source))


def check_path(source: str) -> Path:
    """The path, if something readable is there."""
    path = Path(source)
    with translate_errors(source):
        path.stat()
        if path.is_file():  # a pipe must be opened once only
            path.open("rb").close()
    return path


@contextmanager
def translate_errors(source: str) -> Iterator[None]:
    """What the system says about a file, as one sentence for the user."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"no file {source!r}{_suggest_sibling(source)}") from None
    except PermissionError:
        raise DataError(f"no permission to read {source!r}; change its rights (chmod +r)") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as bad:
        raise DataError(f"{source!r} is a damaged gzip file ({bad}); pack it again") from None
    except OSError as bad:
        raise DataError(f"cannot read {source!r}: {bad.strerror or bad}") from None
    except ValueError as bad:
        if "null byte" not in str(bad):
            raise
        raise DataError(f"{source!r} is not the name of a file; check it") from None


def iter_lines(opened: Callable[[], IO[bytes]], shown: str) -> Iterator[tuple[int, str | RejectedRow]]:
    """Numbered lines without the blank ones; only a line feed ends a line, U+2028 does not."""
    with translate_errors(shown), opened() as stream:
        number = 0
        for raw in stream:
            number += 1
            if number == 1:
                raw = strip_bom(raw, shown)
            raw = raw.strip()
            if not raw:
                continue
            try:
                yield number, raw.decode()
            except UnicodeDecodeError as bad:
                yield number, RejectedRow(describe_utf8_error(bad))


class ReopenableFile:
    """A file, or a spooled stream, that opens from its start each time, unpacked."""

    def __init__(self, source: str, spool: IO[bytes] | None = None) -> None:
        self.source = source
        self.spool = spool
        with translate_errors(source):
            with self.raw() as stream:
                self.is_gzip = stream.read(2) == b"\x1f\x8b"
            with self() as stream:
                self.head = stream.read(1 << 16)

    def __call__(self) -> IO[bytes]:
        raw = self.raw()
        if not self.is_gzip:
            return raw
        return io.BufferedReader(_GzipReader(raw))

    def raw(self) -> IO[bytes]:
        if self.spool is None:
            return open(self.source, "rb")
        return io.BufferedReader(_SpoolReader(self.spool))


class _GzipReader(gzip.GzipFile):
    """A gzip stream that closes the file below it, too."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self._below = raw

    def close(self) -> None:
        super().close()
        self._below.close()


class _SpoolReader(io.RawIOBase):
    """One more reader of a spooled stream, with a place of its own."""

    def __init__(self, spool: IO[bytes]) -> None:
        self._spool = spool
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._spool.seek(self._at)
        data = self._spool.read(len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def open_spool() -> IO[bytes]:
    """A temporary file that stays in memory while it is small."""
    return tempfile.SpooledTemporaryFile(max_size=SPOOL_MEMORY_BYTES)


def _spool(stream: IO[bytes]) -> IO[bytes]:
    spool = open_spool()
    while piece := stream.read(1 << 20):
        spool.write(piece)
    return spool


def _detect_source(source: str, opened: ReopenableFile) -> RowSource:
    head = strip_bom(opened.head, source).lstrip()
    name = source.lower().removesuffix(".gz")
    if head[:4] == b"PAR1" or name.endswith((".parquet", ".pq")):
        return RowSource(source, lambda: _read_parquet(source, opened), "table")
    if not head:
        raise DataError(f"{source!r} is empty; give a file with one row or more")
    starts_json = head[:1] in (b"{", b"[")
    if name.endswith((".csv", ".tsv")) or (
        not starts_json and not name.endswith((".json", ".jsonl", ".ndjson"))
    ):
        if b"\x00" in head:
            raise DataError(f"{source!r} is binary; give jsonl, json, csv or parquet")
        return RowSource(source, lambda: _read_csv(source, opened), "csv")
    if head[:1] == b"[" or (not name.endswith((".jsonl", ".ndjson")) and not _is_jsonl(head)):
        return RowSource(source, lambda: _read_json(source, opened))
    return RowSource(source, lambda: iter_lines(opened, source))


def _is_jsonl(head: bytes) -> bool:
    """Whether the first line is a whole JSON document and more follows, as in jsonl."""
    first, _, rest = head.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip())


def _read_json(source: str, opened: ReopenableFile) -> Iterator[RawRow]:
    with translate_errors(source), opened() as stream:
        data = strip_bom(stream.read(), source)
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        raise DataError(f"{source}:{line}: {describe_utf8_error(bad)}") from None
    del data
    yield from split_rows(text, source)


def _read_csv(source: str, opened: ReopenableFile) -> Iterator[RawRow]:
    csv.field_size_limit(1 << 30)  # the default refuses cells over 128 KB, which documents exceed
    faults: list[str] = []

    def decoded(stream: IO[bytes]) -> Iterator[str]:
        for number, raw in enumerate(stream, 1):
            line = strip_bom(raw, source) if number == 1 else raw
            try:
                yield line.decode()
            except UnicodeDecodeError as bad:
                faults.append(describe_utf8_error(bad))
                yield line.decode(errors="replace")

    with translate_errors(source), opened() as stream:
        reader = csv.reader(decoded(stream), delimiter=_detect_delimiter(opened.head), strict=True)
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as bad:
                why = f"not CSV ({bad}); put quotes around the cell and double those inside"
                yield line, RejectedRow(why)
                return
            if not any(values):
                continue
            if header is None:
                header = _check_header(values, f"{source}:{line}", faults)
            elif faults:
                yield line, RejectedRow(faults[0])
                faults.clear()
            elif len(values) != len(header):
                yield (
                    line,
                    RejectedRow(
                        f"{len(values)} cells under {len(header)} columns; "
                        "put quotes around cells with commas or line breaks"
                    ),
                )
            else:
                yield line, json.dumps(dict(zip(header, values, strict=True)), ensure_ascii=False)


def _check_header(names: list[str], where: str, faults: list[str]) -> list[str]:
    if faults:
        raise DataError(f"{where}: {faults[0]}")
    names = [name.strip() for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{where}: the column {twice!r} stands twice; rename one")
    return names


def _detect_delimiter(head: bytes) -> str:
    """Comma, semicolon or tab: the one that the header line has most of."""
    header = head.partition(b"\n")[0]
    return max(",;\t", key=lambda mark: header.count(mark.encode()))


def _read_parquet(source: str, opened: ReopenableFile) -> Iterator[RawRow]:
    from ragstone.data.objects import to_row_text

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading parquet", "parquet") from None
    try:
        with translate_errors(source), opened.raw() as stream:
            seekable = stream if opened.spool is None else io.BytesIO(stream.read())
            number = 0
            for batch in pyarrow.parquet.ParquetFile(seekable).iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{source}: row {number}", to_row_text(row)
    except pyarrow.ArrowException as bad:
        first = str(bad).splitlines()[0] if str(bad) else type(bad).__name__
        raise DataError(f"{source!r} is not a parquet file that can be read: {first}") from None


def strip_bom(head: bytes, shown: str) -> bytes:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{shown!r} is UTF-16; re-encode it: iconv -f UTF-16 -t UTF-8 {shown} > utf8.jsonl"
        )
    return head.removeprefix(b"\xef\xbb\xbf")


def describe_utf8_error(bad: UnicodeDecodeError) -> str:
    return (
        f"not UTF-8 at byte {bad.start + 1} (0x{bad.object[bad.start]:02x}); "
        "re-encode the file: iconv -f LATIN1 -t UTF-8"
    )


def _suggest_sibling(source: str) -> str:
    """A file beside it with nearly that name, if there is one."""
    try:
        names = [found.name for found in Path(source).parent.iterdir()]
    except OSError:
        return "; check the path"
    hint = nearest(Path(source).name, names)
    return hint if "did you mean" in hint else "; check the path"
