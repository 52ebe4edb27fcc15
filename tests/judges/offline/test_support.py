"""Verdicts of the embedded judge: what is supported, what contradicts, what no rule can tell, and what is quoted."""

from __future__ import annotations

import asyncio
import time
from itertools import permutations
from typing import Any

import pytest

from ragstone.asks import Case, support
from ragstone.judges.offline import OfflineJudge
from ragstone.types import Chunk

FERRY = (
    "The Severn ferry began service in 1926. It carries 17 cars and is painted green.",
    "Tickets cost 8 pounds. Children under five travel free.",
)


def judge(claims: tuple[str, ...], sources: tuple[str, ...], **options: Any) -> Any:
    chunks = tuple(Chunk(f"d{n}", text) for n, text in enumerate(sources))
    case = Case(claims, chunks, question=options.pop("question", None))
    (reply,) = asyncio.run(OfflineJudge().answer([support(case, **options)]))
    return reply.value  # type: ignore[union-attr]


def verdict(claim: str, source: str, **options: Any) -> Any:
    return judge((claim,), (source,), **options)["verdicts"][0]


def test_a_verdict_depends_on_the_claim_and_its_sources_alone() -> None:
    claims = ("The ferry carries 17 cars.", "Tickets cost 9 pounds.", "The crew wears blue hats.")
    alone = {claim: judge((claim,), FERRY)["verdicts"][0]["probability"] for claim in claims}
    for order in permutations(claims):
        rows = judge(order, FERRY)["verdicts"]
        assert [row["probability"] for row in rows] == [alone[claim] for claim in order]


def test_an_answer_is_the_less_likely_supported_the_more_it_invents() -> None:
    right = ("The ferry carries 17 cars.", "Tickets cost 8 pounds.")
    wrong = (*right, "Zelda Quimby bought the harbour in 2011.")
    good, bad = (judge(claims, FERRY)["case_probabilities"][0] for claims in (right, wrong))
    assert good > 0.5 > bad


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("The price is €15,000.", "The price is 15,000 euros."),
        ("The shop is closed on Tuesdays.", "The shop is open every day except on Tuesdays."),
        ("The shop is open every day except on Tuesdays.", "The shop is closed on Tuesdays."),
        (
            "It is open from 9:00 to 18:00, on Saturday until 14:00.",
            "On Saturday it is open until 14:00.",
        ),
        ("You need a ticket to enter.", "You can't enter without a ticket."),
        ("The notice period is sixty days.", "The notice period is 60 days."),
        ("The train leaves at 15:00.", "The train leaves at 3 pm."),
        ("He was born on 11 June 2003.", "He was born on 2003-06-11."),
        ("The festival lasts 3 days.", "The festival lasts three days."),
        ("Not all rooms have a bath.", "Some rooms have a bath."),
        ("A tenant may end the contract.", "The contract may be ended by a tenant."),
        ("A is longer than B.", "B is shorter than A."),
        ("Lunch comes before the talk.", "The talk comes after lunch."),
        ("La tienda cierra los martes.", "La tienda abre todos los días salvo los martes."),
        ("El precio es de 15.000 euros.", "El precio es de 15 000 euros."),
        ("No se admiten perros.", "No se admite ningún perro."),
    ],
)
def test_a_rule_that_cannot_tell_says_nothing(source: str, claim: str) -> None:
    assert verdict(claim, source)["verdict"] != "contradicted"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("The museum opens at 9 on Sundays.", "The museum opens at 11 on Sundays."),
        ("Room 3 has 2 doors.", "Room 3 has 3 doors."),
        ("The journey takes 5 hours.", "The journey takes 5 days."),
        ("Dogs are allowed in the garden.", "Dogs are not allowed in the garden."),
        ("Some rooms have a view of the sea.", "All rooms have a view of the sea."),
        ("Late papers may be accepted.", "Late papers must be accepted."),
        ("Drug A is safer than drug B.", "Drug B is safer than drug A."),
        ("Clean the filter before you open the valve.", "Clean the filter after you open the valve."),
        ("Prices increased in the north.", "Prices decreased in the north."),
        ("Anna Smith defeated Clara Jones in the final.", "Clara Jones defeated Anna Smith in the final."),
        ("El museo abre a las 9 los domingos.", "El museo abre a las 11 los domingos."),
        ("Se admiten perros en el jardín.", "No se admiten perros en el jardín."),
        ("Algunas habitaciones tienen vistas al mar.", "Todas las habitaciones tienen vistas al mar."),
        ("Los precios subieron en el norte.", "Los precios bajaron en el norte."),
    ],
)  # fmt: skip
def test_a_wrong_detail_is_a_contradiction_with_the_sentence_that_shows_it(
    source: str, claim: str
) -> None:
    row = verdict(claim, source)
    assert row["verdict"] == "contradicted"
    assert row["probability"] <= 0.2
    assert row["evidence"] == [{"source": "k1", "quote": source}]
    assert verdict(source, source)["verdict"] == "supported"


