"""A million samples are evaluated in 300 MB: memory does not grow with the data.

1,000,000 samples in a process of their own, read, scored and stored (4,000 in `make test`), and the summary of a long run."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.streaming import measure, write_samples

from analysis.conftest import build, store
from analysis.test_summary import test_memory_does_not_grow_with_the_run
from engine.test_engine import test_few_samples_are_open_while_many_pass

__all__ = [
    "build",
    "store",
    "test_few_samples_are_open_while_many_pass",
    "test_memory_does_not_grow_with_the_run",
]

MAX_MEGABYTES = 300


@pytest.mark.parametrize("samples", [4_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_many_samples_need_little_memory(tmp_path: Path, samples: int) -> None:
    data = tmp_path / "samples.jsonl"
    write_samples(data, samples)
    _, megabytes = measure(data, tmp_path / "s.db")
    assert megabytes < MAX_MEGABYTES
