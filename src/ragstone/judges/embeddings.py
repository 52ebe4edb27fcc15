"""Offline embeddings: the judge that answers `embed` Asks with the sentence encoder of the package."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed
from ragstone.text.encoder import ENCODER, MAX_TEXT_CHARS, encode


class OfflineEmbeddings:
    """Answers `embed` Asks and no others; needs neither key nor network."""

    name = f"offline:{ENCODER}"
    batch = 8
    concurrency = 1
    local = True

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the encoder and how many characters of a text it reads."""
        return {"embeddings": ENCODER, "longest": MAX_TEXT_CHARS}

    def __init__(self) -> None:
        self._waiting: list[tuple[Sequence[Ask], asyncio.Future[list[Answered]]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._loading: asyncio.Future[Any] | None = None

    def start_loading(self) -> None:
        """Load the encoder in a thread, while a judge that will need it waits for its first replies."""
        if self._loading is None:
            loop = asyncio.get_running_loop()
            self._loading = loop.run_in_executor(None, encode, ("",))
            # one that fails is tried again by `answer`, which reports it
            self._loading.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Embed the texts of each Ask in a thread, so that the calls to other servers go on."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[list[Answered]] = loop.create_future()
        self._waiting.append((asks, done))
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._serve())
        return await done

    async def close(self) -> None:
        """End the work in the thread; a judge that is used again starts anew."""
        if self._loading is not None and not self._loading.done():
            await asyncio.wait([self._loading])
        self._loading = self._worker = None
        self._waiting.clear()

    async def _serve(self) -> None:
        """Answer what waits, the Asks of many samples in one trip to the thread."""
        while self._waiting:
            batch = self._waiting[: self.batch]
            del self._waiting[: self.batch]
            try:
                answers = iter(
                    await asyncio.to_thread(
                        answer_embeds, [ask for asks, _ in batch for ask in asks]
                    )
                )
            except Exception as error:  # raised in those who wait, not in this task
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            for asks, done in batch:
                group = [next(answers) for _ in asks]
                if not done.done():
                    done.set_result(group)


def answer_embeds(asks: Sequence[Ask]) -> list[Answered]:
    """Embed the texts of all Asks at once; an Ask of another kind fails."""
    encode([text for ask in asks if ask.kind == "embed" for text in ask.values["texts"]])
    return [
        # cached by the line above, unless there are very many
        Reply({"vectors": encode(ask.values["texts"]).tolist()})
        if ask.kind == "embed"
        else JudgeFailed("refusal", "kind_unknown_embeddings", kind=ask.kind)
        for ask in asks
    ]
