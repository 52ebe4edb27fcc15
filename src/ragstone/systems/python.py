"""A Python function, or a method of an object, as a system under test: sync or async, with tunable parameters."""

from __future__ import annotations

import hashlib
import inspect
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.registry.fingerprints import UNPROVEN, fingerprint
from ragstone.systems.calls import CallResult, call_function
from ragstone.systems.protocol import SystemReply, build_placeholders
from ragstone.systems.replies import parse_reply
from ragstone.types import Ranked, Sample

HISTORY_PARAMETERS = ("history", "chat_history")
"""Names of a parameter that takes the earlier turns, as messages in the form of the OpenAI API."""
INJECTED_PARAMETERS = ("sample", "contexts", *HISTORY_PARAMETERS)
"""Parameters of a user's function that are filled for each question and cannot be tuned."""


class PythonSystem:
    """A system that calls a function with the question and parses its result."""

    concurrency = 1
    warmup = 1

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
        self._given_parameters = dict(parameters or {})
        self._answer_with = answer_with
        tunable, self._injected, self._accepts_any = _inspect_parameters(function, name)
        for key in self._given_parameters:
            if key not in tunable and not self._accepts_any:
                raise RagstoneError(
                    f"the system {name!r} has no parameter {key!r}{suggest_nearest(key, list(tunable))}"
                )
        # all of them, for identity and tuning; the function is called with the given ones alone
        self._parameters = {**tunable, **self._given_parameters}
        # the version decides whether stored replies are reused: when in doubt it is one that no
        # other process has
        self._version = version if version is not None else hash_function(function)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The function's parameters that have a default, with their current values."""
        return self._parameters

    def add_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Record the parameters that the user's factory was called with: part of the identity, not of the calls."""
        self._parameters = {**self._parameters, **parameters}

    def identity(self) -> Mapping[str, Any]:
        """Identify the system by name, parameters, and its version, else a hash of its source file."""
        return {
            "python": self.name,
            "version": self._version,
            "parameters": self._parameters,
            "id_from": self._id_from,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """The whole sample if the function has a parameter for it, else nothing."""
        if "sample" not in self._injected:
            return {}
        return {
            "id": sample.id,
            "language": sample.language,
            "group": sample.group,
            "meta": dict(sample.meta),
        }

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Call the function with the question."""
        injected = self._build_injected(sample)
        result = await call_function(self._function, question, **injected, **self._given_parameters)
        return self._parse_result(result)

    @property
    def takes_history(self) -> bool:
        """Whether the function has a parameter for the earlier turns, or reads the whole sample."""
        return not self._injected.isdisjoint(("sample", *HISTORY_PARAMETERS))

    def _build_injected(self, sample: Sample | None) -> dict[str, Any]:
        injected: dict[str, Any] = {"sample": sample} if "sample" in self._injected else {}
        history = build_placeholders("", sample)["history"]
        return injected | {name: history for name in HISTORY_PARAMETERS if name in self._injected}

    def _parse_result(self, result: CallResult) -> SystemReply:
        """Parse what the function returned; times that it reports itself win over those measured."""
        reply = parse_reply(result.value, self._id_from)
        return replace(
            reply,
            latency=round(result.seconds, 6) if reply.latency is None else reply.latency,
            first_token=result.first_token if reply.first_token is None else reply.first_token,
        )

    @property
    def takes_contexts(self) -> bool:
        """Whether the function has a parameter `contexts`, or the object a method `answer_with`."""
        return self._answer_with is not None or "contexts" in self._injected

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """Call the function with the question and these contexts as ranked chunks."""
        if self._answer_with is not None:
            result = await call_function(self._answer_with, question, contexts)
        else:
            injected = {"contexts": contexts, **self._build_injected(sample)}
            result = await call_function(
                self._function, question, **injected, **self._given_parameters
            )
        return replace(self._parse_result(result), contexts=contexts)

    async def close(self) -> None:
        """Nothing to close: a function owns no connection of ragstone."""


def hash_source(target: Any) -> str | None:
    """Hash the source file of an object; None if it has none."""
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(target)) or "")
    except TypeError:
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def make_process_version() -> str:
    """Make a version that no other process shares, for systems whose state is unknown; replies are not reused."""
    return f"process {secrets.token_hex(8)}"


def hash_function(function: Any) -> str:
    """Hash the source file of a function with its own code and defaults: two lambdas share a file and a name."""
    source = hash_source(function) if inspect.isfunction(function) else None
    # an object's answers depend on its state, which its source file does not show; so do a closure's on its variables
    if source is None or function.__closure__:
        return make_process_version()
    own = fingerprint((function.__code__, function.__defaults__, function.__kwdefaults__))
    return make_process_version() if own.startswith(UNPROVEN) else f"{source} {own[:16]}"


def _inspect_parameters(
    function: Callable[..., Any], name: str
) -> tuple[dict[str, Any], frozenset[str], bool]:
    """Return the tunable parameters with their defaults, the injected ones, and whether it accepts any keyword."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin has no signature
        return {}, frozenset(), False
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    if not positional:
        raise RagstoneError(f"the system {name!r} takes no question; write def answer(question)")
    tunable: dict[str, Any] = {}
    for parameter in parameters:
        if parameter is positional[0] or parameter.name in INJECTED_PARAMETERS:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise RagstoneError(
                f"the system {name!r} wants {parameter.name!r} besides the question; give it a default"
            )
        # a default of another type cannot be given in a config, so it is left alone
        if parameter.default is None or isinstance(parameter.default, str | int | float | bool):
            tunable[parameter.name] = parameter.default
    injected = frozenset(
        parameter.name for parameter in parameters if parameter.name in INJECTED_PARAMETERS
    )
    return (
        tunable,
        injected,
        any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters),
    )
