"""`turns`: whether each turn of a conversation addresses its question, and what it contradicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from ragstone.asks.fences import fence
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
    match_rows,
)
from ragstone.asks.rows import (
    align_rows,
    note_disagreement,
)
from ragstone.asks.schemas import BOOLEAN, STRING, array_of, object_of
from ragstone.asks.types import Ask
from ragstone.locale.messages import compose
from ragstone.text.evidence import find_quote


class Exchange(NamedTuple):
    """What a user said and what the system answered."""

    question: str
    answer: str


def turns(conversation: Sequence[Exchange], *, language: str | None = None) -> Ask:
    """Say of each turn whether the answer addresses the question and which earlier answer it contradicts; ids are n1, n2, …"""
    return Ask("turns", {"turns": number_turns(conversation)}, TURNS, language)


def number_turns(conversation: Sequence[Exchange]) -> list[dict[str, str]]:
    """Give the turns the ids n1, n2, …"""
    return [
        {"id": f"n{n}", "question": turn.question, "answer": turn.answer}
        for n, turn in enumerate(conversation, 1)
    ]


TURNS = object_of(
    turns=array_of(
        object_of(id=STRING, addresses=BOOLEAN, contradicts=STRING, quote=STRING, reason=STRING)
    )
)


class TurnsSpec(WholeSpec):
    """Each turn of a conversation: whether it keeps to the question, and what it contradicts."""

    prompt = "turns"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the turns."""
        return WholeBatch(self, {"turns": fence_turns(self.ask, nonce)}, nonce)

    def find_gap(self, value: Any) -> str:
        """Return which turn is missing or contradicts one that does not come before it."""
        ids = [turn["id"] for turn in self.ask.values["turns"]]
        fault = match_rows(((row["id"], row) for row in value["turns"]), ids).fault
        for row in value["turns"] if not fault else ():
            if row["contradicts"] and row["contradicts"] not in ids[: ids.index(row["id"])]:
                return compose("turn_unknown", turn=row["contradicts"][:40])
        return fault

    def find_doubt(self, value: Any) -> str:
        """Return which contradiction has no quote that stands in the earlier answer."""
        answers = {turn["id"]: turn["answer"] for turn in self.ask.values["turns"]}
        for row in value["turns"]:
            earlier = answers.get(row["contradicts"])
            if earlier is not None and find_quote(row["quote"], earlier) is None:
                return compose("contradiction_unproven", turn=row["id"])
        return ""


def fence_turns(ask: Ask, nonce: str) -> str:
    """Return the turns between fences."""
    return "\n".join(
        fence(nonce, f"turn {turn['id']}, {role}", turn[field])
        for turn in ask.values["turns"]
        for role, field in (("user", "question"), ("assistant", "answer"))
    )


def _vote_on_turns(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Count for each turn what most of the jurors who can tell say; a contradiction that half of them see does not count."""
    rows, split = [], 0
    for ballot in align_rows([value["turns"] for value in values], "id"):
        addressing = [row["addresses"] for row in ballot if row["addresses"] is not None]
        against = Counter(row["contradicts"] for row in ballot if row["contradicts"] is not None)
        contradicts, votes = against.most_common(1)[0] if against else (None, 0)
        if against and 2 * votes <= against.total():
            contradicts = ""
        split += len(against) > 1 or 0 < sum(addressing) < len(addressing)
        winner = next((row for row in ballot if row["contradicts"] == contradicts), ballot[0])
        is_addressed = 2 * sum(addressing) >= len(addressing) if addressing else None
        row = {**winner, "addresses": is_addressed, "contradicts": contradicts}
        rows.append(row if contradicts else {**row, "quote": ""})
    return {"turns": rows}, note_disagreement(split, len(rows), "jury_split_verdicts")


KIND = register(
    Kind(
        "turns",
        lambda language: turns([Exchange("x", "x")], language=language),
        spec=TurnsSpec,
        vote=_vote_on_turns,
    )
)
