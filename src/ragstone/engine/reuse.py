"""Scores of an earlier run, taken over block by block: the same rows, scored by the same code with the same judge.

Replies of a judge behind an API are kept in the store, so such samples would get the same scores again; without this
their questions would be put together, looked up and read once more, which takes most of the time of a second run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragstone._version import __version__
from ragstone.asks import digest
from ragstone.config import Plan
from ragstone.data import Record
from ragstone.errors import StoreError
from ragstone.registry import Metric
from ragstone.store import StoredRun
from ragstone.store.blocks import EncodedBlock, ScoreBlock, encode_rows, mark_as_found
from ragstone.types import FAILURES

_PACKAGE = Path(__file__).parents[1]
_JUDGING_KEYS = ("judge", "embeddings", "language", "prompts")
"""Keys of a plan that say how its samples are judged."""


def identify_scores(
    plan: Plan, metrics: Sequence[Metric], judge_identity: str | None, shape: Mapping[str, Any]
) -> str | None:
    """Return the hash of everything besides a row that can change its scores.

    None where that is not known: a metric or a judge of the user's may have been edited, and a judge whose replies are
    not stored is asked again in every run."""
    settings = plan.judge_settings()
    if plan.judge is None or judge_identity is None or not is_remote(settings):
        return None
    if any(not metric.function.__module__.startswith("ragstone.") for metric in metrics):
        return None
    stored = plan.to_json([])
    judging = {name: stored[name] for name in _JUDGING_KEYS if name in stored}
    named = [[metric.family, dict(metric.options)] for metric in metrics]
    folders = [_digest_folder(Path(folder)) for folder in _list_prompt_folders(settings)]
    parts = [judging, judge_identity, folders, named, dict(shape), __version__, _stamp_code()]
    try:
        return digest(parts)
    except TypeError:  # an option that is an object of Python
        return None


def is_remote(settings: Mapping[str, Any]) -> bool:
    """Whether every model is behind an API; others are made anew in every run, or are code of the user's."""
    from ragstone.judges.dialects import DIALECTS

    members = settings.get("jury") or [settings.get("model")]
    specs = [member.get("model") if isinstance(member, Mapping) else member for member in members]
    return all(isinstance(spec, str) and spec.partition(":")[0] in DIALECTS for spec in specs)


def _list_prompt_folders(settings: Mapping[str, Any]) -> list[str]:
    """The folders of the user's own prompts, of a jury those of its members too."""
    parts = [settings, *(part for part in settings.get("jury") or () if isinstance(part, Mapping))]
    return [str(part["prompts"]) for part in parts if part.get("prompts")]


def _digest_folder(folder: Path) -> str:
    """The hash of all prompts in a folder, of every language: a metric may ask with any of them."""
    files = sorted(folder.rglob("*.md"))
    return digest([[str(file.relative_to(folder)), file.read_bytes().hex()] for file in files])


@lru_cache(maxsize=1)
def _stamp_code() -> str:
    """Names, sizes and times of the files of the package: a checkout is edited without a new version."""
    files = []
    for place, _, names in os.walk(_PACKAGE):
        for name in names:
            if name.endswith((".py", ".md", ".json", ".toml")):
                status = os.stat(os.path.join(place, name))
                files.append((place, name, status.st_size, status.st_mtime_ns))
    return digest(sorted(files))


def find_earlier_run(run: StoredRun) -> StoredRun | None:
    """Return the newest finished run of the store whose scores have the same identity, and None without one."""
    identity = run.info.facts.scores_identity
    return run.store.find_scored(identity, besides=run.id) if identity else None


def iter_whole_blocks(run: StoredRun) -> Iterator[tuple[ScoreBlock, list[str]]]:
    """Yield the blocks of an earlier run with their rows, up to the first damaged one: that is for its own readers to report."""
    blocks = run.store.full_blocks(run.id)
    while True:
        try:
            block = next(blocks)
        except (StopIteration, StoreError):
            return
        yield block


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
