"""Probabilities of a judge fitted to labels: what is fitted, when, and what a reply is then."""

from __future__ import annotations

import math
import random

import pytest

from ragstone.asks import Case, Reply, claims, support
from ragstone.errors import RagstoneError
from ragstone.judges.calibration import (
    Calibration,
    LabelledClaim,
    fit_calibration,
    measure_calibration_error,
)
from ragstone.types import Chunk


def label(count: int, *, slope: float, shift: float, seed: int = 1) -> list[LabelledClaim]:
    """Claims whose stated probability is too sure: the true log-odds are slope × stated + shift."""
    rng = random.Random(seed)
    labelled = []
    for number in range(count):
        stated = rng.uniform(0.02, 0.98)
        odds = slope * math.log(stated / (1 - stated)) + shift
        truth = float(rng.random() < 1 / (1 + math.exp(-odds)))
        labelled.append(LabelledClaim(stated, stated >= 0.5, truth, f"g{number // 2}"))
    return labelled


def test_probabilities_that_are_too_sure_are_drawn_in() -> None:
    fitted = fit_calibration(label(200, slope=0.3, shift=-1.0))
    assert fitted is not None
    assert fitted.log_loss < fitted.before
    fresh = label(2000, slope=0.3, shift=-1.0, seed=2)
    stated = [(claim.probability or 0.0, claim.label) for claim in fresh]
    applied = [(fitted.apply(p, p >= 0.5) or 0.0, truth) for p, truth in stated]
    assert measure_calibration_error(applied) < 0.4 * measure_calibration_error(stated)


def test_probabilities_that_fit_already_are_left_as_they_are() -> None:
    kept = [fit_calibration(label(60, slope=1.0, shift=0.0, seed=seed)) for seed in range(20)]
    assert sum(fitted is None for fitted in kept) >= 10


def test_a_fit_never_turns_the_order_of_claims_round() -> None:
    for claims_labelled in (label(80, slope=-2.0, shift=0.0), label(80, slope=3.0, shift=0.5)):
        fitted = fit_calibration(claims_labelled)
        assert fitted is not None
        applied = [fitted.apply(n / 50, n >= 25) or 0.0 for n in range(51)]
        assert applied == sorted(applied)
        assert all(0 < p < 1 for p in applied)


def test_claims_with_the_same_probability_get_their_share_of_labels() -> None:
    """Not the order in which their labels happen to stand."""
    rng = random.Random(5)
    labelled = [
        LabelledClaim(p, p >= 0.5, float(rng.random() < truth), f"{p} {n}")
        for p, truth in ((0.02, 0.5), (0.9, 0.8))
        for n in range(100)
    ]
    fitted = fit_calibration(labelled)
    assert fitted is not None
    assert fitted.apply(0.02, False) == pytest.approx(0.5, abs=0.12)
    assert fitted.apply(0.9, True) == pytest.approx(0.8, abs=0.12)


def test_a_judge_that_says_yes_or_no_gets_two_numbers() -> None:
    rows = [(True, 1.0)] * 30 + [(True, 0.0)] * 10 + [(False, 0.0)] * 18 + [(False, 1.0)] * 2
    random.Random(3).shuffle(rows)
    fitted = fit_calibration(
        [LabelledClaim(None, said, truth, str(n)) for n, (said, truth) in enumerate(rows)]
    )
    assert fitted is not None
    assert fitted.method == "two_numbers"
    assert fitted.apply(None, True) == pytest.approx(31 / 42)
    assert fitted.apply(None, False) == pytest.approx(3 / 22)


def test_thirty_labels_are_needed() -> None:
    with pytest.raises(RagstoneError, match=r"29 claims have a label .*30 are needed"):
        fit_calibration(label(29, slope=0.3, shift=0.0))


def test_only_replies_about_support_change_and_no_claim_becomes_supported_without_a_quote() -> None:
    fitted = Calibration("platt", ((1.0, -3.0),), 40, 0.4, 0.6)
    case = Case(("a", "b"), (Chunk("k", "text"),))
    rows = [
        {"id": "c1", "verdict": "supported", "probability": 0.7, "evidence": [], "reason": ""},
        {"id": "c2", "verdict": "contradicted", "probability": 0.1, "evidence": [], "reason": ""},
    ]
    reply = fitted.calibrate_reply(support(case), Reply({"verdicts": rows}))
    assert [row["verdict"] for row in reply.value["verdicts"]] == ["not_found", "contradicted"]
    assert reply.value["verdicts"][0]["probability"] == pytest.approx(0.1041, abs=1e-3)
    other = Reply({"claims": []})
    assert fitted.calibrate_reply(claims("a text"), other) is other
    assert Calibration.from_json(fitted.to_json()) == fitted
