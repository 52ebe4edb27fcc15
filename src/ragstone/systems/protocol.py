"""The protocol of a system under test: question in, answer and ranked chunks out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ragstone.locale.messages import Argument, compose_or_quote
from ragstone.types import Chunk, Ranked, Sample

MEASURES = ("latency", "first_token", "tokens", "cost")
"""What a reply took (seconds, seconds, count, USD): fields of SystemReply, and keys of a sample's `meta`."""


@dataclass(frozen=True, slots=True)
class SystemReply:
    """The reply of a system to one question; a bare retriever returns no answer."""

    answer: str | None
    contexts: Ranked | None = None
    latency: float | None = None
    """Seconds; measured by the runner where the system does not report it."""
    tokens: float | None = None
    cost: float | None = None
    first_token: float | None = None
    """Seconds until the first text of a streamed answer."""

    def to_json(self) -> dict[str, Any]:
        """Convert the reply to its stored form."""
        stored: dict[str, Any] = {"answer": self.answer}
        if self.contexts is not None:
            stored["contexts"] = [[chunk.id, chunk.text, chunk.score] for chunk in self.contexts]
        for name in MEASURES:
            if getattr(self, name) is not None:
                stored[name] = getattr(self, name)
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> SystemReply:
        """Restore the reply that `to_json` converted."""
        contexts = stored.get("contexts")
        return cls(
            stored.get("answer"),
            None if contexts is None else Ranked(Chunk(*item) for item in contexts),
            **{name: stored.get(name) for name in MEASURES},
        )


class SystemFault(Exception):
    """The system gave nothing to judge for this question; `is_transient` when a retry may help."""

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
        """Seconds to wait before a retry, as the system requested."""


class System(Protocol):
    """A RAG system that answers questions."""

    name: str
    concurrency: int
    """Number of questions in flight."""
    # A system may also say `warmup` (calls before the first question that counts) and `timeout`.

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Tunable parameters with their current values."""

    def identity(self) -> Mapping[str, Any]:
        """Everything that can change a reply besides the question; JSON, no secrets."""

    # Public: any object with `answer`, `identity`, `shown` and `parameters` is taken as a System
    # (factory.py).
    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """What the system reads of the sample besides the question; part of the key of a stored reply."""

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Answer the question or raise. The sample is without its reference and relevant documents."""

    async def close(self) -> None:
        """Close connections."""


@runtime_checkable
class ContextAnswerer(Protocol):
    """A system that can also answer from given contexts."""

    @property
    def takes_contexts(self) -> bool:
        """Whether this instance can: some kinds of system need configuration for it."""

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """Answer from these contexts alone."""


def takes_contexts(system: System) -> bool:
    """Whether a system can answer from given contexts."""
    return isinstance(system, ContextAnswerer) and system.takes_contexts
