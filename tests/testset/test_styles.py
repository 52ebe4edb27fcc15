"""Styles that rules write, proved like the rest."""

from __future__ import annotations

import random

import pytest

from ragstone.data.documents import Document
from ragstone.errors import RagstoneError
from ragstone.testset.sets import generate
from ragstone.testset.styles import STYLES, add_slips, to_search, write_in_style

ROOMS = "\n## {}\n\n| {} | {} |\n| --- | --- |\n| {} | 12 euros |\n| {} | 30 euros |\n"
DOCUMENTS = [
    Document(
        "library",
        "# Linden House\n\nLinden House is a library that lends books to readers."
        + ROOMS.format("Prices", "Ticket", "Price", "Year", "Family"),
        "Linden House",
        language="en",
    ),
    Document(
        "biblioteca",
        "# Casa Torreluna\n\nCasa Torreluna es una biblioteca que presta libros a los lectores."
        + ROOMS.format("Precios", "Carné", "Precio", "Anual", "Familiar"),
        "Casa Torreluna",
        language="es",
    ),
]


@pytest.mark.parametrize(
    ("question", "language", "short"),
    [
        ("When did the Linden library open?", "en", "date Linden library open"),
        ("How many seats does the Linden library have?", "en", "number of seats Linden library"),
        ("At Linden Bikes, how much does the pass cost?", "en", "price pass cost Linden Bikes"),
        ("What does the `--all` option of `git add` do?", "en", "`--all` option `git add`"),
        ("¿Cuánto cuesta el carné anual?", "es", "precio carné anual"),
        ("En BiciRío, ¿dónde está la oficina?", "es", "lugar oficina BiciRío"),
    ],
)
def test_terse_is_what_one_types_into_a_search_box(
    question: str, language: str, short: str
) -> None:
    assert to_search(question, language) == short


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_style_changes_the_words_and_keeps_the_content(style: str, language: str) -> None:
    question = {"en": "When did the Linden library open?", "es": "¿Cuándo abrió la sala Luna?"}
    written = write_in_style(question[language], style, language, random.Random(1))
    assert written != question[language]
    assert {"en": "Linden", "es": "Luna"}[language] in written


@pytest.mark.parametrize("style", STYLES)
def test_items_in_a_style_are_proved_by_their_plain_question(style: str) -> None:
    made = generate(DOCUMENTS, 6, kinds="factual,conceptual", styles=[style], seed=2)
    assert len(made) >= 4
    for item in made.items:
        assert item.style == style
        assert item.proof["round_trip"] == "reader"
        assert item.proof["plain"] != item.question


def test_several_styles_share_the_items() -> None:
    made = generate(DOCUMENTS, 10, kinds="factual,conceptual", styles=list(STYLES), seed=1)
    assert len({item.style for item in made.items}) >= 2


def test_what_only_a_judge_can_write_is_said() -> None:
    with pytest.raises(RagstoneError, match="only a judge can write as 'a worried parent'"):
        generate(DOCUMENTS, 3, styles=["a worried parent"])


def test_slips_leave_code_names_and_numbers_alone() -> None:
    question = "Where does the Linden library keep `sources.list` since 1931?"
    for seed in range(20):
        slipped = add_slips(question, random.Random(seed))
        assert slipped != question
        assert all(part in slipped for part in ("Linden", "`sources.list`", "1931"))


@pytest.mark.parametrize("question", ["¿Qué es una pieza?", "When was the bridge opened?"])
def test_slips_spare_the_few_words_that_tell_what_is_asked(question: str) -> None:
    assert all(add_slips(question, random.Random(seed)) == question for seed in range(20))


@pytest.mark.parametrize(
    ("question", "language", "typed"),
    [
        ("What does “Guide A to Z” say under the heading “Fees of the day”?", "en", "Guide A to Z Fees of the day"),
        ("According to “Staff handbook, part 2”, how do I raise a concern?", "en", "how to raise concern Staff handbook, part 2"),
        ("¿Qué se indica en el apartado «Garantía» de «Cafetera de la casa»?", "es", "Garantía Cafetera de la casa"),
    ],
)  # fmt: skip
def test_what_is_quoted_stays_whole_in_a_search_box(question: str, language: str, typed: str) -> None:  # fmt: skip
    assert to_search(question, language) == typed
