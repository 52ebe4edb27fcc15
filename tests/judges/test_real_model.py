"""A real language model on loopback, a poor judge and a realistic one: everything ends in a reply or a typed failure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ragstone
from faults.scoring import JUDGED, SAMPLE
from ragstone.asks import (
    Ask,
    Case,
    Reply,
    aspects,
    claims,
    embed,
    questions,
    rate,
    support,
    useful,
)
from ragstone.cli.judge import command
from ragstone.errors import JUDGE_FAULTS, JudgeFailed
from ragstone.judges.factory import make_judge
from ragstone.types import Chunk
from small_model import served

CHUNKS = [
    Chunk(text="The tower stands in Paris. It is 300 metres tall."),
    Chunk(text="The moon is far."),
]
ASKS: dict[str, Ask] = {
    "claims": claims("The tower stands in Paris. It is green.", language="en"),
    "support": support(Case(("The tower stands in Paris.",), tuple(CHUNKS)), language="en"),
    "useful": useful("Where is the tower?", CHUNKS[:1], {"question": None}, language="en"),
    "aspects": aspects("Where is the tower?", "The tower stands in Paris.", language="en"),
    "questions": questions("The tower stands in Paris.", language="en"),
    "rate": rate({"answer": "Thank you very much."}, "tone", "Is it polite?", ["rude", "plain", "polite"]),
    "spanish": rate({"answer": "Muchas gracias."}, "tono", "¿Es cortés?", ["no", "sí"], language="es"),
}  # fmt: skip


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """SmolLM2, once for all tests here."""
    yield from served()


class NoEmbeddings:
    """Stands in where nothing is embedded."""

    name, batch, concurrency, local = "none", 1, 1, True

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {}

    async def answer(self, asks: list[Ask]) -> list[Any]:
        return [Reply({"vectors": [[float(len(t)), 1.0] for t in a.values["texts"]]}) for a in asks]

    async def close(self) -> None:
        return


def spec(url: str, **more: Any) -> dict[str, Any]:
    base = {"model": "openai:smollm2", "base_url": url, "concurrency": 2,
            "deadline": 120.0, "embeddings": NoEmbeddings()}  # fmt: skip
    return base | more


def put(settings: dict[str, Any], ask: Ask) -> Any:
    async def one() -> Any:
        judge = make_judge(settings)
        try:
            return (await judge.answer([ask]))[0]
        finally:
            await judge.close()

    return asyncio.run(one())


def _typed(answered: Any) -> None:
    if isinstance(answered, JudgeFailed):
        assert answered.kind in JUDGE_FAULTS
        assert answered.reason
    else:
        assert isinstance(answered, Reply)


@pytest.mark.slow
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("kind", ASKS)
def test_every_kind_ends_in_a_reply_or_a_typed_failure(kind: str, small: bool, url: str) -> None:
    answered = put(spec(url, small=small), ASKS[kind])
    _typed(answered)
    is_asked = not small or kind != "claims"  # which the embedded judge splits
    assert not isinstance(answered, Reply) or (answered.usage.output_tokens > 0) == is_asked


def test_one_word_is_read_and_no_probability_is_made_up(url: str) -> None:
    """A level comes back, whatever it is worth: asked for a document, this model writes prose."""
    answered = put(spec(url, small=True), ASKS["rate"])
    assert isinstance(answered, Reply)
    assert answered.value["level"] in (0, 1, 2)
    # a model whose first token is no option of ours gives no probability, and none is claimed
    assert 0 < answered.value.get("probability", 1) <= 1
    assert answered.usage.output_tokens <= 2


@pytest.mark.slow
def test_the_messages_api_is_spoken_without_structured_output(url: str) -> None:
    settings = spec(url, model="anthropic:smollm2", max_tokens=16)
    _typed(put(settings, ASKS["rate"]))


def test_a_prompt_that_is_too_long_is_a_typed_failure(url: str) -> None:
    answered = put(spec(url), rate({"answer": "word " * 9000}, "t", "Polite?", ["no", "yes"]))
    assert isinstance(answered, JudgeFailed)
    assert answered.kind == "transport"


def test_vectors_are_asked_of_the_embeddings_not_of_the_model(url: str) -> None:
    assert put(spec(url), embed("ab", "c")).value == {"vectors": [[2.0, 1.0], [1.0, 1.0]]}


@pytest.mark.slow
@pytest.mark.timeout(1200)  # a real model on a shared machine
@pytest.mark.parametrize(
    "names", [["faithfulness"], pytest.param(list(JUDGED), marks=pytest.mark.slow, id="all")]
)
def test_judged_metrics_end_in_a_score_or_a_typed_outcome(url: str, names: list[str]) -> None:
    sample = SAMPLE | {
        "question": "Where is the tower?",
        "answer": "The tower stands in Paris [1].",
        "contexts": SAMPLE["contexts"][:1],
        "reference": "It stands in Paris.",
    }
    metrics = [JUDGED[name] for name in names]
    (row,) = ragstone.evaluate([sample], metrics, judge=spec(url)).rows()
    assert list(row.scores) == names
    for name, score in row.scores.items():
        if score.ok:
            assert 0 <= score.value <= 1, name
        else:
            assert score.outcome in ("judge_error", "not_applicable"), (name, score)
            assert score.reason
        for finding in score.findings:
            if finding.verdict == "supported":
                assert finding.verified


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_check_calls_it_unfit(url: str, tmp_path: Path) -> None:
    judge = {"model": "openai:smollm2", "base_url": url, "concurrency": 2, "max_tokens": 300}
    config = {"data": "a.jsonl", "judge": {**judge, "deadline": 900.0, "timeout": 900.0}}
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    asked = ["check", "-c", str(tmp_path / "c.yaml")]
    result = CliRunner().invoke(command, asked, standalone_mode=False)
    assert result.return_value == 1
    assert "one bare question" in result.output
    assert "Route: plain" in result.output
