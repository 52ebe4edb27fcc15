"""The embedded judge on conversations: healthy ones raise no alarm, planted faults are seen, the rest is refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.asks import Exchange, goal, questions, standalone, turns
from ragstone.errors import JudgeFailed
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.offline.standalone import make_standalone
from ragstone.types import ChatMessage

CASES = Path(__file__).parents[3] / "bench" / "conversation_cases"


def load(language: str) -> list[Any]:
    return [json.loads(line) for line in (CASES / f"{language}.jsonl").open(encoding="utf-8")]


def put(ask: Any) -> Any:
    (answered,) = asyncio.run(OfflineJudge().answer([ask]))
    return answered if isinstance(answered, JudgeFailed) else answered.value


@pytest.mark.parametrize("language", ["en", "es"])
def test_healthy_conversations_contradict_nothing(language: str) -> None:
    for case in load(language):
        for conversation in (case["turns"], [*case["turns"], case["repeat"]]):
            reply = put(turns([Exchange(*turn) for turn in conversation], language=language))
            assert not any(row["contradicts"] for row in reply["turns"]), conversation


@pytest.mark.parametrize("language", ["en", "es"])
def test_most_planted_contradictions_are_seen_with_the_words(language: str) -> None:
    seen = 0
    for case in load(language):
        conversation = [Exchange(*turn) for turn in [*case["turns"], case["contradict"]]]
        last = (put(turns(conversation, language=language)))["turns"][-1]
        if last["contradicts"]:
            earlier = conversation[int(last["contradicts"][1:]) - 1]
            assert last["quote"] in earlier.answer
            seen += 1
    assert seen >= 4


@pytest.mark.parametrize(
    ("said", "question", "reworded"),
    [
        (["How long is the warranty of the Basic plan?", "Two years."], "And the Pro plan?", "How long is the warranty of the Pro plan?"),
        (["Who founded Acme?", "Jane Smith."], "When was she born?", "When was Jane Smith born?"),
        (["What is the price in Spain?", "20 euros."], "And in Portugal?", "What is the price in Portugal?"),
        (["What is the price in Spain?", "20 euros."], "How many moons does Mars have?", "How many moons does Mars have?"),
        (["¿Qué es el plan Básico?", "Un plan barato."], "¿Cuánto cuesta?", "¿Cuánto cuesta el plan Básico?"),
        (["¿Cuánto cuesta el envío a Francia?", "Diez euros."], "¿Y a Italia?", "¿Cuánto cuesta el envío a Italia?"),
        (["Hello, can you help me?", "Sure."], "How many people may sit at a bed at the same time?", "How many people may sit at a bed at the same time?"),
        (["Hola, ¿me ayudas?", "Claro."], "¿Cuántos libros se prestan al mismo tiempo en la biblioteca?", "¿Cuántos libros se prestan al mismo tiempo en la biblioteca?"),
        (["Hello, can you help me?", "Sure."], "How many gift cards can I use for one order?", "How many gift cards can I use for one order?"),
        (["Does the policy cover theft?", "Yes."], "Why?", None),
        (["Which phone is best?", "The Nova 9."], "Is the other one cheaper?", None),
    ],
)  # fmt: skip
def test_questions_are_made_to_stand_alone_or_refused(
    said: list[str], question: str, reworded: str | None
) -> None:
    history = [(("user", "assistant")[n % 2], text) for n, text in enumerate(said)]
    assert make_standalone(question, history) == reworded


def test_what_is_not_understood_says_what_to_do() -> None:
    history = [ChatMessage("user", "Does it cover theft?"), ChatMessage("assistant", "Yes.")]
    failed = put(standalone("Why?", history, language="en"))
    assert failed.kind == "unsupported"
    assert "name a language model" in str(failed.reason)


def test_goals_are_told_of_the_first_question_alone() -> None:
    conversation = [Exchange("Where is the library?", "The library is in Mill Street.")]
    assert (put(goal(conversation, language="en")))["turn"] == "n1"
    declined = [Exchange("Where is the library?", "I do not know that.")]
    assert (put(goal(declined, language="en")))["turn"] == ""
    for ask in (goal(conversation, "a card is issued", language="en"),):
        assert (put(ask)).kind == "unsupported"


def test_an_answer_keeps_to_the_topic_of_its_question() -> None:
    talk = [
        Exchange("How long is the warranty of the Basic plan?", "Two years."),
        Exchange("And the Pro plan?", "Five years."),
    ]
    assert [row["addresses"] for row in put(turns(talk, language="en"))["turns"]] == [None, None]
    kept = [Exchange("Where is the library?", "The library is in Mill Street.")]
    assert put(turns(kept, language="en"))["turns"][0]["addresses"] is True
    strayed = [talk[0], Exchange("Where is the library?", "Bananas are rich in potassium.")]
    assert put(turns(strayed, language="en"))["turns"][1]["addresses"] is False


def test_a_bare_answer_to_a_fragment_is_measured_with_the_whole_question() -> None:
    history = [
        ChatMessage("user", "How long is the warranty of the Basic plan?"),
        ChatMessage("assistant", "Two years."),
    ]
    ask = questions("Five years.", question="And the Pro plan?", history=history, language="en")
    (row,) = put(ask)["addresses"]
    assert row["probability"] > 0.9
    assert (
        put(questions("Soon.", question="Why?", history=history, language="en")).kind
        == "unsupported"
    )
