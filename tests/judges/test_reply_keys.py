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
    "write": asks.write(
        SOURCES, [asks.Order("simple", "short"), asks.Order("follow_up")], language="en"
    ),
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
    "write": "ff973fdfa63a2eb84078b245e9233a75dd54fc643a990416ba9e78df3d45c4c8",
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
    ("openai", "support"): "ce9e30118162a6225be2b2dec2b3261c72dfc178d97b09f4be50406da0186477",
    (
        "openai elsewhere",
        "claims",
    ): "375ef1d6bea793216aac7a27ca173dfbe68f98cce45e79af0bf0c9ee8b2bd5db",
    (
        "openai elsewhere",
        "write",
    ): "617c536bd08db8f01d59e82e9488d236534ccb5bd623007e6825c194bd7d79b0",
    ("anthropic", "useful"): "daede3ccc54f572001bc4df2f5e0a89c29fdfe89f5ea158e26cb34963b7d6863",
    ("anthropic", "rate"): "f4180967f08eba9c94c915bb735fb2792196a3d4e890f6b721c6fbfa2875f3d3",
    ("gemini", "aspects"): "0f9a58b2b38c5613359cd636abb2aa9932bdba95748c5ac0d368c8067e8545f3",
    ("gemini", "solve"): "2ecc59be19a066ed285eb52e1d4713fd36b560980e8ff96fb6677c664e677bd7",
    ("jury", "support"): "e59ac9c9a5570fac9585e5f3f011dd220f2eb3012faf396367c986c70e7fb82c",
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
