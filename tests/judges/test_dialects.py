"""A new dialect is one class; a name that no dialect has is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import ragstone
from faults import honest
from faults.scoring import SAMPLE
from faults.server import Call, FaultServer
from ragstone.judges.completion import CompletionRequest
from ragstone.judges.dialects import (
    DIALECTS,
    CompletionReply,
    Dialect,
    OutputMode,
    Parameters,
    UnknownDialect,
    find_dialect,
    register_dialect,
)
from ragstone.judges.factory import UnknownJudge, make_judge


class Toy(Dialect):
    """An API of our own: the prompt as one text, the reply as {"said", "tokens"}."""

    name = "toy"
    home = "https://toy.example.org"
    modes = ("json", "text")
    length_parameter = "words"

    def path(self, model: str) -> str:
        return f"/say/{model}"

    def key_headers(self, key: str) -> dict[str, str]:
        return {"X-Toy": key}

    def body(
        self, model: str, request: CompletionRequest, parameters: Parameters, mode: OutputMode
    ) -> dict[str, Any]:
        return {"text": [request.system, request.user], "json": mode == "json", **parameters}

    def parse_reply(self, reply: Any) -> CompletionReply:
        return CompletionReply(reply["said"], "stop", *reply["tokens"])


@pytest.fixture
def toy() -> Iterator[None]:
    register_dialect(Toy)
    yield
    del DIALECTS["toy"]


async def speak_toy(call: Call) -> None:
    """Refuse JSON mode and the temperature as real servers do, then answer honestly."""
    for name in ("temperature", "json"):
        if call.body.get(name, False) is not False:
            error = {"error": {"message": f"{name} mode is not supported"}}
            await call.send(400, json.dumps(error).encode())
            return
    said = json.dumps(honest.reply(*call.body["text"]))
    await call.send(200, json.dumps({"said": said, "tokens": [30, 4]}).encode())


@pytest.mark.usefixtures("toy")
def test_a_toy_dialect_judges_a_sample() -> None:
    with FaultServer(speak_toy) as server:
        judge = {"model": "toy:m", "base_url": server.url, "api_key": "k-123456", "max_tokens": 70}
        run = ragstone.evaluate([SAMPLE], ["faithfulness"], judge=judge)
        first, *_, last = server.calls
    (row,) = run.rows()
    score = row.scores["faithfulness"]
    assert score.value == 0.25
    assert score.usage.input_tokens % 30 == 0
    assert first.path == "/v1/say/m"
    assert first.headers["x-toy"] == "k-123456"
    assert first.body["words"] == 70
    assert "temperature" in first.body
    assert last.body.keys() == {"text", "json", "words"}
    assert last.body["json"] is False


@pytest.mark.usefixtures("toy")
def test_a_dialect_is_listed_by_the_errors() -> None:
    with pytest.raises(UnknownJudge, match="toy:MODEL"):
        make_judge("mystery:m")


def test_an_unknown_dialect_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(
        UnknownDialect, match=r"no dialect 'palm'.*anthropic, gemini, ollama, openai"
    ):
        find_dialect("palm")


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_dialect_has_a_file_of_its_own(name: str) -> None:
    assert find_dialect(name).__module__ == f"ragstone.judges.dialects.{name}"
