"""Texts through the user's own hook before anything of them is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.monitor.interactions import MAX_META_CHARS, Feedback, Interaction
from ragstone.types import Chunk, Ranked

RedactionHook = Callable[[str, str], str]
"""A text and the field it stands in (`question`, `contexts`, `meta.tenant` …) → the text to keep."""


class RedactionError(RagstoneError):
    """The hook raised, or did not return a text: the interaction must not be stored."""


def load_hook(hook: str | RedactionHook | None) -> RedactionHook | None:
    """The hook itself, or the function that `module:function` names."""
    if hook is None or callable(hook):
        return hook
    from ragstone.registry.plugins import load_object

    found = load_object(hook, "redaction hook")
    if not callable(found):
        raise RagstoneError(f"the redaction hook {hook!r} is not a function")
    return found  # type: ignore[no-any-return]


def redact_interaction(one: Interaction, hook: RedactionHook | None) -> Interaction:
    """The interaction with every text as the hook returns it."""
    if hook is None:
        return one
    texts: dict[str, Any] = {
        name: _apply_hook(hook, value, name)
        for name in ("question", "answer", "reference", "comment", "error", "language")
        if (value := getattr(one, name)) is not None
    }
    if one.contexts is not None:
        texts["contexts"] = Ranked(
            Chunk(chunk.id, _apply_hook(hook, chunk.text, "contexts"), chunk.score)
            for chunk in one.contexts
        )
    meta = {
        name: _apply_hook(hook, value, f"meta.{name}")[:MAX_META_CHARS]
        if isinstance(value, str)
        else value
        for name, value in one.meta.items()
    }
    return replace(one, **texts, meta=meta)


def redact_feedback(one: Feedback, hook: RedactionHook | None) -> Feedback:
    """The feedback with its comment as the hook returns it."""
    if hook is None or one.comment is None:
        return one
    return replace(one, comment=_apply_hook(hook, one.comment, "comment"))


def redact_texts(value: Any, hook: RedactionHook | None, field: str) -> Any:
    """Every text inside a JSON value, for what is held before it becomes an interaction."""
    if hook is None:
        return value
    if isinstance(value, str):
        return _apply_hook(hook, value, field)
    if isinstance(value, dict):
        return {key: redact_texts(item, hook, field) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [redact_texts(item, hook, field) for item in value]
    return value


def _apply_hook(hook: RedactionHook, text: str, field: str) -> str:
    try:
        kept = hook(text, field)
    except Exception as raised:
        # the message may quote the text that was not to be kept
        raise RedactionError(
            f"the redaction hook raised {type(raised).__name__} on {field!r}"
        ) from None
    if not isinstance(kept, str):
        raise RedactionError(
            f"the redaction hook returned a {type(kept).__name__} for {field!r}; return a text"
        )
    return kept
