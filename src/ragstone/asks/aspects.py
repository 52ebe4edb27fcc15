"""`aspects`: what a question asks for, and whether the answer covers each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ragstone.asks.choices import (
    ChoiceRequest,
    Deciding,
    LocalCode,
    build_request,
    fence_texts,
    read_yes,
)
from ragstone.asks.fences import fence
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
)
from ragstone.asks.schemas import BOOLEAN, STRING, array_of, object_of
from ragstone.asks.types import Ask
from ragstone.locale.messages import compose
from ragstone.text.evidence import find_quote
from ragstone.text.words import fold_text


def aspects(question: str, answer: str, *, language: str | None = None) -> Ask:
    """List what the question asks for, and whether the answer covers each."""
    return Ask("aspects", {"question": question, "answer": answer}, ASPECTS, language)


ASPECTS = object_of(aspects=array_of(object_of(aspect=STRING, covered=BOOLEAN, quote=STRING)))


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


def choose_aspects(ask: Ask, code: LocalCode) -> Deciding:
    """Ask for each part of the question whether the answer tells it; a covered one is quoted by the closest sentence."""
    parts = [row["aspect"] for row in code.reply["aspects"]]
    requests = ask_covered(ask, parts, code)
    choices = yield requests
    rows = []
    for part, choice, request in zip(parts, choices, requests, strict=True):
        is_covered, chance = read_yes(choice, request)
        found = code.find_evidence(part, [ask.values["answer"]]) if is_covered else []
        row: dict[str, Any] = {
            "aspect": part,
            "covered": bool(found),
            "quote": found[0][1] if found else "",
        }
        rows.append(row if chance is None else {**row, "probability": chance})
    return {"aspects": rows}


def ask_covered(ask: Ask, parts: Sequence[str], code: LocalCode) -> tuple[ChoiceRequest, ...]:
    """Ask for each part of the question whether the answer tells it."""
    fixed = {name: fence_texts(ask.values[name]) for name in ("question", "answer")}
    prompt = code.load_prompt("choose_covered")
    return tuple(build_request(prompt, {**fixed, "aspect": fence_texts(part)}) for part in parts)


def _vote_on_aspects(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the reply with the median coverage: each juror words aspects differently, so they cannot be matched."""
    shares = [sum(r["covered"] for r in v["aspects"]) / len(v["aspects"]) for v in values]
    order = sorted(range(len(values)), key=lambda n: shares[n])
    low, high = shares[order[0]], shares[order[-1]]
    note = (compose("jury_split_coverage", low=low, high=high),) if low != high else ()
    return values[order[(len(order) - 1) // 2]], note


KIND = register(
    Kind(
        "aspects",
        lambda language: aspects("x", "x", language=language),
        spec=AspectsSpec,
        choose=choose_aspects,
        prompts=("choose_covered",),
        vote=_vote_on_aspects,
    )
)
