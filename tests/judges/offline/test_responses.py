"""Claims put together to a response, and the second opinion on Spanish ones."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.judges.offline import responses, spanish, verdicts
from ragstone.judges.offline.reading import Reading, read

EN = ["Items may be returned within 30 days.", "Refunds take 5 to 7 working days."]
ES = [
    "Se aceptan devoluciones en un plazo de 30 días.",
    "El reembolso tarda de 5 a 7 días hábiles.",
]


def readings(texts: list[str], language: str) -> list[Reading]:
    return [read(text, language) for text in texts]


def test_english_claims_have_no_second_opinion() -> None:
    claims = readings(EN, "en")
    logit, table = np.array([0.3, -2.0]), np.zeros((2, len(responses.ALL_NAMES)), np.float32)
    assert spanish.second_opinion(logit, table, claims) is logit


def test_the_second_opinion_moves_spanish_claims_only() -> None:
    claims = [*readings(EN[:1], "en"), *readings(ES[:1], "es")]
    logit, table = np.array([0.3, -2.0]), np.zeros((2, len(responses.ALL_NAMES)), np.float32)
    found = spanish.second_opinion(logit, table, claims)
    assert found[0] == logit[0]
    assert found[1] != logit[1]
    assert logit.tolist() == [0.3, -2.0]


@pytest.mark.parametrize(
    ("source", "true", "false"),
    [
        (
            "La reunión empezó a las 9 y terminó a las 11.",
            "La reunión empezó a las 9.",
            "La reunión empezó a las 11.",
        ),
        (
            "Los clientes prefieren pagar con tarjeta.",
            "Los clientes prefieren pagar con tarjeta.",
            "Los clientes no prefieren pagar con tarjeta.",
        ),
        (
            "El precio del pan aumentó un 4 % en marzo.",
            "El precio del pan aumentó en marzo.",
            "El precio del pan disminuyó en marzo.",
        ),
    ],
)
def test_a_contrary_spanish_claim_is_less_likely(source: str, true: str, false: str) -> None:
    sources = readings([source], "es")
    (one,) = verdicts.judge_case(readings([true], "es"), sources)
    (other,) = verdicts.judge_case(readings([false], "es"), sources)
    assert one.verdict == "supported"
    assert other.verdict == "contradicted" or other.probability < one.probability


def test_what_surely_disagrees_never_passes() -> None:
    sure = np.array([0.999, 0.999])
    assert responses.passed(sure, 0.99, [0.0, 0.0], 0.5) == [True, True]
    assert responses.passed(sure, 0.99, [verdicts.NEVER, 0.0], 0.5) == [False, True]


def test_a_doubtful_response_asks_more_of_its_claims_and_most_of_its_weakest() -> None:
    chances, free = np.array([0.3, 0.6, 0.7]), [0.0, 0.0, 0.0]
    assert responses.passed(chances, 0.8, free, 0.5) == [True, True, True]
    assert responses.passed(chances, 0.2, free, 0.5) == [False, True, True]
    assert responses.passed(chances + 0.2, 0.2, free, 0.5) == [False, True, True]


def test_a_claim_that_surely_disagrees_takes_the_blame_from_the_weakest() -> None:
    chances = np.array([0.6, 0.7])
    assert responses.passed(chances, 0.2, [0.0, 0.0], 0.5) == [False, True]
    assert responses.passed(chances, 0.2, [0.0, verdicts.NEVER], 0.5) == [True, False]


def test_invented_sentences_make_a_response_less_likely() -> None:
    invented = "Every customer receives a free bicycle from the mayor of Springfield."
    for sources, language in ((EN, "en"), (ES, "es")):
        added = invented if language == "en" else "El alcalde regala una bicicleta a cada cliente."
        own = readings(sources, language)
        wholes = []
        for answer in (sources, [*sources, added]):
            _, chances, table = verdicts.probabilities(readings(answer, language), own)
            wholes.append(responses.response_chance(chances, table))
        assert wholes[1] < wholes[0]


def test_the_order_of_claims_does_not_matter_to_the_response() -> None:
    own = readings(EN, "en")
    _, chances, table = verdicts.probabilities(own, own)
    turned = responses.response_chance(chances[::-1].copy(), table[::-1].copy())
    assert turned == pytest.approx(responses.response_chance(chances, table))
