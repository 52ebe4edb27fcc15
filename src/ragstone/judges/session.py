"""The conversation with a language model that answers one Ask. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ragstone.asks import Ask
from ragstone.asks.fences import make_nonce
from ragstone.asks.json_replies import ReplyFault, extract_json
from ragstone.asks.kind import build_spec
from ragstone.asks.protocol import ParsedReply, PromptBatch
from ragstone.errors import JudgeFailed
from ragstone.judges.completion import CompletionRequest, Deadline, LanguageModel
from ragstone.locale.catalogue import LANGUAGES
from ragstone.locale.messages import compose, render
from ragstone.prompts import Prompt
from ragstone.types import NO_USAGE

Settled = dict[Hashable, Any]
"""Item of an Ask → the result that the model gave for it."""


class JudgeSession:
    """Asks a model until every item of an Ask is settled, or the judge has failed.

    A faulty reply is asked for once more, with the fault named, and so is one that misses its probe, with another probe
    and without a word about which it was; a reply that was cut off is asked for in halves."""

    def __init__(
        self, model: LanguageModel, ask: Ask, load_prompt: Callable[[str], Prompt]
    ) -> None:
        self.model = model
        self.ask = ask
        self.spec = build_spec(ask)
        self.prompt = load_prompt(self.spec.prompt)
        self.retry_prompt = load_prompt("again")
        has_words = self.retry_prompt.language in LANGUAGES
        self.report_language = self.retry_prompt.language if has_words else LANGUAGES[0]
        """Language in which a fault is named to the model: that of the prompt, if the catalogue has it."""
        self.usage = NO_USAGE

    async def run(self) -> Any:
        """Return the value of the reply; raises JudgeFailed or OutOfBudget."""
        items = list(self.spec.items)
        if not items:
            return self.spec.build_reply({})
        return self.spec.build_reply(await self._settle(items, Deadline(self.model.deadline)))

    async def _settle(self, items: list[Hashable], deadline: Deadline, depth: int = 0) -> Settled:
        """Ask about the items, and once more about those that are missing or unproven."""
        settled: Settled = {}
        missing, problem, length_factor, usable = items, "", 1, False
        # `usable`: every item is settled and only proof is lacking, so that a failure later on does no harm
        faulty: ParsedReply | None = None
        key = f"{self.ask.key}:{depth}:{items[0]}:{len(items)}"
        for attempt in range(2):
            nonce = make_nonce(key, attempt)
            batch = self.spec.build_batch(missing, nonce)
            try:
                parsed = await self._call(batch, nonce, problem, deadline, length_factor)
            except JudgeFailed as failed:
                if usable:
                    break  # the first reply passed its probe; what it left unproven stays unproven
                if attempt or failed.kind != "compromised":
                    raise
                continue  # a weak model misses a probe now and then, a steered one also the next
            if parsed is None:
                if len(missing) > 1:
                    return settled | await self._settle_halves(missing, deadline, depth)
                parsed, length_factor = ParsedReply(fault=compose("cut_off_early")), 2
            settled |= parsed.settled
            if usable:
                break  # the unproven items were asked for again; they stay as they now are
            problem = parsed.fault or parsed.unproven_reason
            if not problem:
                return settled
            # nothing open and yet a fault: the reply as a whole is not to be trusted
            missing = _list_open(missing, settled, parsed) or items
            faulty = parsed if parsed.fault else None
            usable = faulty is None and settled.keys() >= set(items)
        if faulty is not None:
            raise JudgeFailed(faulty.kind, faulty.code, fault=faulty.fault)
        return settled

    async def _settle_halves(
        self, items: list[Hashable], deadline: Deadline, depth: int
    ) -> Settled:
        middle = len(items) // 2
        settled: Settled = {}
        for half in (items[:middle], items[middle:]):
            settled |= await self._settle(half, deadline, depth + 1)
        return settled

    async def _call(
        self, batch: PromptBatch, nonce: str, problem: str, deadline: Deadline, length_factor: int
    ) -> ParsedReply | None:
        """Make one call; None when the reply was cut off at the token limit."""
        problem_text = render(problem, self.report_language)
        note = self.retry_prompt.fill({"fault": problem_text})[1] if problem else ""
        fixed = {"nonce": nonce, "shape": batch.schema.format_example(nonce), "note": note}
        system, user = self.prompt.fill({**batch.values, **fixed})
        completion = await self.model.complete(
            CompletionRequest(
                system, user, batch.schema.schema, self.ask.kind, deadline, length_factor
            )
        )
        self.usage = completion.usage if self.usage is NO_USAGE else self.usage + completion.usage
        if completion.finish == "refusal":
            raise JudgeFailed("refusal", "judge_declined")
        if completion.finish == "length":
            return None
        try:
            value = batch.schema.fit(extract_json(completion.text), "")
        except ReplyFault as fault:
            return ParsedReply(fault=fault.reason, kind="unparseable")
        if value.pop("check").strip() != nonce:
            return ParsedReply(fault=compose("check_not_copied"), kind="compromised")
        return batch.parse(value)


def build_first_prompt(ask: Ask, load_prompt: Callable[[str], Prompt]) -> tuple[str, str] | None:
    """System and user message of the first call about an Ask, with another nonce; None when there is nothing to ask."""
    spec = build_spec(ask)
    items = list(spec.items)
    if not items:
        return None
    nonce = make_nonce(f"{ask.key}:0:{items[0]}:{len(items)}", 0)
    batch = spec.build_batch(items, nonce)
    fixed = {"nonce": nonce, "shape": batch.schema.format_example(nonce), "note": ""}
    return load_prompt(spec.prompt).fill({**batch.values, **fixed})


def _list_open(items: list[Hashable], settled: Settled, parsed: ParsedReply) -> list[Hashable]:
    """The items that a reply left without an answer or without proof."""
    return [item for item in items if item not in settled or item in parsed.unproven]
