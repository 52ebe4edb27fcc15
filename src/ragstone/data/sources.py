"""Row sources: jsonl, JSON documents, CSV and parquet files as JSON texts, one a row.

A source yields `(line, text)` for each row, or `(line, RejectedRow(reason))` where the row cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ragstone.data.formats.promptfoo import is_promptfoo_table, number_repeated
from ragstone.data.formulas import unescape_formula
from ragstone.data.json_rows import split_rows
from ragstone.data.limits import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    MAX_STREAM_BYTES,
    ROW_TOO_LONG,
    check_unpacked,
    describe_columns,
    read_lines,
)
from ragstone.data.parquet_reader import read_parquet
from ragstone.errors import DataError, suggest_nearest

SPOOL_MEMORY_BYTES = 8 << 20
"""Size up to which a spooled stream stays in memory; a larger one goes to a temporary file."""


READ_BYTES = 1 << 18
"""Bytes of a file that are read at once."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that cannot be read: what is wrong and how to correct it."""

    reason: str


RawRow = tuple[int | str, str | RejectedRow]
"""The line number (or a complete location) and the row's JSON text."""


@dataclass(frozen=True, slots=True)
class RowSource:
    """A sequence of raw rows that can be read several times."""

    name: str
    """As shown to the user."""
    rows: Callable[[], Iterator[RawRow]]
    cell_style: str = ""
    """How columns hold lists: "csv" (every cell is a text), "table" (a text may hold a list), "" (as JSON lists)."""
    line_format: str = ""
    """Display name of a format made of lines instead of columns, such as TREC; else empty."""
    is_native: bool = False
    """Whether the rows were made from Samples, so that their columns need no detection."""
    notes: list[str] = field(default_factory=list)
    """What the latest iteration of the rows skipped, one sentence each."""


def open_source(source: str) -> RowSource:
    """Open a path, or `-` for standard input, as the file type that its suffix and first bytes show."""
    if source == "-":
        spooled = _spool_stream(sys.stdin.buffer)
        return _detect_source("-", ReopenableFile(source, spooled))
    path = check_path(source)
    if not path.is_file():  # a pipe: it can be read only once
        with translate_errors(source), path.open("rb") as stream:
            return _detect_source(source, ReopenableFile(source, _spool_stream(stream)))
    return _detect_source(source, ReopenableFile(source))


def check_path(source: str) -> Path:
    """Return the path after checking that it can be read."""
    path = Path(source)
    with translate_errors(source):
        path.stat()
        if path.is_file():  # opening a pipe here would consume it
            path.open("rb").close()
    return path


@contextmanager
def translate_errors(source: str) -> Iterator[None]:
    """Turn errors of the operating system into DataErrors that name the file and the remedy."""
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
        if "null" not in str(bad):  # "embedded null byte", since Python 3.13 "null character"
            raise
        raise DataError(f"{source!r} is not the name of a file; check it") from None


def iter_lines(
    open_file: Callable[[], IO[bytes]], name: str
) -> Iterator[tuple[int, str | RejectedRow]]:
    """Yield numbered lines without the blank ones; only a line feed ends a line, U+2028 does not."""
    with translate_errors(name), open_file() as stream:
        lines = read_lines(stream)
        first = next(lines, b"")
        first = first and strip_bom(first, name)
        yield from decode_lines(enumerate(chain((first,), lines), 1))


def decode_lines(
    numbered: Iterable[tuple[int, bytes | None]],
) -> Iterator[tuple[int, str | RejectedRow]]:
    """Yield the lines as text, without the blank ones; None stands for one that is too long."""
    for number, raw in numbered:
        if raw is None:
            yield number, RejectedRow(ROW_TOO_LONG)
            continue
        line = raw.strip()
        if line:
            try:
                yield number, line.decode()
            except UnicodeDecodeError as bad:
                yield number, RejectedRow(describe_utf8_error(bad))


