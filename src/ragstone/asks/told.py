"""`told`: whether one passage answers a question, for small models."""

from __future__ import annotations

from ragstone.asks.choices import (
    Deciding,
    LocalCode,
    build_request,
    fence_texts,
    read_yes,
)
from ragstone.asks.fences import to_one_line
from ragstone.asks.kind import Kind, register
from ragstone.asks.schemas import BOOLEAN, object_of
from ragstone.asks.types import Ask


def check_passage(passage: str, question: str, *, language: str | None = None) -> Ask:
    """Say yes or no of whether a passage answers a question: what a small model can reply to."""
    values = {"passage": passage, "question": question}
    return Ask("told", values, TOLD, language)


TOLD = object_of(yes=BOOLEAN)


def choose_told(ask: Ask, code: LocalCode) -> Deciding:
    """Say yes or no of whether a passage answers a question."""
    values = {
        "passage": fence_texts(ask.values["passage"]),
        "question": to_one_line(ask.values["question"]),
    }
    request = build_request(code.load_prompt("choose_told"), values)
    (choice,) = yield (request,)
    is_told, chance = read_yes(choice, request)
    return {"yes": is_told} if chance is None else {"yes": is_told, "probability": chance}


KIND = register(
    Kind(
        "told",
        lambda language: check_passage("x", "x", language=language),
        choose=choose_told,
        prompts=("choose_told",),
    )
)
