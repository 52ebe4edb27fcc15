"""A jury: several judges on one question; the majority decides, the median where there are grades, and disagreement is told."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges import Judge, Reopenable
from ragstone.types import NOTHING_USED, Usage

FIRST_JUROR_KINDS = frozenset({"claims", "questions", "embed", "translate", "write"})
"""Kinds without an opinion to vote on: the first judge that can answers for all."""

_CAUTION = {"not_found": 0, "contradicted": 1, "supported": 2}
"""Which verdict wins a tie: the one that claims least."""


class Jury(Reopenable):
    """Judges that vote."""

    batch = 1

    def __init__(self, members: Sequence[Judge]) -> None:
        if len(members) < 2:
            raise RagstoneError(f"a jury of {len(members)} cannot vote; name two judges or more")
        self.members = tuple(members)
        self.name = f"jury({', '.join(member.name for member in members)})"
        self.concurrency = min(member.concurrency for member in members)
        self.local = all(member.local for member in members)
        self.reopens = all(getattr(member, "reopens", False) for member in members)

    @property
    def spent(self) -> Usage:
        """What all members' calls took, those of failed questions included."""
        return sum((getattr(m, "spent", NOTHING_USED) for m in self.members), NOTHING_USED)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Who sits on it, in order."""
        return {"jury": [member.identity(ask) for member in self.members]}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """What the jury says to each Ask."""
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Dismiss all."""
        await asyncio.gather(*(member.close() for member in self.members))

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind in FIRST_JUROR_KINDS:
            return await self._foreman(ask)
        heard = [rows[0] for rows in await asyncio.gather(*(m.answer([ask]) for m in self.members))]
        replies = [one for one in heard if isinstance(one, Reply)]
        spent = sum((one.usage for one in replies), NOTHING_USED)
        out = next((one for one in heard if isinstance(one, OutOfBudget)), None)
        if out is not None:
            return out
        if 2 * len(replies) <= len(self.members):
            failed = [one for one in heard if isinstance(one, JudgeFailed)]
            return JudgeFailed(
                failed[0].kind, f"{len(failed)} of {len(heard)} jurors failed: {failed[0].reason}"
            )
        value, notes = _VOTES[ask.kind]([one.value for one in replies])
        if len(replies) < len(heard):
            notes = (*notes, f"{len(heard) - len(replies)} of {len(heard)} jurors gave no reply")
        return Reply(value, spent, (*notes, *_all_notes(replies)))

    async def _foreman(self, ask: Ask) -> Answered:
        first: Answered | None = None
        spent = NOTHING_USED
        for member in self.members:
            (said,) = await member.answer([ask])
            if isinstance(said, Reply):
                return Reply(said.value, spent + said.usage, said.notes)
            first = first or said
        assert first is not None
        return first


def _all_notes(replies: Sequence[Reply]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for one in replies for note in one.notes))


def _on_verdicts(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    rows, split = [], 0
    for same in _side_by_side([value["verdicts"] for value in values], "id"):
        votes = Counter(row["verdict"] for row in same)
        split += len(votes) > 1
        verdict = min(votes, key=lambda v: (-votes[v], _CAUTION[v]))
        with_it = [row for row in same if row["verdict"] == verdict]
        evidence = [piece for row in with_it for piece in row["evidence"]]
        unique = [piece for n, piece in enumerate(evidence) if piece not in evidence[:n]]
        rows.append({**with_it[0], "evidence": unique})
    return {"verdicts": rows}, _disagreement(split, len(rows), "verdicts")


def _on_grades(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    rows, split = [], 0
    for same in _side_by_side([value["grades"] for value in values], "id", "target"):
        split += len({row["grade"] for row in same}) > 1
        rows.append(_median(same, "grade"))
    return {"grades": rows}, _disagreement(split, len(rows), "grades")


def _on_levels(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    levels = sorted(value["level"] for value in values)
    split = levels[0] != levels[-1]
    note = (f"the jury disagreed: levels {', '.join(map(str, levels))}",) if split else ()
    return _median(values, "level"), note


def _on_aspects(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Each juror lists aspects in its own words, so the reply with the median coverage speaks for all."""
    shares = [sum(r["covered"] for r in v["aspects"]) / len(v["aspects"]) for v in values]
    order = sorted(range(len(values)), key=lambda n: shares[n])
    low, high = shares[order[0]], shares[order[-1]]
    note = (f"the jury disagreed: coverage from {low:.2f} to {high:.2f}",) if low != high else ()
    return values[order[(len(order) - 1) // 2]], note


def _on_answers(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """A question counts as answered when most jurors found the answer; the first of them speaks."""
    rows, split = [], 0
    for same in _side_by_side([value["answers"] for value in values], "id"):
        told = [row for row in same if row["told"]]
        split += 0 < len(told) < len(same)
        silent = [row for row in same if not row["told"]]
        rows.append(told[0] if len(told) > len(silent) else silent[0])
    return {"answers": rows}, _disagreement(split, len(rows), "answers")


_VOTES = {
    "solve": _on_answers,
    "support": _on_verdicts,
    "useful": _on_grades,
    "rate": _on_levels,
    "aspects": _on_aspects,
}


def _side_by_side(lists: Sequence[Sequence[Any]], *key: str) -> list[list[Any]]:
    """The rows about one item from each list, in the order of the first list."""
    found = [{tuple(row[k] for k in key): row for row in rows} for rows in lists]
    return [[rows[item] for rows in found] for item in found[0]]


def _median(rows: Sequence[Any], field: str) -> Any:
    """The row with the median value; the lower one of two in the middle."""
    return sorted(rows, key=lambda row: row[field])[(len(rows) - 1) // 2]


def _disagreement(split: int, total: int, what: str) -> tuple[str, ...]:
    return (f"the jury disagreed on {split} of {total} {what}",) if split else ()
