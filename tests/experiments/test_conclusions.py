"""Conclusions are true: healthy runs are silent, planted faults are named first. A sample of `python -m bench.conclusions`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragstone.judges.factory import make_judge
from ragstone.judges.scale import fingerprint_judge, load_bundled_scales

BENCH = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def conclusions():
    sys.path.insert(0, str(BENCH))
    try:
        from bench.conclusions import run_bench
    finally:
        sys.path.remove(str(BENCH))
    return run_bench("both", is_sample=True, is_loud=False)


def test_the_scales_that_come_with_the_package_are_those_of_the_judge_that_does() -> None:
    known = {(scale.judge, scale.language) for scale in load_bundled_scales()}
    judge = fingerprint_judge(make_judge("offline"))
    # after a change of the embedded judge: python -m bench.judge_scales
    assert known == {(judge, "en"), (judge, "es")}


@pytest.mark.parametrize("judge", ["perfect", "offline"])
def test_nothing_is_said_against_a_healthy_run(conclusions, judge: str) -> None:
    accused = {c.case: c.said for c in conclusions[judge] if c.wanted is None and c.said}
    assert accused == {}


@pytest.mark.parametrize(("judge", "share"), [("perfect", 0.9), ("offline", 0.8)])
def test_the_planted_cause_is_named_first(conclusions, judge: str, share: float) -> None:
    faulty = [c for c in conclusions[judge] if c.wanted is not None]
    wrong = {c.case: c.said for c in faulty if not c.is_right}
    assert len(faulty) == 10
    assert len(wrong) <= (1 - share) * len(faulty) + 1e-9, wrong


@pytest.mark.parametrize("judge", ["perfect", "offline"])
def test_the_slice_is_named_where_one_was_planted(conclusions, judge: str) -> None:
    sliced = [c for c in conclusions[judge] if c.slice_wanted is not None]
    wrong = {c.case: c.slice_said for c in sliced if not c.slice_right}
    assert len(sliced) == 5
    assert len(wrong) <= 1, wrong
