"""Stored runs, as reports, comparisons and the viewer read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ragstone.config import Plan
from ragstone.data import to_sample
from ragstone.registry import Metric
from ragstone.store.plans import RunFacts
from ragstone.store.rows import ScoreBatch
from ragstone.types import NO_USAGE, Sample, Score, Usage

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
    plan: Plan
    """What was asked for: enough to do it again."""
    shape: Mapping[str, Any]
    """How a stored row maps to a Sample: the names of the columns that its fields come from."""
    source: str
    """The data as shown to the user."""
    format: str
    """Name of the data's format."""
    metrics: tuple[Mapping[str, Any], ...]
    """Each metric as `to_metric_record` has it."""
    judge: str | None = None
    """The judge's name; None without one."""
    total: int | None = None
    """Number of samples; None while running."""
    bad_count: int = 0
    """Rows that were skipped because they could not be read."""
    bad: tuple[str, ...] = ()
    """The first of them, one sentence each."""
    place: str = ""
    """Path or URL of its store, without a password; empty for a temporary store."""
    usage: Usage = field(default=NO_USAGE)
    """What the judge's replies cost this run; replies found in the store cost nothing."""
    facts: RunFacts = field(default_factory=RunFacts)
    """What the plan came to when it was carried out."""

    def to_json(self) -> dict[str, Any]:
        """The facts as plain JSON, as summaries and comparisons export them."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        # `format_plan` writes the facts into the plan, where exports have had them since 0.1
        del plain["facts"]
        metrics = [dict(metric) for metric in self.metrics]
        return plain | {"plan": format_plan(self), "metrics": metrics, "usage": asdict(self.usage)}


def format_plan(info: RunInfo) -> dict[str, Any]:
    """The plan of a run in the flat form that exports have; empty where there was no plan, as for a window of the monitor."""
    plan, facts = info.plan, info.facts
    if not facts.source:
        return {}
    plain = {
        "source": facts.source,
        "metrics": [metric["name"] for metric in info.metrics],
        "judge": info.judge,
        "language": plan.language,
        "limit": plan.data.limit,
        "format": plan.data.format,
        "fields": dict(plan.data.fields) or None,
        "skip_bad_rows": plan.data.skip_bad_rows,
        "floor": plan.floor,
        "gates": dict(plan.gates) or None,
        "command": list(facts.command) or None,
        "folder": facts.folder,
        "ragstone": facts.ragstone,
    }
    if facts.system is not None:
        plain["system"] = facts.system
        plain["settings"] = dict(plan.system.settings) if plan.system is not None else {}
        plain["parameters"] = dict(facts.parameters)
        plain["system_identity"] = facts.system_identity
    return plain


def to_metric_record(metric: Metric) -> dict[str, Any]:
    """A metric as it is stored with a run, so that a report does not need the metric's code."""
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
        """The row as the Sample that was scored."""
        sample = to_sample(self.row, self.info.shape, self.position)
        return set_language(sample, self.info.plan.language)


def set_language(sample: Sample, language: str | None) -> Sample:
    """Set the language of a sample that has none."""
    if language is None or sample.language is not None:
        return sample
    return replace(sample, language=language)


class StoredRun:
    """A handle on one run in a store; each method reads only the columns it needs."""

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
        """Count the samples that are scored so far."""
        return self.store.count(self.info.id)

    def batches(
        self, *, with_findings: bool = False, with_inputs: bool = False
    ) -> Iterator[ScoreBatch]:
        """Yield the scores in input order, some hundred samples at a time and metric by metric: the fastest way to read them."""
        return self.store.batches(
            self.info.id, with_findings=with_findings, with_inputs=with_inputs
        )

    def scores(self) -> Iterator[tuple[int, str, str | None, dict[str, Score]]]:
        """Yield position, sample id, group and scores of each sample in input order, without the texts."""
        for batch in self.batches(with_findings=True):
            yield from zip(
                batch.positions, batch.ids, batch.groups, batch.iter_scores(), strict=True
            )

    def values(self) -> Iterator[tuple[int, str, str | None, dict[str, float | str]]]:
        """Yield the same as `scores`, with a bare number or the outcome for each score; takes a third of the time."""
        for batch in self.batches():
            yield from zip(
                batch.positions, batch.ids, batch.groups, batch.iter_values(), strict=True
            )

    def rows(self) -> Iterator[StoredRow]:
        """Yield every sample with its row and scores, in input order."""
        for batch in self.batches(with_findings=True, with_inputs=True):
            for index, position in enumerate(batch.positions):
                yield StoredRow(
                    position, batch.ids[index], batch.inputs[index], batch.get_scores(index), self.info
                )  # fmt: skip

    def row(self, position: int) -> StoredRow:
        """Return the sample at a position."""
        found = self.store.sample_at(self.info.id, position)
        if found is None:
            raise IndexError(f"run {self.info.id} has no sample at position {position}")
        id, row, scores = found
        return StoredRow(position, id, row, scores, self.info)

    def rows_at(self, positions: Iterable[int]) -> dict[int, StoredRow]:
        """Return the samples at some positions."""
        return {position: self.row(position) for position in sorted(set(positions))}
