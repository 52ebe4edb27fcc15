"""Prompt specs of Asks that are answered as a whole: aspects, questions, rate, translate. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.fences import fence, neutralize, to_one_line
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, ReplySchema, build_reply_schema
from ragstone.judges.traps import make_name
from ragstone.locale.messages import compose
from ragstone.prompts import find_placeholders
from ragstone.text.evidence import find_quote
from ragstone.text.words import fold_text

_WHOLE = "reply"
"""The only item of an Ask that is answered as a whole."""


class WholeSpec:
    """An Ask with a single item: one reply settles it or does not."""

    prompt = ""
    items: Sequence[Hashable] = (_WHOLE,)

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the reply as it is."""
        return settled[_WHOLE]

    def find_gap(self, value: Any) -> str:
        """Return what is wrong with a reply that fits its schema; empty when nothing is."""
        return ""

    def find_doubt(self, value: Any) -> str:
        """Return what of a sound reply is not proven, and so worth asking once more."""
        return ""


class WholeBatch:
    """A prompt whose reply is used as a whole.

    Its probe is a control question of known answer: whether the material speaks of a name that was invented just now."""

    def __init__(self, spec: WholeSpec, values: Mapping[str, str], nonce: str) -> None:
        self.spec, ask = spec, spec.ask
        # as text, which a cache can take; in the order of the schema, in which the prompt shows the fields
        self.schema = _build_schema(json.dumps(ask.schema["properties"]))
        self.values = {**values, "control": make_name(f"{nonce}:control", list(values.values()))}

    def parse(self, value: Any) -> ParsedReply:
        """Settle the Ask with the whole reply, or not at all; raises JudgeFailed when the control is answered wrongly."""
        if value.pop("control"):
            raise JudgeFailed("compromised", "control_wrong", name=self.values["control"])
        fault = self.spec.find_gap(value)
        if fault:
            return ParsedReply(fault=fault)
        doubt = self.spec.find_doubt(value)
        return ParsedReply({_WHOLE: value}, {_WHOLE} if doubt else set(), unproven_reason=doubt)


@lru_cache(maxsize=256)
def _build_schema(properties: str) -> ReplySchema:
    return build_reply_schema(**json.loads(properties), control={"type": "integer", "enum": [0, 1]})


class AspectsSpec(WholeSpec):
    """The aspects of a question, each with the words of the answer that cover it."""

    prompt = "aspects"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of question and answer."""
        question, answer = self.ask.values["question"], self.ask.values["answer"]
        values = {
            "question": fence(nonce, "question", question),
            "answer": fence(nonce, "answer", answer),
        }
        return WholeBatch(self, values, nonce)

    def find_gap(self, value: Any) -> str:
        """Return whether no aspect is listed, or one twice."""
        names = [fold_text(row["aspect"]) for row in value["aspects"]]
        if not names or not all(names):
            return compose("aspects_none")
        return compose("aspect_twice") if len(set(names)) < len(names) else ""

    def find_doubt(self, value: Any) -> str:
        """Return which aspect is called covered without a quote that stands in the answer."""
        for row in value["aspects"]:
            if row["covered"] and find_quote(row["quote"], self.ask.values["answer"]) is None:
                return compose("aspect_unproven", aspect=row["aspect"][:60])
        return ""


class QuestionsSpec(WholeSpec):
    """Questions that an answer would answer: as many as wanted, all different."""

    prompt = "questions"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the answer."""
        answer = fence(nonce, "answer", self.ask.values["answer"])
        values = {"answer": answer, "count": str(self.ask.values["count"])}
        return WholeBatch(self, values, nonce)

    def find_gap(self, value: Any) -> str:
        """Return whether there are too few or too many questions, or one twice."""
        count = self.ask.values["count"]
        given = [fold_text(question) for question in value["questions"]]
        if not all(given):
            return compose("question_empty")
        if value["evasive"] and len(given) <= count:
            return ""  # the metric is settled; the questions do not matter
        if len(given) != count:
            return compose("questions_given", given=len(given), wanted=count)
        return compose("question_twice") if len(set(given)) < len(given) else ""


class RateSpec(WholeSpec):
    """A level of a closed scale; the schema checks all there is to check."""

    prompt = "rate"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the texts, the criterion and its levels."""
        values = self.ask.values
        levels = [f"{n}: {to_one_line(level)}" for n, level in enumerate(values["levels"])]
        texts = [fence(nonce, to_one_line(name), text) for name, text in values["texts"].items()]
        filled = {
            "texts": "\n".join(texts),
            "name": to_one_line(values["name"]),
            "question": neutralize(values["question"]),
            "levels": "\n".join(levels),
        }
        return WholeBatch(self, filled, nonce)


class PreferSpec(WholeSpec):
    """Which of two answers is better; the schema checks all there is to check."""

    prompt = "prefer"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the question, the two answers and what they can be checked against."""
        values = self.ask.values
        texts = [(name, values[name]) for name in ("question", "reference") if name in values]
        texts += [
            (f"source {source['id']}", source["text"]) for source in values.get("sources", ())
        ]
        texts += [(f"answer {name}", values[name]) for name in ("A", "B")]
        filled = {"texts": "\n".join(fence(nonce, name, text) for name, text in texts)}
        return WholeBatch(self, filled, nonce)


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
        return ParsedReply(fault=fault) if fault else ParsedReply({_WHOLE: value})
