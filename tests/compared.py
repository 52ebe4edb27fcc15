"""Differences and comparisons as tests want them, made without runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ragstone.analysis.comparison import Comparison, Difference, RunComparison
from ragstone.config import Plan
from ragstone.store import RunInfo

FLOOR = 0.95

_DIFFERENCE = Difference(
    metric="recall", run="new", higher_is_better=True, bounds=(0.0, 1.0), resource=False,
    family="quality", pairs=100, applicable=100, coverage=1.0, before=0.5, after=0.6,
    difference=0.1, clusters=None, p=0.01, test="sign flips", improved=30, unchanged=50,
    worsened=20, left_out={}, margin=0.02, plain_low=0.05, plain_high=0.15, low=0.05, high=0.15,
)  # fmt: skip
_RESOURCE = replace(
    _DIFFERENCE, metric="latency", bounds=None, resource=True, family="resource",
    higher_is_better=False, before=2.0, after=3.0, difference=1.0, low=0.5, high=1.5, margin=0.1,
)  # fmt: skip


def make_difference(metric: str = "recall", verdict: str = "better", **changes: Any) -> Difference:
    """A rise of 0.1 that is shown, with changes."""
    return replace(_DIFFERENCE, metric=metric, verdict=verdict, **changes)


def make_resource(metric: str = "latency", verdict: str = "worse", **changes: Any) -> Difference:
    """A rise from 2 to 3 in what answers take, with changes."""
    return replace(_RESOURCE, metric=metric, verdict=verdict, **changes)


def name_run(name: str) -> RunInfo:
    """A run that has nothing but a name."""
    return RunInfo(name, name, "", "done", Plan(), {}, "", "", ())


def make_run_comparison(
    *differences: Difference, run: str = "new", **changes: Any
) -> RunComparison:
    """One run against the baseline, a hundred samples paired."""
    rows = tuple(replace(difference, run=run) for difference in differences)
    return replace(RunComparison(name_run(run), 100, 0, 0, rows, (), ()), **changes)


def make_comparison(*runs: RunComparison, **changes: Any) -> Comparison:
    """The runs against the baseline `old`."""
    plain = Comparison(name_run("old"), runs, "holm", {"quality": 1}, FLOOR)
    return replace(plain, **changes)
