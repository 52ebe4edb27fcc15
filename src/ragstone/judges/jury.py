"""A jury: several judges answer each Ask; the majority decides, or the median for grades, and disagreement is noted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges import Judge, Reopenable, sends_jobs
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Usage

FIRST_JUROR_KINDS = frozenset(
    {
        "claims", "questions", "embed", "translate", "write", "told",
    }
)  # fmt: skip
"""Kinds of Ask without an opinion to vote on: the first juror that does not fail answers for all."""

_TIE_BREAK = {"not_found": 0, "contradicted": 1, "supported": 2}
"""On a tie the verdict with the lowest number wins: the one that claims least."""


class Jury(Reopenable):
    """Judges that vote."""

    batch = 1

    def __init__(self, members: Sequence[Judge]) -> None:
        if len(members) < 2:
            raise RagstoneError(f"a jury of {len(members)} cannot vote; name two judges or more")
        self.members = tuple(members)
        self.name = f"jury({', '.join(member.name for member in members)})"
        # for jobs of a batch API many questions are kept open; the others limit their own calls
        choose = max if any(map(sends_jobs, members)) else min
        self.concurrency = choose(member.concurrency for member in members)
        self.local = all(member.local for member in members)
        self.reopens = all(getattr(member, "reopens", False) for member in members)

    @property
    def spent(self) -> Usage:
        """Usage of all members, that of failed questions included."""
        return sum((getattr(m, "spent", NO_USAGE) for m in self.members), NO_USAGE)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the identities of the members, in order."""
        return {"jury": [member.identity(ask) for member in self.members]}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer each Ask by vote."""
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close all members."""
        await asyncio.gather(*(member.close() for member in self.members))

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind in FIRST_JUROR_KINDS:
            return await self._answer_by_first(ask)
        answers = [
            rows[0] for rows in await asyncio.gather(*(m.answer([ask]) for m in self.members))
        ]
        replies = [answer for answer in answers if isinstance(answer, Reply)]
        usage = sum((reply.usage for reply in replies), NO_USAGE)
        out_of_budget = next((a for a in answers if isinstance(a, OutOfBudget)), None)
        if out_of_budget is not None:
            return out_of_budget
        if 2 * len(replies) <= len(self.members):
            failures = [answer for answer in answers if isinstance(answer, JudgeFailed)]
            return JudgeFailed(
                failures[0].kind,
                "jurors_failed",
                failed=len(failures),
                jurors=len(answers),
                reason=failures[0].reason,
            )
        value, notes = _VOTES[ask.kind]([reply.value for reply in replies])
        if len(replies) < len(answers):
            silent = len(answers) - len(replies)
            notes = (*notes, compose("jurors_silent", silent=silent, jurors=len(answers)))
        return Reply(value, usage, (*notes, *_collect_notes(replies)))

    async def _answer_by_first(self, ask: Ask) -> Answered:
        first_failure: Answered | None = None
        for member in self.members:
            (answer,) = await member.answer([ask])
            if isinstance(answer, Reply):
                return answer
            first_failure = first_failure or answer
        assert first_failure is not None
        return first_failure


def _collect_notes(replies: Sequence[Reply]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for reply in replies for note in reply.notes))


