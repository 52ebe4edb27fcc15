"""Texts through the user's own hook before anything of them is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.monitor.interactions import LONGEST_META, Feedback, Interaction
from ragstone.types import Chunk, Ranked

Redact = Callable[[str, str], str]
"""A text and the field it stands in (`question`, `contexts`, `meta.tenant` …) → the text to keep."""


class RedactionFailed(RagstoneError):
    """The hook raised, or did not return a text: the interaction must not be stored."""


def redactor(hook: str | Redact | None) -> Redact | None:
    """The hook itself, or the function that `module:function` names."""
    if hook is None or callable(hook):
        return hook
    from ragstone.registry.plugins import load

    found = load(hook, "redaction hook")
    if not callable(found):
        raise RagstoneError(f"the redaction hook {hook!r} is not a function")
    return found  # type: ignore[no-any-return]


def redacted(one: Interaction, hook: Redact | None) -> Interaction:
    """The interaction with every text as the hook returns it."""
    if hook is None:
        return one
    texts: dict[str, Any] = {
        name: _passed(hook, value, name)
        for name in ("question", "answer", "reference", "comment", "error", "language")
        if (value := getattr(one, name)) is not None
    }
    if one.contexts is not None:
        texts["contexts"] = Ranked(
            Chunk(chunk.id, _passed(hook, chunk.text, "contexts"), chunk.score)
            for chunk in one.contexts
        )
    meta = {
        name: _passed(hook, value, f"meta.{name}")[:LONGEST_META]
        if isinstance(value, str)
        else value
        for name, value in one.meta.items()
    }
    return replace(one, **texts, meta=meta)


def redacted_feedback(one: Feedback, hook: Redact | None) -> Feedback:
    """The feedback with its comment as the hook returns it."""
    if hook is None or one.comment is None:
        return one
    return replace(one, comment=_passed(hook, one.comment, "comment"))


def redacted_texts(value: Any, hook: Redact | None, field: str) -> Any:
    """Every text inside a JSON value, for what is held before it becomes an interaction."""
    if hook is None:
        return value
    if isinstance(value, str):
        return _passed(hook, value, field)
    if isinstance(value, dict):
        return {key: redacted_texts(item, hook, field) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [redacted_texts(item, hook, field) for item in value]
    return value


def _passed(hook: Redact, text: str, field: str) -> str:
    try:
        kept = hook(text, field)
    except Exception as raised:
        # the message may quote the text that was not to be kept
        raise RedactionFailed(
            f"the redaction hook raised {type(raised).__name__} on {field!r}"
        ) from None
    if not isinstance(kept, str):
        raise RedactionFailed(
            f"the redaction hook returned a {type(kept).__name__} for {field!r}; return a text"
        )
    return kept
