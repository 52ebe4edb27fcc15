"""A Python function as a judge: it is given the Ask and returns the value of the reply."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.json_replies import ReplyFault, fit_value
from ragstone.judges.limits import Budget
from ragstone.judges.specs.whole import build_spec
from ragstone.types import Usage

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
        named = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = f"python:{module}:{named}"
        self._source = _source(function)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The function's name and source, so that an edited judge is asked anew."""
        if ask.kind == "embed" and not self.embeds:
            return self.embeddings.identity(ask)
        return {"function": self.name, "source": self._source}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """What the function returns for each Ask."""
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close the embeddings; a function holds nothing of ours."""
        await self.embeddings.close()

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind == "embed" and not self.embeds:
            return (await self.embeddings.answer([ask]))[0]
        try:
            await self.budget.admit(0.0)
            async with asyncio.timeout(
                min(self.deadline, self.budget.remaining_seconds())
            ) as clock:
                value = await self._called(ask)
        except (JudgeFailed, OutOfBudget) as failed:
            return failed
        except Exception as raised:
            if clock.expired():
                return JudgeFailed("transport", f"{self.name} took longer than {self.deadline:g} s")
            return JudgeFailed("transport", f"{self.name} raised {type(raised).__name__}: {raised}")
        given = value if isinstance(value, Reply) else Reply(value, _ONE_CALL)
        self.budget.settle(0.0, given.usage)
        try:
            return Reply(_checked(ask, given.value), given.usage, given.notes)
        except JudgeFailed as failed:
            failed.usage = given.usage
            return failed

    async def _called(self, ask: Ask) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(ask)
        value = await asyncio.to_thread(self.function, ask)  # it may block; the others go on
        return await value if inspect.isawaitable(value) else value


def _checked(ask: Ask, value: Any) -> Any:
    """The value when it is a full reply to the Ask."""
    try:
        fit = fit_value(value, ask.schema)
    except ReplyFault as broken:
        raise JudgeFailed("unparseable", f"the judge's reply cannot be used: {broken}") from None
    fault = _fault(ask, fit)
    if fault:
        raise JudgeFailed("incomplete", f"the judge's reply cannot be used: {fault}")
    return fit


def _fault(ask: Ask, value: Any) -> str:
    if ask.kind == "embed":
        wanted = len(ask.values["texts"])
        return "" if len(value["vectors"]) == wanted else f"it does not hold {wanted} vectors"
    form = build_spec(ask)
    if ask.kind == "claims":  # a sentence that claims nothing may be left out by a program
        strange = {(row["text_id"], row["sentence"]) for row in value["claims"]} - set(form.items)
        return f"there is no sentence {min(strange)!r}" if strange else ""
    everything = (
        [claim["id"] for case in ask.values["cases"] for claim in case["claims"]]
        if ask.kind == "support"
        else form.items
    )
    return form.build_batch(everything, "", False).read(value).fault if everything else ""


def _source(function: Callable[..., Any]) -> str:
    try:
        text = inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()
