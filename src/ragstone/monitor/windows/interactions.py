"""What the live page and the reports read from the store beyond windows: single interactions with their scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.analysis.classes import Scales
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import Interaction
from ragstone.monitor.scoring.queue import load_judge
from ragstone.monitor.windows.statistics import find_metric
from ragstone.store import load_scales
from ragstone.types import Sample, Score

FEEDBACK = "feedback"
"""Orders the worst interactions by what people said instead of by a metric."""

# The LIKE on meta only narrows: fields in it are JSON of any shape, so `_load_first` checks the
# value itself. `!` is the escape, for a backslash is common in JSON and databases differ on it.
_SELECT = "SELECT i.id, i.language, i.meta FROM {} AND (? = '' OR i.language = ? OR i.meta LIKE ? ESCAPE '!') ORDER BY {}"
_RECENT = _SELECT.format("interactions i WHERE i.at >= ? AND i.at < ?", "i.at DESC, i.number DESC")
_WORST = _SELECT.format(
    "monitor_scores s JOIN interactions i ON i.number = s.number"
    " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL",
    # 1 or -1, so that the worst comes first whichever way the metric is good. Filled in by
    # `load_worst`, never from the address.
    "s.value * {}, s.at DESC, i.number DESC",
)
_DISLIKED = _SELECT.format(
    "feedback f JOIN interactions i ON i.id = f.interaction"
    " WHERE i.at >= ? AND i.at < ? AND f.value IS NOT NULL",
    "f.value, i.at DESC, i.number DESC",
)


@dataclass(frozen=True, slots=True)
class JudgedInteraction:
    """An interaction with its scores, as a view of a sample takes it."""

    position: int
    interaction: Interaction
    scores: Mapping[str, Score]
    scales: Scales
    """Of the monitor's judge."""

    @property
    def id(self) -> str:
        """The interaction's."""
        return self.interaction.id

    @property
    def sample(self) -> Sample:
        """As metrics saw it."""
        return self.interaction.sample


@dataclass(frozen=True, slots=True)
class KnownScale:
    """Where a metric's values lie, and which are good; a metric that is not installed here has no known ends."""

    metric: str
    bounds: tuple[float, float] | None
    higher_is_better: bool
    judged: bool = False


def find_scale(metric: str) -> KnownScale:
    """What this installation knows of a stored metric."""
    known = find_metric(metric)
    if known is None:
        return KnownScale(metric, None, True)
    return KnownScale(metric, known.bounds, known.higher_is_better, known.judged)


def load_scores(archive: Archive, interactions: Iterable[Interaction]) -> list[JudgedInteraction]:
    """The interactions with their scores, numbered from 1."""
    scales = load_scales(archive.store, load_judge(archive)[1])
    return [
        JudgedInteraction(number, interaction, archive.scores(interaction.id), scales)
        for number, interaction in enumerate(interactions, 1)
    ]


def load_recent(
    archive: Archive, since: int, until: int, where: tuple[str, str] | None, limit: int
) -> list[JudgedInteraction]:
    """The newest of a stretch of time and a slice (field and value; None for all)."""
    return _load_first(archive, _RECENT, (since, until), where, limit)


def load_worst(
    archive: Archive, metric: str, since: int, until: int, where: tuple[str, str] | None, limit: int
) -> list[JudgedInteraction]:
    """The worst of a stretch and a slice by a metric or by feedback, the newest of equals first."""
    if metric == FEEDBACK:
        return _load_first(archive, _DISLIKED, (since, until), where, limit)
    sql = _WORST.format(1 if find_scale(metric).higher_is_better else -1)
    return _load_first(archive, sql, (metric, since, until), where, limit)


def _load_first(
    archive: Archive, sql: str, values: tuple[Any, ...], where: tuple[str, str] | None, limit: int
) -> list[JudgedInteraction]:
    """The first so many of a slice; the database leaves out most others, so that few texts are read in vain."""
    field, value = where or ("", "")
    # the last three are those of the condition on the slice in `_SELECT`
    parameters = (*values, field, value, _build_pattern(value))
    interactions: list[Interaction] = []
    rows: Iterable[tuple[Any, ...]]
    if where is None:
        rows = archive.store.read(f"{sql} LIMIT ?", (*parameters, limit))
    else:
        # Streamed, for nobody knows how many rows the check below drops before the limit is
        # reached.
        rows = archive.store.stream(sql, parameters)
    for id, language, meta in rows:
        if where is not None:
            slices = Interaction(id, 0, language=language, meta=json.loads(meta)).slices
            if slices.get(field) != value:
                continue
        interaction = archive.get(id)
        if interaction is not None:  # purged meanwhile
            interactions.append(interaction)
        if len(interactions) >= limit:
            break
    return load_scores(archive, interactions)


def _build_pattern(value: str) -> str:
    """What a meta column that holds the value is like; others may be, too."""
    # As the column is written: ASCII with \u escapes.
    text = json.dumps(value)[1:-1]
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return f"%{text}%"
