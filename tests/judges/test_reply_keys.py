"""Cache keys stay what they are: a change here would make every user pay for stored replies again."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone import asks
from ragstone.asks import Ask, digest
from ragstone.judges.factory import make_judge
from ragstone.types import Chunk

SOURCES = (Chunk(text="A tower."), Chunk(text="Paris."))
ASKS: dict[str, Ask] = {
    "claims": asks.claims("The tower stands in Paris. It is tall.", "It leans.", language="en"),
    "support": asks.support(
        asks.Case(("The tower stands in Paris.",), SOURCES),
        asks.Case(("Es alta.",), SOURCES[:1]),
        language="es",
    ),
    "useful": asks.useful(
        "Where is it?", SOURCES, {"answer": "Paris", "question": None}, wording=2
    ),
    "aspects": asks.aspects("Where?", "Paris.", language="en"),
    "questions": asks.questions("Paris.", count=2),
    "rate": asks.rate(
        {"answer": "Paris."}, "politeness", "Is it polite?", ["rude", "polite"], language="en"
    ),
    "embed": asks.embed("one", "two"),
    "write": asks.write("question", SOURCES, kind="factual", person="a parent", language="en"),
    "solve": asks.solve(asks.Problem(("Where?",), SOURCES), language="es"),
}
ASK_KEYS = {
    "claims": "444bfef0d1be640306a9cb7389061d7456803709b21fb1f0a0ac4bcb005b41bb",
    "support": "5abe2d7df5753634b87a185d510e03d0e0914f07032423e7bf440d0402cd230a",
    "useful": "5e46f40d89651633cb898a340c36c5d2fa50eea09487730942c36415c52b10a0",
    "aspects": "7dd44437e800909ae5a3e86e9d9a3a351dca429cbc605a9be0acdc306e3e6788",
    "questions": "099f33402c9bcfd7ce3c5eaacb7e5db69bb3fbcc4afa7fffa14e66e84e4933d1",
    "rate": "57314807672f4d3f517c51bbccb3b33ec078fc54b289786ecb476185ad7839d9",
    "embed": "b88b05562152fde62fbfdec46529bd498aefe447fea198334f8eb10b99985c69",
    "write": "4d6a8df7537d4ff558112e6d5aa3b8a5ade28adab7e72714bcb1fb033c10b7a9",
    "solve": "80601c8b48a1a7c14d194444437dd2ee65b857d6c67e829959b4f40434152e5d",
}
LOCAL = "http://127.0.0.1:9/v1"
JUDGES: dict[str, Any] = {
    "openai": {"model": "openai:m", "api_key": "k"},
    "openai elsewhere": {"model": "openai:m", "base_url": LOCAL, "max_tokens": 500, "top_p": 0.5},
    "anthropic": {"model": "anthropic:m", "base_url": LOCAL, "temperature": 0.5},
    "gemini": {"model": "gemini:m", "base_url": LOCAL, "max_tokens": 500, "top_p": 0.5, "seed": 1},
    "jury": {"jury": ["anthropic:m", "gemini:m"], "base_url": LOCAL},
}
REPLY_KEYS = {
    ("openai", "support"): "716157dae66cd2f79e14b04b1f89188b028c7b55707cccb1e0e80ca9e8736f75",
    (
        "openai elsewhere",
        "claims",
    ): "b123634a7716699385c75e151c9dd7ab9b62ce64a82c8045294befcecc96dfac",
    (
        "openai elsewhere",
        "write",
    ): "047e56cddf77e070b6d0689c3d87579aa6a2d3fb72b09cad0f1b1a815d5a4d1b",
    ("anthropic", "useful"): "54ca3a4107fd66fd1e8a85bfac2acf95bd6dcbe852d49fec8c6e1929a64719a3",
    ("anthropic", "rate"): "a49aff236fc4aaec4021e44b4847f91c0ed96f0a17784311b65a17e6706453fd",
    ("gemini", "aspects"): "ce9507b8b148568b6d7e04cdebce2f90b03b735c1e04512a261352099f38082d",
    ("gemini", "solve"): "d77028384e212ca036eeb883e3282cf03bd05b9e4551b0feb6fc9b39a8ad4226",
    ("jury", "support"): "9782f8eab3bab82d0f59419e6dc8ef42f8498ed162fe89186e459f2e65bfea1d",
    ("openai", "embed"): "642992069d67a1da3fba0267c146019850a78a7df10c6028f013f113f7887083",
}


@pytest.mark.parametrize("kind", ASKS)
def test_the_key_of_an_ask_is_pinned(kind: str) -> None:
    assert ASKS[kind].key == ASK_KEYS[kind]


@pytest.mark.parametrize("text", ["plain", 'a "b" \\ \n \t \0', "~\x7f", "año", "\ud800", "😀"])
def test_a_key_is_that_of_the_canonical_json_whatever_the_text(text: str) -> None:
    for ask in (asks.embed(text), asks.useful(text, (Chunk(text=text),), {text: text})):
        assert ask.key == digest(ask.content)


@pytest.mark.parametrize(("judge", "kind"), REPLY_KEYS)
def test_the_key_of_a_stored_reply_is_pinned(judge: str, kind: str) -> None:
    ask = ASKS[kind]
    identity = make_judge(JUDGES[judge], embeddings="offline").identity(ask)
    assert digest({"ask": ask.key, "judge": identity}) == REPLY_KEYS[judge, kind]
