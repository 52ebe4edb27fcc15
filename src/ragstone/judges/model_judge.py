"""Any language model as a judge: prompt, reply, one re-ask that names the fault, then a typed failure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from ragstone import prompts
from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, JudgeFault, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.fences import make_nonce
from ragstone.judges.json_replies import ReplyFault, extract_json
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, PromptSpec, reply_schema
from ragstone.judges.specs.support import SupportSpec
from ragstone.judges.specs.whole import build_spec, find_prompt_name
from ragstone.types import NOTHING_USED, Usage

PROTOCOL_VERSION = 1
"""Raised when fences, traps or checks change in a way that can change a reply; part of the cache key."""

ONE_BY_ONE_KINDS = frozenset({"support", "useful", "claims", "write", "solve"})
"""Kinds that a small model is asked one item at a time."""


@dataclass(slots=True)
class Deadline:
    """Seconds that one question may take, from its first call on; waiting for a free place does not count."""

    seconds: float
    _end: float | None = field(default=None, repr=False)

    def remaining_seconds(self) -> float:
        """Seconds that remain; the first look starts the clock."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + self.seconds
        return self._end - now


class CompletionRequest(NamedTuple):
    """One completion to be made."""

    system: str
    user: str
    schema: Mapping[str, Any]
    name: str
    """The kind of question, as a name for the schema."""
    deadline: Deadline
    length_factor: int = 1
    """By how much the usual limit on the reply's length is to be raised."""


class Completion(NamedTuple):
    """What a model wrote."""

    text: str
    finish: Literal["stop", "length", "refusal"] = "stop"
    usage: Usage = NOTHING_USED


class LanguageModel(Protocol):
    """Something that completes a prompt; raises JudgeFailed or OutOfBudget."""

    name: str
    concurrency: int
    deadline: float
    notes: tuple[str, ...]
    """What a reader of every score should know (no price is known for the model)."""

    def identity(self) -> Mapping[str, Any]:
        """Everything that can change a completion, besides the prompt."""
        ...

    async def complete(self, order: CompletionRequest) -> Completion:
        """The completion of one prompt."""
        ...

    async def close(self) -> None:
        """Let go of connections and memory."""
        ...


class ModelJudge(Reopenable):
    """A language model under discipline."""

    batch = 1
    local = False

    def __init__(
        self,
        model: LanguageModel,
        embeddings: Judge,
        *,
        language: str | None = None,
        prompts_folder: str | None = None,
        small: bool = False,
    ) -> None:
        self.model = model
        self.embeddings = embeddings
        self.name = model.name
        self.concurrency = model.concurrency
        self.language = language
        self.folder = prompts_folder
        if prompts_folder is not None:  # a broken file is told now, not in the middle of a run
            for name in prompts.list_names():
                for code in prompts.list_languages(prompts_folder):
                    prompts.load(name, code, prompts_folder)
        self.small = small
        self.spent = NOTHING_USED
        """What all calls took, those of failed questions included."""
        self._identities: dict[tuple[str, str | None], Mapping[str, Any]] = {}

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Model, parameters, prompt and discipline; no key, no nonce."""
        if ask.kind == "embed":
            return self.embeddings.identity(ask)
        name = find_prompt_name(ask)
        known = self._identities.get((name, ask.language))
        if known is None:
            known = self._identities[name, ask.language] = {
                **self.model.identity(),
                "prompt": [self._prompt(part, ask).digest for part in (name, "again")],
                "small": self.small,
                "discipline": PROTOCOL_VERSION,
            }
        return known

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """What came of each Ask."""
        if len(asks) == 1:
            return [await self._answer(asks[0])]
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close the model's connections."""
        await self.model.close()
        await self.embeddings.close()

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind == "embed":
            return (await self.embeddings.answer([ask]))[0]
        interview = JudgeSession(self, ask)
        try:
            try:
                value = await interview.run()
            finally:
                self.spent = self.spent + interview.usage
        except (JudgeFailed, OutOfBudget) as failed:
            failed.usage = interview.usage
            return failed
        return Reply(value, interview.usage, self.model.notes)

    def _prompt(self, name: str, ask: Ask) -> prompts.Prompt:
        return prompts.load(name, ask.language or self.language, self.folder)


