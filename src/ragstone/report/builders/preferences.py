"""The part of a comparison that a judge decided answer by answer: who wins, how often, and the ranking of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragstone.report import document as doc
from ragstone.report.amounts import format_signed
from ragstone.report.builders.parts import (
    build_list,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.comparison.sentences import shorten_name
from ragstone.report.figures import shorten
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.columns import ComparableRun
    from ragstone.analysis.preferences import Ballot, PairPreference, PreferenceStudy

MAX_EXAMPLES = 5
"""Questions shown for each side."""
BEST, TIED = "★", "≈"


def build_preferences(
    study: PreferenceStudy, runs: dict[str, ComparableRun], say: Words
) -> list[doc.Node]:
    """Win rates of all pairs, what to know of them, the ranking, and some of the questions that decided."""
    remarks = [remark for pair in study.pairs for remark in _describe_pair(pair, study, say)]
    nodes: list[doc.Node] = [
        _build_pairs(study, say),
        build_list(remarks, flush=True, style="lines"),
        *_build_ranking(study, say),
        doc.Paragraph(say("preference_note", judge=shorten(study.judge, 80)), style="note"),
    ]
    for pair in study.pairs[: len(study.names) - 1]:
        nodes += _build_examples(pair, study, runs, say)
    return [build_panel("preferences", say("preferences"), *nodes)]


def list_preference_data(study: PreferenceStudy) -> dict[str, Any]:
    """The study as JSON takes it, with the vote on every question."""
    plain = asdict(study)
    for row, pair in zip(plain["pairs"], study.pairs, strict=True):
        row["counts"], row["failed"] = pair.counts, pair.failed
    return plain


def _build_pairs(study: PreferenceStudy, say: Words) -> doc.ReportTable:
    columns = (
        *build_text_columns(say, "preference_pair"),
        *build_number_columns(
            say, "preference_rate", "interval", "preference_wins", "preference_ties", "preference_losses",
        ),
        *build_text_columns(say, "verdict"),
    )  # fmt: skip
    return build_table(columns, [_list_cells(pair, study, say) for pair in study.pairs])


def _list_cells(pair: PairPreference, study: PreferenceStudy, say: Words) -> doc.Cells:
    counts, difference = pair.counts, pair.difference
    names = {"run": _name(say, study, pair.second), "baseline": _name(say, study, pair.first)}
    interval = pair.win_interval
    wins, losses = counts["second"], counts["first"]
    return (
        say("against", **names),
        say.percent(difference.after) if difference.after is not None else "–",
        "–" if interval is None else f"{say.percent(interval[0])} – {say.percent(interval[1])}",
        say.whole(wins),
        say.whole(sum(counts.values()) - wins - losses),
        say.whole(losses),
        say(f"verdict_word.{difference.verdict}"),
    )


def _describe_pair(
    pair: PairPreference, study: PreferenceStudy, say: Words
) -> Iterator[doc.Remark]:
    names = {"run": _name(say, study, pair.second), "baseline": _name(say, study, pair.first)}
    label = say("against", **names)
    counts = pair.counts
    turning = counts["first_shown"] + counts["second_shown"]
    if turning == pair.difference.pairs - counts["same"] > 0:
        yield doc.Remark(f"{label}: {say('preference_turned')}", "warn")
    for warning in pair.difference.warnings:
        yield doc.Remark(f"{label}: {say.message(warning)}", "warn")
    if pair.failed:
        reasons = Counter(ballot.explanation for ballot in pair.ballots if ballot.vote is None)
        reason = shorten(say.message(reasons.most_common(1)[0][0]), 300)
        text = say("preference_failed", n=say.whole(pair.failed), reason=reason)
        yield doc.Remark(f"{label}: {text}", "warn")
    agreement = pair.agreement
    if agreement is not None:
        kappa = "–" if agreement.kappa is None else say.number(agreement.kappa)
        text = say(
            "preference_people", n=say.whole(agreement.items), kappa=kappa,
            share=say.percent(agreement.same / agreement.items),
        )  # fmt: skip
        yield doc.Remark(f"{label}: {text}")


def _build_ranking(study: PreferenceStudy, say: Words) -> list[doc.Node]:
    if not study.ranking:
        return []
    columns = (
        *build_text_columns(say, "run"),
        *build_number_columns(say, "preference_chance", "interval", "preference_strength"),
    )
    rows = [
        (
            f"{_name(say, study, entry.run)} {BEST if not n else TIED if entry.tied else ''}".strip(),
            say.percent(entry.rate),
            f"{say.percent(entry.low)} – {say.percent(entry.high)}",
            format_signed(entry.strength, say),
        )
        for n, entry in enumerate(study.ranking)
    ]
    note = doc.Paragraph(say("preference_ranking_note"), style="note")
    return [doc.Heading(say("preference_ranking"), 3), build_table(columns, rows), note]


def _build_examples(
    pair: PairPreference, study: PreferenceStudy, runs: dict[str, ComparableRun], say: Words
) -> Iterator[doc.Node]:
    """Some questions that the baseline wins and some that it loses, with both answers and the judge's reasons."""
    for vote, winner in (("first", pair.first), ("second", pair.second)):
        shown = [ballot for ballot in pair.ballots if ballot.vote == vote][:MAX_EXAMPLES]
        if not shown:
            continue
        answers = [_load_answers(runs[run], shown) for run in (pair.first, pair.second)]
        items = [_describe_ballot(ballot, pair, study, answers, say) for ballot in shown]
        title = say("preference_won", run=_name(say, study, winner))
        yield doc.Details(title, (build_list(items),), where=doc.WRITTEN)


def _load_answers(run: ComparableRun, ballots: Sequence[Ballot]) -> dict[str, tuple[str, str]]:
    """Sample id → question and answer in a run."""
    wanted = {ballot.sample for ballot in ballots}
    found = {}
    for position, sample_id, _, _ in run.values():
        if sample_id in wanted:
            sample = run.row(position).sample
            found[sample_id] = (sample.question or "", sample.answer or "")
    return found


def _describe_ballot(
    ballot: Ballot,
    pair: PairPreference,
    study: PreferenceStudy,
    answers: Sequence[dict[str, tuple[str, str]]],
    say: Words,
) -> doc.ListItem:
    question = answers[0][ballot.sample][0]
    lines = [
        doc.Paragraph(f"{_name(say, study, run)}: {shorten(given[ballot.sample][1], 400)}")
        for run, given in zip((pair.first, pair.second), answers, strict=True)
    ]
    reasons = dict.fromkeys(shorten(say.message(text), 240) for text in ballot.reasons if text)
    lines += [doc.Paragraph(reason, style="soft") for reason in reasons]
    return doc.ListItem(shorten(question, 240), id=shorten(ballot.sample, 60), nodes=tuple(lines))


def _name(say: Words, study: PreferenceStudy, run: str) -> str:
    return shorten_name(study.names[run], say)
