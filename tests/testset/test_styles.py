"""Styles that rules write, proved like the rest."""

from __future__ import annotations

import random
import re

import pytest
from bench.testsets import Held

from ragstone.data.documents import Document
from ragstone.errors import RagstoneError
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Item, Rejection
from ragstone.testset.offline.phrases import OUTSIDE
from ragstone.testset.offline.styles import STYLES, in_style, styled, terse
from ragstone.testset.proofs import Prover
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
        (
            "Regarding Harbor Library, how long can films be borrowed?",
            "en",
            "duration films borrowed Harbor Library",
        ),
        ("En cuanto al monitor, ¿dónde está la alarma?", "es", "lugar alarma monitor"),
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


@pytest.mark.parametrize(
    ("question", "language", "style", "ways"),
    [
        ("Regarding Harbor Library, how long can films be borrowed?", "en", "formal", r"Regarding Harbor Library, (?:I|could) .+: how long can films be borrowed\?"),
        ("Regarding Harbor Library, how long can films be borrowed?", "en", "informal", r".*how long can films be borrowed \(about Harbor Library\).*"),
        ("En cuanto al monitor, ¿qué se ve en rojo?", "es", "formal", r"En cuanto al monitor, (?:les|me) .+: ¿qué se ve en rojo\?"),
        ("En cuanto al monitor, ¿qué se ve en rojo?", "es", "informal", r".*que se ve en rojo \(sobre el monitor\).*"),
    ],
)  # fmt: skip
def test_a_frame_is_put_around_what_was_styled(
    question: str, language: str, style: str, ways: str
) -> None:
    for seed in range(12):
        put = in_style(question, style, language, random.Random(seed))
        assert re.fullmatch(ways, put), put


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_sentence_of_a_letter_starts_small(language: str) -> None:
    for question in OUTSIDE[language]:
        for seed in range(6):
            put = in_style(question, "formal", language, random.Random(seed))
            assert not re.search(r"\? ¿?[a-záéíóú]", put), put


@pytest.mark.parametrize("style", STYLES)
def test_what_no_document_answers_is_asked_in_the_same_style(style: str) -> None:
    made = generate(DOCUMENTS, 8, kinds="factual,out_of_scope", styles=[style], seed=2)
    outside = [item for item in made.items if item.kind == "out_of_scope"]
    assert outside
    for item in outside:
        assert item.style == style
        assert item.proof["plain"] in OUTSIDE[item.language]
        assert item.question != item.proof["plain"]


def test_a_style_does_not_hide_that_a_document_answers() -> None:
    said = Document("chem", "The boiling point of mercury is 357 degrees.", language="en")
    plain = Item(
        "a" * 12, "What is the boiling point of mercury?", None, {}, (), "out_of_scope", "easy", "en", "pool",
    )  # fmt: skip
    with CorpusIndex(Held([said, *DOCUMENTS])) as index:
        for item in (plain, styled(plain, ["formal"])):
            found = Prover(index).check(item)
            assert isinstance(found, Rejection)
            assert found.reason == "answered_by_corpus"


def test_a_false_premise_is_asked_in_the_style_too() -> None:
    made = generate(DOCUMENTS, 8, kinds="factual,false_premise", styles=["formal"], seed=2)
    false = [item for item in made.items if item.kind == "false_premise"]
    assert false
    assert {item.style for item in false} == {"formal"}
