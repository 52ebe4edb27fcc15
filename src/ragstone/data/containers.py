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

from ragstone.data.document import rows_inside
from ragstone.errors import DataError, MissingExtra, nearest

SPOOL_MEMORY = 8 << 20
"""Bytes of a stream kept in memory before it goes to a temporary file."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why there is no row here, and what to do."""

    why: str


Raw = tuple[int | str, str | Refused]
"""The line (or the whole place) and the row's text."""


@dataclass(frozen=True, slots=True)
class Container:
    """Something that can be read again and again, row by row."""

    shown: str
    rows: Callable[[], Iterator[Raw]]
    cells: str = ""
    """How lists stand in columns: "csv" (all cells are texts), "table" (texts may hold lists)."""
    lines: str = ""
    """What the source is when it is made of lines instead of rows with columns."""
    own: bool = False
    """Whether the rows were written from Samples: their columns are ours, whatever else they may fit."""


def container(source: str) -> Container:
    """The container that a path or `-` names, by its ending and its first bytes."""
    if source == "-":
        spooled = _spool(sys.stdin.buffer)
        return _sniffed("-", Opened(source, spooled))
    path = checked_path(source)
    if not path.is_file():  # a pipe: it can be read only once
        with problems(source), path.open("rb") as stream:
            return _sniffed(source, Opened(source, _spool(stream)))
    return _sniffed(source, Opened(source))


def checked_path(source: str) -> Path:
    """The path, if something readable is there."""
    path = Path(source)
    with problems(source):
        path.stat()
        if path.is_file():  # a pipe must be opened once only
            path.open("rb").close()
    return path


@contextmanager
def problems(source: str) -> Iterator[None]:
    """What the system says about a file, as one sentence for the user."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"no file {source!r}{_siblings(source)}") from None
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


def lines(opened: Callable[[], IO[bytes]], shown: str) -> Iterator[tuple[int, str | Refused]]:
    """Numbered lines without the blank ones; only a line feed ends a line, U+2028 does not."""
    with problems(shown), opened() as stream:
        number = 0
        for raw in stream:
            number += 1
            if number == 1:
                raw = without_bom(raw, shown)
            raw = raw.strip()
            if not raw:
                continue
            try:
                yield number, raw.decode()
            except UnicodeDecodeError as bad:
                yield number, Refused(not_utf8(bad))


class Opened:
    """A file, or a spooled stream, that opens from its start each time, unpacked."""

    def __init__(self, source: str, spool: IO[bytes] | None = None) -> None:
        self.source = source
        self.spool = spool
        with problems(source):
            with self.raw() as stream:
                self.packed = stream.read(2) == b"\x1f\x8b"
            with self() as stream:
                self.head = stream.read(1 << 16)

    def __call__(self) -> IO[bytes]:
        raw = self.raw()
        if not self.packed:
            return raw
        return io.BufferedReader(_Unpacked(raw))

    def raw(self) -> IO[bytes]:
        if self.spool is None:
            return open(self.source, "rb")
        return io.BufferedReader(_Again(self.spool))


class _Unpacked(gzip.GzipFile):
    """A gzip stream that closes the file below it, too."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self._below = raw

    def close(self) -> None:
        super().close()
        self._below.close()


class _Again(io.RawIOBase):
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


def spool_file() -> IO[bytes]:
    """A temporary file that stays in memory while it is small."""
    return tempfile.SpooledTemporaryFile(max_size=SPOOL_MEMORY)


def _spool(stream: IO[bytes]) -> IO[bytes]:
    spool = spool_file()
    while piece := stream.read(1 << 20):
        spool.write(piece)
    return spool


def _sniffed(source: str, opened: Opened) -> Container:
    head = without_bom(opened.head, source).lstrip()
    name = source.lower().removesuffix(".gz")
    if head[:4] == b"PAR1" or name.endswith((".parquet", ".pq")):
        return Container(source, lambda: _parquet(source, opened), "table")
    if not head:
        raise DataError(f"{source!r} is empty; give a file with one row or more")
    starts_json = head[:1] in (b"{", b"[")
    if name.endswith((".csv", ".tsv")) or (
        not starts_json and not name.endswith((".json", ".jsonl", ".ndjson"))
    ):
        if b"\x00" in head:
            raise DataError(f"{source!r} is binary; give jsonl, json, csv or parquet")
        return Container(source, lambda: _csv(source, opened), "csv")
    if head[:1] == b"[" or (not name.endswith((".jsonl", ".ndjson")) and not _one_a_line(head)):
        return Container(source, lambda: _document(source, opened))
    return Container(source, lambda: lines(opened, source))


