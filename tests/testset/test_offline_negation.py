"""What a sentence denies, or tells only of nobody or almost, is never asked as if it were so."""

from __future__ import annotations

import pytest

from ragstone.data.documents import Document
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.walk import facts_of

DENIED = {
    "en": (
        "Labels never grow with the data.", "Members never pay the fee.", "The factory almost closed in 2009.",
        "The mayor hardly uses the official car.", "The controller no longer supports the serial cable.",
        "Few users clean the filter.", "Nothing protects the rotor.", "The pump isn't used in winter by the crew.",
        "Very few members of the club pay the fee in June.", "The factory was nearly destroyed by fire in 1950.",
        "The Linden library seldom opens on Sundays.", "None of the members paid the fee in 1990.",
        "The pump requires neither oil nor water in winter.", "The tower is no longer used by the navy.",
        "There were never 12 lockers beside the main door.", "The museum opened not in 1990 but in 1991.",
    ),
    "es": (
        "Los socios nunca pagan la cuota.", "El museo nunca ha prestado el cuadro.", "La fábrica casi cerró en 2009.",
        "Los técnicos jamás cambian la junta principal.", "La bomba rara vez necesita aceite.",
        "Nada protege el rodete de la arena.", "El lago tampoco se heló en 1998.",
        "Los socios ya no pagan la cuota en junio.", "Los técnicos no siempre cambian la junta principal.",
        "Pocos usuarios limpian el filtro de agua.", "La fábrica cerró en 2009 sin que nadie protestara.",
        "El museo no ha prestado nunca el cuadro de Goya.", "En ningún caso la empresa devuelve el importe.",
        "Ni el museo ni la biblioteca abren los lunes.", "Apenas cerró la fábrica de vidrio en 2009.",
    ),
}  # fmt: skip


def told(sentence: str, language: str) -> list[Fact]:
    return list(facts_of(Document("d", sentence, "", language), language))


@pytest.mark.parametrize(
    ("sentence", "language"), [(one, language) for language in DENIED for one in DENIED[language]]
)
def test_what_is_denied_makes_no_plain_question(sentence: str, language: str) -> None:
    assert [fact.question for fact in told(sentence, language) if not fact.negated] == []


def test_never_is_asked_as_yes_or_no() -> None:
    (fact,) = told("Members never pay the fee.", "en")
    assert (fact.question, fact.answer) == ("Do members pay the fee?", "Members never pay the fee.")
    (fact,) = told("The controller no longer supports the serial cable.", "en")
    assert fact.question == "Does the controller support the serial cable?"


def test_an_adverb_before_the_auxiliary_is_no_part_of_the_subject() -> None:
    found = told("The library also does not lend the maps in June.", "en")
    assert found
    assert not [fact.question for fact in found if "also" in fact.question]
    assert not [
        fact
        for fact in told("The valve never can leak the oil of the tank.", "en")
        if not fact.negated
    ]


@pytest.mark.parametrize(
    ("sentence", "language"),
    [("The museum did not open in 1990.", "en"), ("El museo no abrió en 1990.", "es")],
)
def test_what_did_not_happen_has_no_day(sentence: str, language: str) -> None:
    found = told(sentence, language)
    assert found
    assert not [fact.question for fact in found if fact.sort == "date"]


@pytest.mark.parametrize(
    ("sentence", "language", "question", "answer"),
    [
        ("The club has nearly 300 members in Spain.", "en", "How many members does the club have in Spain?", "nearly 300 members"),
        ("Almost all members pay the fee in June.", "en", "When do almost all members pay the fee?", "June"),
        ("The few members pay the fee in June.", "en", "When do the few members pay the fee?", "June"),
        ("El club tiene casi 300 socios en Madrid.", "es", "¿Cuántos socios tiene el club en Madrid?", "casi 300 socios"),
        ("Casi todos los socios pagan la cuota en junio.", "es", "¿En qué mes pagan la cuota casi todos los socios?", "junio"),
    ],
)  # fmt: skip
def test_nearly_in_an_amount_is_part_of_the_amount(
    sentence: str, language: str, question: str, answer: str
) -> None:
    assert {fact.question: fact.answer for fact in told(sentence, language)}[question] == answer
