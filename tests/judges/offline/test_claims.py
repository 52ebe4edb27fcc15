"""Claims: sentences as they stand, cut only where that is sure; markers, headings and talk are none."""

from __future__ import annotations

import asyncio

import pytest

from ragstone.asks import claims
from ragstone.judges.offline import OfflineJudge


def split(text: str, question: str | None = None, language: str | None = None) -> list[str]:
    ask = claims(text, question=question, language=language)
    (reply,) = asyncio.run(OfflineJudge().answer([ask]))
    return [row["claim"] for row in reply.value["claims"]]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Paris is the capital of France and has two million people.", ["Paris is the capital of France and has two million people."]),
        ("Paris is in France, and Rome is in Italy.", ["Paris is in France.", "Rome is in Italy."]),
        ("The shop opens at nine; it closes at six.", ["The shop opens at nine.", "It closes at six."]),
        ("La tienda abre a las nueve y el bar abre a las diez.", ["La tienda abre a las nueve.", "El bar abre a las diez."]),
        ("Albert Einstein was born in Germany on 20 March 1879.", ["Albert Einstein was born in Germany.", "Albert Einstein was born on 20 March 1879."]),
        ("Einstein nació en Alemania el 20 de marzo de 1879.", ["Einstein nació en Alemania.", "Einstein nació el 20 de marzo de 1879."]),
        ("Returns take 30 days [1]. Keep the receipt [2].", ["Returns take 30 days.", "Keep the receipt."]),
        ("1. Boil the water.\n2. Add the **salt**.", ["Boil the water.", "Add the salt."]),
        ("Yes, the pool is heated.", ["the pool is heated."]),
        ("- Day ticket: 9 euros\n- Week ticket: 31 euros", ["Day ticket: 9 euros", "Week ticket: 31 euros"]),
    ],
)  # fmt: skip
def test_a_claim_is_a_sentence_or_a_clause_of_it(text: str, wanted: list[str]) -> None:
    assert split(text) == wanted


@pytest.mark.parametrize(
    "talk",
    [
        "Great question!", "Here are the steps:", "I hope this helps!", "What else would you like to know?",
        "According to passage 1:", "Sources: opening-hours.md", "Gracias por tu pregunta.",
    ],
)  # fmt: skip
def test_talk_and_headings_claim_nothing(talk: str) -> None:
    assert split(f"{talk}\nThe pool is heated.") == ["The pool is heated."]


def test_a_refusal_claims_nothing() -> None:
    assert split("I cannot find that in the documents.") == []


def test_a_bare_answer_is_shown_with_its_question() -> None:
    assert split("In 1937.", "When was it built?") == ["When was it built? → In 1937."]
    assert split("No.", "Is it free?") == ["Is it free? → No."]
