"""Ask and Reply: one question to a judge, identified by its content, and what comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.types import NO_USAGE, Usage


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge, identified by its content."""

    kind: str
    values: Mapping[str, Any]
    schema: Mapping[str, Any]
    language: str | None = None
    repeat: int = 0
    """Counts deliberate repetitions of one question (test-retest), so that each is asked."""
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def content(self) -> dict[str, Any]:
        """Everything of the question that can change the reply."""
        return {
            "kind": self.kind,
            "values": self.values,
            "schema": self.schema,
            "language": self.language,
            "repeat": self.repeat,
        }

    @property
    def key(self) -> str:
        """SHA-256 of the canonical JSON of `content`; part of the cache key of stored replies."""
        if not self._key:  # computed once: merging, cache and broker all need it
            # spelled out instead of canonical(self.content), so that the JSON of a schema is made once
            language = "null" if self.language is None else canonical(self.language)
            text = (
                f'{{"kind":{canonical(self.kind)},"language":{language},'
                f'"repeat":{self.repeat},"schema":{canonical_once(self.schema)},'
                f'"values":{_encode_values(self.kind, self.values)}}}'
            )
            object.__setattr__(self, "_key", hashlib.sha256(text.encode("ascii")).hexdigest())
        return self._key


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's answer that fits the Ask's schema, and what it cost."""

    value: Any
    usage: Usage = NO_USAGE
    notes: tuple[str, ...] = field(default=())
    """What a reader of the score should know (a jury that disagreed, a heuristic reply)."""
    seconds: float | None = field(default=None, compare=False)
    """From the question to the reply, with retries and their waiting; None where nobody measured it."""


Answered = Reply | JudgeFailed | OutOfBudget
"""What the engine sends back for one Ask."""

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode


def canonical(content: Any) -> str:
    """Return the canonical JSON of a value: keys sorted, no white space, no NaN."""
    return _encode(content)


def digest(content: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


_shared: dict[int, tuple[Mapping[str, Any], str]] = {}
_MAX_CACHED_SHARED = 256


def canonical_once(content: Mapping[str, Any]) -> str:
    """Return the canonical JSON of what serves many Asks and is never changed, a schema or a judge's identity."""
    cached = _shared.get(id(content))
    if cached is None:
        if len(_shared) >= _MAX_CACHED_SHARED:
            _shared.clear()
        # the object is kept beside its text, so that no other one can take over its id
        cached = _shared[id(content)] = (content, _encode(content))
    return cached[1]


_TEXT_KINDS = frozenset({"claims", "support", "useful", "questions", "embed"})
"""Kinds whose values are texts and whole numbers; they are the longest and the most frequent."""


def _encode_values(kind: str, values: Mapping[str, Any]) -> str:
    """Return the canonical JSON of an Ask's values: eight times as fast where msgspec writes the same."""
    if kind in _TEXT_KINDS:
        try:
            encoded = _load_fast_encoder()(values)
        except (TypeError, ValueError):  # half a surrogate pair, or nothing that msgspec knows
            return _encode(values)
        # alike but for what canonical JSON escapes: everything beyond "~"
        if encoded.isascii() and b"\x7f" not in encoded:
            return encoded.decode("ascii")
    return _encode(values)


@lru_cache(maxsize=1)
def _load_fast_encoder() -> Callable[[Any], bytes]:
    from msgspec.json import Encoder  # here, since few commands ask a judge

    return Encoder(order="sorted").encode
