"""Conversations that a system returns: the last message is the answer, and what tools returned are its contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.data.chunks import MISSING, get_first
from ragstone.data.messages import get_message_text, get_role, split_turns
from ragstone.systems.fields import sum_tokens
from ragstone.types import Steps


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the messages since the last question say."""

    answer: Any
    contexts: Any
    """Documents and texts that tools returned; MISSING when no tool was called."""
    tokens: float | None
    steps: Steps


def read_conversation(value: Any) -> Conversation | None:
    """Read the messages of a state (LangGraph, OpenAI) or the choices of a completion; None when there are none."""
    messages = _list_messages(value)
    if not any(get_role(message) == "user" for message in messages):
        messages = [{"role": "user", "content": ""}, *messages]
    turn = split_turns(messages)[-1]
    if not turn.replies:
        return None
    contexts = [item for result in turn.results for item in _list_results(result)]
    used = [sum_tokens(get_first(reply, ("usage_metadata", "usage"))) for reply in turn.replies]
    counted = [amount for amount in used if amount is not None]
    answer = get_first(turn.replies[-1], ("content", "text"))
    return Conversation(
        answer,
        contexts if turn.results else MISSING,
        sum(counted) if counted else None,
        turn.steps,
    )


def _list_messages(value: Any) -> Sequence[Any]:
    choices = get_first(value, ("choices",))
    if isinstance(choices, list) and choices:
        message = get_first(choices[0], ("message",))
        return () if message is MISSING else [message]
    messages = get_first(value, ("messages",))
    return messages if isinstance(messages, list | tuple) else ()


def _list_results(message: Any) -> list[Any]:
    """What a tool returned: its documents where it kept them, else its text."""
    artifact = get_first(message, ("artifact",))
    if isinstance(artifact, list | tuple) and artifact:
        return list(artifact)
    content = get_message_text(message)
    if content.strip():
        return [{"id": _get_name(message), "text": content}]
    return []


def _get_name(message: Any) -> str:
    name = get_first(message, ("name",))
    return name if isinstance(name, str) else ""
