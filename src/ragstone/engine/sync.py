"""Runs a coroutine from synchronous code, also where an event loop is running already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_sync(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of the coroutine that `start` makes, also inside a running event loop (Jupyter).

    Inside a running loop it gets a new thread with a new loop; Ctrl-C cancels it and waits until it has cleaned up."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    outcome: Future[Result] = Future()
    loop = asyncio.new_event_loop()
    tasks: list[asyncio.Task[Result]] = []
    interrupted = threading.Event()

    async def run_cancellable() -> Result:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        # Ctrl-C came before this task was in `tasks`, so nobody could cancel it
        if interrupted.is_set():
            raise asyncio.CancelledError
        return await start()

    def run_in_thread() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                result = runner.run(run_cancellable())
        except BaseException as raised:  # raised in the thread that waits for the outcome
            outcome.set_exception(raised)
        else:
            outcome.set_result(result)

    threading.Thread(target=run_in_thread, name="ragstone", daemon=True).start()
    # Not Thread.join: interrupted once, it takes the thread for ended (CPython before 3.13).
    try:
        return outcome.result()
    except KeyboardInterrupt:
        interrupted.set()
        for task in tasks:
            loop.call_soon_threadsafe(task.cancel)
        wait([outcome])
        raise