class JudgeSession:
    """One Ask put to a model until every item is settled, or it has failed."""

    def __init__(self, judge: ModelJudge, ask: Ask) -> None:
        self.judge = judge
        self.ask = ask
        self.form: PromptSpec = build_spec(ask)
        self.usage = NOTHING_USED
        self.prompt = judge._prompt(self.form.prompt, ask)
        self.again = judge._prompt("again", ask)
        self.wire = reply_schema(ask, echo=not judge.small)

    async def run(self) -> Any:
        """The reply to the Ask."""
        items = list(self.form.items)
        if not items:
            return self.form.build_reply({})
        if self.judge.small and self.ask.kind in ONE_BY_ONE_KINDS:
            return self.form.build_reply(await self._one_by_one(items))
        return self.form.build_reply(await self._settled(items, self._deadline()))

    async def _one_by_one(self, items: list[Hashable]) -> dict[Hashable, Any]:
        parts = [self._settled([item], self._deadline(), trapped=False) for item in items]
        if isinstance(self.form, SupportSpec):
            parts.append(self._trap_refused(self.form))
        settled: dict[Hashable, Any] = {}
        for part in await _all_or_first_failure(parts):
            settled |= part
        return settled

    async def _trap_refused(self, form: SupportSpec) -> dict[Hashable, Any]:
        mark = make_nonce(f"{self.ask.key}:trap")
        sifted = await self._put(form.trap_sheet(mark), mark, "", self._deadline(), 1)
        if sifted is None or sifted.fault:
            reason = sifted.fault if sifted is not None else "it was cut off"
            raise JudgeFailed("unparseable", f"no usable reply to the control question: {reason}")
        return {}

    async def _settled(
        self,
        items: list[Hashable],
        deadline: Deadline,
        *,
        trapped: bool = True,
        depth: int = 0,
    ) -> dict[Hashable, Any]:
        """Every item settled: asked, and what is missing or unproven asked once more."""
        settled: dict[Hashable, Any] = {}
        missing, again, stretch, usable = items, "", 1, False
        fault: tuple[JudgeFault, str] | None = None
        key = f"{self.ask.key}:{depth}:{items[0]}:{len(items)}"
        for attempt in range(2):
            mark = make_nonce(key, attempt)
            sheet = self.form.build_batch(missing, mark, trapped)
            try:
                sifted = await self._put(sheet, mark, again, deadline, stretch)
            except JudgeFailed as failed:
                if failed.kind == "compromised" or not usable:
                    raise
                break
            if sifted is None and len(missing) > 1:
                return settled | await self._halved(missing, deadline, trapped, depth)
            if sifted is None:
                sifted, stretch = ParsedReply(fault="it was cut off before its end"), 2
            settled |= sifted.settled
            if usable:
                break  # what was unproven has been asked for again; it stays as it now is
            again = sifted.fault or sifted.unproven_reason
            if not again:
                return settled
            open_items = [i for i in missing if i not in settled or i in sifted.unproven]
            # nothing open and a fault all the same: the reply as a whole is not to be trusted
            missing = open_items or items
            fault = (sifted.kind, sifted.fault) if sifted.fault else None
            usable = fault is None and all(item in settled for item in items)
        if not usable and fault is not None:
            raise JudgeFailed(fault[0], f"the judge's reply cannot be used: {fault[1]}")
        return settled

    async def _halved(
        self, items: list[Hashable], deadline: Deadline, trapped: bool, depth: int
    ) -> dict[Hashable, Any]:
        middle = len(items) // 2
        first = await self._settled(items[:middle], deadline, trapped=trapped, depth=depth + 1)
        rest = await self._settled(items[middle:], deadline, trapped=trapped, depth=depth + 1)
        return first | rest

    async def _put(
        self, sheet: PromptBatch, mark: str, fault: str, deadline: Deadline, stretch: int
    ) -> ParsedReply | None:
        """One call: what its reply settles; None when the reply was cut off."""
        note = self.again.fill({"fault": fault})[1] if fault else ""
        fixed = {"nonce": mark, "shape": self.wire.shown(mark), "note": note}
        system, user = self.prompt.fill({**sheet.values, **fixed})
        order = CompletionRequest(system, user, self.wire.schema, self.ask.kind, deadline, stretch)
        completion = await self.judge.model.complete(order)
        self.usage = (
            completion.usage if self.usage is NOTHING_USED else self.usage + completion.usage
        )
        if completion.finish == "refusal":
            raise JudgeFailed("refusal", "the judge declined to answer")
        if completion.finish == "length":
            return None
        try:
            value = self.wire.fit(extract_json(completion.text), "")
        except ReplyFault as broken:
            return ParsedReply(fault=str(broken), kind="unparseable")
        if not self.judge.small and value.pop("check").strip() != mark:
            return ParsedReply(fault='the value of "check" was not copied', kind="compromised")
        return sheet.read(value)

    def _deadline(self) -> Deadline:
        return Deadline(self.judge.model.deadline)


async def _all_or_first_failure(parts: Sequence[Any]) -> list[dict[Hashable, Any]]:
    """All results; the first failure stops the parts that are still to be paid for."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
