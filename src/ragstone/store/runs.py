"""A Run as it stands in the store: what reports, comparisons and the viewer read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ragstone.data import sample_of
from ragstone.registry import Metric
from ragstone.store.codec import decode_scores, decode_values
from ragstone.types import NOTHING_USED, Sample, Score, Usage

if TYPE_CHECKING:
    from ragstone.store.store import Store

Status = Literal["running", "done"]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The facts of one run."""

    id: str
    name: str
    created: str
    """ISO 8601, UTC."""
    status: Status
    plan: Mapping[str, Any]
    """What was asked for, as plain JSON: enough to do it again."""
    shape: Mapping[str, Any]
    """How a stored row maps to a Sample."""
    source: str
    format: str
    metrics: tuple[Mapping[str, Any], ...]
    """Each metric's name, family, direction, bounds, kind, labels and meaning."""
    judge: str | None = None
    total: int | None = None
    """Number of samples; None while running."""
    bad_count: int = 0
    """Rows that were skipped because they could not be read."""
    bad: tuple[str, ...] = ()
    """The first of them, one sentence each."""
    place: str = ""
    """Where it is stored, without a password; empty when it vanishes with its store."""
    usage: Usage = field(default=NOTHING_USED)
    """What the judge's replies cost this run; replies found in the store cost nothing."""


def describe(metric: Metric) -> dict[str, Any]:
    """A metric as stored with a run, so that a report needs none of the code that computed it."""
    return {
        "name": metric.name,
        "family": metric.family,
        "higher_is_better": metric.higher_is_better,
        "bounds": list(metric.bounds) if metric.bounds is not None else None,
        "binary": metric.binary,
        "judged": metric.judged,
        "labels": list(metric.labels),
        "meaning": metric.meaning,
    }


@dataclass(frozen=True)
class StoredRow:
    """One sample of a run with its scores."""

    position: int
    """From 1, in input order."""
    id: str
    row: str
    """The input row, one JSON document."""
    scores: Mapping[str, Score]
    info: RunInfo = field(repr=False)

    @cached_property
    def sample(self) -> Sample:
        """The row as a Sample, read as it was when it was scored."""
        sample = sample_of(self.row, self.info.shape, self.position)
        return with_language(sample, self.info.plan.get("language"))


def with_language(sample: Sample, language: str | None) -> Sample:
    """The sample in the run's language when it names none itself."""
    if language is None or sample.language is not None:
        return sample
    return replace(sample, language=language)


class StoredRun:
    """A handle on one run in a store; reads as little as each question needs."""

    def __init__(self, store: Store, info: RunInfo) -> None:
        self.store = store
        self.info = info

    @property
    def id(self) -> str:
        """The run's id."""
        return self.info.id

    def refresh(self) -> None:
        """Read the run's facts again."""
        self.info = self.store.run(self.info.id).info

    def count(self) -> int:
        """How many samples are scored so far."""
        return self.store.count(self.info.id)

    def scores(self) -> Iterator[tuple[int, str, str | None, dict[str, Score]]]:
        """Position, sample id, group and scores of each sample in input order, without the texts."""
        for position, sample_id, cluster, text in self.store.score_rows(self.info.id):
            yield position, sample_id, cluster, decode_scores(text)

    def values(self) -> Iterator[tuple[int, str, str | None, dict[str, float | str]]]:
        """As `scores`, but each a bare number, or how it ended where there is none: a third of the time."""
        for position, sample_id, cluster, text in self.store.score_rows(self.info.id):
            yield position, sample_id, cluster, decode_values(text)

    def rows(self) -> Iterator[StoredRow]:
        """Every sample with its row and scores, in input order."""
        for position, sample_id, row, text in self.store.full_rows(self.info.id):
            yield StoredRow(position, sample_id, row, decode_scores(text), self.info)

    def row(self, position: int) -> StoredRow:
        """The sample at one position."""
        for found, sample_id, row, text in self.store.full_rows(self.info.id, position):
            return StoredRow(found, sample_id, row, decode_scores(text), self.info)
        raise IndexError(f"run {self.info.id} has no sample at position {position}")
