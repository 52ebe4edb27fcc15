"""`translate`: a prompt file in another language, its placeholders unchanged."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    WHOLE,
    ParsedReply,
    PromptBatch,
    WholeSpec,
    build_reply_schema,
)
from ragstone.asks.schemas import STRING, object_of
from ragstone.asks.types import Ask
from ragstone.locale.messages import compose
from ragstone.prompts import find_placeholders


def translate(text: str, language: str) -> Ask:
    """Translate the text of a prompt file."""
    return Ask("translate", {"language": language, "text": text}, TRANSLATE, "en")


TRANSLATE = object_of(text=STRING)


class TranslateSpec(WholeSpec):
    """A prompt file in another language, its placeholders unchanged."""

    prompt = "translate"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the file as it is: its braces must survive, so it is not neutralised."""
        values = self.ask.values
        text = f"<<<{nonce} text\n{values['text']}\n{nonce}>>>"
        return _TranslateBatch(self, {"text": text, "language": values["language"]})

    def find_gap(self, value: Any) -> str:
        """Return what the translation lost."""
        text, original = value["text"], self.ask.values["text"]
        if find_placeholders(text) != find_placeholders(original):
            return compose("placeholders_changed")
        lines = original.splitlines().count("---")
        return "" if text.splitlines().count("---") == lines else compose("line_changed")


class _TranslateBatch:
    """A prompt for the author of prompts, not for a judge: it has no probe."""

    def __init__(self, spec: TranslateSpec, values: Mapping[str, str]) -> None:
        self.spec = spec
        self.schema = build_reply_schema(**spec.ask.schema["properties"])
        self.values = values

    def parse(self, value: Any) -> ParsedReply:
        """Settle the Ask with a translation that has everything it must have."""
        fault = self.spec.find_gap(value)
        return ParsedReply(fault=fault) if fault else ParsedReply({WHOLE: value})


KIND = register(
    Kind("translate", lambda language: translate("x", "fr"), spec=TranslateSpec, is_text=True)
)
