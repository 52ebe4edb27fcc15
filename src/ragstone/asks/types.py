"""Ask and Reply: one question to a judge, identified by its content, and what comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
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
                f'"repeat":{self.repeat},"schema":{_schema_json(self.schema)},'
                f'"values":{canonical(self.values)}}}'
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


_schemas: dict[int, tuple[Mapping[str, Any], str]] = {}
_MAX_CACHED_SCHEMAS = 256


def _schema_json(schema: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a schema; a few schemas serve all Asks, and nobody changes them."""
    cached = _schemas.get(id(schema))
    if cached is None:
        if len(_schemas) >= _MAX_CACHED_SCHEMAS:
            _schemas.clear()
        # the schema is kept beside its text, so that no other object can take over its id
        cached = _schemas[id(schema)] = (schema, _encode(schema))
    return cached[1]
