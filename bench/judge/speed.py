"""Samples a CPU second and memory on RAGTruth: claims and verdicts of each answer, in a process of
its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

_SCRIPT = """
import asyncio, json, re, time
from pathlib import Path
from bench.judge.rows import load
from ragstone.asks import Case, claims, support
from ragstone.judges.offline import OfflineJudge
from ragstone.types import Chunk
judge, rows = OfflineJudge(), load("judge", "ragtruth_test")[:800]
def check(row):
    split = asyncio.run(judge.answer([claims(row["claim"], language="en")]))[0].value["claims"]
    case = Case(tuple(claim["claim"] for claim in split), (Chunk("k", row["context"]),))
    asyncio.run(judge.answer([support(case, language="en")]))
for row in rows[:10]:
    check(row)
start = time.process_time()
for row in rows[10:]:
    check(row)
rate = (len(rows) - 10) / (time.process_time() - start)
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())  # ru_maxrss outlives exec
print(json.dumps({"samples per CPU second": round(rate), "peak MB": int(peak[1]) // 1024}))
"""


def measure() -> dict[str, float]:
    """Measure in a process that has loaded nothing else."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], check=True, capture_output=True, text=True, env=environment
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found
