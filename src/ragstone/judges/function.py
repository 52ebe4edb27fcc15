"""A Python function as a judge: it receives the Ask and returns the value of the reply."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.asks import KINDS, Answered, Ask, Reply
from ragstone.asks.json_replies import ReplyFault, fit_value
from ragstone.asks.kind import build_spec
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.embedding_probe import PROBE_TEXTS, remove_probe
from ragstone.judges.limits import Budget
from ragstone.locale.messages import compose
from ragstone.registry.fingerprints import fingerprint
from ragstone.types import Usage, clean_usage

_ONE_CALL = Usage(calls=1)


class FunctionJudge(Reopenable):
    """Calls a function, plain or async, and checks what it returns as strictly as any reply."""

    batch = 1
    local = False

    def __init__(
        self,
        function: Callable[[Ask], Any],
        embeddings: Judge,
        *,
        concurrency: int = 8,
        embeds: bool | None = None,
        budget: Budget | None = None,
        deadline: float = 300.0,
    ) -> None:
        self.function = function
        self.embeddings = embeddings
        self.concurrency = concurrency
        self.budget = budget or Budget()
        self.deadline = deadline
        self.embeds = getattr(function, "embeds", False) if embeds is None else embeds
        """Whether the function answers `embed` itself."""
        module = getattr(function, "__module__", type(function).__module__)
        qualname = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = f"python:{module}:{qualname}"
        self._source = fingerprint(function)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the function's name and the fingerprint of its code, so that an edited judge is asked again."""
        if ask.kind == "embed" and not self.embeds:
            return self.embeddings.identity(ask)
        return {"function": self.name, "source": self._source}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Call the function for each Ask."""
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close the embedding client. A function judge owns no other resource."""
        await self.embeddings.close()

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind == "embed" and not self.embeds:
            return (await self.embeddings.answer([ask]))[0]
        try:
            await self.budget.admit(0.0)
            async with asyncio.timeout(
                min(self.deadline, self.budget.remaining_seconds())
            ) as clock:
                value = await self._call(_add_probe(ask) if ask.kind == "embed" else ask)
        except (JudgeFailed, OutOfBudget) as failure:
            return failure
        except Exception as raised:
            if clock.expired():
                return JudgeFailed(
                    "transport", "judge_too_slow", judge=self.name, seconds=self.deadline
                )
            return JudgeFailed(
                "transport",
                "judge_raised_named",
                judge=self.name,
                error=type(raised).__name__,
                text=str(raised),
            )
        reply = value if isinstance(value, Reply) else Reply(value, _ONE_CALL)
        usage = clean_usage(reply.usage)
        self.budget.settle(0.0, usage)
        try:
            return Reply(_check_value(ask, reply.value), usage, reply.notes)
        except JudgeFailed as failure:
            failure.usage = usage
            return failure

    async def _call(self, ask: Ask) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(ask)
        value = await asyncio.to_thread(self.function, ask)  # it may block
        return await value if inspect.isawaitable(value) else value


def _check_value(ask: Ask, value: Any) -> Any:
    """Return the value fitted to the schema; raises JudgeFailed when it is not a full reply to the Ask."""
    try:
        fitted = fit_value(value, _allow_probabilities(ask))
    except ReplyFault as fault:
        raise JudgeFailed("unparseable", "reply_unusable", fault=fault.reason) from None
    gap = _find_gap(ask, fitted)
    if gap:
        raise JudgeFailed("incomplete", "reply_unusable", fault=gap)
    return {"vectors": remove_probe(fitted["vectors"])} if ask.kind == "embed" else fitted


def _allow_probabilities(ask: Ask) -> Mapping[str, Any]:
    """Return the schema of the reply; rows that decide something may state how likely it is."""
    items = KINDS[ask.kind].items
    if items is None:
        return ask.schema
    rows = ask.schema["properties"][items.rows]
    fields = {**rows["items"]["properties"], "probability": {"type": "number"}}
    decided = {**rows, "items": {**rows["items"], "properties": fields}}
    return {
        **ask.schema,
        "properties": {**ask.schema["properties"], items.rows: decided},
    }


def _add_probe(ask: Ask) -> Ask:
    return replace(ask, values={"texts": [*ask.values["texts"], *PROBE_TEXTS]})


def _find_gap(ask: Ask, value: Any) -> str:
    if ask.kind == "embed":
        wanted = len(ask.values["texts"]) + len(PROBE_TEXTS)
        return "" if len(value["vectors"]) == wanted else compose("vectors_missing", n=wanted)
    return build_spec(ask).find_gap(value)
