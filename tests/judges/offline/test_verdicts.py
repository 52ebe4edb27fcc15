"""Verdicts of the embedded judge on claims, and its probability for the whole answer."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from ragstone.judges.offline.model import LogisticModel, predict_answer
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.verdicts import JudgedCase, judge_case

SOURCES = [
    "The Severn ferry began service in 1926. It carries 17 cars and is painted green.",
    "Tickets cost 8 pounds. Children under five travel free.",
]
CLAIMS = [
    "The Severn ferry carries 17 cars.",
    "The ferry was sold to a Norwegian shipping company.",
    "Tickets cost 8 pounds.",
    "The ferry began service in 1931.",
]


def judge(claims: list[str], sources: list[str], language: str = "en") -> JudgedCase:
    return judge_case(
        [read(claim, language) for claim in claims], [read(text, language) for text in sources]
    )


def test_a_verdict_depends_on_the_claim_and_its_sources_alone() -> None:
    alone = {claim: judge([claim], SOURCES).claims[0] for claim in CLAIMS}
    for order in permutations(CLAIMS):
        for claim, verdict in zip(order, judge(list(order), SOURCES).claims, strict=True):
            assert verdict == alone[claim]


def test_supported_and_unsupported_claims_are_told_apart() -> None:
    verdicts = [claim.verdict == "supported" for claim in judge(CLAIMS, SOURCES).claims]
    assert verdicts == [True, False, True, False]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("It is not true that the Severn ferry carries 17 cars.", "contradicted"),
        ("It's false that tickets cost 8 pounds.", "contradicted"),
        ("It is not true that the Severn ferry carries 40 cars.", "supported"),
        ("It is not true that the ferry was sold to a Norwegian shipping company.", "not_found"),
    ],
)
def test_a_claim_that_denies_as_a_whole_is_turned_round(claim: str, verdict: str) -> None:
    assert judge([claim], SOURCES).claims[0].verdict == verdict


def test_a_claim_that_denies_as_a_whole_is_turned_round_in_spanish() -> None:
    (judged,) = judge(
        ["No es cierto que con 30 hojas se obtiene un vale."],
        ["Con 30 hojas se obtiene un vale."],
        "es",
    ).claims
    assert judged.verdict == "contradicted"
    assert "niega" in judged.reason


def test_a_number_that_no_source_has_is_never_supported_whatever_else_agrees() -> None:
    source = "The Severn ferry began service in 1926 and carries 17 cars every hour."
    (right,) = judge([source], [source]).claims
    (wrong,) = judge([source.replace("1926", "1927")], [source]).claims
    assert right.verdict == "supported"
    assert wrong.verdict != "supported"


@pytest.mark.parametrize(
    ("claim", "source", "language"),
    [
        ("She was born on 11 June 2003.", "Born: 2003-06-11", "en"),
        ("The walk is 3.5 km long.", "The walk is three and a half kilometres long.", "en"),
        ("La obra costó 40.000 euros.", "La obra costó cuarenta mil euros.", "es"),
    ],
)
def test_numbers_and_dates_are_found_in_any_writing(claim: str, source: str, language: str) -> None:
    assert judge([claim], [source], language).claims[0].verdict == "supported"


def test_quotes_hold_the_deciding_words() -> None:
    source = "The Severn ferry is a landmark of the region. It began service in 1926. It is green."
    (claim,) = judge(["The Severn ferry began service in 1926."], [source]).claims
    assert claim.verdict == "supported"
    assert "1926" in claim.evidence[0][1]
    assert all(quote in source for _, quote in claim.evidence)


def test_an_answer_is_less_likely_the_weaker_its_weakest_claim_and_the_fewer_of_its_words_are_known() -> (
    None
):
    good, mixed = judge([CLAIMS[0], CLAIMS[2]], SOURCES), judge(CLAIMS[:3], SOURCES)
    assert good.probability > mixed.probability
    model = LogisticModel(np.zeros(1), np.ones(1), np.array([1.0]), 0.0)
    strong, weak = np.array([0.8, 0.9]), np.array([0.3, 0.9])
    assert predict_answer(model, strong, 0.9) > predict_answer(model, weak, 0.9)
    assert predict_answer(model, strong, 0.9) > predict_answer(model, strong, 0.5)


def test_without_sources_nothing_is_supported() -> None:
    case = judge(CLAIMS, [""])
    assert case.probability == 0.0
    assert all(claim.verdict == "not_found" and claim.certain for claim in case.claims)
