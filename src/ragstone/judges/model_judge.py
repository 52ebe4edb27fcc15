"""A language model as a judge: one JudgeSession for each Ask."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone import prompts
from ragstone.asks import KINDS, Answered, Ask, Reply
from ragstone.asks.kind import build_spec
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.completion import LanguageModel
from ragstone.judges.session import JudgeSession
from ragstone.types import NO_USAGE

PROTOCOL_VERSION = 5
"""Increased when fences, probes, schemas or checks change in a way that can change a reply; part of the cache key."""


class ModelJudge(Reopenable):
    """A language model whose replies are checked; `embed` Asks go to `embeddings`."""

    batch = 1
    local = False

    def __init__(
        self,
        model: LanguageModel,
        embeddings: Judge,
        *,
        language: str | None = None,
        prompts_folder: str | None = None,
    ) -> None:
        self.model = model
        self.embeddings = embeddings
        self.name = model.name
        self.concurrency = model.concurrency
        self.language = language
        self.folder = prompts_folder
        self.spent = NO_USAGE
        """Usage of all calls, those of failed questions included."""
        self._identities: dict[tuple[str, str | None], Mapping[str, Any]] = {}
        self.load_prompt = prompts.PromptLoader(language, prompts_folder)
        """Returns the prompt of that name in the language of an Ask."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return model, parameters, prompt and protocol version; no key, no nonce."""
        if ask.kind == "embed":
            return self.embeddings.identity(ask)
        # a kind that it does not answer has no prompt
        name = build_spec(ask).prompt if KINDS[ask.kind].spec else ""
        identity = self._identities.get((name, ask.language))
        if identity is None:
            identity = self._identities[name, ask.language] = {
                **self.model.identity(),
                "prompt": [
                    self.load_prompt(part, ask.language).digest for part in (name, "again") if part
                ],
                # another name would change every cache key
                "discipline": PROTOCOL_VERSION,
            }
        return identity

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer each Ask."""
        if len(asks) == 1:  # the usual case, without the cost of a task
            return [await self._answer(asks[0])]
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close the model's connections."""
        await self.model.close()
        await self.embeddings.close()

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind == "embed":
            return (await self.embeddings.answer([ask]))[0]
        if ask.kind == "questions" and hasattr(self.embeddings, "start_loading"):
            self.embeddings.start_loading()  # the texts of the reply will be embedded
        try:
            session = JudgeSession(
                self.model, ask, lambda name: self.load_prompt(name, ask.language)
            )
        except JudgeFailed as failure:  # a kind that language models do not answer
            return failure
        try:
            value = await session.run()
        except (JudgeFailed, OutOfBudget) as failure:
            failure.usage = session.usage
            return failure
        finally:
            self.spent = self.spent + session.usage
        return Reply(value, session.usage, self.model.notes)
