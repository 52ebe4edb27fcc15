"""answer_relevance by the embedded judge: answers of several shapes to their question, to another one, to half of one."""

from __future__ import annotations

import asyncio

import pytest

from ragstone.asks import questions
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.offline.questions import QuestionKind, classify_question, split_question

GOOD = [
    ("en", "When does the museum open on Sundays?", "At 10:00"),
    ("en", "How many seats does the old theatre have?", "412"),
    ("en", "Who designed the harbour bridge?", "Ines Okafor"),
    ("en", "Where is the lost property office?", "in the Town Hall"),
    ("en", "How much is a day ticket for adults?", "4.50 euros"),
    ("en", "May I bring my dog to the beach?", "Yes, before 9:00"),
    ("en", "Who designed the harbour bridge?", "The harbour bridge was designed by Ines Okafor in 1962."),
    ("en", "Why do leaves turn yellow?", "Leaves turn yellow because chlorophyll breaks down in autumn."),
    ("en", "Which fruits grow here?", "- Fruits that grow here: apples\n- pears\n- plums"),
    ("en", "How do I reset the router?", "Hold the reset button of the router for ten seconds, then wait."),
    ("en", "How much is a library card?", "It costs £15 a year."),
    ("en", "Where does the festival take place?", "It takes place in Riverside Park."),
    ("en", "Which painter has a museum in Madrid?", "Sorolla"),
    ("en", "How much does it cost to get in?", "Nothing, admission is free."),
    ("es", "¿En qué año se publicó la novela?", "Se publicó en 1958."),
    ("es", "¿Cuándo abre el museo los domingos?", "A las 10:00"),
    ("es", "¿Cuántas plazas tiene el teatro viejo?", "412 plazas"),
    ("es", "¿Quién diseñó el puente del puerto?", "Inés Okafor"),
    ("es", "¿Cuánto cuesta el billete de un día?", "4,50 euros"),
    ("es", "¿Quién diseñó el puente del puerto?", "El puente del puerto lo diseñó Inés Okafor en 1962."),
    ("es", "¿Por qué amarillean las hojas?", "Las hojas amarillean porque la clorofila se descompone en otoño."),
]  # fmt: skip
WRONG = [
    ("en", "When does the museum open on Sundays?", "Ines Okafor"),
    ("en", "How many seats does the old theatre have?", "in the Town Hall"),
    ("en", "Who designed the harbour bridge?", "4.50 euros"),
    ("en", "Where is the lost property office?", "412"),
    ("en", "Who designed the harbour bridge?", "Leaves turn yellow because chlorophyll breaks down in autumn."),
    ("en", "How do I reset the router?", "The museum opens at 10:00 on Sundays."),
    ("en", "Where does the lantern festival take place?", "Lanterns are usually made of paper and bamboo."),
    ("es", "¿Dónde se compra el bono?", "La piscina abre a las diez."),
    ("es", "¿Cuándo abre el museo los domingos?", "Inés Okafor"),
    ("es", "¿Quién diseñó el puente del puerto?", "4,50 euros"),
    ("es", "¿Por qué amarillean las hojas?", "El museo abre los domingos a las 10:00."),
]  # fmt: skip
HALVES = [
    (
        "en",
        "When was the lighthouse built and how tall is it?",
        "The lighthouse was built in 1874.",
        "The lighthouse was built in 1874. It is 31 metres tall.",
    ),
    (
        "en",
        "Who runs the café? What does a coffee cost there?",
        "The café is run by the Marsh family.",
        "The café is run by the Marsh family, and a coffee costs 2 euros there.",
    ),
    (
        "es",
        "¿Cuándo se construyó el faro y qué altura tiene?",
        "El faro se construyó en 1874.",
        "El faro se construyó en 1874. Tiene una altura de 31 metros.",
    ),
    (
        "es",
        "¿Quién lleva la cafetería? ¿Cuánto cuesta allí un café?",
        "La cafetería la lleva la familia Marín.",
        "La cafetería la lleva la familia Marín y un café cuesta allí 2 euros.",
    ),
]


@pytest.mark.parametrize(("language", "question", "answer"), GOOD)
def test_an_answer_to_the_question_is_likely_one(language: str, question: str, answer: str) -> None:
    assert chance(question, answer, language) >= 0.55


@pytest.mark.parametrize(("language", "question", "answer"), WRONG)
def test_an_answer_to_another_question_is_unlikely_one(
    language: str, question: str, answer: str
) -> None:
    assert chance(question, answer, language) <= 0.46


@pytest.mark.parametrize(("language", "question", "half", "whole"), HALVES)
def test_half_an_answer_lies_between(language: str, question: str, half: str, whole: str) -> None:
    off_topic = chance(question, "Leaves turn yellow in autumn.", language)
    assert off_topic + 0.1 < chance(question, half, language) < chance(question, whole, language)
    assert chance(question, whole, language) >= 0.6


@pytest.mark.parametrize(
    ("language", "answer"),
    [("en", "I don't know."), ("es", "No dispongo de esa información."), ("en", "What bridge?")],
)
def test_a_refusal_and_a_question_back_are_evasive(language: str, answer: str) -> None:
    assert reply("Who designed the harbour bridge?", answer, language) == {
        "evasive": True,
        "addresses": [],
    }


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the fee?", ["What is the fee?"]),
        ("When and where was she born?", ["When was she born?", "where was she born?"]),
        ("¿Dónde y cuándo nació?", ["¿Dónde nació?", "¿cuándo nació?"]),
        ("Where is it, and what does it cost?", ["Where is it?", "what does it cost?"]),
        ("Do dogs and cats fight?", ["Do dogs and cats fight?"]),
        ("", ["?"]),
    ],
)
def test_a_question_has_its_parts(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


def test_the_first_question_word_says_what_is_asked_for() -> None:
    assert "date" in classify_question("When did it open?").quantities
    assert "money" in classify_question("¿Cuánto cuesta la entrada?").quantities
    assert classify_question("What should I do when it rains?") == QuestionKind(thing=True)
    assert classify_question("¿Quién llegó cuando llovía?") == QuestionKind(name=True)
    assert classify_question("May I smoke here?") == QuestionKind(polar=True)


def reply(question: str, answer: str, language: str) -> object:
    ask = questions(answer, question=question, language=language)
    (answered,) = asyncio.run(OfflineJudge().answer([ask]))
    return answered.value  # type: ignore[union-attr]


def chance(question: str, answer: str, language: str) -> float:
    value = reply(question, answer, language)
    assert isinstance(value, dict)
    assert not value["evasive"]
    rows = value["addresses"]
    return sum(row["probability"] for row in rows) / len(rows)
