"""Size limits of input: a row, its columns, and what packed files unpack to. A file can be small and what it stands for endless."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO

from ragstone.errors import DataError

MAX_ROW_BYTES = 64 << 20
"""Size of one row, or of one line of a document file."""
MAX_COLUMNS = 10_000
"""Columns of one row."""
MAX_ARCHIVE_BYTES = 200 << 20
"""Unpacked size of a packed document (docx, xlsx), which is held in memory."""
MAX_STREAM_BYTES = 256 << 20
"""Unpacked size up to which a packed stream of rows may have any ratio."""
MAX_STREAM_RATIO = 100
"""Unpacked ÷ packed size of a larger stream of rows: texts pack 3 to 50 times, a bomb 200 to 1,000 times."""

ROW_TOO_LONG = f"the row is longer than {MAX_ROW_BYTES >> 20} MB; shorten its texts, or split it"


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines of a stream; None stands for one over MAX_ROW_BYTES, of which little is held in memory."""
    for line in iter(partial(stream.readline, MAX_ROW_BYTES), b""):
        if len(line) < MAX_ROW_BYTES or line.endswith(b"\n"):
            yield line
            continue
        del line
        while (part := stream.readline(1 << 20)) and not part.endswith(b"\n"):
            pass
        yield None


def describe_columns(count: int) -> str:
    """What is wrong with a row of too many columns."""
    return f"{count:,} columns, more than {MAX_COLUMNS:,}; keep those of a sample and put the rest elsewhere"


def check_archive(archive: zipfile.ZipFile, name: str) -> None:
    """Refuse a zip file that unpacks to too much; zipfile itself never unpacks more than a member declares."""
    size = sum(member.file_size for member in archive.infolist())
    if size > MAX_ARCHIVE_BYTES:
        raise DataError(
            f"{name} unpacks to {size >> 20:,} MB, more than {MAX_ARCHIVE_BYTES >> 20}; split it, or save its text"
        )


def check_unpacked(unpacked: int, packed: int, name: str) -> None:
    """Refuse a packed stream of rows that grows out of proportion."""
    if unpacked > max(MAX_STREAM_BYTES, MAX_STREAM_RATIO * packed):
        raise DataError(
            f"{name!r} unpacks to more than {MAX_STREAM_RATIO} times its size; if you trust it, unpack it first"
        )


def shorten_names(names: Iterable[str], limit: int = 40) -> str:
    """The names for a message, at most `limit` of them."""
    listed = list(names)
    more = f", … and {len(listed) - limit:,} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more
