"""Prompt specs of Asks that are answered as a whole: aspects, questions, rate, translate."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import fence, neutralize, to_one_line
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch
from ragstone.locale.messages import compose
from ragstone.prompts import find_placeholders
from ragstone.text.evidence import find_quote
from ragstone.text.words import fold_text

_WHOLE = "reply"
"""The only item of an Ask that is answered as a whole."""


class _WholeSpec:
    """An Ask with a single item: one reply settles it or does not."""

    prompt = ""
    items: Sequence[Hashable] = (_WHOLE,)

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the reply as it is."""
        return settled[_WHOLE]


class _WholeBatch:
    """A prompt whose reply is used as a whole; subclasses check it."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def find_fault(self, value: Any) -> str:
        """Return what is wrong with the reply; empty when nothing is."""
        return ""

    def find_doubt(self, value: Any) -> str:
        """Return what is unproven in the reply; empty when nothing is."""
        return ""

    def parse(self, value: Any) -> ParsedReply:
        """Settle the Ask with the whole reply, or not at all."""
        fault = self.find_fault(value)
        if fault:
            return ParsedReply(fault=fault)
        doubt = self.find_doubt(value)
        return ParsedReply({_WHOLE: value}, {_WHOLE} if doubt else set(), unproven_reason=doubt)


class AspectsSpec(_WholeSpec):
    """The aspects of a question, each with the words of the answer that cover it."""

    prompt = "aspects"

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build the prompt of question and answer."""
        question, answer = self.ask.values["question"], self.ask.values["answer"]
        values = {
            "question": fence(nonce, "question", question),
            "answer": fence(nonce, "answer", answer),
        }
        return _AspectsBatch(values, answer)


class _AspectsBatch(_WholeBatch):
    def __init__(self, values: Mapping[str, str], answer: str) -> None:
        super().__init__(values)
        self.answer = answer

    def find_fault(self, value: Any) -> str:
        names = [fold_text(row["aspect"]) for row in value["aspects"]]
        if not names or not all(names):
            return compose("aspects_none")
        return compose("aspect_twice") if len(set(names)) < len(names) else ""

    def find_doubt(self, value: Any) -> str:
        for row in value["aspects"]:
            if row["covered"] and find_quote(row["quote"], self.answer) is None:
                return compose("aspect_unproven", aspect=row["aspect"][:60])
        return ""


class QuestionsSpec(_WholeSpec):
    """Questions that an answer would answer: as many as wanted, all different."""

    prompt = "questions"

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build the prompt of the answer."""
        count = self.ask.values["count"]
        answer = fence(nonce, "answer", self.ask.values["answer"])
        return _QuestionsBatch({"answer": answer, "count": str(count)}, count)


class _QuestionsBatch(_WholeBatch):
    def __init__(self, values: Mapping[str, str], count: int) -> None:
        super().__init__(values)
        self.count = count

    def find_fault(self, value: Any) -> str:
        given = [fold_text(question) for question in value["questions"]]
        if not all(given):
            return compose("question_empty")
        if value["evasive"] and len(given) <= self.count:
            return ""  # the metric is settled; the questions do not matter
        if len(given) != self.count:
            return compose("questions_given", given=len(given), wanted=self.count)
        return compose("question_twice") if len(set(given)) < len(given) else ""


class RateSpec(_WholeSpec):
    """A level of a closed scale; the schema checks all there is to check."""

    prompt = "rate"

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build the prompt of the texts, the criterion and its levels."""
        values = self.ask.values
        levels = [f"{n}: {to_one_line(level)}" for n, level in enumerate(values["levels"])]
        texts = [fence(nonce, to_one_line(name), text) for name, text in values["texts"].items()]
        return _WholeBatch(
            {
                "texts": "\n".join(texts),
                "name": to_one_line(values["name"]),
                "question": neutralize(values["question"]),
                "levels": "\n".join(levels),
            }
        )


class TranslateSpec(_WholeSpec):
    """A prompt file in another language, its placeholders unchanged."""

    prompt = "translate"

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build the prompt of the file as it is: its braces must survive, so it is not neutralised."""
        values = self.ask.values
        text = f"<<<{nonce} text\n{values['text']}\n{nonce}>>>"
        return _TranslateBatch({"text": text, "language": values["language"]}, values["text"])


class _TranslateBatch(_WholeBatch):
    def __init__(self, values: Mapping[str, str], original: str) -> None:
        super().__init__(values)
        self.original = original

    def find_fault(self, value: Any) -> str:
        text = value["text"]
        if find_placeholders(text) != find_placeholders(self.original):
            return compose("placeholders_changed")
        lines = self.original.splitlines().count("---")
        return "" if text.splitlines().count("---") == lines else compose("line_changed")
