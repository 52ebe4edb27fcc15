"""Offline embeddings: the judge that answers `embed` Asks with the sentence encoder of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed
from ragstone.text.encoder import ENCODER, MAX_TEXT_CHARS, encode


class OfflineEmbeddings:
    """Answers `embed` Asks and no others; needs neither key nor network."""

    name = f"offline:{ENCODER}"
    batch = 32
    concurrency = 1
    local = True

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the encoder and how many characters of a text it reads."""
        return {"embeddings": ENCODER, "longest": MAX_TEXT_CHARS}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Embed the texts of each Ask."""
        return answer_embeds(asks)

    async def close(self) -> None:
        """Do nothing: the encoder holds no connection."""


def answer_embeds(asks: Sequence[Ask]) -> list[Answered]:
    """Embed the texts of each Ask; an Ask of another kind fails."""
    return [
        Reply({"vectors": encode(ask.values["texts"]).tolist()})
        if ask.kind == "embed"
        else JudgeFailed("refusal", "kind_unknown_embeddings", kind=ask.kind)
        for ask in asks
    ]
