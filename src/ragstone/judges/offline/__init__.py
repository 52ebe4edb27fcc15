"""The embedded judge: every kind of Ask answered by local code, without a key, a network or a cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed
from ragstone.judges import Reopenable
from ragstone.locale.messages import compose
from ragstone.text.language import LANGUAGES

VERSION = 3
"""Changes whenever any score could change: part of the name in reports and of the cache key."""

HEURISTIC = "heuristic"
"""Note on replies that stand on stated rules alone; docs/judge-offline.md names them."""


class OfflineJudge(Reopenable):
    """Deterministic; measured against people in English and Spanish (docs/judge-offline.md)."""

    name = f"offline {VERSION}"
    batch = 32
    concurrency = 1
    local = True

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The judge and its version."""
        return {"judge": "offline", "version": VERSION}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """A reply to each Ask; texts to embed are encoded together."""
        from ragstone.judges.embeddings import answer_embeds

        embeds = iter(answer_embeds([ask for ask in asks if ask.kind == "embed"]))
        return [next(embeds) if ask.kind == "embed" else _answer(ask) for ask in asks]

    async def close(self) -> None:
        """It holds no connection."""


def _answer(ask: Ask) -> Answered:
    # imported late: numpy and the learned files are read when the first question comes
    from ragstone.judges.offline.replies import reply_to

    found = reply_to(ask.kind, ask.values, ask.language)
    if found is None:
        return JudgeFailed("refusal", "kind_unknown_offline", kind=ask.kind)
    value, languages, heuristic = found
    notes = [compose(HEURISTIC)] if heuristic else []
    notes += [
        compose("language_unmeasured", language=language)
        for language in sorted(set(languages))
        if language not in LANGUAGES
    ]
    return Reply(value, notes=tuple(notes))
