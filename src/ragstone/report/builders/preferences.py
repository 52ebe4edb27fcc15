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
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.columns import ComparableRun
    from ragstone.analysis.preferences import Ballot, PairPreference, PreferenceStudy

MAX_EXAMPLES = 5
"""Questions shown for each side."""
BEST, TIED = "★", "≈"


def build_preferences(
    study: PreferenceStudy, runs: dict[str, ComparableRun], t: Translator
) -> list[doc.Node]:
    """Win rates of all pairs, what to know of them, the ranking, and some of the questions that decided."""
    remarks = [remark for pair in study.pairs for remark in _describe_pair(pair, study, t)]
    nodes: list[doc.Node] = [
        _build_pairs(study, t),
        build_list(remarks, flush=True, style="lines"),
        *_build_ranking(study, t),
        doc.Paragraph(t("preference_note", judge=shorten(study.judge, 80)), style="note"),
    ]
    for pair in study.pairs[: len(study.names) - 1]:
        nodes += _build_examples(pair, study, runs, t)
    return [build_panel("preferences", t("preferences"), *nodes)]


def list_preference_data(study: PreferenceStudy) -> dict[str, Any]:
    """The study as JSON takes it, with the vote on every question."""
    plain = asdict(study)
    for row, pair in zip(plain["pairs"], study.pairs, strict=True):
        row["counts"], row["failed"] = pair.counts, pair.failed
    return plain


def _build_pairs(study: PreferenceStudy, t: Translator) -> doc.ReportTable:
    columns = (
        *build_text_columns(t, "preference_pair"),
        *build_number_columns(
            t, "preference_rate", "interval", "preference_wins", "preference_ties", "preference_losses",
        ),
        *build_text_columns(t, "verdict"),
    )  # fmt: skip
    return build_table(columns, [_list_cells(pair, study, t) for pair in study.pairs])


def _list_cells(pair: PairPreference, study: PreferenceStudy, t: Translator) -> doc.Cells:
    counts, difference = pair.counts, pair.difference
    names = {"run": _name(t, study, pair.second), "baseline": _name(t, study, pair.first)}
    interval = pair.win_interval
    wins, losses = counts["second"], counts["first"]
    return (
        t("against", **names),
        t.percent(difference.after) if difference.after is not None else "–",
        "–" if interval is None else f"{t.percent(interval[0])} – {t.percent(interval[1])}",
        t.whole(wins),
        t.whole(sum(counts.values()) - wins - losses),
        t.whole(losses),
        t(f"verdict_word.{difference.verdict}"),
    )


def _describe_pair(
    pair: PairPreference, study: PreferenceStudy, t: Translator
) -> Iterator[doc.Remark]:
    names = {"run": _name(t, study, pair.second), "baseline": _name(t, study, pair.first)}
    label = t("against", **names)
    counts = pair.counts
    turning = counts["first_shown"] + counts["second_shown"]
    if turning == pair.difference.pairs - counts["same"] > 0:
        yield doc.Remark(f"{label}: {t('preference_turned')}", "warn")
    for warning in pair.difference.warnings:
        yield doc.Remark(f"{label}: {t.message(warning)}", "warn")
    if pair.failed:
        reasons = Counter(ballot.explanation for ballot in pair.ballots if ballot.vote is None)
        reason = shorten(t.message(reasons.most_common(1)[0][0]), 300)
        text = t("preference_failed", n=t.whole(pair.failed), reason=reason)
        yield doc.Remark(f"{label}: {text}", "warn")
    agreement = pair.agreement
    if agreement is not None:
        kappa = "–" if agreement.kappa is None else t.number(agreement.kappa)
        text = t(
            "preference_people", n=t.whole(agreement.items), kappa=kappa,
            share=t.percent(agreement.same / agreement.items),
        )  # fmt: skip
        yield doc.Remark(f"{label}: {text}")


def _build_ranking(study: PreferenceStudy, t: Translator) -> list[doc.Node]:
    if not study.ranking:
        return []
    columns = (
        *build_text_columns(t, "run"),
        *build_number_columns(t, "preference_chance", "interval", "preference_strength"),
    )
    rows = [
        (
            f"{_name(t, study, entry.run)} {BEST if not n else TIED if entry.tied else ''}".strip(),
            t.percent(entry.rate),
            f"{t.percent(entry.low)} – {t.percent(entry.high)}",
            format_signed(entry.strength, t),
        )
        for n, entry in enumerate(study.ranking)
    ]
    note = doc.Paragraph(t("preference_ranking_note"), style="note")
    return [doc.Heading(t("preference_ranking"), 3), build_table(columns, rows), note]


def _build_examples(
    pair: PairPreference, study: PreferenceStudy, runs: dict[str, ComparableRun], t: Translator
) -> Iterator[doc.Node]:
    """Some questions that the baseline wins and some that it loses, with both answers and the judge's reasons."""
    for vote, winner in (("first", pair.first), ("second", pair.second)):
        shown = [ballot for ballot in pair.ballots if ballot.vote == vote][:MAX_EXAMPLES]
        if not shown:
            continue
        answers = [_load_answers(runs[run], shown) for run in (pair.first, pair.second)]
        items = [_describe_ballot(ballot, pair, study, answers, t) for ballot in shown]
        title = t("preference_won", run=_name(t, study, winner))
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
    t: Translator,
) -> doc.ListItem:
    question = answers[0][ballot.sample][0]
    lines = [
        doc.Paragraph(f"{_name(t, study, run)}: {shorten(given[ballot.sample][1], 400)}")
        for run, given in zip((pair.first, pair.second), answers, strict=True)
    ]
    reasons = dict.fromkeys(shorten(t.message(text), 240) for text in ballot.reasons if text)
    lines += [doc.Paragraph(reason, style="soft") for reason in reasons]
    return doc.ListItem(shorten(question, 240), id=shorten(ballot.sample, 60), nodes=tuple(lines))


def _name(t: Translator, study: PreferenceStudy, run: str) -> str:
    return shorten_name(study.names[run], t)
