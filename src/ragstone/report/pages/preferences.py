"""What a judge decided answer by answer: who wins, how often, and the ranking of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.report.amounts import format_signed
from ragstone.report.comparison.sentences import shorten_name
from ragstone.report.remarks import Remark, shorten
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.columns import ComparableRun
    from ragstone.analysis.preferences import Ballot, PairPreference, PreferenceStudy

MAX_EXAMPLES = 5
"""Questions shown for each side."""
BEST, TIED = "★", "≈"


@dataclass(frozen=True, slots=True)
class BallotView:
    """A question with both answers and the judge's reasons."""

    id: str
    question: str
    answers: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class PreferenceView:
    """A study of preferences in words; part of the page of a comparison."""

    study: PreferenceStudy
    runs: Mapping[str, ComparableRun]
    t: Translator

    @cached_property
    def rows(self) -> list[list[str]]:
        """Each pair: its names, win rate, interval, wins, ties, losses and verdict."""
        return [self._list_cells(pair) for pair in self.study.pairs]

    @cached_property
    def remarks(self) -> list[Remark]:
        """What to know of each pair."""
        return [remark for pair in self.study.pairs for remark in self._describe_pair(pair)]

    @property
    def ranking(self) -> list[list[str]]:
        """The runs by their chance to win: name, chance, interval, strength."""
        t = self.t
        return [
            [
                f"{self._name(entry.run)} {BEST if not n else TIED if entry.tied else ''}".strip(),
                t.percent(entry.rate),
                f"{t.percent(entry.low)} – {t.percent(entry.high)}",
                format_signed(entry.strength, t),
            ]
            for n, entry in enumerate(self.study.ranking)
        ]

    @property
    def note(self) -> str:
        """Who judged and how votes are counted."""
        return self.t("preference_note", judge=shorten(self.study.judge, 80))

    @property
    def examples(self) -> Iterator[tuple[str, list[BallotView]]]:
        """Some questions that the baseline wins and some that it loses, under who wins them."""
        for pair in self.study.pairs[: len(self.study.names) - 1]:
            for vote, winner in (("first", pair.first), ("second", pair.second)):
                shown = [ballot for ballot in pair.ballots if ballot.vote == vote][:MAX_EXAMPLES]
                if shown:
                    title = self.t("preference_won", run=self._name(winner))
                    yield title, self._view_ballots(shown, pair)

    def _list_cells(self, pair: PairPreference) -> list[str]:
        t, counts, difference = self.t, pair.counts, pair.difference
        interval = pair.win_interval
        wins, losses = counts["second"], counts["first"]
        return [
            self._name_pair(pair),
            t.percent(difference.after) if difference.after is not None else "–",
            "–" if interval is None else f"{t.percent(interval[0])} – {t.percent(interval[1])}",
            t.whole(wins),
            t.whole(sum(counts.values()) - wins - losses),
            t.whole(losses),
            t(f"verdict_word.{difference.verdict}"),
        ]

    def _describe_pair(self, pair: PairPreference) -> Iterator[Remark]:
        t, label, counts = self.t, self._name_pair(pair), pair.counts
        turning = counts["first_shown"] + counts["second_shown"]
        if turning == pair.difference.pairs - counts["same"] > 0:
            yield Remark(f"{label}: {t('preference_turned')}", "warn")
        for warning in pair.difference.warnings:
            yield Remark(f"{label}: {t.message(warning)}", "warn")
        if pair.failed:
            reasons = Counter(ballot.explanation for ballot in pair.ballots if ballot.vote is None)
            reason = shorten(t.message(reasons.most_common(1)[0][0]), 300)
            text = t("preference_failed", n=t.whole(pair.failed), reason=reason)
            yield Remark(f"{label}: {text}", "warn")
        agreement = pair.agreement
        if agreement is not None:
            kappa = "–" if agreement.kappa is None else t.number(agreement.kappa)
            share = t.percent(agreement.same / agreement.items)
            text = t("preference_people", n=t.whole(agreement.items), kappa=kappa, share=share)
            yield Remark(f"{label}: {text}")

    def _view_ballots(self, ballots: Sequence[Ballot], pair: PairPreference) -> list[BallotView]:
        t = self.t
        answers = [_load_answers(self.runs[run], ballots) for run in (pair.first, pair.second)]
        views = []
        for ballot in ballots:
            texts = [
                f"{self._name(run)}: {shorten(given[ballot.sample][1], 400)}"
                for run, given in zip((pair.first, pair.second), answers, strict=True)
            ]
            reasons = dict.fromkeys(
                shorten(t.message(text), 240) for text in ballot.reasons if text
            )
            question = shorten(answers[0][ballot.sample][0], 240)
            views.append(
                BallotView(shorten(ballot.sample, 60), question, tuple(texts), tuple(reasons))
            )
        return views

    def _name_pair(self, pair: PairPreference) -> str:
        return self.t("against", run=self._name(pair.second), baseline=self._name(pair.first))

    def _name(self, run: str) -> str:
        return shorten_name(self.study.names[run], self.t)


def _load_answers(run: ComparableRun, ballots: Sequence[Ballot]) -> dict[str, tuple[str, str]]:
    """Sample id → question and answer in a run."""
    wanted = {ballot.sample for ballot in ballots}
    found = {}
    for position, sample_id, _, _ in run.values():
        if sample_id in wanted:
            sample = run.row(position).sample
            found[sample_id] = (sample.question or "", sample.answer or "")
    return found