def _one_a_line(head: bytes) -> bool:
    """Whether the first line is a whole JSON document and more follows, as in jsonl."""
    first, _, rest = head.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip())


def _document(source: str, opened: Opened) -> Iterator[Raw]:
    with problems(source), opened() as stream:
        data = without_bom(stream.read(), source)
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        raise DataError(f"{source}:{line}: {not_utf8(bad)}") from None
    del data
    yield from rows_inside(text, source)


def _csv(source: str, opened: Opened) -> Iterator[Raw]:
    csv.field_size_limit(1 << 30)  # the default refuses cells over 128 KB, which documents exceed
    faults: list[str] = []

    def decoded(stream: IO[bytes]) -> Iterator[str]:
        for number, raw in enumerate(stream, 1):
            line = without_bom(raw, source) if number == 1 else raw
            try:
                yield line.decode()
            except UnicodeDecodeError as bad:
                faults.append(not_utf8(bad))
                yield line.decode(errors="replace")

    with problems(source), opened() as stream:
        reader = csv.reader(decoded(stream), delimiter=_delimiter(opened.head), strict=True)
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as bad:
                why = f"not CSV ({bad}); put quotes around the cell and double those inside"
                yield line, Refused(why)
                return
            if not any(values):
                continue
            if header is None:
                header = _header(values, f"{source}:{line}", faults)
            elif faults:
                yield line, Refused(faults[0])
                faults.clear()
            elif len(values) != len(header):
                yield (
                    line,
                    Refused(
                        f"{len(values)} cells under {len(header)} columns; "
                        "put quotes around cells with commas or line breaks"
                    ),
                )
            else:
                yield line, json.dumps(dict(zip(header, values, strict=True)), ensure_ascii=False)


def _header(names: list[str], where: str, faults: list[str]) -> list[str]:
    if faults:
        raise DataError(f"{where}: {faults[0]}")
    names = [name.strip() for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{where}: the column {twice!r} stands twice; rename one")
    return names


def _delimiter(head: bytes) -> str:
    """Comma, semicolon or tab: the one that the header line has most of."""
    header = head.partition(b"\n")[0]
    return max(",;\t", key=lambda mark: header.count(mark.encode()))


def _parquet(source: str, opened: Opened) -> Iterator[Raw]:
    from ragstone.data.objects import text_of_object

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading parquet", "parquet") from None
    try:
        with problems(source), opened.raw() as stream:
            seekable = stream if opened.spool is None else io.BytesIO(stream.read())
            number = 0
            for batch in pyarrow.parquet.ParquetFile(seekable).iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{source}: row {number}", text_of_object(row)
    except pyarrow.ArrowException as bad:
        first = str(bad).splitlines()[0] if str(bad) else type(bad).__name__
        raise DataError(f"{source!r} is not a parquet file that can be read: {first}") from None


def without_bom(head: bytes, shown: str) -> bytes:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{shown!r} is UTF-16; re-encode it: iconv -f UTF-16 -t UTF-8 {shown} > utf8.jsonl"
        )
    return head.removeprefix(b"\xef\xbb\xbf")


def not_utf8(bad: UnicodeDecodeError) -> str:
    return (
        f"not UTF-8 at byte {bad.start + 1} (0x{bad.object[bad.start]:02x}); "
        "re-encode the file: iconv -f LATIN1 -t UTF-8"
    )


def _siblings(source: str) -> str:
    """A file beside it with nearly that name, if there is one."""
    try:
        names = [found.name for found in Path(source).parent.iterdir()]
    except OSError:
        return "; check the path"
    hint = nearest(Path(source).name, names)
    return hint if "did you mean" in hint else "; check the path"
