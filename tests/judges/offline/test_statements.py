"""Texts cut into claims."""

import json
from pathlib import Path

import pytest

from ragstone.judges.offline.statements import items, statements, states_nothing


def said(sentence: str) -> list[str]:
    return [one.text for one in statements(sentence)]


CLAIMS = json.loads(
    (Path(__file__).parents[2] / "text" / "data" / "claims.json").read_text("utf-8")
)
SPLIT = [(language, *row) for language, rows in CLAIMS["split"].items() for row in rows.items()]
WHOLE = [(language, row) for language, rows in CLAIMS["whole"].items() for row in rows]


@pytest.mark.parametrize(("language", "sentence", "claims"), SPLIT)
def test_a_sentence_is_cut_into_what_it_states(
    language: str, sentence: str, claims: list[str]
) -> None:
    assert [claim.text for claim in statements(sentence, language)] == claims


@pytest.mark.parametrize(("language", "sentence"), WHOLE)
def test_words_that_belong_together_are_not_cut(language: str, sentence: str) -> None:
    assert [claim.text for claim in statements(sentence, language)] == [sentence]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("I'm not sure, but the warranty lasts ten years.", "the warranty lasts ten years."),
        ("The context does not say, but it opened in 1937.", "it opened in 1937."),
        ("Although the text does not mention the price, entry costs 8 euros.", "entry costs 8 euros."),
        ("I think the capital is Paris.", "the capital is Paris."),
        ("As far as I know, the capital is Paris.", "the capital is Paris."),
        ("Based on the provided context, the tower is 300 m tall.", "the tower is 300 m tall."),
        ("The passage states that the bridge is red.", "the bridge is red."),
        ("The bridge opened in 1937, according to passage 2.", "The bridge opened in 1937"),
        ("The bridge opened in 1937 (passage 2).", "The bridge opened in 1937"),
        ("No estoy seguro, pero la garantía dura diez años.", "la garantía dura diez años."),
        ("El contexto no lo dice, pero el puente es rojo.", "el puente es rojo."),
        ("De acuerdo con el documento 2, la torre mide 300 metros.", "la torre mide 300 metros."),
        ("Creo que la capital es París.", "la capital es París."),
        ("El texto dice que el puente es rojo.", "el puente es rojo."),
        ("In 1977, the firm was sold.", "In 1977, the firm was sold."),
        ("Yes, dogs are allowed.", "dogs are allowed."),
        ("No, dogs are not allowed.", "dogs are not allowed."),
        ("Es decir, la entrada es gratuita.", "la entrada es gratuita."),
        ("If I am not mistaken, it opened in 1958.", "it opened in 1958."),
    ],
)  # fmt: skip
def test_hedges_and_introductions_are_no_part_of_a_claim(sentence: str, claim: str) -> None:
    assert said(sentence) == [claim]


def test_what_introduces_a_quotation_is_no_part_of_it_and_a_source_may_state_something() -> None:
    assert said("One of them says: “Returns are free.”") == ["“Returns are free.”"]
    assert said("Uno de ellos dice: «El envío es gratis.»") == ["«El envío es gratis.»"]
    assert states_nothing("I looked through the documents.")
    assert states_nothing("He mirado los documentos.")
    assert said("Source: the museum opens at nine.") == ["the museum opens at nine."]


def test_a_part_that_a_citation_closed_lends_its_subject() -> None:
    before = "The bridge opened in 1937 [1]"
    assert [claim.text for claim in statements("and was painted blue [2].", "en", before)] == [
        "The bridge was painted blue."
    ]
    assert [claim.text for claim in statements("with two towers [2].", "en", before)] == [
        "with two towers."
    ]


def test_parts_name_the_words_taken_over_and_then_the_own_ones() -> None:
    sentence = "- The tower is tall and was painted red."
    first, second = statements(sentence, "en")
    assert [sentence[a:b] for a, b in first.parts] == ["The tower is tall"]
    assert [sentence[a:b] for a, b in second.parts] == ["The tower", "was painted red."]


def test_parts_say_where_a_claim_stands() -> None:
    sentence = "- The tower is 300 m tall [1]."
    (one,) = statements(sentence)
    assert one.text == "The tower is 300 m tall."
    ((start, end),) = one.parts
    assert sentence[start:end] == "The tower is 300 m tall [1]."


@pytest.mark.parametrize(
    "sentence",
    [
        "Who wrote it?",
        "¿Quién lo escribió?",
        "Here is a summary:",
        "I don't know.",
        "I'm sorry, but I cannot answer that.",
        "The provided context does not mention the price.",
        "It is not mentioned in the document.",
        "No se menciona en el documento.",
        "Lo siento, no puedo responder a esa pregunta.",
        "El contexto no especifica la fecha.",
        "Source: opening-hours",
        "Fuente: torreluna-actividades.md",
    ],
)
def test_questions_headings_and_refusals_claim_nothing(sentence: str) -> None:
    assert said(sentence) == []


@pytest.mark.parametrize(("thing", "count"), [("raw red copper", 3), ("very old red copper", 0)])
def test_a_thing_of_a_mere_list_has_three_words_at_most(thing: str, count: int) -> None:
    assert len(items(f"gold, {thing} and silver")) == count


@pytest.mark.parametrize(("lead", "count"), [("first and only", 2), ("first and only known", 1)])
def test_a_place_and_a_date_are_parted_after_ten_words_at_most(lead: str, count: int) -> None:
    sentence = f"The {lead} son of the painter was born in Ulm on 14 March 1879."
    assert len(statements(sentence, "en")) == count