class ReopenableFile:
    """A file or spooled stream that can be opened several times; calling it opens it decompressed."""

    def __init__(self, source: str, spool: IO[bytes] | None = None) -> None:
        self.source = source
        self.spool = spool
        with translate_errors(source):
            with self.open_raw() as stream:
                self.is_gzip = stream.read(2) == b"\x1f\x8b"
            with self() as stream:
                self.head = stream.read(1 << 16)

    def __call__(self) -> IO[bytes]:
        raw = self.open_raw()
        if not self.is_gzip:
            return raw
        return io.BufferedReader(_GzipReader(raw, self.source))

    def open_raw(self) -> IO[bytes]:
        """Open the bytes as they are stored, compressed or not."""
        if self.spool is None:
            # each filling of the buffer lets other threads run first, which takes them milliseconds
            return open(self.source, "rb", buffering=READ_BYTES)
        return io.BufferedReader(_SpoolReader(self.spool))


class _GzipReader(gzip.GzipFile):
    """A gzip stream that grows in proportion only, and also closes the compressed file."""

    def __init__(self, raw: IO[bytes], source: str) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self._compressed_file = raw
        self._source = source
        self._unpacked = 0

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        self._unpacked += count
        if self._unpacked > MAX_STREAM_BYTES:
            check_unpacked(self._unpacked, self._compressed_file.tell(), self._source)
        return count

    def close(self) -> None:
        super().close()
        self._compressed_file.close()


class _SpoolReader(io.RawIOBase):
    """A reader of a spooled stream with its own position, so that several can read one spool."""

    def __init__(self, spool: IO[bytes]) -> None:
        self._spool = spool
        self._position = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        self._spool.seek(self._position)
        data = self._spool.read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def open_spool() -> IO[bytes]:
    """Open a temporary file that stays in memory while it is small."""
    return tempfile.SpooledTemporaryFile(max_size=SPOOL_MEMORY_BYTES)


def _spool_stream(stream: IO[bytes]) -> IO[bytes]:
    spool = open_spool()
    while block := stream.read(1 << 20):
        spool.write(block)
    return spool


def _detect_source(source: str, file: ReopenableFile) -> RowSource:
    head = strip_bom(file.head, source).lstrip()
    name = source.lower().removesuffix(".gz")
    if head[:4] == b"PAR1" or name.endswith((".parquet", ".pq")):
        return RowSource(source, lambda: _read_parquet(source, file), "table")
    if not head:
        raise DataError(f"{source!r} is empty; give a file with one row or more")
    # content decides for unknown suffixes
    starts_json = head[:1] in (b"{", b"[")
    if name.endswith((".csv", ".tsv")) or (
        not starts_json and not name.endswith((".json", ".jsonl", ".ndjson"))
    ):
        if b"\x00" in head:
            raise DataError(f"{source!r} is binary; give jsonl, json, csv or parquet")
        return RowSource(source, lambda: _read_csv(source, file), "csv")
    if head[:1] == b"[" or (not name.endswith((".jsonl", ".ndjson")) and not _is_jsonl(head)):
        return RowSource(source, lambda: _read_json(source, file))
    return RowSource(source, lambda: iter_lines(file, source))


def _is_jsonl(head: bytes) -> bool:
    """Whether the first line is a complete JSON document and more follows."""
    first, _, rest = head.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip())


def _read_json(source: str, file: ReopenableFile) -> Iterator[RawRow]:
    with translate_errors(source), file() as stream:
        # in parts: a whole read would pass by the check of what a gzip file unpacks to
        data = strip_bom(b"".join(iter(partial(stream.read, 1 << 20), b"")), source)
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        raise DataError(f"{source}:{line}: {describe_utf8_error(bad)}") from None
    del data  # the decoded text is a second copy of the file
    yield from split_rows(text, source)


