"""A search for better settings: what the winner is worth on questions that it was not chosen by, and the trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.paired import MeanDifference
from ragstone.analysis.pareto import Candidate, TradeOff, find_front
from ragstone.analysis.power import find_needed_questions
from ragstone.analysis.significance import ALPHA
from ragstone.analysis.stats import Interval
from ragstone.report.amounts import format_amount, format_signed, format_signed_interval
from ragstone.report.comparison.sentences import join_names
from ragstone.report.pages import Page
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.remarks import Remark
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.experiments.tune import TuningResult
    from ragstone.report.drawing.shapes import Drawing

SHOWN_TRIALS = 10
"""Trials in a text or on a screen; a JSON file has them all."""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One configuration of a search."""

    name: str
    questions: int
    measured: float | None
    """The objective on the questions that it answered."""
    winner_beside: float | None
    """The winner's on the same questions."""
    estimate: float | None
    """For all tuning questions, where it did not answer them all."""
    costs: tuple[float, ...] = ()
    front: bool = False
    run: str = ""
    """Its run; empty where there is none."""


@dataclass(frozen=True, slots=True)
class SearchView:
    """What a report says of a search."""

    objective: str
    winner: str
    is_unchanged: bool
    """Whether the winner is the system as it was."""
    same_answers: bool
    """Whether the winner answers the held-out questions as the system did before."""
    gain: MeanDifference
    margin: float
    trials: tuple[TrialRow, ...]
    against: tuple[str, ...]
    answered: int
    """Questions answered while tuning."""
    full_grid: int
    stopped: str = ""
    savings: tuple[tuple[str, float, float], ...] = ()
    """What the winner takes less of by more than chance, with the mean before and with it."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SearchView:
        """The search that `describe_search` wrote down."""
        weights, gain = record["objective"], dict(record["gain"])
        interval = Interval(gain.pop("low"), gain.pop("high"))
        alone = len(weights) == 1
        return cls(
            objective=" + ".join(name if alone else f"{w:g}*{name}" for name, w in weights.items()),
            winner=record["winner"],
            is_unchanged=record["is_unchanged"],
            same_answers=record["same_answers"],
            gain=MeanDifference(**gain, interval_at=lambda alpha: interval),
            margin=record["margin"],
            against=tuple(record["against"]),
            answered=record["answered"],
            full_grid=record["full_grid"],
            stopped=record["stopped"],
            savings=tuple(tuple(saving) for saving in record.get("savings", ())),
            trials=tuple(
                TrialRow(**{**trial, "costs": tuple(trial["costs"]), "run": trial["run"] or ""})
                for trial in record["trials"]
            ),
        )

    def describe(self, t: Translator) -> list[Remark]:
        """What to do, in a sentence, and what that rests on."""
        values = {
            "winner": t.name_run(self.winner),
            "objective": self.objective,
            "n": t.whole(self.gain.pairs),
            "margin": format_amount(self.margin, t),
        }
        if self.is_unchanged:
            return [Remark(t("tuned.unchanged", **values))]
        if self.same_answers:
            if self.savings:
                return [
                    Remark(
                        t("tuned.same_cheaper", saved=self._describe_savings(t), **values),
                        "good",
                    )
                ]
            return [Remark(t("tuned.same", **values))]
        interval = self.gain.interval
        values["difference"] = format_signed(self.gain.difference, t)
        values["interval"] = format_signed_interval(interval.low, interval.high, t)
        p = self.gain.p
        if p is not None and p <= ALPHA:
            is_better = (self.gain.difference or 0.0) > 0
            return [
                Remark(
                    t(f"tuned.{'better' if is_better else 'worse'}", **values),
                    "good" if is_better else "bad",
                )
            ]
        if (
            interval.low is not None
            and interval.high is not None
            and max(-interval.low, interval.high) <= self.margin
        ):
            if self.savings:
                return [
                    Remark(t("tuned.cheaper", saved=self._describe_savings(t), **values), "good")
                ]
            return [Remark(t("tuned.equivalent", **values))]
        text = t("tuned.undecided", **values)
        needed = find_needed_questions(self.gain, self.margin)
        if needed is not None:
            more = t.whole(max(needed - self.gain.pairs, 0))
            text += " " + t("choose.needed", needed=t.whole(needed), more=more, **values)
        return [Remark(text, "warn")]

    def _describe_savings(self, t: Translator) -> str:
        """What the winner takes less of, as `cost 0.003 instead of 0.005`."""
        return join_names(
            [
                t(
                    "tuned.saving",
                    metric=name,
                    less=format_amount(less, t),
                    more=format_amount(more, t),
                )
                for name, more, less in self.savings
            ],
            t,
        )

    def draw_fronts(self, t: Translator) -> Iterator[tuple[str, str, partial[Drawing]]]:
        """Objective, cost and picture of each trade-off, of the trials that answered as many questions as the winner."""
        from ragstone.report.drawing.charts import draw_pareto

        most = max((trial.questions for trial in self.trials), default=0)
        whole = [trial for trial in self.trials if trial.questions == most and trial.costs]
        for number, cost in enumerate(self.against):
            points = [
                (t.name_run(trial.name), trial.costs[number], trial.measured)
                for trial in whole
                if trial.measured is not None
            ]
            if len(points) < 2:
                continue
            # of this picture: with several costs the star of the table is of all of them
            front = find_front([(spent, quality) for _, spent, quality in points])
            candidates = [
                Candidate(*point, is_front) for point, is_front in zip(points, front, strict=True)
            ]
            trade_off = TradeOff(self.objective, cost, tuple(candidates))
            yield self.objective, cost, partial(draw_pareto, trade_off, t)

    def format_costs(self, trial: TrialRow, t: Translator) -> list[str]:
        """What a trial takes, in the order of `against`."""
        return [t.number(cost) for cost in trial.costs] or ["–"] * len(self.against)

    def describe_extent(self, t: Translator, most: int) -> str:
        """How many trials are not shown, and what the search took."""
        hidden = len(self.trials) - most
        share = t.percent(self.answered / self.full_grid, 0)
        more = [t.count("tuned.more", hidden)] if hidden > 0 else []
        stopped = [t("tuned.stopped", budget=self.stopped)] if self.stopped else []
        return " ".join([*more, t("tuned.effort", n=t.whole(self.answered), share=share), *stopped])

    def describe_effort(self, t: Translator, most: int = SHOWN_TRIALS) -> str:
        """How to read the table of trials, and what the search took."""
        lines = [t("tuned.note")]
        hidden = len(self.trials) - most
        if hidden > 0:
            lines.append(t.count("tuned.more", hidden))
        share = t.percent(self.answered / self.full_grid, 0)
        lines.append(t("tuned.effort", n=t.whole(self.answered), share=share))
        if self.stopped:
            lines.append(t("tuned.stopped", budget=self.stopped))
        return " ".join(lines)


@dataclass(frozen=True)
class TuningPage(Page):
    """A search in which nothing did better than the system as it was."""

    kind: ClassVar[str] = "comparison"
    template: ClassVar[str] = "tuning"
    search: SearchView

    @property
    def title(self) -> str:
        """What it is of."""
        return self.t("tuned.trials")

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.t("comparison")


def open_page(result: TuningResult, t: Translator) -> Page:
    """The page of a search: the comparison of the winner with the system as it was, if there is one."""
    from ragstone.experiments.records import describe_search

    search = SearchView.from_record(describe_search(result))
    if result.result is None:
        return TuningPage(t, search)
    return ComparisonPage(
        t,
        result.result.comparison,
        result.result.runs,
        league=result.result.league,
        recommendation=result.result.recommendation,
        search=search,
    )
