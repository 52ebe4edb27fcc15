"""What the address says of the review page: runs, metric, filter, order, page; and the same state written back as links."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_samples import POSITION, SPREAD, SampleQuery, ValueRange

LABELLED = "labelled"
"""The trait of samples that people have labelled; it follows from the labels."""


@dataclass(frozen=True, slots=True)
class SampleState:
    """The state of a review page."""

    frame: ViewFrame
    runs: tuple[str, ...]
    """The runs side by side, the baseline first."""
    of: str
    """The run whose samples are listed and filtered."""
    query: SampleQuery
    metric: str
    """The metric that the runs are compared by."""
    page: int = 1
    complaints: tuple[str, ...] = ()
    """Parts of the address that could not be read."""

    @property
    def is_filtered(self) -> bool:
        """Whether some samples may be left out."""
        return bool(self.query.text or self.query.ranges or self.query.traits)

    def href(
        self,
        path: str = "review",
        *,
        number: int = 1,
        at: int = 0,
        column: int = 0,
        **changes: object,
    ) -> str:
        """The address of this state on a page, with changes to its query.

        `at` is the position of the sample beside the list, `column` the run of which most is shown there, from 1."""
        query = replace(self.query, **changes) if changes else self.query  # type: ignore[arg-type]
        values: dict[str, str | Sequence[str]] = {
            "run": self.runs,
            "of": self.of if self.of != self.runs[-1] else "",
            "at": str(at) if at else "",
            "column": str(column) if column else "",
            "q": query.text,
            "range": [format_range(part) for part in query.ranges],
            "is": [format_trait(trait, value) for trait, value in query.traits],
            "metric": self.metric,
            "sort": query.sort,
            "dir": "down" if query.descending else "up",
            "page": str(number) if number > 1 else "",
        }
        return self.frame.href(path, **values)

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


def read_state(
    frame: ViewFrame,
    runs: Sequence[str],
    of: str,
    metrics: Mapping[str, bool],
    lead: str,
    shared: Container[str] = (),
) -> SampleState:
    """The state that an address names; `metrics` maps each metric of the listed run to whether higher is better.

    One run is sorted by `lead` at first, the worst first; several by how far they lie apart in it. `shared` are the metrics
    that all of them have. What cannot be read is left out, and kept in `complaints` to be shown."""
    ranges, bad_ranges = _read_ranges(frame, metrics)
    traits, bad_traits = _read_traits(frame)
    complaints = [*bad_ranges, *bad_traits]
    several = len(runs) > 1
    wanted, metric = frame.get("metric"), lead
    if wanted and wanted in metrics and (not several or wanted in shared):
        metric = wanted
    elif wanted:
        complaints.append(wanted)
    default = SPREAD if several and metric else metric or POSITION
    order, _, way = frame.get("order").rpartition(":")  # as the form has it
    sort = order or frame.get("sort") or default
    if sort not in (*metrics, POSITION, *([SPREAD] if several else [])):
        complaints.append(sort)
        sort = default
    # without a direction the worst come first, or those that differ most
    worst_down = sort == SPREAD or not metrics.get(sort, True)
    way = way or frame.get("dir")
    is_down = way == "down" or (way != "up" and worst_down)
    query = SampleQuery(
        frame.get("q"), ranges, traits, sort=sort, descending=is_down, compared=metric
    )
    page = frame.get_number("page", 1, 10_000_000)
    return SampleState(frame, tuple(runs), of, query, metric, page, tuple(complaints))


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
    metric, low, high = frame.get("on"), frame.get("low"), frame.get("high")
    return f"{metric}:{low}:{high}" if metric and (low or high) else ""


def parse_range(text: str) -> ValueRange | None:
    """`faithfulness:0.2:0.5`, ends may be empty; `0.5-` leaves the highest value out."""
    metric, _, ends = text.rpartition(":")
    metric, separator, low = metric.rpartition(":")
    if not separator or not metric:
        return None
    excludes_high = ends.endswith("-") and ends != "-"
    try:
        numbers = [
            float(end) if end else None
            for end in (low, ends.removesuffix("-") if excludes_high else ends)
        ]
    except ValueError:
        return None
    if any(number is not None and not math.isfinite(number) for number in numbers):
        return None
    return ValueRange(metric, numbers[0], numbers[1], excludes_high)


def format_range(part: ValueRange) -> str:
    """The range as `parse_range` reads it."""
    low, high = ("" if end is None else f"{end:.12g}" for end in (part.low, part.high))
    return f"{part.metric}:{low}:{high}{'-' if part.excludes_high and high else ''}"
