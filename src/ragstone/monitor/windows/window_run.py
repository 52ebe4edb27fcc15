"""The judged interactions of a window as a run: summaries, failure classes and diagnoses work on it as on any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import Interaction, iso
from ragstone.monitor.statements import SELECT, decoded
from ragstone.monitor.windows.summary import described_metric
from ragstone.store import RunInfo, StoredRow, describe
from ragstone.store.codec import decode_score
from ragstone.types import Sample, Score

MOST = 2000
"""Interactions that such a run holds at most, the newest."""


_JUDGED = (
    f"{SELECT} WHERE i.at >= ? AND i.at < ?"  # noqa: S608
    " AND EXISTS (SELECT 1 FROM monitor_scores s WHERE s.number = i.number)"
    " ORDER BY i.at DESC, i.number DESC"
)


@dataclass(frozen=True)
class SeenRow(StoredRow):
    """An interaction with its scores, as a row of a run."""

    interaction: Interaction | None = None

    @cached_property
    def sample(self) -> Sample:
        """The interaction as metrics saw it."""
        return Sample(self.id) if self.interaction is None else self.interaction.sample


class WindowRun:
    """What analysis reads of a run, of the newest judged interactions of a stretch of time."""

    def __init__(
        self,
        archive: Archive,
        since: int,
        until: int,
        *,
        where: tuple[str, str] | None = None,
        most: int = MOST,
    ) -> None:
        kept: list[Interaction] = []
        for row in archive.store.stream(_JUDGED, (since, until)):
            one = decoded(row)
            if where is None or one.slices.get(where[0]) == where[1]:
                kept.append(one)
            if len(kept) >= most:
                break
        kept.reverse()
        scores = _scores(archive, kept[0].at if kept else since, until)
        names = sorted({name for one in kept for name in scores.get(one.id, {})})
        self.info = RunInfo(
            id="monitor",
            name="monitor",
            created=iso(until),
            status="done",
            plan={},
            shape={},
            source=archive.store.place,
            format="monitor",
            metrics=tuple(
                describe(found) for name in names if (found := described_metric(name)) is not None
            ),
            total=len(kept),
        )
        self._rows = [
            SeenRow(place, one.id, "", scores.get(one.id, {}), self.info, one)
            for place, one in enumerate(kept, 1)
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
        """Position, id, group and scores."""
        return ((one.position, one.id, None, one.scores) for one in self._rows)

    def values(self) -> Iterator[tuple[int, str, str | None, Mapping[str, float | str]]]:
        """As `scores`, but each a bare number, or how it ended."""
        for one in self._rows:
            yield (
                one.position,
                one.id,
                None,
                {
                    name: score.outcome if score.value is None else score.value
                    for name, score in one.scores.items()
                },
            )


def _scores(archive: Archive, since: int, until: int) -> dict[str, dict[str, Score]]:
    found: dict[str, dict[str, Score]] = {}
    rows = archive.store.stream(
        "SELECT i.id, s.metric, s.score FROM interactions i JOIN monitor_scores s"
        " ON s.number = i.number WHERE i.at >= ? AND i.at < ?",
        (since, until),
    )
    for id, metric, text in rows:
        found.setdefault(id, {})[metric] = decode_score(text)
    return found
