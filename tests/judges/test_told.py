"""Whether a passage answers a question: what a small model says with one token."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragstone.asks import check_passage
from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.plain import PlainJudge


class YesModel:
    """A model that chooses yes, with a chance where it knows one."""

    name, batch, concurrency, notes = "yes", 1, 1, ()

    def __init__(self, chance: float | None) -> None:
        self.chance = chance
        self.requests: list[ChoiceRequest] = []

    def identity(self) -> dict[str, Any]:
        return {}

    async def choose(self, requests: list[ChoiceRequest]) -> list[Any]:
        self.requests += requests
        chances = None if self.chance is None else {"yes": self.chance, "no": 1 - self.chance}
        return [Choice("yes", chances) for _ in requests]

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("chance", "value"), [(0.9, {"yes": True, "probability": 0.9}), (None, {"yes": True})]
)
def test_a_check_is_one_token(chance: float | None, value: dict[str, Any]) -> None:
    judge = PlainJudge(YesModel(chance), OfflineJudge())
    (answered,) = asyncio.run(judge.answer([check_passage("The bell was cast in 1902.", "When?")]))
    assert answered.value == value
