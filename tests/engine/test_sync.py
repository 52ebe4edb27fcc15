"""Coroutines from synchronous code: with a loop running and without, and cancelled by Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading

import pytest

from ragstone.engine.garbage import YOUNG_OBJECTS, relax_garbage_collection
from ragstone.engine.sync import run_sync


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def fail() -> None:
    raise ValueError("no")


def test_it_runs_with_a_loop_and_without() -> None:
    async def notebook() -> int:
        return run_sync(lambda: double(3))

    assert run_sync(lambda: double(4)) == 8
    assert asyncio.run(notebook()) == 6


def test_what_is_raised_comes_through() -> None:
    async def notebook() -> None:
        run_sync(fail)

    for work in (lambda: run_sync(fail), lambda: asyncio.run(notebook())):
        with pytest.raises(ValueError, match="no"):
            work()


def test_ctrl_c_inside_a_running_loop_cancels_and_waits_for_the_cleanup() -> None:
    """The signal reaches the main thread, as in Jupyter; the work is in another one."""
    events: list[str] = []

    async def work() -> None:
        events.append("started")
        main = threading.main_thread().ident
        assert main is not None
        threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            events.append("cleaned up")
            raise

    async def notebook() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a kernel does for a cell
        with pytest.raises(KeyboardInterrupt):
            run_sync(work)
        events.append("back")

    asyncio.run(notebook())
    assert events == ["started", "cleaned up", "back"]


def test_a_run_collects_garbage_rarely_and_leaves_the_process_as_it_was():
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        with relax_garbage_collection():
            assert gc.get_threshold() == (YOUNG_OBJECTS, 10, 10)
            with relax_garbage_collection():  # a run inside a run, or in another thread
                assert gc.get_threshold()[0] == YOUNG_OBJECTS
        assert gc.get_threshold() == (700, 10, 10)
        gc.set_threshold(0)  # who has turned it off keeps it off
        with relax_garbage_collection():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
