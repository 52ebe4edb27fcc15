"""The protocol of a system under test: question in, answer and ranked chunks out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ragstone.data.messages import message_to_json, step_to_json, to_steps
from ragstone.locale.messages import Argument, compose_or_quote
from ragstone.types import Chunk, Ranked, Sample, Steps

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
    steps: Steps | None = None
    """Tool calls on the way to the answer; None when the system does not tell."""

    def to_json(self) -> dict[str, Any]:
        """Convert the reply to its stored form."""
        stored: dict[str, Any] = {"answer": self.answer}
        if self.contexts is not None:
            stored["contexts"] = [[chunk.id, chunk.text, chunk.score] for chunk in self.contexts]
        for name in MEASURES:
            if getattr(self, name) is not None:
                stored[name] = getattr(self, name)
        if self.steps is not None:
            stored["steps"] = [step_to_json(step) for step in self.steps]
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> SystemReply:
        """Restore the reply that `to_json` converted."""
        contexts = stored.get("contexts")
        return cls(
            stored.get("answer"),
            None if contexts is None else Ranked(Chunk(*item) for item in contexts),
            **{name: stored.get(name) for name in MEASURES},
            steps=to_steps(stored["steps"], "steps") if "steps" in stored else None,
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
    # A system may also say `warmup` (calls before the first question that counts), `timeout` and `takes_history` (it
    # reads the messages of the sample; any other is asked with the earlier turns in front of the question).

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


def takes_history(system: System) -> bool:
    """Whether a system is given the earlier turns of a conversation apart from the question."""
    return bool(getattr(system, "takes_history", False))


def phrase_question(system: System, sample: Sample) -> str:
    """The text that a system is asked with: the question, after the earlier turns where it has no other place for them."""
    question = sample.question or ""
    if not sample.messages or takes_history(system):
        return question
    said = [m.content for m in sample.messages if m.role in ("user", "assistant")]
    return "\n".join([*said, question])


def build_placeholders(question: str, sample: Sample | None) -> dict[str, Any]:
    """The placeholders of templates about what is asked: `{question}`, `{history}` and `{messages}`, which holds both."""
    history = [message_to_json(m) for m in (sample.messages if sample else None) or ()]
    messages = [*history, {"role": "user", "content": question}]
    return {"question": question, "history": history, "messages": messages}


def takes_contexts(system: System) -> bool:
    """Whether a system can answer from given contexts."""
    return isinstance(system, ContextAnswerer) and system.takes_contexts
