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
    ("openai", "support"): "dfa3decf4346a85bfaa06019048adf365ab25bb97fd19f284f84402f6cdf028f",
    (
        "openai elsewhere",
        "claims",
    ): "3fcba56378c8fba65d5454d1f0476ec33baf1dde577bbabc141e1548ddbe7e2a",
    (
        "openai elsewhere",
        "write",
    ): "eee933bfec9a14a782995d32bab52ab15cf001424efa80dc2742196ee9589019",
    ("anthropic", "useful"): "36e23740a2870f0b31fda6066663fa6830f8958a8ab4cb69160bb656ff6fd356",
    ("anthropic", "rate"): "ec06a3281dca88c5a12b931c9100b41f0223fcbc49c5f14251da7c119ca0577e",
    ("gemini", "aspects"): "1ccb3d3f9a3b694b80eafe8c2d09cc9932315b29ecf05f104960091f824381c2",
    ("gemini", "solve"): "fa8bec292aaea6820d328fbb1ce1de0706415a50c38cbae66ca68f787702621f",
    ("jury", "support"): "1af4146560164956c9063921fa17d6c275751b8fb6f8cac9e2cc626113c77d62",
    ("openai", "embed"): "642992069d67a1da3fba0267c146019850a78a7df10c6028f013f113f7887083",
}


@pytest.mark.parametrize("kind", ASKS)
def test_the_key_of_an_ask_is_pinned(kind: str) -> None:
    assert ASKS[kind].key == ASK_KEYS[kind]


@pytest.mark.parametrize(("judge", "kind"), REPLY_KEYS)
def test_the_key_of_a_stored_reply_is_pinned(judge: str, kind: str) -> None:
    ask = ASKS[kind]
    identity = make_judge(JUDGES[judge], embeddings="offline").identity(ask)
    assert digest({"ask": ask.key, "judge": identity}) == REPLY_KEYS[judge, kind]
