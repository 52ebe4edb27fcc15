"""Which configuration to choose: by the primary metric, then by what an answer takes, and only as far as the questions tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragstone.analysis.compare import MARGIN
from ragstone.analysis.comparison import Comparison, Difference
from ragstone.analysis.league import League, LeagueColumn
from ragstone.analysis.pareto import COSTS
from ragstone.analysis.power import find_needed_questions

Advice = Literal["choose", "keep", "cheaper", "leader", "equal", "undecided"]
"""Take the best instead of the baseline; keep the baseline, which is the best; take another that is as good and cheaper;
take the best, others are as good and dearer; take any, they are equally good; the questions do not tell."""


@dataclass(frozen=True, slots=True)
class CostRatio:
    """What an answer of one configuration takes, as a multiple of another's."""

    metric: str
    ratio: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The configuration to choose, or why none can be named yet."""

    advice: Advice
    metric: str
    choice: str
    """Name of the configuration; the one that leads where nothing is decided."""
    against: str
    """Name of the one that the difference is to."""
    difference: float
    low: float | None
    high: float | None
    questions: int
    margin: float
    costs: tuple[CostRatio, ...] = ()
    """Where the choice takes more or less than the other by more than chance."""
    rivals: tuple[str, ...] = ()
    """Others that may be as good."""
    losses: tuple[Difference, ...] = ()
    """Other quality metrics in which the choice is worse than the baseline."""
    needed: int | None = None
    """About how many questions would tell differences of the margin."""


def recommend(
    league: League, comparison: Comparison, margin: float = MARGIN
) -> Recommendation | None:
    """The recommendation of a league; None without a primary metric that all runs are scored with."""
    column = league.find(league.primary) if league.primary else None
    if column is None or len(league.names) < 2:
        return None
    # `margin` is a share of the range; from here on it is in the metric's own units
    reach = margin * (column.bounds[1] - column.bounds[0] if column.bounds else 1.0)
    best, baseline = column.best, comparison.baseline.id
    tied = [run for run in league.names if column.cells[run].tied]
    if baseline not in (best, *tied):
        return _advise(league, column, "choose", best, baseline, reach, comparison, tied)
    if not tied:
        runner_up = next(run for run in league.names if run != best)
        return _advise(league, column, "keep", best, runner_up, reach)
    # between runs that gave the same answers there is nothing to tell
    same = _find_identical(comparison, column.metric)
    unlike = [run for run in tied if not {best, run} <= same]
    if any(not _is_within(column, run, reach) for run in unlike):
        return _advise(league, column, "undecided", best, unlike[0], reach, rivals=unlike)
    cheapest = _find_cheapest(league, [best, *tied])
    if cheapest is None or cheapest == best:
        advice: Advice = "equal" if cheapest is None else "leader"
        return _advise(league, column, advice, best, tied[0], reach, rivals=tied)
    return _advise(league, column, "cheaper", cheapest, best, reach, comparison)


def _advise(
    league: League,
    column: LeagueColumn,
    advice: Advice,
    choice: str,
    against: str,
    margin: float,
    comparison: Comparison | None = None,
    rivals: list[str] | None = None,
) -> Recommendation:
    gap = league.compare(column.metric, against, choice)
    ends = gap.interval_at(league.alpha)
    return Recommendation(
        advice=advice,
        metric=column.metric,
        choice=league.names[choice],
        against=league.names[against],
        difference=gap.difference or 0.0,
        low=ends.low,
        high=ends.high,
        questions=column.samples,
        margin=margin,
        costs=_list_costs(league, choice, against),
        rivals=tuple(league.names[run] for run in rivals or ()),
        losses=_list_losses(comparison, choice),
        needed=find_needed_questions(gap, margin, league.alpha),
    )


def _find_identical(comparison: Comparison, metric: str) -> frozenset[str]:
    """The baseline with the runs that gave the same answers as it does: between these there is nothing to tell."""
    same = (
        versus.run.id
        for versus in comparison.versus
        for difference in versus.differences
        if difference.metric == metric and difference.verdict == "identical"
    )
    return frozenset([comparison.baseline.id, *same])


def _is_within(column: LeagueColumn, run: str, margin: float) -> bool:
    low, high = column.cells[run].gap_low, column.cells[run].gap_high
    return low is not None and high is not None and -margin <= low and high <= margin


def _list_costs(league: League, choice: str, against: str) -> tuple[CostRatio, ...]:
    costs = []
    for column in league.columns:
        before = column.cells[against].mean
        if not column.resource or before <= 0:
            continue
        change = league.compare(column.metric, against, choice)
        if change.p is not None and change.p <= league.alpha:
            ends = change.interval_at(league.alpha)
            low, high = (None if end is None else 1 + end / before for end in (ends.low, ends.high))
            costs.append(CostRatio(column.metric, column.cells[choice].mean / before, low, high))
    return tuple(costs)


def _find_cheapest(league: League, runs: list[str]) -> str | None:
    """The run that takes least of the first cost measured, if by more than chance: less than the first, or than any other."""
    column = next((found for name in COSTS if (found := league.find(name)) is not None), None)
    if column is None:
        return None
    cheapest = min(runs, key=lambda run: column.cells[run].mean)
    others = runs[1:] if cheapest == runs[0] else runs[:1]
    savings = (league.compare(column.metric, run, cheapest).p for run in others)
    return cheapest if all(p is not None and p <= league.alpha for p in savings) else None


def _list_losses(comparison: Comparison | None, choice: str) -> tuple[Difference, ...]:
    if comparison is None:
        return ()
    return tuple(
        difference
        for difference in comparison.differences
        if difference.run == choice
        and difference.verdict == "worse"
        and difference.family == "quality"
    )
