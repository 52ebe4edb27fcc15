"""The conversation with a language model that answers one Ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed, JudgeFault
from ragstone.judges.completion import CompletionRequest, Deadline, LanguageModel
from ragstone.judges.fences import make_nonce
from ragstone.judges.json_replies import ReplyFault, extract_json
from ragstone.judges.specs import SupportSpec, build_spec
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, reply_schema
from ragstone.locale.messages import compose
from ragstone.prompts import Prompt
from ragstone.types import NO_USAGE

ONE_BY_ONE_KINDS = frozenset({"support", "useful", "claims", "write", "solve"})
"""Kinds of Ask that a small model is asked one item at a time."""

Settled = dict[Hashable, Any]
"""Item of an Ask → what the model said of it."""


class JudgeSession:
    """Asks a model until every item of an Ask is settled, or the judge has failed.

    A faulty reply is asked for once more, with the fault named; a reply that was cut off is asked for in halves."""

    def __init__(
        self,
        model: LanguageModel,
        ask: Ask,
        load_prompt: Callable[[str], Prompt],
        *,
        small: bool,
    ) -> None:
        self.model = model
        self.ask = ask
        self.spec = build_spec(ask)
        self.prompt = load_prompt(self.spec.prompt)
        self.retry_prompt = load_prompt("again")
        self.small = small
        self.schema = reply_schema(ask, echo_nonce=not small)
        self.usage = NO_USAGE

    async def run(self) -> Any:
        """Return the value of the reply; raises JudgeFailed or OutOfBudget."""
        items = list(self.spec.items)
        if not items:
            return self.spec.build_reply({})
        if self.small and self.ask.kind in ONE_BY_ONE_KINDS:
            return self.spec.build_reply(await self._settle_one_by_one(items))
        return self.spec.build_reply(await self._settle(items, self._new_deadline()))

    async def _settle_one_by_one(self, items: list[Hashable]) -> Settled:
        parts = [self._settle([item], self._new_deadline(), with_trap=False) for item in items]
        if isinstance(self.spec, SupportSpec):
            parts.append(self._check_trap(self.spec))
        settled: Settled = {}
        for part in await _gather_or_cancel(parts):
            settled |= part
        return settled

    async def _check_trap(self, spec: SupportSpec) -> Settled:
        """Ask about the trap claim alone; raises when the judge supports it or gives no usable reply."""
        nonce = make_nonce(f"{self.ask.key}:trap")
        parsed = await self._call(spec.build_trap_batch(nonce), nonce, "", self._new_deadline(), 1)
        if parsed is None or parsed.fault:
            reason = parsed.fault if parsed is not None else compose("cut_off")
            raise JudgeFailed("unparseable", "control_unanswered", fault=reason)
        return {}

    async def _settle(
        self,
        items: list[Hashable],
        deadline: Deadline,
        *,
        with_trap: bool = True,
        depth: int = 0,
    ) -> Settled:
        """Ask about the items, and once more about those that are missing or unproven."""
        settled: Settled = {}
        missing, complaint, length_factor, usable = items, "", 1, False
        fault: tuple[JudgeFault, str] | None = None
        key = f"{self.ask.key}:{depth}:{items[0]}:{len(items)}"
        for attempt in range(2):
            nonce = make_nonce(key, attempt)
            batch = self.spec.build_batch(missing, nonce, with_trap)
            try:
                parsed = await self._call(batch, nonce, complaint, deadline, length_factor)
            except JudgeFailed as failure:
                if failure.kind == "compromised" or not usable:
                    raise
                break
            if parsed is None and len(missing) > 1:
                return settled | await self._settle_halves(missing, deadline, with_trap, depth)
            if parsed is None:
                parsed, length_factor = ParsedReply(fault=compose("cut_off_early")), 2
            settled |= parsed.settled
            if usable:
                break  # the unproven items were asked for again; they stay as they now are
            complaint = parsed.fault or parsed.unproven_reason
            if not complaint:
                return settled
            open_items = [i for i in missing if i not in settled or i in parsed.unproven]
            # nothing open and yet a fault: the reply as a whole is not to be trusted
            missing = open_items or items
            fault = (parsed.kind, parsed.fault) if parsed.fault else None
            usable = fault is None and all(item in settled for item in items)
        if not usable and fault is not None:
            raise JudgeFailed(fault[0], "reply_unusable", fault=fault[1])
        return settled

    async def _settle_halves(
        self, items: list[Hashable], deadline: Deadline, with_trap: bool, depth: int
    ) -> Settled:
        middle = len(items) // 2
        settled: Settled = {}
        for half in (items[:middle], items[middle:]):
            settled |= await self._settle(half, deadline, with_trap=with_trap, depth=depth + 1)
        return settled

    async def _call(
        self,
        batch: PromptBatch,
        nonce: str,
        complaint: str,
        deadline: Deadline,
        length_factor: int,
    ) -> ParsedReply | None:
        """Make one call; None when the reply was cut off at the token limit."""
        note = self.retry_prompt.fill({"fault": complaint})[1] if complaint else ""
        fixed = {"nonce": nonce, "shape": self.schema.format_example(nonce), "note": note}
        system, user = self.prompt.fill({**batch.values, **fixed})
        completion = await self.model.complete(
            CompletionRequest(
                system, user, self.schema.schema, self.ask.kind, deadline, length_factor
            )
        )
        self.usage = completion.usage if self.usage is NO_USAGE else self.usage + completion.usage
        if completion.finish == "refusal":
            raise JudgeFailed("refusal", "judge_declined")
        if completion.finish == "length":
            return None
        try:
            value = self.schema.fit(extract_json(completion.text), "")
        except ReplyFault as fault:
            return ParsedReply(fault=fault.reason, kind="unparseable")
        if not self.small and value.pop("check").strip() != nonce:
            return ParsedReply(fault=compose("check_not_copied"), kind="compromised")
        return batch.parse(value)

    def _new_deadline(self) -> Deadline:
        return Deadline(self.model.deadline)


async def _gather_or_cancel(parts: Sequence[Any]) -> list[Settled]:
    """Return all results; the first failure cancels the parts that are still to be paid for."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
