"""bespoke-minicheck behind Ollama is asked in the form it was published with, and its yes is the probability."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from faults import choosing
from faults.server import Call, FaultServer
from ragstone.asks import Case, support
from ragstone.judges.factory import make_judge
from ragstone.types import Chunk

SOURCE = Chunk("a", "The tower is 300 metres tall. It was opened in 1889.")


def ask(server: FaultServer, *claims: str) -> Any:
    async def answer() -> Any:
        judge = make_judge(
            {
                "model": "ollama:bespoke-minicheck:7b",
                "base_url": f"{server.url}/v1",
                "max_retries": 0,
            }
        )
        try:
            (answered,) = await judge.answer([support(Case(claims, (SOURCE,)), language="en")])
            return answered
        finally:
            await judge.close()

    return asyncio.run(answer())


def test_document_and_claim_are_all_that_it_is_told(serve: Callable[..., FaultServer]) -> None:
    async def agree(call: Call) -> None:
        await choosing.say(call, "Yes", {"Yes": 0.8, "No": 0.2})

    server = serve(agree)
    answered = ask(server, "The tower was opened in 1889.")
    (call,) = server.calls
    assert call.body["messages"] == [
        {
            "role": "user",
            "content": f"Document: {SOURCE.text}\nClaim: The tower was opened in 1889.",
        }
    ]
    (row,) = answered.value["verdicts"]
    assert row["verdict"] == "supported"
    assert row["probability"] == pytest.approx(0.8)
    assert row["evidence"]


def test_a_no_is_not_found_and_each_claim_is_a_question(serve: Callable[..., FaultServer]) -> None:
    async def deny(call: Call) -> None:
        await choosing.say(call, "No", {"No": 0.9, "Yes": 0.1})

    server = serve(deny)
    answered = ask(server, "The tower is red.", "The tower is made of cheese.")
    assert [row["verdict"] for row in answered.value["verdicts"]] == ["not_found", "not_found"]
    assert len(server.calls) == 2
