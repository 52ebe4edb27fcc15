"""What a system under test is: question in, answer and ranked chunks out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ragstone.locale.messages import Argument, compose_or_quote
from ragstone.types import Chunk, Ranked, Sample


@dataclass(frozen=True, slots=True)
class SystemReply:
    """What the system gave for one question; a retriever alone gives no answer."""

    answer: str | None
    contexts: Ranked | None = None
    latency: float | None = None
    """Seconds; measured by us where the system does not say."""
    tokens: float | None = None
    cost: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        kept: dict[str, Any] = {"answer": self.answer}
        if self.contexts is not None:
            kept["contexts"] = [[chunk.id, chunk.text, chunk.score] for chunk in self.contexts]
        for name in ("latency", "tokens", "cost"):
            if getattr(self, name) is not None:
                kept[name] = getattr(self, name)
        return kept

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> SystemReply:
        """The reply that `to_json` wrote."""
        contexts = kept.get("contexts")
        return cls(
            kept.get("answer"),
            None if contexts is None else Ranked(Chunk(*item) for item in contexts),
            kept.get("latency"),
            kept.get("tokens"),
            kept.get("cost"),
        )


class SystemFault(Exception):
    """The system gave nothing to judge for this question; `passing` when asking again may help."""

    def __init__(
        self,
        code: str,
        /,
        *,
        is_transient: bool = False,
        retry_seconds: float | None = None,
        **arguments: Argument,
    ) -> None:
        self.reason = compose_or_quote(code, arguments)
        super().__init__(self.reason)
        self.is_transient = is_transient
        self.retry_seconds = retry_seconds
        """Seconds that the system asks us to wait."""


class System(Protocol):
    """A RAG system that can be asked."""

    name: str
    concurrency: int
    """How many questions it takes at once unless the user says otherwise."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What can be tuned, with the values in force."""

    def identity(self) -> Mapping[str, Any]:
        """Everything that can change a reply besides the question; JSON, no secrets."""

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """What it looks at in the sample besides the question; part of a stored reply's key."""

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Its answer; raises when there is none. The sample is without what is wanted."""

    async def close(self) -> None:
        """Let go of connections."""


@runtime_checkable
class ContextAnswerer(Protocol):
    """A system that also answers from contexts that it is given."""

    @property
    def takes_contexts(self) -> bool:
        """Whether it really does: some kinds of system do only when configured so."""

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """Its answer from these contexts alone."""


def takes_contexts(system: System) -> bool:
    """Whether a system can be given contexts."""
    return isinstance(system, ContextAnswerer) and system.takes_contexts
