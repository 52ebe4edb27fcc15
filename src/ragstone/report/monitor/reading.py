"""What the live page and the reports read from the store beyond windows: single interactions with their scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.monitor import Archive, Interaction
from ragstone.monitor.windows.summary import described_metric
from ragstone.types import Sample, Score

FEEDBACK = "feedback"
"""Orders the worst interactions by what people said instead of by a metric."""

_FOUND = "SELECT i.id, i.language, i.meta FROM {} AND (? = '' OR i.language = ? OR i.meta LIKE ? ESCAPE '!') ORDER BY {}"
_RECENT = _FOUND.format("interactions i WHERE i.at >= ? AND i.at < ?", "i.at DESC, i.number DESC")
_WORST = _FOUND.format(
    "monitor_scores s JOIN interactions i ON i.number = s.number"
    " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL",
    "s.value * {}, s.at DESC, i.number DESC",
)
_DISLIKED = _FOUND.format(
    "feedback f JOIN interactions i ON i.id = f.interaction"
    " WHERE i.at >= ? AND i.at < ? AND f.value IS NOT NULL",
    "f.value, i.at DESC, i.number DESC",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """An interaction with its scores, as a view of a sample takes it."""

    position: int
    interaction: Interaction
    scores: Mapping[str, Score]

    @property
    def id(self) -> str:
        """The interaction's."""
        return self.interaction.id

    @property
    def sample(self) -> Sample:
        """As metrics saw it."""
        return self.interaction.sample


@dataclass(frozen=True, slots=True)
class Range:
    """Where a metric's values lie, and which are good; a metric that is not installed here has no known ends."""

    metric: str
    bounds: tuple[float, float] | None
    higher_is_better: bool


def range_of(metric: str) -> Range:
    """What this installation knows of a stored metric."""
    known = described_metric(metric)
    if known is None:
        return Range(metric, None, True)
    return Range(metric, known.bounds, known.higher_is_better)


def seen(archive: Archive, some: Iterable[Interaction]) -> list[Seen]:
    """The interactions with their scores, numbered from 1."""
    return [Seen(place, one, archive.scores(one.id)) for place, one in enumerate(some, 1)]


def recent(
    archive: Archive, since: int, until: int, where: tuple[str, str] | None, most: int
) -> list[Seen]:
    """The newest of a stretch and a slice."""
    return _first(archive, _RECENT, (since, until), where, most)


def worst(
    archive: Archive,
    metric: str,
    since: int,
    until: int,
    where: tuple[str, str] | None,
    most: int,
) -> list[Seen]:
    """The worst of a stretch and a slice by a metric or by feedback, the newest of equals first."""
    if metric == FEEDBACK:
        return _first(archive, _DISLIKED, (since, until), where, most)
    sql = _WORST.format(1 if range_of(metric).higher_is_better else -1)
    return _first(archive, sql, (metric, since, until), where, most)


def _first(
    archive: Archive,
    sql: str,
    values: tuple[Any, ...],
    where: tuple[str, str] | None,
    most: int,
) -> list[Seen]:
    """The first so many of a slice; the database leaves out most others, so that few texts are read in vain."""
    field, value = where or ("", "")
    asked = (*values, field, value, _pattern(value))
    kept: list[Interaction] = []
    rows: Iterable[tuple[Any, ...]]
    if where is None:
        rows = archive.store.read(f"{sql} LIMIT ?", (*asked, most))
    else:
        rows = archive.store.stream(sql, asked)
    for id, language, meta in rows:
        if where is not None:
            slices = Interaction(id, 0, language=language, meta=json.loads(meta)).slices
            if slices.get(field) != value:
                continue
        one = archive.get(id)
        if one is not None:  # purged meanwhile
            kept.append(one)
        if len(kept) >= most:
            break
    return seen(archive, kept)


def _pattern(value: str) -> str:
    """What a meta column that holds the value is like; others may be, too."""
    text = json.dumps(value)[1:-1]
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return f"%{text}%"
