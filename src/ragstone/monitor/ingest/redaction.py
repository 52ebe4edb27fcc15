"""Redaction: every text passes through the user's hook before it is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.monitor.interactions import MAX_META_CHARS, Feedback, Interaction
from ragstone.types import Chunk, Ranked

RedactionHook = Callable[[str, str], str]
"""A text and its field (`question`, `contexts`, `meta.tenant` …) → the text to store."""


class RedactionError(RagstoneError):
    """The hook raised or returned no text: the interaction must not be stored."""


def load_hook(hook: str | RedactionHook | None) -> RedactionHook | None:
    """The hook itself, or the function that `module:function` names."""
    if hook is None or callable(hook):
        return hook
    from ragstone.registry.plugins import load_object

    function = load_object(hook, "redaction hook")
    if not callable(function):
        raise RagstoneError(f"the redaction hook {hook!r} is not a function")
    return function  # type: ignore[no-any-return]


def redact_interaction(interaction: Interaction, hook: RedactionHook | None) -> Interaction:
    """The interaction with every text replaced by what the hook returns."""
    if hook is None:
        return interaction
    texts: dict[str, Any] = {
        name: _apply_hook(hook, value, name)
        for name in ("question", "answer", "reference", "comment", "error", "language")
        if (value := getattr(interaction, name)) is not None
    }
    if interaction.contexts is not None:
        texts["contexts"] = Ranked(
            Chunk(chunk.id, _apply_hook(hook, chunk.text, "contexts"), chunk.score)
            for chunk in interaction.contexts
        )
    meta = {
        # cut after the hook: cut before, half a secret could pass unrecognised
        name: _apply_hook(hook, value, f"meta.{name}")[:MAX_META_CHARS]
        if isinstance(value, str)
        else value
        for name, value in interaction.meta.items()
    }
    return replace(interaction, **texts, meta=meta)


def redact_feedback(feedback: Feedback, hook: RedactionHook | None) -> Feedback:
    """The feedback with its comment replaced by what the hook returns."""
    if hook is None or feedback.comment is None:
        return feedback
    return replace(feedback, comment=_apply_hook(hook, feedback.comment, "comment"))


def redact_texts(value: Any, hook: RedactionHook | None, field: str) -> Any:
    """A JSON value with every text in it redacted; for spans that wait for their trace."""
    if hook is None:
        return value
    if isinstance(value, str):
        return _apply_hook(hook, value, field)
    if isinstance(value, dict):
        return {key: redact_texts(item, hook, field) for key, item in value.items()}
    if isinstance(value, Sequence):  # after str, which is a Sequence too
        return [redact_texts(item, hook, field) for item in value]
    return value


def _apply_hook(hook: RedactionHook, text: str, field: str) -> str:
    try:
        redacted = hook(text, field)
    except Exception as error:
        # Without the error's message: it may quote the text that must not be stored.
        raise RedactionError(
            f"the redaction hook raised {type(error).__name__} on {field!r}"
        ) from None
    if not isinstance(redacted, str):
        raise RedactionError(
            f"the redaction hook returned a {type(redacted).__name__} for {field!r}; return a text"
        )
    return redacted
