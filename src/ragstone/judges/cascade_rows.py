"""The rows of a cascade's replies: which items go to the second judge, and one reply made of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ragstone.asks import Answered, Ask, Reply, digest
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Usage

ITEM_ROWS: Mapping[str, tuple[str, str]] = {
    "support": ("verdicts", "verdict"),
    "useful": ("grades", "grade"),
}
"""Kinds of Ask that are decided item by item: the list of rows in the reply, and what a row decides."""

ItemKey = tuple[str, str]
"""Id of a claim; id and target of a chunk."""


class CascadeStep(NamedTuple):
    """What goes to the second judge of one Ask."""

    ask: Ask | None
    """The Ask with the items to put; None when there are none."""
    chances: Mapping[ItemKey, float]
    """Chance of each item of the first judge's reply to be put to the second; empty when the first failed."""
    asked: frozenset[ItemKey]
    """The items that the second is asked about."""


def read_rows(ask: Ask, answered: Answered | None) -> dict[ItemKey, Mapping[str, Any]] | None:
    """The rows of a reply by item; None when the judge failed, or did not cover each item once."""
    if ask.kind not in ITEM_ROWS or not isinstance(answered, Reply):
        return None
    rows = answered.value.get(ITEM_ROWS[ask.kind][0]) if isinstance(answered.value, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    by_key = {(str(row.get("id")), str(row.get("target", ""))): row for row in rows}
    expected = {key for key, _ in list_contents(ask)}
    return by_key if len(by_key) == len(rows) and by_key.keys() == expected else None


def list_contents(ask: Ask) -> Iterator[tuple[ItemKey, Any]]:
    """Each item of an Ask with what the draw depends on; not on its id, which changes as metrics are added."""
    if ask.kind == "support":
        for case in ask.values["cases"]:
            sources = digest([source["text"] for source in case["sources"]])
            for claim in case["claims"]:
                yield (claim["id"], ""), [claim["text"], sources]
        return
    question = ask.values["question"]
    for chunk in ask.values["chunks"]:
        for name, text in ask.values["targets"].items():
            # not the wording: both wordings of one question are checked on the same chunks
            yield (chunk["id"], name), [question, text, chunk["text"]]


def narrow_ask(ask: Ask, asked: frozenset[ItemKey]) -> Ask:
    """The Ask with only these items, which keep their ids."""
    if ask.kind == "useful":
        ids = {chunk for chunk, _ in asked}
        chunks = [chunk for chunk in ask.values["chunks"] if chunk["id"] in ids]
        return replace(ask, values={**ask.values, "chunks": chunks})
    cases = []
    for case in ask.values["cases"]:
        claims = [claim for claim in case["claims"] if (claim["id"], "") in asked]
        if claims:
            cases.append({**case, "claims": claims})
    return replace(ask, values={**ask.values, "cases": cases})


def join_answers(
    ask: Ask, first: Answered | None, second: Answered | None, step: CascadeStep
) -> Answered:
    """The first judge's rows with those of the second in the place of the ones that it was asked about."""
    usage = _sum_usage(first) + _sum_usage(second)
    if isinstance(second, JudgeFailed | OutOfBudget):
        second.usage = usage
        return second
    if second is None and not isinstance(first, Reply):
        assert first is not None  # without an answer of the first the second is asked
        return first
    notes = _join_notes(ask, first, second)
    if ask.kind not in ITEM_ROWS:
        deciding = first if second is None else second
        assert isinstance(deciding, Reply)
        return Reply(deciding.value, usage, notes)
    value = _join_rows(ask, first, second, step)
    if value is None:
        failure = JudgeFailed("incomplete", "cascade_second_incomplete")
        failure.usage = usage
        return failure
    return Reply(value, usage, notes)


def _sum_usage(answered: Answered | None) -> Usage:
    return (answered.usage if answered is not None else None) or NO_USAGE


def _join_notes(ask: Ask, first: Answered | None, second: Answered | None) -> tuple[str, ...]:
    replies = [reply for reply in (first, second) if isinstance(reply, Reply)]
    notes = [note for reply in replies for note in reply.notes]
    if second is None and ask.kind == "questions":
        notes.append(compose("cascade_first_alone"))
    if isinstance(first, JudgeFailed):
        notes.append(compose("cascade_first_failed", reason=first.reason))
    return tuple(notes)


def _join_rows(
    ask: Ask, first: Answered | None, second: Answered | None, step: CascadeStep
) -> dict[str, Any] | None:
    """The value of the joint reply; None when the second judge did not cover the items that it was asked about."""
    cheap = read_rows(ask, first) if step.chances else {}
    strong = read_rows(step.ask, second) if step.ask is not None else {}
    if strong is None or cheap is None:
        return None
    # a chunk goes along for all its targets: of those that were not chosen the reply is not used
    used = {key: row for key, row in strong.items() if key in step.asked or not cheap}
    # what a rule saw for sure no other judge overrules; that the second disagrees is still counted
    decided = frozenset(key for key in used if not cheap.get(key, used[key]).get("certain"))
    rows = []
    for key in cheap or strong:
        opinion = _build_opinion(ask, cheap.get(key), used.get(key), step.chances.get(key, 1.0))
        rows.append({**(used[key] if key in decided else cheap[key]), "cascade": opinion})
    value: dict[str, Any] = {ITEM_ROWS[ask.kind][0]: rows}
    if ask.kind == "support":
        value["case_probabilities"] = _join_case_chances(ask, (first, second), step, decided)
    return value


def _build_opinion(
    ask: Ask, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None, chance: float
) -> dict[str, Any]:
    """What both judges said of an item, as `SecondOpinion` has it."""
    decision = ITEM_ROWS[ask.kind][1]
    opinion: dict[str, Any] = {
        "first": "" if first is None else str(first[decision]),
        "second": "" if second is None else str(second[decision]),
        "chance": chance,
    }
    if first is not None and first.get("probability") is not None:
        opinion["probability"] = first["probability"]
    return opinion


def _join_case_chances(
    ask: Ask,
    replies: tuple[Answered | None, Answered | None],
    step: CascadeStep,
    decided: frozenset[ItemKey],
) -> list[float | None]:
    """For each case the chance of the judge that decided all of it; None where both decided a part."""
    before, after = (
        reply.value.get("case_probabilities") or [] if isinstance(reply, Reply) else []
        for reply in replies
    )
    put = iter(after)
    chances: list[float | None] = []
    for number, case in enumerate(ask.values["cases"]):
        keys = {(claim["id"], "") for claim in case["claims"]}
        # the second judge's list has the cases that it was asked about, in order
        strong = next(put, None) if not step.chances or keys & step.asked else None
        if not keys & decided:
            chances.append(before[number] if number < len(before) else None)
        else:
            chances.append(strong if keys <= decided else None)
    return chances
