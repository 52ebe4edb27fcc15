"""Instrumentation of a function that answers: each call becomes an interaction."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.monitor.ingest.coercion import to_text
from ragstone.monitor.interactions import format_iso, new_id, now_micros
from ragstone.systems.replies import parse_reply

if TYPE_CHECKING:
    from ragstone.monitor.monitor import Monitor


@dataclass(slots=True)
class InteractionBuilder:
    """An interaction in progress: fill in what is known."""

    id: str = field(default_factory=new_id)
    question: str | None = None
    contexts: Any = None
    answer: Any = None
    feedback: Any = None
    comment: str | None = None
    reference: str | None = None
    latency: float | None = None
    """Seconds; measured from creation to `to_log_arguments` when it is not set."""
    cost: float | None = None
    tokens: int | None = None
    language: str | None = None
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    _at: int = field(default_factory=now_micros)
    _began: float = field(default_factory=time.perf_counter)  # besides `_at`, which may jump

    def set_error(self, raised: BaseException) -> None:
        """Record why there is no answer."""
        self.error = f"{type(raised).__name__}: {to_text(raised)}"

    def set_reply(self, value: Any) -> None:
        """Extract answer and contexts from whatever the function returned."""
        try:
            reply = parse_reply(value)
        except Exception:  # a reply of unknown type, or one whose attributes raise
            self.answer = None if value is None else to_text(value)
            return
        self.answer, self.contexts = reply.answer, reply.contexts
        self.cost = reply.cost
        self.latency = reply.latency
        self.tokens = None if reply.tokens is None else int(reply.tokens)

    def to_log_arguments(self) -> dict[str, Any]:
        """The arguments of `Monitor.log`."""
        took = time.perf_counter() - self._began
        names = ("id", "question", "contexts", "answer", "feedback", "comment", "reference", "cost",
                 "tokens", "language", "error")  # fmt: skip
        known = {name: getattr(self, name) for name in names}
        # a meta field called `question` would collide with the argument of `Monitor.log`
        meta = {to_text(name): value for name, value in self.meta.items() if name not in known}
        latency = took if self.latency is None else self.latency
        return {**meta, **known, "at": format_iso(self._at), "latency": latency}


def wrap_function(
    monitor: Monitor, function: Callable[..., Any], question: str | int, meta: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function wrapped so that each call logs an interaction; the wrapper is of the same kind: async, generator or plain."""
    get_question = _build_question_getter(function, question)

    def start(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return monitor.interaction(get_question(args, kwargs), **meta)

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def stream_async(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            with start(args, kwargs) as interaction:
                pieces: list[str] = []
                try:
                    async for piece in function(*args, **kwargs):
                        pieces.append(to_text(piece))
                        yield piece
                finally:  # a caller may stop reading early: what it got is the answer
                    interaction.answer = "".join(pieces)

        return stream_async
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with start(args, kwargs) as interaction:
                pieces: list[str] = []
                try:
                    for piece in function(*args, **kwargs):
                        pieces.append(to_text(piece))
                        yield piece
                finally:
                    interaction.answer = "".join(pieces)

        return stream
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def answer_async(*args: Any, **kwargs: Any) -> Any:
            with start(args, kwargs) as interaction:
                value = await function(*args, **kwargs)
                interaction.set_reply(value)
            return value

        return answer_async

    @functools.wraps(function)
    def answer(*args: Any, **kwargs: Any) -> Any:
        with start(args, kwargs) as interaction:
            value = function(*args, **kwargs)
            interaction.set_reply(value)
        return value

    return answer


def _build_question_getter(
    function: Callable[..., Any], question: str | int
) -> Callable[[tuple[Any, ...], dict[str, Any]], str | None]:
    """A function that finds the question among a call's arguments; `question` is its name or position, not counting `self` and `cls`."""
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    skipped = len(inspect.signature(function).parameters) - len(names)
    name = question if isinstance(question, str) else names[question] if names else ""
    position = skipped + (names.index(name) if name in names else 0)

    def get_question(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        value = kwargs.get(name, args[position] if len(args) > position else None)
        return value if value is None or isinstance(value, str) else to_text(value)

    return get_question
