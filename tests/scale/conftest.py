"""What the tests of clusters have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dask_cluster import scheduler, worker


@pytest.fixture(scope="module")
def calls_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the judge of these tests, in whatever process, notes that it was asked."""
    return tmp_path_factory.mktemp("calls")


@pytest.fixture
def calls(calls_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Counter[str]]:
    """How often the judge was asked each question since the last look, over all processes."""
    monkeypatch.setenv("RAGSTONE_TEST_CALLS", str(calls_folder))

    def count_calls() -> Counter[str]:
        counts: Counter[str] = Counter()
        for path in calls_folder.iterdir():
            if path.name.isdecimal():
                counts.update(line.split()[1] for line in path.read_text().splitlines())
            path.unlink()
        return counts

    count_calls()
    return count_calls


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, calls_folder: Path) -> Iterator[Path]:
    """The file of a scheduler with one worker, for the tests of a file."""
    file = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    with scheduler(file), worker(file, RAGSTONE_TEST_CALLS=str(calls_folder)):
        yield file


@pytest.fixture(scope="module")
def cluster_of_two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file of a scheduler with two workers, for the tests of a file."""
    file = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    with ExitStack() as running:
        running.enter_context(scheduler(file))
        for _ in range(2):
            running.enter_context(worker(file))
        yield file
