"""`rate`: place texts on a closed scale."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks.choices import (
    Deciding,
    LocalCode,
    build_request,
    fence_texts,
    read_chances,
    read_number,
)
from ragstone.asks.fences import fence, neutralize, to_one_line
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
)
from ragstone.asks.rows import (
    choose_median,
)
from ragstone.asks.schemas import STRING, object_of
from ragstone.asks.types import Ask
from ragstone.errors import JudgeFailed
from ragstone.locale.messages import compose


def rate(
    texts: Mapping[str, str],
    name: str,
    question: str,
    levels: Sequence[str],
    *,
    language: str | None = None,
) -> Ask:
    """Place named texts on a closed scale, worst level first."""
    values = {"texts": dict(texts), "name": name, "question": question, "levels": list(levels)}
    return Ask("rate", values, build_rate_schema(len(levels)), language)


def build_rate_schema(level_count: int) -> dict[str, Any]:
    """Return the schema of a `rate` reply on a scale of so many levels."""
    level = {"type": "integer", "enum": list(range(level_count))}
    return object_of(reason=STRING, level=level)


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


MAX_LEVELS = 9
"""Levels of a rubric are the digits from 1 on."""


def choose_rate(ask: Ask, code: LocalCode) -> Deciding:
    """Place the texts on the scale: one digit for each level."""
    values = ask.values
    levels = values["levels"]
    if len(levels) > MAX_LEVELS:
        raise JudgeFailed("refusal", "too_many_levels", n=len(levels), most=MAX_LEVELS)
    lines = [f"{n}: {to_one_line(level)}" for n, level in enumerate(levels, 1)]
    texts = [f"{to_one_line(name)}:\n{fence_texts(text)}" for name, text in values["texts"].items()]
    filled = {
        "texts": "\n".join(texts),
        "name": to_one_line(values["name"]),
        "question": neutralize(values["question"]),
        "levels": "\n".join(lines),
        "options": ", ".join(str(n) for n in range(1, len(levels) + 1)),
    }
    request = build_request(code.load_prompt("choose_rate"), filled)
    (choice,) = yield (request,)
    level = read_number(choice, request)
    chances = read_chances(choice, request)
    text = " ".join(levels[level].split())
    if chances is None:
        return {"level": level, "reason": compose("model_rated", level=text)}
    chance = round(chances[level], 4)
    reason = compose("model_rated_with_chance", level=text, p=round(chance, 2))
    return {"level": level, "reason": reason, "probability": chance}


def _vote_on_levels(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    levels = sorted(value["level"] for value in values)
    split = levels[0] != levels[-1]
    note = (compose("jury_split_levels", levels=tuple(levels)),) if split else ()
    return choose_median(values, "level"), note


KIND = register(
    Kind(
        "rate",
        lambda language: rate({"answer": "x"}, "x", "x", ["x", "y"], language=language),
        spec=RateSpec,
        choose=choose_rate,
        prompts=("choose_rate",),
        vote=_vote_on_levels,
    )
)
