"""The rows people labelled: read from the shared data folder, never from the project."""

from __future__ import annotations

import gzip
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

JUDGE_SETS = (
    "ragtruth_test",
    "summedits",
    "factcheckgpt",
    "faithdial_audit",
    "wice",
    "inferes",
    "summac_extra",
)


def data_folder() -> Path:
    """The `shared/data` folder beside the checkout, or RAGSTONE_DATA."""
    given = os.environ.get("RAGSTONE_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "data"


@lru_cache(maxsize=32)
def load(kind: str, name: str) -> list[dict[str, Any]]:
    """Rows of one file, e.g. `load("judge", "wice")`."""
    path = data_folder() / kind / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judge_rows() -> list[dict[str, Any]]:
    """All labelled rows with the set they come from and a group that no other set shares."""
    found = []
    for name in JUDGE_SETS:
        for row in load("judge", name):
            found.append({**row, "set": name, "group": f"{name}/{row['group']}"})
    return found
