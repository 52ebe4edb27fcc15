"""The judged interactions of a window as a run, so that summaries, failure analysis and diagnosis apply to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ragstone.config import Plan
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.references import load_value_change
from ragstone.monitor.interactions import Interaction, format_iso
from ragstone.monitor.scoring.queue import load_judge
from ragstone.monitor.statements import SELECT_INTERACTION, decode_interaction
from ragstone.monitor.windows.statistics import find_metric
from ragstone.store import RunFacts, RunInfo, StoredRow, to_metric_record
from ragstone.store.score_json import decode_score
from ragstone.types import VALUE_VERSION, Sample, Score

MAX_INTERACTIONS = 2000
"""Interactions in such a run at most, the newest."""

# the last placeholder: 1 for those drawn at random only, 0 for all that were judged
_SELECT_JUDGED = (
    f"{SELECT_INTERACTION} WHERE i.at >= ? AND i.at < ?"  # noqa: S608
    " AND EXISTS (SELECT 1 FROM monitor_scores s WHERE s.number = i.number AND s.drawn >= ?)"
    " ORDER BY i.at DESC, i.number DESC"
)


@dataclass(frozen=True)
class InteractionRow(StoredRow):
    """An interaction with its scores, as a row of a run."""

    interaction: Interaction | None = None

    @cached_property
    def sample(self) -> Sample:
        """The interaction as metrics see it."""
        return Sample(self.id) if self.interaction is None else self.interaction.sample


class WindowRun:
    """The interface of a run, for the newest judged interactions of a time range; `only_drawn` leaves out those not chosen at random."""

    def __init__(
        self,
        archive: Archive,
        since: int,
        until: int,
        *,
        where: tuple[str, str] | None = None,
        limit: int = MAX_INTERACTIONS,
        only_drawn: bool = False,
    ) -> None:
        interactions: list[Interaction] = []
        for row in archive.store.stream(_SELECT_JUDGED, (since, until, int(only_drawn))):
            interaction = decode_interaction(row)
            if where is None or interaction.slices.get(where[0]) == where[1]:
                interactions.append(interaction)
            if len(interactions) >= limit:
                break
        # read newest first for the limit, kept oldest first as in any run
        interactions.reverse()
        scores = _load_scores(archive, interactions[0].at if interactions else since, until)
        names = sorted(
            {name for interaction in interactions for name in scores.get(interaction.id, {})}
        )
        self.store = archive.store
        changed_at, _ = load_value_change(archive)
        judge, judge_identity = load_judge(archive)
        self.info = RunInfo(
            id="monitor",
            name="monitor",
            created=format_iso(until),
            status="done",
            plan=Plan(),
            shape={},
            source=archive.store.place,
            format="monitor",
            metrics=tuple(
                to_metric_record(metric)
                for name in names
                if (metric := find_metric(name)) is not None
            ),
            total=len(interactions),
            judge=judge,
            facts=RunFacts(  # without a source: there was no plan
                judge_identity=judge_identity,
                value_version=VALUE_VERSION if since >= changed_at else 1,
            ),
        )
        self._rows = [
            InteractionRow(
                position, interaction.id, "", scores.get(interaction.id, {}), self.info, interaction
            )
            for position, interaction in enumerate(interactions, 1)
        ]

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self) -> Iterator[StoredRow]:
        """Every interaction with its scores, oldest first."""
        return iter(self._rows)

    def row(self, position: int) -> StoredRow:
        """The interaction at one position, from 1."""
        return self._rows[position - 1]

    def scores(self) -> Iterator[tuple[int, str, str | None, Mapping[str, Score]]]:
        """Position, id, group (always None) and scores, as `StoredRun.scores`."""
        return ((row.position, row.id, None, row.scores) for row in self._rows)

    def values(self) -> Iterator[tuple[int, str, str | None, Mapping[str, float | str]]]:
        """As `scores`, but each a number, or the outcome where there is none."""
        for row in self._rows:
            yield (
                row.position,
                row.id,
                None,
                {
                    name: score.outcome if score.value is None else score.value
                    for name, score in row.scores.items()
                },
            )


def _load_scores(archive: Archive, since: int, until: int) -> dict[str, dict[str, Score]]:
    scores: dict[str, dict[str, Score]] = {}
    rows = archive.store.stream(
        "SELECT i.id, s.metric, s.score FROM interactions i JOIN monitor_scores s"
        " ON s.number = i.number WHERE i.at >= ? AND i.at < ?",
        (since, until),
    )
    for id, metric, text in rows:
        scores.setdefault(id, {})[metric] = decode_score(text)
    return scores
