"""A random sample of the judged interactions of a window or slice as a run, so that two of them can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import from_micros
from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.monitor.windows.statistics import find_metric
from ragstone.monitor.windows.window_run import InteractionRow, WindowRun
from ragstone.store import to_metric_record

MAX_COMPARED = 20_000
"""Interactions on each side of a comparison at most, the newest."""
MEASURES = ("latency", "tokens", "cost")
"""What the log knows of an interaction besides its scores."""


Slice = tuple[str, str]
"""A meta field and its value."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison of live traffic."""

    since: int
    until: int
    name: str
    where: Slice | None

    def read_sample(self, archive: Archive, group: str | None = None) -> WindowSample:
        """Its interactions that were drawn at random."""
        return WindowSample(
            archive, self.since, self.until, self.name, where=self.where, group=group
        )


def choose_sides(
    slices: Sequence[Slice], end: int, length: int, zone: str
) -> tuple[ComparedSide, ComparedSide]:
    """Two slices of the window up to `end`; or the window before it and it, of all interactions or of one slice."""
    now, before = (end - length, end), (end - 2 * length, end - length)
    if len(slices) == 2:
        first, second = (ComparedSide(*now, f"{field}={value}", (field, value)) for field, value in slices)  # fmt: skip
        return first, second
    where = slices[0] if slices else None
    first, second = (ComparedSide(*span, name_span(*span, zone), where) for span in (before, now))
    return first, second


def name_span(since: int, until: int, zone: str) -> str:
    """`2026-05-01 – 2026-05-08`, with the time of day unless both are midnight."""
    time_zone = get_time_zone(zone)
    times = [from_micros(at).astimezone(time_zone) for at in (since, until)]
    is_whole = all(not (time.hour or time.minute or time.second) for time in times)
    return " – ".join(time.strftime("%Y-%m-%d" if is_whole else "%Y-%m-%d %H:%M") for time in times)


class WindowSample(WindowRun):
    """The interactions of a window that were drawn at random; those judged only because they went badly are left out.

    They would make every window look worse than it was. `group` is a field whose value is the group of an interaction."""

    def __init__(
        self,
        archive: Archive,
        since: int,
        until: int,
        name: str,
        *,
        where: tuple[str, str] | None = None,
        group: str | None = None,
    ) -> None:
        super().__init__(archive, since, until, where=where, limit=MAX_COMPARED, only_drawn=True)
        self._group = group
        known = [str(about["name"]) for about in self.info.metrics]
        measures = [
            to_metric_record(metric)
            for measure in MEASURES
            if measure not in known and (metric := find_metric(measure)) is not None
            and any(_read_measure(row, measure) is not None for row in self._rows)
        ]  # fmt: skip
        self._measures = [str(about["name"]) for about in measures]
        self.info = replace(
            self.info, id=f"monitor {name}", name=name, metrics=(*self.info.metrics, *measures)
        )

    def values(self) -> Iterator[tuple[int, str, str | None, Mapping[str, float | str]]]:
        """Scores and measures of each interaction, and its group."""
        for row, (position, id, _, scores) in zip(self._rows, super().values(), strict=True):
            values: dict[str, float | str] = dict(scores)
            for measure in self._measures:
                value = _read_measure(row, measure)
                values[measure] = "missing_field" if value is None else float(value)
            yield position, id, self._find_group(row), values

    def _find_group(self, row: InteractionRow) -> str | None:
        if self._group is None or row.interaction is None:
            return None
        return row.interaction.slices.get(self._group)


def _read_measure(row: InteractionRow, measure: str) -> float | None:
    value: float | None = getattr(row.interaction, measure)
    return value
