"""A million samples are evaluated in 300 MB: memory does not grow with the data.

1,000,000 samples in a process of their own, read, scored and stored (4,000 in `make test`), and the summary of a long run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.conftest import build, store
from analysis.test_summary import test_memory_does_not_grow_with_the_run
from engine.test_engine import test_few_samples_are_open_while_many_pass
from promised import REPOSITORY

__all__ = [
    "build",
    "store",
    "test_few_samples_are_open_while_many_pass",
    "test_memory_does_not_grow_with_the_run",
]

MAX_MEGABYTES = 300
MEASURE = """
import sys
from pathlib import Path
from bench.streaming import measure, write_samples
data = Path(sys.argv[1]) / "samples.jsonl"
write_samples(data, int(sys.argv[2]))
print(measure(data, data.with_name("s.db"))[1])
"""


@pytest.mark.parametrize("samples", [4_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_many_samples_need_little_memory(tmp_path: Path, samples: int) -> None:
    # a process between: Linux counts the memory of the process that starts another as that one's own
    command = [sys.executable, "-c", MEASURE, str(tmp_path), str(samples)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert float(done.stdout.split()[-1]) < MAX_MEGABYTES
