"""Streams of LangGraph: the last state is the reply, the first text that a model of the graph writes the first token."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from ragstone.systems.streams import get_text


class GraphStream:
    """Takes what a graph streams, part by part; the clock starts when it is made."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._state: Any = {}
        self._first_token: float | None = None

    def add(self, mode: str, part: Any) -> None:
        """Take a part: a state of the graph, or a pair of a piece of a message and where it comes from."""
        if mode == "values":
            self._state = part
        elif self._first_token is None and get_text(part[0]):
            self._first_token = time.perf_counter() - self._started

    def to_reply(self) -> dict[str, Any]:
        """The last state with the time of the first text."""
        return {**self._state, "first_token": self._first_token}


def read_graph_stream(stream: Callable[..., Any]) -> Callable[..., Any]:
    """A function that reads the stream of a graph, sync or async, to its end and returns the reply."""

    def call(*given: Any) -> Any:
        reader = GraphStream()
        parts = stream(*given, stream_mode=["messages", "values"])
        if isinstance(parts, AsyncIterator):
            return _read_async(reader, parts)
        for mode, part in parts:
            reader.add(mode, part)
        return reader.to_reply()

    return call


async def _read_async(reader: GraphStream, parts: AsyncIterator[Any]) -> dict[str, Any]:
    async for mode, part in parts:
        reader.add(mode, part)
    return reader.to_reply()