def _vote_on_verdicts(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    rows, split = [], 0
    for ballot in _align([value["verdicts"] for value in values], "id"):
        votes = Counter(row["verdict"] for row in ballot)
        split += len(votes) > 1
        verdict = min(votes, key=lambda v: (-votes[v], _TIE_BREAK[v]))
        winners = [row for row in ballot if row["verdict"] == verdict]
        evidence = [quote for row in winners for quote in row["evidence"]]
        unique = [quote for n, quote in enumerate(evidence) if quote not in evidence[:n]]
        rows.append({**winners[0], "evidence": unique})
    return {"verdicts": rows}, _note_disagreement(split, len(rows), "jury_split_verdicts")


def _vote_on_grades(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    rows, split = [], 0
    for ballot in _align([value["grades"] for value in values], "id", "target"):
        split += len({row["grade"] for row in ballot}) > 1
        rows.append(_median(ballot, "grade"))
    return {"grades": rows}, _note_disagreement(split, len(rows), "jury_split_grades")


def _vote_on_levels(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    levels = sorted(value["level"] for value in values)
    split = levels[0] != levels[-1]
    note = (compose("jury_split_levels", levels=tuple(levels)),) if split else ()
    return _median(values, "level"), note


def _vote_on_aspects(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the reply with the median coverage: each juror words aspects differently, so they cannot be matched."""
    shares = [sum(r["covered"] for r in v["aspects"]) / len(v["aspects"]) for v in values]
    order = sorted(range(len(values)), key=lambda n: shares[n])
    low, high = shares[order[0]], shares[order[-1]]
    note = (compose("jury_split_coverage", low=low, high=high),) if low != high else ()
    return values[order[(len(order) - 1) // 2]], note


def _vote_on_answers(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Count a question as answered when most jurors found the answer; the first of them is quoted."""
    rows, split = [], 0
    for ballot in _align([value["answers"] for value in values], "id"):
        # `told`: whether the juror found the answer in the sources
        answered = [row for row in ballot if row["told"]]
        unanswered = [row for row in ballot if not row["told"]]
        split += bool(answered and unanswered)
        rows.append(answered[0] if len(answered) > len(unanswered) else unanswered[0])
    return {"answers": rows}, _note_disagreement(split, len(rows), "jury_split_answers")


def _vote_on_turns(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Count for each turn what most jurors say; a contradiction that half of them see does not count."""
    rows, split = [], 0
    for ballot in _align([value["turns"] for value in values], "id"):
        addressing = [row for row in ballot if row["addresses"]]
        against = Counter(row["contradicts"] for row in ballot)
        contradicts, votes = against.most_common(1)[0]
        contradicts = contradicts if 2 * votes > len(ballot) else ""
        split += len(against) > 1 or 0 < len(addressing) < len(ballot)
        winner = next((row for row in ballot if row["contradicts"] == contradicts), ballot[0])
        rows.append(
            {
                **winner,
                "addresses": 2 * len(addressing) >= len(ballot),
                "contradicts": contradicts,
                "quote": winner["quote"] if contradicts else "",
            }
        )
    return {"turns": rows}, _note_disagreement(split, len(rows), "jury_split_verdicts")


def _vote_on_goal(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Count the goal as reached when most jurors say so, at the turn that the first of them names."""
    reached = [value for value in values if value["turn"]]
    missed = [value for value in values if not value["turn"]]
    winner = (reached if len(reached) > len(missed) else missed)[0]
    return winner, _note_disagreement(int(bool(reached and missed)), 1, "jury_split_verdicts")


def _vote_on_preferences(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Prefer what more jurors than not prefer; an equal number each way is a tie."""
    votes = Counter(value["better"] for value in values)
    better = "tie" if votes["A"] == votes["B"] else max("A", "B", key=votes.__getitem__)
    if votes["tie"] > max(votes["A"], votes["B"]):
        better = "tie"
    spokesman = next((value for value in values if value["better"] == better), values[0])
    split = len(votes) > 1
    note = (compose("jury_split_answers", split=1, total=1),) if split else ()
    return {**spokesman, "better": better}, note


_VOTES = {
    "solve": _vote_on_answers,
    "support": _vote_on_verdicts,
    "useful": _vote_on_grades,
    "rate": _vote_on_levels,
    "prefer": _vote_on_preferences,
    "aspects": _vote_on_aspects,
    "turns": _vote_on_turns,
    "goal": _vote_on_goal,
}


def _align(lists: Sequence[Sequence[Any]], *key: str) -> list[list[Any]]:
    """Return the rows about each item, one from each list, in the order of the first list."""
    by_item = [{tuple(row[k] for k in key): row for row in rows} for rows in lists]
    return [[rows[item] for rows in by_item] for item in by_item[0]]


def _median(rows: Sequence[Any], field: str) -> Any:
    """Return the row with the median value; the lower one of two in the middle."""
    return sorted(rows, key=lambda row: row[field])[(len(rows) - 1) // 2]


def _note_disagreement(split: int, total: int, code: str) -> tuple[str, ...]:
    return (compose(code, split=split, total=total),) if split else ()
