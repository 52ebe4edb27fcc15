"""The report on a search for better settings: what the winner is worth on questions that it was not chosen by, and the trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.power import find_needed_questions
from ragstone.analysis.significance import ALPHA
from ragstone.report import document as doc
from ragstone.report.builders.parts import build_number_columns, build_table, build_text_columns
from ragstone.report.comparison.sentences import (
    format_amount,
    format_signed,
    format_signed_interval,
)
from ragstone.report.document import Remark
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.paired import MeanDifference

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

    def describe(self, say: Words) -> list[Remark]:
        """What to do, in a sentence, and what that rests on."""
        values = {
            "winner": self.winner, "objective": self.objective, "n": say.whole(self.gain.pairs),
            "margin": format_amount(self.margin, say),
        }  # fmt: skip
        if self.is_unchanged:
            return [Remark(say("tuned.unchanged", **values))]
        if self.same_answers:
            return [Remark(say("tuned.same", **values))]
        interval = self.gain.interval
        values["difference"] = format_signed(self.gain.difference, say)
        values["interval"] = format_signed_interval(interval.low, interval.high, say)
        p = self.gain.p
        if p is not None and p <= ALPHA:
            is_better = (self.gain.difference or 0.0) > 0
            return [
                Remark(say(f"tuned.{'better' if is_better else 'worse'}", **values), "good" if is_better else "bad")
            ]  # fmt: skip
        if interval.low is not None and interval.high is not None and max(-interval.low, interval.high) <= self.margin:  # fmt: skip
            return [Remark(say("tuned.equivalent", **values))]
        text = say("tuned.undecided", **values)
        needed = find_needed_questions(self.gain, self.margin)
        if needed is not None:
            more = say.whole(max(needed - self.gain.pairs, 0))
            text += " " + say("choose.needed", needed=say.whole(needed), more=more, **values)
        return [Remark(text, "warn")]

    def build_trials(self, say: Words) -> doc.Section:
        """The table of trials, estimates apart from what was measured."""
        columns = [
            *build_text_columns(say, "configuration"),
            *build_number_columns(
                say, "tuned.questions", "tuned.measured", "tuned.beside", "tuned.estimate"
            ),
            *(doc.TableColumn(name, True) for name in self.against),
            *(build_text_columns(say, "tuned.front") if self.against else ()),
        ]
        table = build_table(columns, [self._list_cells(t, say) for t in self.trials[:SHOWN_TRIALS]])
        lines = [say("tuned.note")]
        hidden = len(self.trials) - SHOWN_TRIALS
        if hidden > 0:
            lines.append(say.count("tuned.more", hidden))
        share = say.percent(self.answered / self.full_grid, 0)
        lines.append(say("tuned.effort", n=say.whole(self.answered), share=share))
        if self.stopped:
            lines.append(say("tuned.stopped", budget=self.stopped))
        note = doc.Paragraph(" ".join(lines), style="note")
        return doc.Section((doc.Heading(say("tuned.trials")), table, note), "panel", "trials")

    def _list_cells(self, trial: TrialRow, say: Words) -> Sequence[str]:
        estimate = "–" if trial.estimate is None else f"≈ {say.number(trial.estimate)}"
        # a cell for each column of `build_trials`, in that order
        cells = [
            trial.name, say.whole(trial.questions), say.number(trial.measured),
            say.number(trial.winner_beside), estimate,
        ]  # fmt: skip
        if self.against:
            cells += [say.number(cost) for cost in trial.costs] or ["–"] * len(self.against)
            cells.append("★" if trial.front else "")
        return cells
