"""The rows of a cascade's replies: which items go to the second judge, and one reply made of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragstone.asks import KINDS, Answered, Ask, Reply
from ragstone.asks.kind import ItemKey, Items
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Usage


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
    items = KINDS[ask.kind].items
    if items is None or not isinstance(answered, Reply):
        return None
    rows = answered.value.get(items.rows) if isinstance(answered.value, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    by_key = {(str(row.get("id")), str(row.get("target", ""))): row for row in rows}
    expected = {key for key, _ in items.list_contents(ask)}
    return by_key if len(by_key) == len(rows) and by_key.keys() == expected else None


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
    items = KINDS[ask.kind].items
    if items is None:
        deciding = first if second is None else second
        assert isinstance(deciding, Reply)
        return Reply(deciding.value, usage, notes)
    value = _join_rows(items, ask, first, second, step)
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
    if second is None and KINDS[ask.kind].has_scale:
        notes.append(compose("cascade_first_alone"))
    if isinstance(first, JudgeFailed):
        notes.append(compose("cascade_first_failed", reason=first.reason))
    return tuple(notes)


def _join_rows(
    items: Items, ask: Ask, first: Answered | None, second: Answered | None, step: CascadeStep
) -> dict[str, Any] | None:
    """The value of the joint reply; None when the second judge did not cover the items that it was asked about."""
    cheap = read_rows(ask, first) if step.chances else {}
    strong = read_rows(step.ask, second) if step.ask is not None else {}
    if strong is None or cheap is None:
        return None
    # a chunk goes along for all its targets: of those that were not chosen the reply is not used
    used = {key: row for key, row in strong.items() if key in step.asked or not cheap}
    rows = []
    for key in cheap or strong:
        opinion = _build_opinion(
            items.decision, cheap.get(key), used.get(key), step.chances.get(key, 1.0)
        )
        rows.append({**(used[key] if key in used else cheap[key]), "cascade": opinion})
    return {items.rows: rows}


def _build_opinion(
    decision: str, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None, chance: float
) -> dict[str, Any]:
    """What both judges said of an item, as `SecondOpinion` has it."""
    opinion: dict[str, Any] = {
        "first": "" if first is None else str(first[decision]),
        "second": "" if second is None else str(second[decision]),
        "chance": chance,
    }
    if first is not None and first.get("probability") is not None:
        opinion["probability"] = first["probability"]
    return opinion
