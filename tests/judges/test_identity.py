"""Cache identity: whatever can change a reply changes the key; what cannot, does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragstone
from faults.scoring import SAMPLE, settings
from faults.server import FaultServer
from ragstone import prompts
from ragstone.asks import Ask, Case, digest, support
from ragstone.judges.factory import UnknownJudge, make_judge
from ragstone.types import Chunk

BASE: dict[str, Any] = {
    "model": "openai:m", "base_url": "http://127.0.0.1:9/v1", "temperature": 0, "top_p": 1,
    "seed": 1, "max_tokens": 500, "parameters": {"reasoning_effort": "low"}, "embeddings": "openai:e",
}  # fmt: skip
ASK = support(
    Case(
        ("The tower stands in Paris.", "It is tall."),
        (Chunk(text="A tower."), Chunk(text="Paris.")),
    ),
    language="en",
)


def key(spec: Any, ask: Ask = ASK) -> str:
    """The engine's cache key."""
    embeddings = {"model": "openai:e", "base_url": "http://127.0.0.1:9/v1"}
    if isinstance(spec, Mapping):
        spec = {**spec, "embeddings": embeddings}
    judge = make_judge(spec, embeddings=None if isinstance(spec, Mapping) else embeddings)
    return digest({"judge": judge.identity(ask), "ask": ask.content})


def cases(change: Callable[[list[Any]], object]) -> Ask:
    """The Ask with its cases changed."""
    import copy

    copied = copy.deepcopy(list(ASK.values["cases"]))
    change(copied)
    return replace(ASK, values={"cases": copied})


def edited(tmp_path: Path, name: str) -> dict[str, Any]:
    """A prompts folder with one word more in one file."""
    folder = tmp_path / name
    prompts.export(folder)
    file = folder / "en" / f"{name}.md"
    file.write_text(file.read_text("utf-8") + "\nPlease.\n", "utf-8")
    return {**BASE, "prompts": str(folder)}


JUDGES: dict[str, dict[str, Any]] = {
    "model": {"model": "openai:m2"},
    "model version": {"model": "openai:m-2026-01-01"},
    "dialect anthropic": {"model": "anthropic:m"},
    "dialect gemini": {"model": "gemini:m"},
    "host": {"base_url": "http://localhost:9/v1"},
    "port": {"base_url": "http://127.0.0.1:10/v1"},
    "scheme": {"base_url": "https://127.0.0.1:9/v1"},
    "path": {"base_url": "http://127.0.0.1:9/v2"},
    "temperature": {"temperature": 0.1},
    "temperature none": {"temperature": None},
    "top_p": {"top_p": 0.9},
    "seed": {"seed": 2},
    "max_tokens": {"max_tokens": 501},
    "reasoning": {"parameters": {"reasoning_effort": "high"}},
    "a parameter more": {"parameters": {"reasoning_effort": "low", "top_k": 3}},
    "a parameter less": {"parameters": {}},
    "jury": {"model": None, "jury": ["openai:m", "openai:m2"]},
}

ASKS: dict[str, Ask] = {
    "kind": replace(ASK, kind="useful2"),
    "language": replace(ASK, language="es"),
    "no language": replace(ASK, language=None),
    "repeat": replace(ASK, repeat=1),
    "schema enum": replace(ASK, schema={**ASK.schema, "title": "x"}),
    "schema required": replace(ASK, schema={**ASK.schema, "required": []}),
    "claim": cases(lambda c: c[0]["claims"][0].update(text="The tower stands in Rome.")),
    "claim case": cases(lambda c: c[0]["claims"][0].update(text="the tower stands in Paris.")),
    "claim space": cases(lambda c: c[0]["claims"][0].update(text="The  tower stands in Paris.")),
    "claim id": cases(lambda c: c[0]["claims"][0].update(id="c9")),
    "claim order": cases(lambda c: c[0]["claims"].reverse()),
    "claim more": cases(lambda c: c[0]["claims"].append({"id": "c3", "text": "x"})),
    "claim less": cases(lambda c: c[0]["claims"].pop()),
    "source": cases(lambda c: c[0]["sources"][0].update(text="A tower!")),
    "source id": cases(lambda c: c[0]["sources"][0].update(id="k9")),
    "source order": cases(lambda c: c[0]["sources"].reverse()),
    "source more": cases(lambda c: c[0]["sources"].append({"id": "k3", "text": "x"})),
    "source less": cases(lambda c: c[0]["sources"].pop()),
    "source accent": cases(lambda c: c[0]["sources"][1].update(text="París.")),
    "case more": cases(lambda c: c.append({"claims": [], "sources": []})),
    "unicode form": cases(lambda c: c[0]["claims"][1].update(text="It is tall\u0301.")),
}


