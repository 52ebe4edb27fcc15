"""Conversations that a system returns: the last message is the answer, and what tools returned are its contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.data.chunks import MISSING, get_first
from ragstone.systems.fields import sum_tokens

_ROLES = {"human": "user", "ai": "assistant", "function": "tool", "AIMessageChunk": "assistant"}
"""Names that LangChain gives the roles of the OpenAI API."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the messages since the last question say."""

    answer: Any
    contexts: Any
    """Documents and texts that tools returned; MISSING when no tool was called."""
    tokens: float | None


def read_conversation(value: Any) -> Conversation | None:
    """Read the messages of a state (LangGraph, OpenAI) or the choices of a completion; None when there are none."""
    messages = _list_messages(value)
    turns = messages[_find_last_question(messages) + 1 :]
    replies = [turn for turn in turns if get_role(turn) == "assistant"]
    if not replies:
        return None
    tools = [turn for turn in turns if get_role(turn) == "tool"]
    contexts = [item for turn in tools for item in _list_results(turn)]
    used = [sum_tokens(get_first(turn, ("usage_metadata", "usage"))) for turn in replies]
    counted = [amount for amount in used if amount is not None]
    answer = get_first(replies[-1], ("content", "text"))
    return Conversation(answer, contexts if tools else MISSING, sum(counted) if counted else None)


def _list_messages(value: Any) -> Sequence[Any]:
    choices = get_first(value, ("choices",))
    if isinstance(choices, list) and choices:
        message = get_first(choices[0], ("message",))
        return () if message is MISSING else [message]
    messages = get_first(value, ("messages",))
    return messages if isinstance(messages, list | tuple) else ()


def get_role(message: Any) -> str | None:
    """The role of a message: user, assistant, system or tool."""
    role = get_first(message, ("role", "type"))
    name = getattr(role, "value", role)  # Haystack and LlamaIndex keep roles as an enum
    return _ROLES.get(name, name) if isinstance(name, str) else None


def _find_last_question(messages: Sequence[Any]) -> int:
    """The position of the last message of the user; -1 when there is none, so that all messages come after it."""
    users = [index for index, message in enumerate(messages) if get_role(message) == "user"]
    return users[-1] if users else -1


def _list_results(message: Any) -> list[Any]:
    """What a tool returned: its documents where it kept them, else its text."""
    artifact = get_first(message, ("artifact",))
    if isinstance(artifact, list | tuple) and artifact:
        return list(artifact)
    content = get_first(message, ("content", "text"))
    if isinstance(content, str) and content.strip():
        return [{"id": _get_name(message), "text": content}]
    return []


def _get_name(message: Any) -> str:
    name = get_first(message, ("name",))
    return name if isinstance(name, str) else ""
