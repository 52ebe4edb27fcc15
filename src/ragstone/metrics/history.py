"""Questions that belong to a conversation: reworded by the judge so that they stand alone."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.asks import Asking, ask, standalone
from ragstone.errors import JudgeFailed
from ragstone.types import ChatMessage, Dialogue


def list_said(messages: Dialogue | None) -> list[ChatMessage]:
    """What user and assistant said before the question; empty where the question is the first."""
    said = [message for message in messages or () if message.role in ("user", "assistant")]
    return said if any(message.role == "user" for message in said) else []


def read_question(
    question: str, messages: Dialogue | None, language: str | None = None
) -> Asking[str]:
    """The question as it can be understood without the conversation; without one, the question as it is.

    Every metric of a sample puts the same Ask, so that a judge is asked once."""
    said = list_said(messages)
    if not question.strip() or not said:
        return question
    reply = yield from ask(standalone(question, said, language=language))
    text = reply.get("question") if isinstance(reply, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise JudgeFailed("unparseable", "reply_without_questions")
    return text