def _read_csv(source: str, file: ReopenableFile) -> Iterator[RawRow]:
    # the default rejects cells over 128 KB, which documents exceed
    csv.field_size_limit(MAX_ROW_BYTES)
    decode_errors: list[str] = []  # of the lines that belong to the current row
    row_bytes = 0

    def decode_stream(stream: IO[bytes]) -> Iterator[str]:
        nonlocal row_bytes
        for number, raw in enumerate(read_lines(stream), 1):
            row_bytes += len(raw or b"")
            # also when no line is: a cell in quotes may have many
            if raw is None or row_bytes > MAX_ROW_BYTES:
                raise _RowTooLong
            line = strip_bom(raw, source) if number == 1 else raw
            try:
                yield line.decode()
            except UnicodeDecodeError as bad:
                decode_errors.append(describe_utf8_error(bad))
                yield line.decode(errors="replace")

    with translate_errors(source), file() as stream:
        reader = csv.reader(
            decode_stream(stream), delimiter=_detect_delimiter(file.head), strict=True
        )
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1
            row_bytes = 0
            try:
                values = next(reader)
            except StopIteration:
                return
            except _RowTooLong:
                yield line, RejectedRow(f"{ROW_TOO_LONG}; nothing after it is read")
                return  # where it ends depends on its quotes
            except csv.Error as bad:
                reason = f"not CSV ({bad}); put quotes around the cell and double those inside"
                yield line, RejectedRow(reason)
                return  # the reader cannot tell where the next row starts
            if not any(values):
                continue
            values = [unescape_formula(value) for value in values]
            if header is None:
                header = _check_header(values, f"{source}:{line}", decode_errors)
            elif decode_errors:
                yield line, RejectedRow(decode_errors[0])
                decode_errors.clear()
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


def _check_header(names: list[str], where: str, decode_errors: list[str]) -> list[str]:
    if decode_errors:
        raise DataError(f"{where}: {decode_errors[0]}")
    if len(names) > MAX_COLUMNS:
        raise DataError(f"{where}: {describe_columns(len(names))}")
    names = [name.strip() for name in names]
    if is_promptfoo_table(names):
        return number_repeated(names)
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise DataError(f"{where}: the column {duplicate!r} stands twice; rename one")
    return names


class _RowTooLong(Exception):
    """Ends the reading of a CSV file; not an error of csv, whose reader would not pass it on."""


def _detect_delimiter(head: bytes) -> str:
    """Choose comma, semicolon or tab: whichever is most frequent in the header line."""
    # the header alone: texts below it are full of commas
    header = head.partition(b"\n")[0]
    return max(",;\t", key=lambda mark: header.count(mark.encode()))


def _read_parquet(source: str, file: ReopenableFile) -> Iterator[RawRow]:
    with translate_errors(source), file.open_raw() as stream:
        # parquet is read from its end; a spool reader cannot seek
        seekable = stream if file.spool is None else io.BytesIO(stream.read())
        for number, row in enumerate(read_parquet(source, seekable), 1):
            yield f"{source}: row {number}", to_table_row(row)


def to_table_row(row: dict[str, Any] | str) -> str | RejectedRow:
    """Convert what `read_parquet` yields to the JSON text of a row."""
    from ragstone.data.objects import to_row_text  # imports this module

    return RejectedRow(row) if isinstance(row, str) else to_row_text(row)


def to_rejected_row(error: str) -> RawRow:
    """Convert an entry of `Dataset.bad`, `location: reason`, back to a rejected row."""
    location, _, reason = error.partition(": ")
    return location, RejectedRow(reason)


def strip_bom(head: bytes, name: str) -> bytes:
    """Remove a UTF-8 byte order mark; UTF-16 is an error."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{name!r} is UTF-16; re-encode it: iconv -f UTF-16 -t UTF-8 {name} > utf8.jsonl"
        )
    return head.removeprefix(b"\xef\xbb\xbf")


def describe_utf8_error(bad: UnicodeDecodeError) -> str:
    """Format the place of the wrong byte and the remedy."""
    return (
        f"not UTF-8 at byte {bad.start + 1} (0x{bad.object[bad.start]:02x}); "
        "re-encode the file: iconv -f LATIN1 -t UTF-8"
    )


def _suggest_sibling(source: str) -> str:
    """Suggest a file of the same folder with a similar name."""
    try:
        names = [sibling.name for sibling in Path(source).parent.iterdir()]
    except OSError:
        return "; check the path"
    hint = suggest_nearest(Path(source).name, names)
    return hint if "did you mean" in hint else "; check the path"
