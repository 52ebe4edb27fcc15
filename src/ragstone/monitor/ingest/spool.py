"""A folder of JSON lines for what the store cannot take now; several processes may share it.

Each process writes a file of its own and holds a lock on it. A file is read once it is closed, or once nobody holds its
lock: its process died. What is read twice is stored once, because interactions are known by their ids."""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LARGEST_FILE = 8_000_000
"""Bytes after which a file is closed, so that it can be read while the next one is written."""

OPEN, CLOSED = ".part", ".jsonl"

LEFT_SECONDS = 600
"""Without locks (Windows), a file untouched for so long is taken for left behind."""


class SpoolFull(Exception):
    """The folder holds as many bytes as it may, or cannot be written."""


class Spool:
    """Lines on disk, in files that are removed once they were handled."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        self._file: tuple[int, Path] | None = None
        """Descriptor and path of the file that this process writes."""

    def append(self, rows: Sequence[dict[str, Any]], *, sync: bool = True) -> None:
        """Write rows at the end of this process's file; with `sync`, the disk has them on return."""
        lines = (json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n" for row in rows)
        data = "".join(lines).encode("ascii")
        with self._lock:
            try:
                if self.size() + len(data) > self.most_bytes:
                    raise SpoolFull(f"the spool {str(self.folder)!r} is full")
                descriptor = self._opened()
                self._write(descriptor, data, sync)
                if os.fstat(descriptor).st_size >= LARGEST_FILE:
                    self._close()
            except OSError as broken:
                what = f"cannot write to the spool {str(self.folder)!r}: {broken}"
                raise SpoolFull(what) from None

    def files(self) -> list[Path]:
        """Files that can be handled, oldest first; this process's own is closed for it."""
        with self._lock:
            self._close()
        if not self.folder.is_dir():
            return []
        for left in self.folder.glob(f"*{OPEN}"):
            _adopt(left)
        return sorted(self.folder.glob(f"*{CLOSED}"), key=_changed)

    @staticmethod
    def rows(file: Path) -> Iterator[dict[str, Any] | None]:
        """The rows of a file; None for a damaged line. Half a last line was promised to nobody."""
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
        """Bytes that the folder holds."""
        if not self.folder.is_dir():
            return 0
        return sum(size for size, _ in map(_facts, self.folder.iterdir()))

    def close(self) -> None:
        """Close this process's file; others may read it from now on."""
        with self._lock:
            self._close()

    def after_fork(self) -> None:
        """In a child: leave the file and its lock to the parent."""
        self._lock = threading.Lock()
        if self._file is not None:
            os.close(self._file[0])
            self._file = None

    def _opened(self) -> int:
        while self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self.folder / f"{uuid.uuid4().hex}{OPEN}"
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
            if _locked(descriptor) and path.exists():
                self._file = (descriptor, path)
            else:  # another process took it for left behind before it was locked
                os.close(descriptor)
        return self._file[0]

    def _write(self, descriptor: int, data: bytes, sync: bool) -> None:
        """All of it or none: half a row would make one damaged line with the next."""
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
                self._close()  # half a last line is read by nobody
            raise

    def _close(self) -> None:
        if self._file is not None:
            descriptor, path = self._file
            self._file = None
            path.rename(path.with_suffix(CLOSED))
            os.close(descriptor)


def _adopt(path: Path) -> None:
    """Close the file of a process that died."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        if _locked(descriptor, path):
            path.rename(path.with_suffix(CLOSED))
    except FileNotFoundError:  # its process has closed it
        return
    finally:
        os.close(descriptor)


def _locked(descriptor: int, path: Path | None = None) -> bool:
    """Whether nobody else holds the file; it is ours until the descriptor is closed."""
    try:
        import fcntl
    except ImportError:
        return path is None or time.time() - _changed(path) > LEFT_SECONDS
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _changed(path: Path) -> float:
    return _facts(path)[1]


def _facts(path: Path) -> tuple[int, float]:
    """Size and time of the last change; nothing for a file that is gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0.0
    return found.st_size, found.st_mtime
