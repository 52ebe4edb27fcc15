"""A jury: several judges answer each Ask; the majority decides, or the median for grades, and disagreement is noted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import KINDS, Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges import Judge, Reopenable, sends_jobs
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Usage


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
        vote = KINDS[ask.kind].vote
        if vote is None:  # no opinion to vote on
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
        value, notes = vote([reply.value for reply in replies])
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
