"""A Python function or object as a system: plain or async, with its keyword parameters to tune."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError, nearest
from ragstone.systems.protocol import SystemReply
from ragstone.systems.reading import reply_of
from ragstone.types import Ranked, Sample

SPECIAL = ("sample", "contexts")
"""Parameters of a user's function that are not tunable: they are filled by us."""


class PythonSystem:
    """Calls a function with the question and reads what it returns."""

    concurrency = 8

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        version: str | None = None,
        id_from: str | None = None,
        answer_with: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self._function = function
        self._id_from = id_from
        self._given = dict(parameters or {})
        self._answer_with = answer_with
        known, self._takes, self._open = _signature(function, name)
        for key in self._given:
            if key not in known and not self._open:
                raise RagstoneError(
                    f"the system {name!r} has no parameter {key!r}{nearest(key, list(known))}"
                )
        self._parameters = {**known, **self._given}
        self._version = version if version is not None else _fingerprint(function)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The function's parameters that have a default, with the values in force."""
        return self._parameters

    def made_with(self, parameters: Mapping[str, Any]) -> None:
        """Note the parameters that the user's factory was called with."""
        self._parameters = {**self._parameters, **parameters}

    def identity(self) -> Mapping[str, Any]:
        """Name, parameters, and the version given or a hash of the file it is written in."""
        return {
            "python": self.name,
            "version": self._version,
            "parameters": self._parameters,
            "id_from": self._id_from,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """The whole sample if the function asks for it, else nothing."""
        if "sample" not in self._takes:
            return {}
        return {
            "id": sample.id,
            "language": sample.language,
            "group": sample.group,
            "meta": dict(sample.meta),
        }

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """What the function returns for the question."""
        special = {"sample": sample} if "sample" in self._takes else {}
        value = await called(self._function, question, **special, **self._given)
        return reply_of(value, self._id_from)

    @property
    def takes_contexts(self) -> bool:
        """Whether the function has a parameter `contexts`, or the object a method `answer_with`."""
        return self._answer_with is not None or "contexts" in self._takes

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """The answer from these contexts, given to the function as ranked chunks."""
        if self._answer_with is not None:
            value = await called(self._answer_with, question, contexts)
        else:
            special: dict[str, Any] = {"contexts": contexts}
            if "sample" in self._takes:
                special["sample"] = sample
            value = await called(self._function, question, **special, **self._given)
        reply = reply_of(value, self._id_from)
        return SystemReply(reply.answer, contexts, reply.latency, reply.tokens, reply.cost)

    async def close(self) -> None:
        """A function holds nothing of ours."""


async def called(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The function's result: awaited if it is async, else from a thread that may be left behind."""
    target = function if inspect.isroutine(function) else type(function).__call__
    if inspect.iscoroutinefunction(target):
        return await function(*args, **options)
    value = await _in_thread(function, *args, **options)
    return await value if inspect.isawaitable(value) else value


def source_hash(place: Any) -> str | None:
    """A hash of the file that an object's code stands in; None if it stands in no file."""
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(place)) or "")
    except TypeError:
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def unknown_version() -> str:
    """A version that is right for this process only: nothing says what the system is made of."""
    return f"process {secrets.token_hex(8)}"


def _fingerprint(function: Any) -> str:
    owner = function if inspect.isroutine(function) else type(function)
    if inspect.ismethod(function) or not inspect.isroutine(function):
        # an object's answers depend on its state, which no source file tells
        return unknown_version()
    if getattr(function, "__closure__", None):
        return unknown_version()
    return source_hash(owner) or unknown_version()


def _signature(
    function: Callable[..., Any], name: str
) -> tuple[dict[str, Any], frozenset[str], bool]:
    """The tunable parameters with their defaults, the special ones it takes, and whether it takes any."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin says nothing about itself
        return {}, frozenset(), False
    positional = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)
    ]
    if not positional:
        raise RagstoneError(f"the system {name!r} takes no question; write def answer(question)")
    known: dict[str, Any] = {}
    for one in parameters:
        if one is positional[0] or one.name in SPECIAL:
            continue
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if one.default is one.empty:
            raise RagstoneError(
                f"the system {name!r} wants {one.name!r} besides the question; give it a default"
            )
        if one.default is None or isinstance(one.default, str | int | float | bool):
            known[one.name] = one.default
    takes = frozenset(one.name for one in parameters if one.name in SPECIAL)
    return known, takes, any(one.kind is one.VAR_KEYWORD for one in parameters)


async def _in_thread(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Like asyncio.to_thread, in a daemon thread: one that hangs keeps neither others waiting nor Python from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():  # timed out: nobody waits any more
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        value, error = None, None
        try:
            value = context.run(function, *args, **options)
        except Exception as raised:
            # a future cannot carry StopIteration
            error = RuntimeError(repr(raised)) if isinstance(raised, StopIteration) else raised
        except (
            BaseException
        ) as raised:  # a system that calls sys.exit() ends its answer, not the run
            error = RuntimeError(f"{type(raised).__name__}: {raised}")
        with suppress(RuntimeError):  # the loop closed meanwhile: there is nobody left to tell
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="ragstone-system", daemon=True).start()
    return await future
