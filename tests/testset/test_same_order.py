"""Systems with planted faults come out in the same order on a generated test set as on the hand-made one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate, generate
from ragstone.data import corpora
from ragstone.systems.pipeline import Pipeline
from ragstone.testset.sets import TestSet
from ragstone.text.language import ABSTENTIONS

METRICS = ("recall", "mrr", "token_f1")
CLEAR = 0.02
"""Differences on the hand-made set that count; below, order is chance."""
POOR: dict[str, Any] = {"chunk_size": 40, "overlap": 0, "titles": False}


def finds_nothing(question: str) -> dict[str, Any]:
    return {"answer": ABSTENTIONS[0], "contexts": []}


def invents(question: str) -> dict[str, Any]:
    return {"answer": "Quarterly zebra migration follows seventeen lighthouses", "contexts": []}


def systems() -> Iterator[tuple[str, Any]]:
    """From good to hopeless, each with a fault of its own."""
    yield "good", Pipeline(chunk_size=120, overlap=20, top_k=8)
    yield "small chunks", Pipeline(**POOR, top_k=3)
    yield "one chunk", Pipeline(**POOR, top_k=1)
    yield "never abstains", Pipeline(**POOR, top_k=3, abstain=0.0)
    yield "finds nothing", finds_nothing
    yield "invents", invents


def means(data: Any, store: Path) -> dict[str, dict[str, float]]:
    """Metric → system → mean."""
    found: dict[str, dict[str, float]] = {metric: {} for metric in METRICS}
    for name, system in systems():
        run = evaluate(data, list(METRICS), system=system, store=store)
        for one in run.summary().metrics:
            if one.metric in METRICS:
                assert one.mean is not None
                found[one.metric][name] = one.mean
    return found


@pytest.fixture(scope="module")
def made() -> TestSet:
    return generate(corpora.documents(), 228, seed=1)


@pytest.mark.slow
def test_the_order_is_that_of_the_hand_made_set(made: TestSet, tmp_path: Path) -> None:
    hand = means(corpora.questions(), tmp_path / "hand.db")
    ours = means(made.rows(), tmp_path / "made.db")
    # pages without options give no question that nothing answers, so that the set cannot tell who never abstains
    assert all(item.answerable for item in made.items)
    told = 0
    for metric in METRICS:
        for one, two in combinations(
            (name for name in hand[metric] if name != "never abstains"), 2
        ):
            gap = hand[metric][one] - hand[metric][two]
            if abs(gap) >= CLEAR:
                told += 1
                assert (ours[metric][one] - ours[metric][two]) * gap > 0, (metric, one, two)
    assert told >= 18  # of 30 pairs


def test_both_languages_are_in_it(made: TestSet) -> None:
    spoken = [item.language for item in made.items]
    assert min(spoken.count("en"), spoken.count("es")) >= 0.3 * len(spoken)
