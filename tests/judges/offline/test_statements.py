"""Texts cut into claims."""

import pytest

from ragstone.judges.offline.statements import statements


def said(sentence: str) -> list[str]:
    return [one.text for one in statements(sentence)]


def test_place_and_date_are_two_claims() -> None:
    assert said("Einstein was born in Germany on 20th March 1879.") == [
        "Einstein was born in Germany.",
        "Einstein was born on 20th March 1879.",
    ]
    assert said("Einstein nació en Alemania el 20 de marzo de 1879.") == [
        "Einstein nació en Alemania.",
        "Einstein nació el 20 de marzo de 1879.",
    ]


def test_clauses_with_their_own_verb_are_apart() -> None:
    assert said("The lot is free for guests, and the garage is closed on Sundays.") == [
        "The lot is free for guests",
        "the garage is closed on Sundays.",
    ]


def test_a_list_of_things_stays_one_claim() -> None:
    assert said("The box holds apples, pears and plums.") == [
        "The box holds apples, pears and plums."
    ]


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
    ],
)
def test_questions_headings_and_refusals_claim_nothing(sentence: str) -> None:
    assert said(sentence) == []
