"""Models that people hold in their hands as judges: the real frameworks, asking a real server on loopback.

The server is a scripted one that speaks OpenAI's chat completions; what is tested is that each framework's object is
recognised, asked in its own way, and read with its usage."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.errors import RagstoneError
from ragstone.judges.factory import make_judge
from ragstone.judges.model_judge import ModelJudge
from ragstone.judges.plain import PlainJudge

ROWS = [
    {"id": "a", "question": "When?", "answer": "It opens at nine.", "contexts": ["The shop opens at nine."]},
    {"id": "b", "question": "When?", "answer": "It opens at ten.", "contexts": ["The shop opens at nine."]},
]  # fmt: skip


class ScriptedServer(BaseHTTPRequestHandler):
    """Says yes to a claim that the source has, and remembers what it was sent."""

    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(body)
        text = " ".join(str(m["content"]) for m in body["messages"] if m["role"] != "system")
        answer = "Yes" if "It opens at nine." in text else "No"
        message = {"role": "assistant", "content": answer}
        reply = {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 1, "total_tokens": 12},
        }  # fmt: skip
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *given: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    handler = type("Handler", (ScriptedServer,), {"seen": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/v1", handler.seen
        listening.shutdown()


def make_langchain(url: str) -> Any:
    return importlib.import_module("langchain_openai").ChatOpenAI(
        model="gpt-x", base_url=url, api_key="k"
    )


def make_llama_index(url: str) -> Any:
    module = importlib.import_module("llama_index.llms.openai")
    return module.OpenAI(model="gpt-4o-mini", api_base=url, api_key="k")


def make_haystack(url: str) -> Any:
    chat = importlib.import_module("haystack.components.generators.chat")
    secret = importlib.import_module("haystack.utils").Secret.from_token("k")
    return chat.OpenAIChatGenerator(api_key=secret, model="gpt-x", api_base_url=url)


def make_dspy(url: str) -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = (
        "True"  # DSPy asks by litellm, which else fetches a list of prices
    )
    return importlib.import_module("dspy").LM(
        "openai/gpt-x", api_base=url, api_key="k", cache=False
    )


def make_pydantic_ai(url: str) -> Any:
    models = importlib.import_module("pydantic_ai.models.openai")
    provider = importlib.import_module("pydantic_ai.providers.openai").OpenAIProvider(
        base_url=url, api_key="k"
    )
    return models.OpenAIChatModel("gpt-x", provider=provider)


def make_openai(url: str) -> Any:
    client = importlib.import_module("openai").OpenAI(base_url=url, api_key="k")
    return {"model": client, "name": "gpt-x"}


MAKERS = {
    "langchain": ("langchain_openai", make_langchain),
    "llama_index": ("llama_index.llms.openai", make_llama_index),
    "haystack": ("haystack", make_haystack),
    "dspy": ("dspy", make_dspy),
    "pydantic_ai": ("pydantic_ai", make_pydantic_ai),
    "openai": ("openai", make_openai),
}


@pytest.mark.parametrize("framework", MAKERS)
def test_a_model_in_hand_judges(framework: str, server: tuple[str, list[dict[str, Any]]]) -> None:
    module, make = MAKERS[framework]
    pytest.importorskip(module, reason=f"{framework} is not installed (make test-all)")
    url, seen = server
    held = make(url)
    settings = {**(held if isinstance(held, dict) else {"model": held}), "small": True}
    run = evaluate(ROWS, ["faithfulness"], judge=settings, store=":memory:")
    values = [row.scores["faithfulness"].value for row in run.rows()]
    assert values == [1.0, 0.0], [row.scores["faithfulness"] for row in run.rows()]
    assert len(seen) == run.summary()["faithfulness"].usage.calls
    assert run.summary()["faithfulness"].usage.input_tokens == 11 * len(seen)
    assert run.info.judge.startswith(framework)


def test_langchains_chat_model_writes_by_the_schema(
    server: tuple[str, list[dict[str, Any]]],
) -> None:
    pytest.importorskip(
        "langchain_openai", reason="langchain-openai is not installed (make test-all)"
    )
    url, seen = server
    judge = make_judge(make_langchain(url))
    assert isinstance(judge, ModelJudge)
    evaluate(ROWS[:1], ["coherence"], judge=judge, store=":memory:")
    assert "response_format" in seen[0] or "tools" in seen[0]


class ChatModel:
    """What every model of LlamaIndex has, without its package."""

    metadata = None
    model = "m1"
    temperature = 0.5

    async def achat(self, messages: Any) -> Any: ...
    async def acomplete(self, prompt: str) -> Any: ...


def test_a_model_without_structured_output_is_asked_the_plain_question() -> None:
    judge = make_judge(ChatModel())
    assert isinstance(judge, PlainJudge)


def test_replies_are_kept_under_class_model_and_settings_or_the_name_given() -> None:
    held, other = ChatModel(), ChatModel()
    other.temperature = 0.9
    asked = (
        make_judge({"model": held, "small": False}),
        make_judge({"model": other, "small": False}),
    )
    identities = [judge.model.identity() for judge in asked]
    assert identities[0] != identities[1]
    assert identities[0]["model"] == "m1"
    named = make_judge({"model": held, "identity": "mine", "small": False})
    assert named.model.identity() == {"identity": "mine"}
    assert named.name == "llama_index:mine"


def test_a_client_without_a_model_is_refused_with_what_to_write() -> None:
    class Client:
        chat = None

        def with_options(self) -> None: ...

    with pytest.raises(RagstoneError, match="name"):
        make_judge(Client())


def test_any_llm_is_asked_like_openai(
    monkeypatch: pytest.MonkeyPatch, server: tuple[str, list[dict[str, Any]]]
) -> None:
    pytest.importorskip("any_llm", reason="any-llm-sdk is not installed (make test-all)")
    url, seen = server
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    run = evaluate(
        ROWS,
        ["faithfulness"],
        judge={"model": "any-llm:openai:gpt-x", "small": True},
        store=":memory:",
    )
    assert [row.scores["faithfulness"].value for row in run.rows()] == [1.0, 0.0]
    assert seen[0]["model"] == "gpt-x"


def test_any_llm_that_is_not_installed_is_said_with_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "any_llm", None)
    with pytest.raises(RagstoneError, match=r"ragstone\[any-llm\]"):
        make_judge("any-llm:openai:gpt-x")


def test_an_object_that_raises_is_a_failed_judgement() -> None:
    class Broken(ChatModel):
        async def achat(self, messages: Any) -> Any:
            raise ConnectionError("refused")

    run = evaluate(ROWS[:1], ["faithfulness"], judge=Broken(), store=":memory:")
    (row,) = run.rows()
    assert row.scores["faithfulness"].outcome == "judge_error"
    asyncio.run(make_judge(Broken()).close())
