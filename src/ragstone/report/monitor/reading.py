"""What the live page and the reports read from the store beyond windows: single interactions with their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragstone.monitor import Archive, Interaction
from ragstone.monitor.windows import described_metric
from ragstone.types import Sample, Score

FEEDBACK = "feedback"
"""Orders the worst interactions by what people said instead of by a metric."""

_WORST = (
    "SELECT i.id FROM monitor_scores s JOIN interactions i ON i.number = s.number"
    " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL"
    " ORDER BY s.value * ?, s.at DESC, i.number DESC"
)
_DISLIKED = (
    "SELECT i.id FROM feedback f JOIN interactions i ON i.id = f.interaction"
    " WHERE i.at >= ? AND i.at < ? AND f.value IS NOT NULL"
    " ORDER BY f.value, i.at DESC, i.number DESC"
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
    slices = dict([where]) if where else None
    return seen(archive, list(archive.interactions(since, until, slice=slices, limit=most)))


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
        sql, values = _DISLIKED, (since, until)
    else:
        sign = 1 if range_of(metric).higher_is_better else -1
        sql, values = _WORST, (metric, since, until, sign)  # type: ignore[assignment]
    ids: Iterable[Sequence[str]]
    ids = (
        archive.store.stream(sql, values)
        if where
        else archive.store.read(f"{sql} LIMIT ?", (*values, most))
    )
    kept: list[Interaction] = []
    for (id,) in ids:
        one = archive.get(id)
        if one is not None and (where is None or one.slices.get(where[0]) == where[1]):
            kept.append(one)
        if len(kept) >= most:
            break
    return seen(archive, kept)
