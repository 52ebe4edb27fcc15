"""A generation's own rules: kinds are spread, a document's share goes to several, a replayed step is known to the prover."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from ragstone.testset.generation import Generation, StepResult, _spread_kinds
from ragstone.testset.items import Item, Rejection
from ragstone.testset.quotas import Tally


def make_item(name: str, kind: str = "factual") -> Item:
    return Item(name, f"What is {name}?", name, {"d": 1}, (), kind, "easy", "en", "test")


class Prover:
    """Lets everything through, and keeps what it is told to remember."""

    def __init__(self) -> None:
        self.remembered: list[str] = []

    def check_item(self, item: Item) -> Item:
        return item

    def remember_item(self, item: Item) -> None:
        self.remembered.append(item.id)


class Maker:
    def make_candidates(self, document: Any, wanted: dict[str, int], rng: Any) -> Iterator[Item]:
        (kind,) = wanted
        yield from (make_item(f"{kind}{n}", kind) for n in range(9))


@pytest.fixture
def generation() -> Generation:
    tally = Tally({"factual": 1, "detail": 1}, 8)
    return Generation([], [0], tally, journal=None, prover=Prover(), seed=1)  # type: ignore[arg-type]


def test_kinds_are_spread_evenly() -> None:
    assert _spread_kinds({"a": 3, "b": 1, "c": 2}) == ["a", "c", "a", "b", "c", "a"]


def test_a_kind_takes_no_more_than_a_little_over_half_of_a_share(generation: Generation) -> None:
    made = generation._collect_share(
        Maker(), None, {"factual": 4, "detail": 4}, 4, random.Random(1)
    )
    assert [item.kind for item in made.items] == ["factual"] * 3 + ["detail"]


@pytest.mark.parametrize(("is_replayed", "known"), [(True, ["kept", "judged"]), (False, [])])
def test_a_replayed_step_is_remembered_with_what_a_judge_refused(
    generation: Generation, is_replayed: bool, known: list[str]
) -> None:
    refused = [Rejection("unsupported", make_item(name)) for name in ("unproven", "judged")]  # type: ignore[arg-type]
    step = StepResult([make_item("kept")], refused[:1], refused[1:])
    again = StepResult.from_row(step.to_row())
    generation._take_in(again, {"factual": 1}, [0], replayed=is_replayed)
    assert generation.prover.remembered == known  # type: ignore[attr-defined]
    assert len(generation.rejected) == 2