def test_quotes_are_verbatim_and_neighbours_are_one_quote() -> None:
    row = judge(("The green ferry began in 1926.",), FERRY)["verdicts"][0]
    assert row["verdict"] == "supported"
    assert all(quote["quote"] in FERRY[int(quote["source"][1]) - 1] for quote in row["evidence"])
    assert row["evidence"][0]["quote"] == FERRY[0]


def test_what_no_source_has_is_named() -> None:
    row = verdict("Zelda Quimby opened the museum.", "The museum was built by the town.")
    assert row["verdict"] == "not_found"
    assert "Zelda, Quimby" in row["reason"]


HOTEL = """{"name": "Casa Luna", "rooms": [{"type": "double", "price": 90}, {"type": "suite", "price": 160}],
 "pets": false, "Parking": {"garage": true, "street": false}, "stars": 4}"""


@pytest.mark.parametrize(
    ("claim", "is_supported"),
    [
        ("Casa Luna has a garage for parking.", True),
        ("Casa Luna does not offer parking on the street.", True),
        ("Casa Luna has street parking.", False),
        ("A suite costs 160.", True),
        ("A suite costs 90.", False),
        ("Casa Luna has 4 stars.", True),
        ("Casa Luna has 5 stars.", False),
        ("Pets are welcome.", False),
    ],
)
def test_json_is_read_as_facts(claim: str, is_supported: bool) -> None:
    row = verdict(claim, HOTEL, language="en")
    assert (row["verdict"] == "supported") is is_supported, row
    assert all(quote["quote"] in HOTEL for quote in row["evidence"])


def test_the_right_figure_of_another_question_is_no_answer() -> None:
    source = "The bridge was opened in 1937. The tower was finished in 1962."
    right = verdict("When was the bridge opened? → 1937", source)
    wrong = verdict("When was the bridge opened? → 1962", source)
    assert right["verdict"] == "supported"
    assert wrong["probability"] < 0.5


@pytest.mark.parametrize(
    ("claim", "is_supported"),
    [
        ("Does the hotel have a pool? → Yes", False),
        ("Does the hotel have a pool? → No", True),
    ],
)
def test_yes_and_no_are_read_with_their_question(claim: str, is_supported: bool) -> None:
    row = verdict(claim, "The hotel has no pool but a sauna.")
    assert (row["verdict"] == "supported") is is_supported


@pytest.mark.parametrize(
    ("answer", "reference", "is_supported"),
    [
        ("Richard Nixon", "Nixon", True),
        ("Landover, Maryland", "FedExField in Landover, Maryland", True),
        ("Emmitt Smith", "Timmy Jones", False),
        ("12", "13", False),
        ("Yes", "No", False),
    ],
)
def test_bare_answers_are_compared_both_ways(
    answer: str, reference: str, is_supported: bool
) -> None:
    row = verdict(answer, reference, question="Who or what was it?", language="en")
    assert (row["verdict"] == "supported") is is_supported


def test_a_claim_in_another_language_is_judged_by_its_sense() -> None:
    source = "The library is closed on public holidays and opens at nine on all other days."
    right = verdict("La biblioteca cierra los días festivos.", source)
    wrong = verdict("El volcán entró en erupción el año pasado.", source)
    assert right["verdict"] == "supported"
    assert right["evidence"][0]["quote"] in source
    assert wrong["verdict"] == "not_found"


def test_long_sources_cost_no_more_than_their_length() -> None:
    sentence = "Room {n} has a table, four chairs and a lamp that was made in Turin. "

    def measure(count: int) -> float:
        source = "".join(sentence.format(n=n) for n in range(count))
        claims = tuple(f"Room {n} has a green piano." for n in range(5))
        start = time.process_time()
        judge(claims, (source,), language="en")
        return time.process_time() - start

    measure(5)
    assert measure(400) < 40 * max(measure(40), 0.002)
