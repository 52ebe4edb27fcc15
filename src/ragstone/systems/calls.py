"""Calls of a user's function: a sync one in a new thread, timed there, and a stream that it returns read to the end."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from ragstone.systems.streams import StreamReader, find_stream


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a function returned, and how long it took."""

    value: Any
    seconds: float
    """Of the call itself: neither the wait for a thread nor that for the event loop is in it."""
    first_token: float | None = None
    """Seconds until the first text of a stream."""


async def call_function(function: Callable[..., Any], *args: Any, **options: Any) -> CallResult:
    """Call a function and await its result; a sync function runs in a thread, which a timeout abandons."""
    # a callable object is async when its __call__ is
    target = function if inspect.isroutine(function) else type(function).__call__
    if inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target):
        reader = StreamReader()
        value = function(*args, **options)
    else:
        value, reader = await _run_in_thread(lambda: _call_and_read(function, args, options))
        reader.resume()  # a sync function may return an awaitable or an async stream
    is_awaited = inspect.isawaitable(value)
    if is_awaited:
        value = await value
    stream = find_stream(value, is_awaited=is_awaited)
    if isinstance(stream, AsyncIterator):
        value = _add_sources(await reader.collect_async(stream), value)
    elif stream is not None:  # an async function that returns a plain generator, which may block
        reply = await _run_in_thread(lambda: reader.collect(stream))
        value = _add_sources(reply, value)
    return CallResult(value, reader.seconds, reader.first_token)


def _call_and_read(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, StreamReader]:
    """Call a function in this thread and read its stream here: a generator's work is done while it is read."""
    reader = StreamReader()
    value = function(*args, **options)
    stream = find_stream(value)
    if stream is not None and not isinstance(stream, AsyncIterator):
        value = _add_sources(reader.collect(stream), value)
    reader.pause()
    return value, reader


def _add_sources(reply: Any, response: Any) -> Any:
    """Add the contexts that stand on the response beside its stream."""
    sources = getattr(response, "source_nodes", None)
    return {**reply, "contexts": sources} if sources is not None else reply


async def _run_in_thread(function: Callable[[], Any]) -> Any:
    """Like asyncio.to_thread, but in a daemon thread: one that hangs blocks neither a pool nor the exit of Python."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    # as asyncio.to_thread does: context variables (tracing, settings of the user's) reach the
    # function
    context = copy_context()

    def settle_future(value: Any, error: BaseException | None) -> None:
        if future.done():  # timed out: nobody awaits the result
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def call_and_settle() -> None:
        value, error = None, None
        try:
            value = context.run(function)
        except Exception as raised:
            # a future cannot carry StopIteration
            error = RuntimeError(repr(raised)) if isinstance(raised, StopIteration) else raised
        # a system that calls sys.exit() ends its answer, not the run
        except BaseException as raised:
            error = RuntimeError(f"{type(raised).__name__}: {raised}")
        with suppress(RuntimeError):  # the loop has closed meanwhile
            loop.call_soon_threadsafe(settle_future, value, error)

    threading.Thread(target=call_and_settle, name="ragstone-system", daemon=True).start()
    return await future
