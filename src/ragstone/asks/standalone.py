"""`standalone`: reword a question so that it can be understood without the conversation before it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ragstone.asks.fences import fence
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
)
from ragstone.asks.rows import (
    list_messages,
)
from ragstone.asks.schemas import STRING, object_of
from ragstone.asks.types import Ask
from ragstone.locale.messages import compose
from ragstone.types import ChatMessage


def standalone(
    question: str, history: Sequence[ChatMessage], *, language: str | None = None
) -> Ask:
    """Reword a question so that it can be understood without the conversation before it."""
    values = {"question": question, "history": list_messages(history)}
    return Ask("standalone", values, STANDALONE, language)


STANDALONE = object_of(question=STRING)


class StandaloneSpec(WholeSpec):
    """A question reworded so that it needs no history."""

    prompt = "standalone"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the messages before and the question."""
        values = self.ask.values
        history = [
            fence(nonce, message["role"], message["content"]) for message in values["history"]
        ]
        filled = {
            "history": "\n".join(history),
            "question": fence(nonce, "question", values["question"]),
        }
        return WholeBatch(self, filled, nonce)

    def find_gap(self, value: Any) -> str:
        """Return what is wrong with the reworded question."""
        return "" if value["question"].strip() else compose("question_empty")


KIND = register(
    Kind("standalone", lambda language: standalone("x", [], language=language), spec=StandaloneSpec)
)
