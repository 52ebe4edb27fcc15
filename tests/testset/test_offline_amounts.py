"""Where an answer starts and ends: what goes with a number, what a condition or a further verb adds, and white space."""

from __future__ import annotations

import random

import pytest
from bench.testsets import Held

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.offline import OfflineMaker
from ragstone.testset.offline.walk import facts_of


def told(text: str, language: str) -> dict[str, str]:
    found = facts_of(Document("d", text, "", language), language)
    return {fact.question: fact.answer for fact in found}


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("Members can borrow up to 12 books.", "How many books can members borrow?", "up to 12 books"),
        ("Members can borrow at least 12 books at a time.", "How many books can members borrow at a time?", "at least 12 books"),
        ("Up to 12 members pay the yearly fee in June.", "How many members pay the yearly fee in June?", "Up to 12 members"),
        ("The path climbs up to 300 metres.", "How many metres does the path climb?", "up to 300 metres"),
        ("The card costs up to 12 euros.", "How much does the card cost?", "up to 12 euros"),
        ("Films may be kept for up to 7 days.", "For how long may films be kept?", "up to 7 days"),
    ],
)  # fmt: skip
def test_up_to_stays_with_its_number(sentence: str, question: str, answer: str) -> None:
    assert told(sentence, "en")[question] == answer


@pytest.mark.parametrize(
    "sentence", ["The chicks can fly at four weeks.", "The road extends to 40 kilometres."]
)
def test_a_number_behind_a_preposition_is_not_counted(sentence: str) -> None:
    assert not [question for question in told(sentence, "en") if "ow many" in question]


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("El ayuntamiento restauró la torre y vendió el molino en 1990.", "¿Qué restauró el ayuntamiento?", "la torre"),
        ("El ayuntamiento restauró la torre y vendió el molino en 1990.", "¿En qué año vendió el ayuntamiento el molino?", "1990"),
        ("El usuario recibe un aviso si la bomba falla.", "¿Qué recibe el usuario si la bomba falla?", "un aviso"),
        ("La empresa devuelve el importe si el cliente presenta el recibo.", "¿Qué devuelve la empresa si el cliente presenta el recibo?", "el importe"),
        ("El museo presta cuadros y planos a otras salas.", "¿Qué presta el museo?", "cuadros y planos"),
    ],
)  # fmt: skip
def test_a_spanish_object_ends_at_a_further_verb_and_at_a_condition(
    sentence: str, question: str, answer: str
) -> None:
    found = told(sentence, "es")
    assert found.get(question) == answer, found


WRAPPED = (
    "# The Linden library\n\n"
    "The Linden library   has 140 seats in\n   the reading    room. Ida Brandt runs the\n"
    "reading room of the Linden library since    1998. The Linden library does not   lend old\n"
    "maps of the coast:\n\n- maps\n- globes\n"
)


def test_white_space_is_even_and_quotes_stay_as_written() -> None:
    document = Document("library", WRAPPED, "The   Linden library", "en")
    kinds = {"factual": 9, "detail": 9, "negation": 9, "false_premise": 9, "conceptual": 9}
    with CorpusIndex(Held([document])) as index:
        maker = OfflineMaker(index)
        made = list(maker.candidates(document, kinds, random.Random(1)))
        made += maker.gaps(document, random.Random(1))
    assert {item.kind for item in made} >= {"factual", "negation", "detail"}
    assert any("  " in one.quote for item in made for one in item.evidence)
    for item in made:
        reference = item.reference or ""
        assert item.question == " ".join(item.question.split())
        assert reference == " ".join(reference.split())
        assert not reference.endswith((":", ";"))
        for one in item.evidence:
            assert WRAPPED[one.start : one.end] == one.quote
