"""A Dask cluster as an administrator starts it, on loopback, and runs to send there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.experiments.run import Run
from ragstone.store import Store
from waiting import wait_until

HERE = Path(__file__).parent / "scale"
JUDGE = f"python:{HERE / 'judge_of_tests.py'}:judge"
SLOW_JUDGE = f"python:{HERE / 'judge_of_tests.py'}:slow_judge"
HOLD = "hold"
"""A file in the folder of the calls; while it is there, the slow judge does not answer."""
METRICS = ["token_f1", "coherence"]

SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def rows(count: int, **odd: str) -> list[dict[str, Any]]:
    """Samples, some with words of their own in the answer."""
    return [
        {
            "id": f"s{n}",
            "question": f"Who wrote book {n}?",
            "answer": f"Book {n} was written by Ann{' and Bo' * (n % 5)}. {odd.get(f's{n}', '')}",
            "contexts": [f"Book {n} was written by Ann."],
            "reference": "Ann",
        }
        for n in range(count)
    ]


def written(path: Path, data: list[dict[str, Any]]) -> str:
    """The samples in a file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in data), encoding="utf-8")
    return str(path)


def kept(run: Run) -> list[Any]:
    """Everything the store holds of a run."""
    return [list(run.stored.scores()), list(run.stored.store.input_rows(run.id))]


def count(path: Path) -> int:
    """How many samples the run `r` of a store holds by now."""
    if not path.exists():
        return 0
    store = Store.open(path)
    try:
        return store.run("r").count()
    except RagstoneError:
        return 0
    finally:
        store.close()


def until_stored(path: Path, wanted: int) -> None:
    """Wait until the run `r` holds so many samples."""
    wait_until(lambda: count(path) >= wanted, f"{wanted} samples in {path}", every_seconds=0.05)


@contextmanager
def scheduler(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler that has written its file."""
    dask = Path(sys.executable).parent / "dask"
    process = subprocess.Popen(
        [dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(file)], **SILENT,
    )  # fmt: skip
    try:
        wait_until(file.exists, "the scheduler has written its file", every_seconds=0.05)
        yield process
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def worker(file: Path, **environment: str) -> Iterator[None]:
    """A worker that joins that scheduler."""
    dask = Path(sys.executable).parent / "dask"
    process = subprocess.Popen(
        [dask, "worker", "--scheduler-file", str(file), "--host", "127.0.0.1", "--nthreads", "1",
         "--no-dashboard", "--death-timeout", "60"], env={**os.environ, **environment}, **SILENT,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def command(path: str, store: Path, on: str | Path, judge: str = SLOW_JUDGE) -> list[str]:
    """The words of the run `r` of a file."""
    return [
        sys.executable, "-m", "ragstone", "eval", path, "-m", "coherence", "--judge", judge, "-j", "2",
        "--store", str(store), "--run", "r", "--on", str(on),
    ]  # fmt: skip


def begun(words: list[str], **options: Any) -> subprocess.Popen[str]:
    """A run under way in a process of its own."""
    return subprocess.Popen(
        words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    )
