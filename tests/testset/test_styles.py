"""Styles that rules write, proved like the rest."""

from __future__ import annotations

import random

import pytest

from ragstone.data.documents import Document
from ragstone.errors import RagstoneError
from ragstone.testset.offline.styles import STYLES, in_style, terse
from ragstone.testset.sets import generate

DOCUMENTS = [
    Document(
        "library",
        "The Linden library opened in 1931 and has 140 seats. Ida Brandt runs the reading room. "
        "A yearly card costs 12 euros.",
        language="en",
    ),
    Document(
        "biblioteca",
        "La biblioteca de Torreluna abrió en 1952 y tiene 80 puestos. El carné anual cuesta 9 euros.",
        language="es",
    ),
]


@pytest.mark.parametrize(
    ("question", "language", "short"),
    [
        ("When did the Linden library open?", "en", "date Linden library open"),
        ("How many seats does the Linden library have?", "en", "number of seats Linden library"),
        ("At Linden Bikes, how much does the pass cost?", "en", "price pass cost Linden Bikes"),
        ("¿En qué año abrió la biblioteca de Torreluna?", "es", "fecha abrió biblioteca Torreluna"),
        ("¿Cuánto cuesta el carné anual?", "es", "precio carné anual"),
        ("En BiciRío, ¿dónde está la oficina?", "es", "lugar oficina BiciRío"),
    ],
)
def test_terse_is_what_one_types_into_a_search_box(
    question: str, language: str, short: str
) -> None:
    assert terse(question, language) == short


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_style_changes_the_words_and_keeps_the_content(style: str, language: str) -> None:
    question = {
        "en": "When did the Linden library open?",
        "es": "¿Cuándo abrió la biblioteca Luna?",
    }
    put = in_style(question[language], style, language, random.Random(1))
    assert put != question[language]
    assert {"en": "Linden", "es": "Luna"}[language] in put


@pytest.mark.parametrize("style", STYLES)
def test_items_in_a_style_are_proved_by_their_plain_question(style: str) -> None:
    made = generate(DOCUMENTS, 6, kinds="factual,detail", styles=[style], seed=2)
    assert len(made) >= 5
    for item in made.items:
        assert item.style == style
        assert item.proof["round_trip"] == "reader"
        assert item.proof["plain"] != item.question


def test_several_styles_share_the_items() -> None:
    made = generate(DOCUMENTS, 10, kinds="factual,detail", styles=list(STYLES), seed=1)
    assert len({item.style for item in made.items}) >= 2


def test_what_only_a_judge_can_write_is_said() -> None:
    with pytest.raises(RagstoneError, match="only a judge can write as 'a worried parent'"):
        generate(DOCUMENTS, 3, styles=["a worried parent"])
