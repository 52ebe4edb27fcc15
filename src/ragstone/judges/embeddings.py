"""Sentence vectors inside the package: Google's multilingual encoder in plain numpy, no key, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed
from ragstone.text.encoder import ENCODER, MAX_TEXT_CHARS, encode


class OfflineEmbeddings:
    """Answers `embed` and nothing else."""

    name = f"offline:{ENCODER}"
    batch = 32
    concurrency = 1
    local = True

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The encoder and how much of a text it reads."""
        return {"embeddings": ENCODER, "longest": MAX_TEXT_CHARS}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Vectors for the texts of each Ask."""
        return answer_embeds(asks)

    async def close(self) -> None:
        """The encoder holds no connection."""


def answer_embeds(asks: Sequence[Ask]) -> list[Answered]:
    """One reply for each Ask; an Ask of another kind is refused."""
    return [
        Reply({"vectors": encode(ask.values["texts"]).tolist()})
        if ask.kind == "embed"
        else JudgeFailed("refusal", f"embeddings do not answer {ask.kind!r}")
        for ask in asks
    ]
