"""One completion of a language model: what is asked for, what comes back, and who can make it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from ragstone.types import NO_USAGE, Usage

Finish = Literal["stop", "length", "refusal"]
"""Why a model stopped writing: done, cut off at the token limit, or unwilling."""


@dataclass(slots=True)
class Deadline:
    """Time limit of one question. It starts with the first call; waiting for a free connection does not count."""

    seconds: float
    _end: float | None = field(default=None, repr=False)

    def remaining_seconds(self) -> float:
        """Return the seconds left; the first look starts the clock."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + self.seconds
        return self._end - now


class CompletionRequest(NamedTuple):
    """One prompt to be completed, with the JSON schema of its reply if that is a document."""

    system: str
    user: str
    schema: Mapping[str, Any] | None
    """None for a reply in plain text."""
    name: str
    """The kind of Ask, sent as the name of the schema."""
    deadline: Deadline
    length_factor: int = 1
    """Multiplies the limit on the reply's tokens, after a reply was cut off."""
    max_tokens: int | None = None
    """Of the reply, where that is less than the model's own limit."""

    def limit_tokens(self, model_limit: int) -> int:
        """Return how many tokens the reply may have, by the limit of the model."""
        return min(model_limit, self.max_tokens or model_limit) * self.length_factor


class Completion(NamedTuple):
    """What a model wrote."""

    text: str
    finish: Finish = "stop"
    usage: Usage = NO_USAGE
    first_tokens: tuple[tuple[str, float], ...] = ()
    """The likeliest first tokens with their log-probabilities; empty when the model gives none."""


class LanguageModel(Protocol):
    """Something that completes a prompt; raises JudgeFailed or OutOfBudget."""

    name: str
    concurrency: int
    deadline: float
    """Seconds for each question."""
    notes: tuple[str, ...]
    """Warnings for every score made with this model (no price is known for it)."""

    def identity(self) -> Mapping[str, Any]:
        """Return everything besides the prompt that can change a completion; part of the cache key."""
        ...

    async def complete(self, request: CompletionRequest) -> Completion:
        """Complete one prompt."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...
