"""Scores of an earlier run, taken over block by block: the same rows, scored by the same code with the same judge.

Replies of a judge behind an API are kept in the store, so such samples would get the same scores again; without this
their questions would be put together, looked up and read once more, which takes most of the time of a second run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragstone._version import __version__
from ragstone.asks import digest
from ragstone.data import Record
from ragstone.judges import Judge
from ragstone.registry import Metric
from ragstone.store import StoredRun
from ragstone.store.blocks import EncodedBlock, ScoreBlock, encode_rows, mark_as_found
from ragstone.types import FAILURES

_PACKAGE = Path(__file__).parents[1]
_SCORING_FOLDERS = ("asks", "data", "engine", "judges", "metrics", "prompts", "registry", "text")
"""Folders of the package whose code can change a score."""


def identify_scores(
    metrics: Sequence[Metric],
    judge: Judge | None,
    judge_identity: str | None,
    language: str | None,
    shape: Mapping[str, Any],
) -> str | None:
    """Return the hash of everything besides a row that can change its scores.

    None where that is not known: a metric or a judge of the user's may have been edited, and a judge whose replies are
    not stored is asked again in every run."""
    if judge is None or judge.local or judge_identity is None:
        return None
    if any(not metric.function.__module__.startswith("ragstone.") for metric in metrics):
        return None
    named = [[metric.family, dict(metric.options)] for metric in metrics]
    parts = [named, judge_identity, language, dict(shape), __version__, _stamp_code()]
    try:
        return digest(parts)
    except TypeError:  # an option that is an object of Python
        return None


@lru_cache(maxsize=1)
def _stamp_code() -> str:
    """Names, sizes and times of the files that score: a checkout is edited without a new version."""
    files = []
    for folder in _SCORING_FOLDERS:
        for place, _, names in os.walk(_PACKAGE / folder):
            for name in names:
                if name.endswith((".py", ".md", ".json", ".toml")):
                    status = os.stat(os.path.join(place, name))
                    files.append((place, name, status.st_size, status.st_mtime_ns))
    return digest(sorted(files))


def find_earlier_run(run: StoredRun) -> StoredRun | None:
    """Return the newest finished run of the store whose scores have the same identity, and None without one."""
    identity = run.info.facts.scores_identity
    return run.store.find_scored(identity, besides=run.id) if identity else None


def copy_block(
    block: ScoreBlock, rows: Sequence[str], records: Sequence[Record]
) -> EncodedBlock | None:
    """Return a block of an earlier run for these records; None where a row differs or a score is a failure."""
    if [record.row for record in records] != rows or _has_failures(block):
        return None
    last = block.first + block.count - 1
    return EncodedBlock(block.first, last, encode_rows(rows), mark_as_found(block))


def _has_failures(block: ScoreBlock) -> bool:
    return any(
        detail.get("outcome") in FAILURES
        for details in block.details.values()
        for _, detail in details
    )