def test_forty_mutations_have_forty_keys_of_their_own(tmp_path: Path) -> None:
    keys = {"": key(BASE)}
    for name, change in JUDGES.items():
        merged = {k: v for k, v in {**BASE, **change}.items() if not (k == "model" and v is None)}
        keys[f"judge: {name}"] = key(merged)
    for name, ask in ASKS.items():
        if ask.kind == "support":
            keys[f"ask: {name}"] = key(BASE, ask)
        else:
            keys[f"ask: {name}"] = digest({"ask": ask.content})
    for name in ("support", "again"):
        keys[f"prompt: {name}"] = key(edited(tmp_path, name))
    assert len(keys) >= 40
    assert len(set(keys.values())) == len(keys)


@pytest.mark.parametrize(
    "change",
    [{"concurrency": 3}, {"max_retries": 1}, {"timeout": 9.0}, {"deadline": 9.0}, {"max_calls": 5},
     {"prices": {"input": 1, "output": 1}}, {"api_key": "sk-another-key"}, {"run_deadline": 3.0}],
)  # fmt: skip
def test_what_cannot_change_a_reply_does_not_change_the_key(change: dict[str, Any]) -> None:
    assert key({**BASE, **change}) == key(BASE)


def test_an_edited_function_is_asked_anew(tmp_path: Path) -> None:
    def one(ask: Ask) -> Any:
        return {"verdicts": []}

    def two(ask: Ask) -> Any:
        return {"verdicts": [1]}

    two.__qualname__ = one.__qualname__
    assert key(one) != key(two)


def test_a_second_run_asks_nothing_and_a_changed_one_asks_again(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    with FaultServer() as server:

        def run(**more: Any) -> int:
            before = len(server.calls)
            judge = settings(server, **more)
            ragstone.evaluate([SAMPLE], ["faithfulness", "coherence"], judge=judge, store=store)
            return len(server.calls) - before

        first = run()
        assert first >= 3
        assert run() == 0
        assert run(temperature=0.5) == first
        assert run() == 0


def test_the_nonce_is_not_part_of_the_key() -> None:
    judge = make_judge(BASE | {"embeddings": {"model": "openai:e", "base_url": BASE["base_url"]}})
    assert judge.identity(ASK) == judge.identity(ASK)
    assert asyncio.run(judge.close()) is None


def test_a_named_model_keeps_its_replies_wherever_it_is_served() -> None:
    named = {**BASE, "identity": "qwen-7b-q4"}
    moved = {**named, "base_url": "http://127.0.0.1:10/v1", "model": "openai:/models/qwen.gguf"}
    assert key(named) == key(moved) != key(BASE)
    assert key({**moved, "identity": "qwen-7b-q8"}) != key(named)
    assert key({**moved, "temperature": 1}) != key(named)


@pytest.mark.parametrize(
    "spec",
    [
        {**BASE, "identity": ""},
        {**BASE, "identity": 7},
        {"model": "offline", "identity": "mine"},
        {"jury": ["openai:a", "openai:b"], "identity": "both"},
    ],
)
def test_an_identity_is_a_name_of_one_model_behind_a_url(spec: dict[str, Any]) -> None:
    with pytest.raises(UnknownJudge, match="identity"):
        make_judge(spec)
