"""The thread in which a model of this process is loaded and works, so that the event loop stays free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, Generic, ParamSpec, TypeVar

from ragstone.errors import JudgeFailed, RagstoneError

M = TypeVar("M")
P = ParamSpec("P")
T = TypeVar("T")


class ModelThread(Generic[M]):
    """A model that is loaded when it is first needed, and again after `close`; it does one thing at a time.

    Work is handed over piece by piece, never queued up: after Ctrl-C only the piece in progress is finished.
    Whatever goes wrong in the thread is a JudgeFailed."""

    def __init__(self, name: str, load: Callable[[], M]) -> None:
        self.name = name
        self._load = load
        self._model: M | None = None
        self._load_failure: JudgeFailed | None = None
        self._executor: ThreadPoolExecutor | None = None

    async def run(
        self,
        seconds: float,
        work: Callable[Concatenate[M, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Return what the work makes of the model; the time limit does not count for loading it."""
        model = await self._submit(self._load_once)
        try:
            async with asyncio.timeout(seconds):
                return await self._submit(work, model, *args, **kwargs)
        except TimeoutError:
            raise JudgeFailed("transport", "no_reply_within", seconds=seconds) from None

    async def close(self) -> None:
        """Wait for the work in progress, end the thread and release the model."""
        executor, self._executor = self._executor, None
        if executor is not None:
            await asyncio.to_thread(executor.shutdown, cancel_futures=True)
        self._model = None

    async def _submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix=self.name)
        try:
            return await asyncio.wrap_future(self._executor.submit(work, *args, **kwargs))
        except Exception as error:
            raise to_failure(error) from None

    def _load_once(self) -> M:
        """Return the model; one that cannot be loaded is not tried again for every question."""
        if self._load_failure is not None:
            raise self._load_failure
        if self._model is None:
            try:
                self._model = self._load()
            except Exception as error:
                self._load_failure = to_failure(error)
                raise self._load_failure from None
        return self._model


def to_failure(error: Exception) -> JudgeFailed:
    """Return the failure of a question that a model in this process did not answer; always a new object."""
    if isinstance(error, JudgeFailed):
        return JudgeFailed(error.kind, error.reason)
    if isinstance(error, RagstoneError):
        return JudgeFailed("transport", str(error))
    words = " ".join(str(error).split())[:200]
    return JudgeFailed("transport", "local_model_failed", error=type(error).__name__, text=words)
