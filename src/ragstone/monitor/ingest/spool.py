"""A directory of JSON-lines files for rows that the store cannot take now; several processes may share it.

Each process writes to one file, which nobody else writes, and holds a lock on it. A file is read once it is closed, or once nobody holds its lock
because its process died. A row that is read twice is stored once, because interactions are identified by their ids."""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

MAX_FILE_BYTES = 8_000_000
"""Bytes after which a file is closed, so that it can be read while the next one is written."""

OPEN_SUFFIX, CLOSED_SUFFIX = ".part", ".jsonl"

ORPHAN_SECONDS = 600
"""Without file locks (Windows), a file not modified for so long counts as orphaned."""


class SpoolFull(Exception):
    """The spool has reached its size limit, or cannot be written."""


class Spool:
    """Rows on disk, in files that are deleted once they were stored."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = most_bytes
        self._lock = threading.Lock()
        self._file: tuple[int, Path] | None = None
        """Descriptor and path of the file that this process writes."""

    def append(self, rows: Sequence[dict[str, Any]], *, sync: bool = True) -> None:
        """Append rows to this process's file; with `sync`, they are on disk on return."""
        lines = (json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n" for row in rows)
        data = "".join(lines).encode("ascii")
        with self._lock:
            try:
                # the limit is for all processes together: they share the disk
                if self.size() + len(data) > self.max_bytes:
                    raise SpoolFull(f"the spool {str(self.folder)!r} is full")
                descriptor = self._ensure_open()
                self._write_all(descriptor, data, sync)
                if os.fstat(descriptor).st_size >= MAX_FILE_BYTES:
                    self._close_file()
            except OSError as error:
                message = f"cannot write to the spool {str(self.folder)!r}: {error}"
                raise SpoolFull(message) from None

    def collect_files(self) -> list[Path]:
        """Files that can be read, oldest first; the file that this process writes is closed for it."""
        with self._lock:
            self._close_file()
        if not self.folder.is_dir():
            return []
        for path in self.folder.glob(f"*{OPEN_SUFFIX}"):
            _adopt_orphan(path)
        return sorted(self.folder.glob(f"*{CLOSED_SUFFIX}"), key=_get_modified_time)

    @staticmethod
    def read_rows(file: Path) -> Iterator[dict[str, Any] | None]:
        """The rows of a file; None for a damaged line. An incomplete last line is skipped: its write was never acknowledged."""
        try:
            lines = file.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:  # another process was faster
            return
        for line in lines:
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            yield row if isinstance(row, dict) else None

    def size(self) -> int:
        """Bytes in the directory."""
        if not self.folder.is_dir():
            return 0
        return sum(size for size, _ in map(_stat_file, self.folder.iterdir()))

    def close(self) -> None:
        """Close this process's file; other processes may then read it."""
        with self._lock:
            self._close_file()

    def after_fork(self) -> None:
        """In a child process: leave the file and its lock to the parent."""
        self._lock = threading.Lock()
        if self._file is not None:
            os.close(self._file[0])  # not `_close_file`, which would rename the parent's file
            self._file = None

    def _ensure_open(self) -> int:
        while self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self.folder / f"{uuid.uuid4().hex}{OPEN_SUFFIX}"
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
            if _try_lock(descriptor) and path.exists():
                self._file = (descriptor, path)
            else:  # another process adopted it as an orphan before we had locked it
                os.close(descriptor)
        return self._file[0]

    def _write_all(self, descriptor: int, data: bytes, sync: bool) -> None:
        """Write all bytes or none: half a row would corrupt the next line as well."""
        before = os.fstat(descriptor).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if sync:
                os.fsync(descriptor)
        except OSError:
            try:
                os.ftruncate(descriptor, before)
            except OSError:
                self._close_file()  # readers skip an incomplete last line
            raise

    def _close_file(self) -> None:
        if self._file is not None:
            descriptor, path = self._file
            self._file = None
            path.rename(path.with_suffix(CLOSED_SUFFIX))
            os.close(descriptor)


def _adopt_orphan(path: Path) -> None:
    """Close the file of a process that died."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        if _try_lock(descriptor, path):
            path.rename(path.with_suffix(CLOSED_SUFFIX))
    except FileNotFoundError:  # its process has closed it
        return
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, path: Path | None = None) -> bool:
    """Lock a file if nobody else has; the lock lasts until the descriptor is closed.

    Without file locks (Windows), a file that this process made (no `path`) counts as locked, another one only when it is old."""
    try:
        import fcntl
    except ImportError:
        return path is None or time.time() - _get_modified_time(path) > ORPHAN_SECONDS
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _get_modified_time(path: Path) -> float:
    return _stat_file(path)[1]


def _stat_file(path: Path) -> tuple[int, float]:
    """Size and modification time; zeros for a file that is gone."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0.0
    return stat.st_size, stat.st_mtime
