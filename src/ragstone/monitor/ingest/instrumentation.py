"""A function that answers, watched: what goes in and comes out becomes an interaction."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.monitor.ingest.coercion import written
from ragstone.monitor.interactions import iso, micros, new_id
from ragstone.systems.reading import reply_of

if TYPE_CHECKING:
    from ragstone.monitor.monitor import Monitor


@dataclass(slots=True)
class Turn:
    """One interaction in the making: fill in what is known."""

    id: str = field(default_factory=new_id)
    question: str | None = None
    contexts: Any = None
    answer: Any = None
    feedback: Any = None
    comment: str | None = None
    reference: str | None = None
    latency: float | None = None
    """Seconds; measured from the start to the end of the turn when it is not set."""
    cost: float | None = None
    tokens: int | None = None
    language: str | None = None
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    _at: int = field(default_factory=micros)
    _began: float = field(default_factory=time.perf_counter)

    def failed(self, raised: BaseException) -> None:
        """Note why there is no answer."""
        self.error = f"{type(raised).__name__}: {written(raised)}"

    def returned(self, value: Any) -> None:
        """Take answer and contexts out of whatever the function returned."""
        try:
            reply = reply_of(value)
        except Exception:  # a reply of no known form, or one that fails when it is looked at
            self.answer = None if value is None else written(value)
            return
        self.answer, self.contexts = reply.answer, reply.contexts
        self.cost = reply.cost
        self.latency = reply.latency
        self.tokens = None if reply.tokens is None else int(reply.tokens)

    def finished(self) -> dict[str, Any]:
        """The arguments of `Monitor.log`."""
        took = time.perf_counter() - self._began
        names = ("id", "question", "contexts", "answer", "feedback", "comment", "reference", "cost",
                 "tokens", "language", "error")  # fmt: skip
        own = {name: getattr(self, name) for name in names}
        meta = {written(name): value for name, value in self.meta.items() if name not in own}
        latency = took if self.latency is None else self.latency
        return {**meta, **own, "at": iso(self._at), "latency": latency}


def watched(
    monitor: Monitor, function: Callable[..., Any], question: str | int, meta: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function, each call of which hands over an interaction."""
    asked = _asked(function, question)

    def turn(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return monitor.interaction(asked(args, kwargs), **meta)

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def stream_async(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            with turn(args, kwargs) as one:
                pieces: list[str] = []
                try:
                    async for piece in function(*args, **kwargs):
                        pieces.append(written(piece))
                        yield piece
                finally:
                    one.answer = "".join(pieces)

        return stream_async
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with turn(args, kwargs) as one:
                pieces: list[str] = []
                try:
                    for piece in function(*args, **kwargs):
                        pieces.append(written(piece))
                        yield piece
                finally:
                    one.answer = "".join(pieces)

        return stream
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def answer_async(*args: Any, **kwargs: Any) -> Any:
            with turn(args, kwargs) as one:
                value = await function(*args, **kwargs)
                one.returned(value)
            return value

        return answer_async

    @functools.wraps(function)
    def answer(*args: Any, **kwargs: Any) -> Any:
        with turn(args, kwargs) as one:
            value = function(*args, **kwargs)
            one.returned(value)
        return value

    return answer


def _asked(
    function: Callable[..., Any], question: str | int
) -> Callable[[tuple[Any, ...], dict[str, Any]], str | None]:
    """Finds the question among a call's arguments; a method's own object does not count."""
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    skipped = len(inspect.signature(function).parameters) - len(names)
    name = question if isinstance(question, str) else names[question] if names else ""
    place = skipped + (names.index(name) if name in names else 0)

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        value = kwargs.get(name, args[place] if len(args) > place else None)
        return value if value is None or isinstance(value, str) else written(value)

    return asked
