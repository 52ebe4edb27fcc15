"""What the address says of a list of samples: run, filter, order, page; and the same state written back as links."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_samples import POSITION, SampleQuery, ValueRange

STATE_NAMES = ("q", "range", "is", "sort", "dir", "hist")
"""Parameters of an address that say which samples are shown, and in which order."""
LABELLED = "labelled"
"""The trait of samples that people have labelled; it follows from the labels."""


@dataclass(frozen=True, slots=True)
class SampleState:
    """The state of a list of samples."""

    frame: ViewFrame
    run: str
    query: SampleQuery
    histogram: str
    """The metric whose spread is shown."""
    page: int = 1
    complaints: tuple[str, ...] = ()
    """Parts of the address that could not be read."""

    @property
    def is_filtered(self) -> bool:
        """Whether some samples may be left out."""
        return bool(self.query.text or self.query.ranges or self.query.traits)

    def href(self, page: str = "run", *, number: int = 1, at: int = 0, **changes: object) -> str:
        """The address of this state on a page, with changes to its query; `at` is the position of a sample."""
        query = replace(self.query, **changes) if changes else self.query  # type: ignore[arg-type]
        values: dict[str, str | Sequence[str]] = {
            "run": self.run,
            "at": str(at) if at else "",
            "q": query.text,
            "range": [format_range(part) for part in query.ranges],
            "is": [format_trait(trait, value) for trait, value in query.traits],
            "sort": query.sort,
            "dir": "down" if query.descending else "",
            "hist": self.histogram,
            "page": str(number) if number > 1 else "",
        }
        return self.frame.href(page, **values)

    def add_trait(self, trait: str, value: str) -> str:
        """The address that also asks for a trait; one of the same name is replaced."""
        others = tuple(pair for pair in self.query.traits if pair[0] != trait)
        return self.href(traits=(*others, (trait, value)))

    def drop_trait(self, trait: str) -> str:
        """The address without a trait."""
        return self.href(traits=tuple(pair for pair in self.query.traits if pair[0] != trait))

    def set_range(self, part: ValueRange) -> str:
        """The address with a range of a metric in the place of an earlier one."""
        others = tuple(other for other in self.query.ranges if other.metric != part.metric)
        return self.href(ranges=(*others, part))

    def drop_range(self, metric: str) -> str:
        """The address without the range of a metric."""
        return self.href(ranges=tuple(p for p in self.query.ranges if p.metric != metric))


def read_state(frame: ViewFrame, run: str, metrics: dict[str, bool], lead: str) -> SampleState:
    """The state that an address names; `metrics` maps each to whether higher is better, `lead` is sorted by at first.

    What cannot be read is left out, and kept in `complaints` to be shown."""
    ranges, bad_ranges = _read_ranges(frame, metrics)
    traits, bad_traits = _read_traits(frame)
    complaints = [*bad_ranges, *bad_traits]
    sort = frame.get("sort") or lead or POSITION
    if sort not in (*metrics, POSITION):
        complaints.append(sort)
        sort = lead or POSITION
    # without a direction the worst come first
    is_down = frame.get("dir") == "down" or (not frame.get("dir") and not metrics.get(sort, True))
    query = SampleQuery(frame.get("q"), ranges, traits, sort=sort, descending=is_down)
    histogram = frame.get("hist")
    if histogram not in metrics:
        histogram = sort if sort in metrics else lead
    page = frame.get_number("page", 1, 10_000_000)
    return SampleState(frame, run, query, histogram, page, tuple(complaints))


def _read_ranges(
    frame: ViewFrame, metrics: Container[str]
) -> tuple[tuple[ValueRange, ...], list[str]]:
    """The last range of each metric, and the texts that are none."""
    ranges: dict[str, ValueRange] = {}
    complaints = []
    for text in filter(None, [*frame.get_all("range"), _join_range(frame)]):
        part = parse_range(text)
        if part is None or part.metric not in metrics:
            complaints.append(text)
        else:
            ranges[part.metric] = part
    return tuple(ranges.values()), complaints


def _read_traits(frame: ViewFrame) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """The last value of each trait, and the texts that are none."""
    traits: dict[str, str] = {}
    complaints = []
    for text in frame.get_all("is"):
        trait, separator, value = text.partition(":")
        if separator and value:
            traits[unquote(trait)] = value
        else:
            complaints.append(text)
    return tuple(traits.items()), complaints


def format_trait(trait: str, value: str) -> str:
    """`meta.topic:billing`; a colon in the name of a field is written %3A, so that the first one ends the name."""
    return f"{trait.replace('%', '%25').replace(':', '%3A')}:{value}"


def _join_range(frame: ViewFrame) -> str:
    """The range that the form gives in three fields."""
    metric, low, high = frame.get("metric"), frame.get("low"), frame.get("high")
    return f"{metric}:{low}:{high}" if metric and (low or high) else ""


def parse_range(text: str) -> ValueRange | None:
    """`faithfulness:0.2:0.5`, ends may be empty; `0.5-` leaves the highest value out."""
    metric, _, ends = text.rpartition(":")
    metric, separator, low = metric.rpartition(":")
    if not separator or not metric:
        return None
    excludes_high = ends.endswith("-") and ends != "-"
    try:
        numbers = [float(end) if end else None for end in (low, ends.removesuffix("-") if excludes_high else ends)]  # fmt: skip
    except ValueError:
        return None
    if any(number is not None and not math.isfinite(number) for number in numbers):
        return None
    return ValueRange(metric, numbers[0], numbers[1], excludes_high)


def format_range(part: ValueRange) -> str:
    """The range as `parse_range` reads it."""
    low, high = ("" if end is None else f"{end:.12g}" for end in (part.low, part.high))
    return f"{part.metric}:{low}:{high}{'-' if part.excludes_high and high else ''}"
