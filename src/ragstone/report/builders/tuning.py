"""The report on a search for better settings: what the winner is worth on questions that it was not chosen by, and the trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ragstone.analysis.paired import MeanDifference
from ragstone.analysis.pareto import Candidate, TradeOff, find_front
from ragstone.analysis.power import find_needed_questions
from ragstone.analysis.significance import ALPHA
from ragstone.analysis.stats import Interval
from ragstone.report import document as doc
from ragstone.report.amounts import format_amount, format_signed, format_signed_interval
from ragstone.report.builders.parts import (
    build_chart,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.comparison.sentences import join_names
from ragstone.report.document import Remark
from ragstone.report.drawing.charts import draw_pareto
from ragstone.report.translator import Translator

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
            winner=record["winner"], is_unchanged=record["is_unchanged"], same_answers=record["same_answers"],
            gain=MeanDifference(**gain, interval_at=lambda alpha: interval),
            margin=record["margin"], against=tuple(record["against"]),
            answered=record["answered"], full_grid=record["full_grid"], stopped=record["stopped"],
            savings=tuple(tuple(saving) for saving in record.get("savings", ())),
            trials=tuple(
                TrialRow(**{**trial, "costs": tuple(trial["costs"]), "run": trial["run"] or ""})
                for trial in record["trials"]
            ),
        )  # fmt: skip

    def describe(self, t: Translator) -> list[Remark]:
        """What to do, in a sentence, and what that rests on."""
        values = {
            "winner": t.name_run(self.winner), "objective": self.objective, "n": t.whole(self.gain.pairs),
            "margin": format_amount(self.margin, t),
        }  # fmt: skip
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
                Remark(t(f"tuned.{'better' if is_better else 'worse'}", **values), "good" if is_better else "bad")
            ]  # fmt: skip
        if interval.low is not None and interval.high is not None and max(-interval.low, interval.high) <= self.margin:  # fmt: skip
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
                t("tuned.saving", metric=name, less=format_amount(less, t), more=format_amount(more, t))
                for name, more, less in self.savings
            ],
            t,
        )  # fmt: skip

    def build_front(self, t: Translator) -> list[doc.Node]:
        """Quality against what it is traded for, of the trials that answered as many questions as the winner."""
        most = max((trial.questions for trial in self.trials), default=0)
        whole = [trial for trial in self.trials if trial.questions == most and trial.costs]
        sections: list[doc.Node] = []
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
            candidates = [Candidate(*point, is_front) for point, is_front in zip(points, front, strict=True)]  # fmt: skip
            trade_off = TradeOff(self.objective, cost, tuple(candidates))
            chart = build_chart(partial(draw_pareto, trade_off, t))
            title = t("drawn.pareto", quality=self.objective, cost=cost)
            note = doc.Paragraph(t("drawn.front", cost=cost), style="note")
            sections.append(build_panel(f"front{number}", title, chart, note, where=doc.PAGE))
        return sections

    def build_trials(
        self, t: Translator, link: Callable[[str], str] | None = None, most: int = SHOWN_TRIALS
    ) -> doc.Section:
        """The table of trials, estimates apart from what was measured; `link` gives the address of a run."""
        columns = [
            *build_text_columns(t, "configuration"),
            *build_number_columns(
                t, "tuned.questions", "tuned.measured", "tuned.beside", "tuned.estimate"
            ),
            *(doc.TableColumn(name, True) for name in self.against),
            *(build_text_columns(t, "tuned.front") if self.against else ()),
        ]
        rows = [self._list_cells(trial, t, link) for trial in self.trials[:most]]
        table = build_table(columns, rows, id="trials")
        lines = [t("tuned.note")]
        hidden = len(self.trials) - most
        if hidden > 0:
            lines.append(t.count("tuned.more", hidden))
        share = t.percent(self.answered / self.full_grid, 0)
        lines.append(t("tuned.effort", n=t.whole(self.answered), share=share))
        if self.stopped:
            lines.append(t("tuned.stopped", budget=self.stopped))
        note = doc.Paragraph(" ".join(lines), style="note")
        return doc.Section((doc.Heading(t("tuned.trials")), table, note), "panel", "trials")

    def _list_cells(
        self, trial: TrialRow, t: Translator, link: Callable[[str], str] | None
    ) -> doc.Cells:
        href = link(trial.run) if link is not None and trial.run else ""
        estimate = "–" if trial.estimate is None else f"≈ {t.number(trial.estimate)}"
        # a cell for each column of `build_trials`, in that order
        cells: list[str | doc.TableCell] = [
            doc.TableCell(t.name_run(trial.name), href=href), t.whole(trial.questions), t.number(trial.measured),
            t.number(trial.winner_beside), estimate,
        ]  # fmt: skip
        if self.against:
            cells += [t.number(cost) for cost in trial.costs] or ["–"] * len(self.against)
            cells.append("★" if trial.front else "")
        return cells
