"""Conclusions are true: healthy runs are silent, planted faults are named first. A sample of `python -m bench.conclusions`."""

from __future__ import annotations

from functools import cache

import pytest
from bench.conclusions import run_bench

from ragstone.judges.factory import make_judge
from ragstone.judges.scale import fingerprint_judge, load_bundled_scales

# the rules are the same for both judges: one that errs now and then holds more
JUDGES = [pytest.param("perfect", marks=pytest.mark.slow), "offline"]
SHARE_RIGHT = {"perfect": 0.9, "offline": 0.8}


@cache
def conclude_with(judge: str):
    return run_bench(judge, is_sample=True, is_loud=False)[judge]


def test_the_scales_that_come_with_the_package_are_those_of_the_judge_that_does() -> None:
    known = {(scale.judge, scale.language) for scale in load_bundled_scales()}
    judge = fingerprint_judge(make_judge("offline"))
    # after a change of the embedded judge: python -m bench.judge_scales
    assert known == {(judge, "en"), (judge, "es")}


@pytest.mark.parametrize("judge", JUDGES)
def test_nothing_is_said_against_a_healthy_run(judge: str) -> None:
    accused = {c.case: c.said for c in conclude_with(judge) if c.wanted is None and c.said}
    assert accused == {}


@pytest.mark.parametrize("judge", JUDGES)
def test_the_planted_cause_is_named_first(judge: str) -> None:
    faulty = [c for c in conclude_with(judge) if c.wanted is not None]
    wrong = {c.case: c.said for c in faulty if not c.is_right}
    assert len(faulty) == 10
    assert len(wrong) <= (1 - SHARE_RIGHT[judge]) * len(faulty) + 1e-9, wrong


@pytest.mark.parametrize("judge", JUDGES)
def test_the_slice_is_named_where_one_was_planted(judge: str) -> None:
    sliced = [c for c in conclude_with(judge) if c.slice_wanted is not None]
    wrong = {c.case: c.slice_said for c in sliced if not c.slice_right}
    assert len(sliced) == 5
    assert len(wrong) <= 1, wrong


def test_the_headline_names_what_the_diagnosis_names() -> None:
    apart = {c.case: (c.headline, c.said) for c in conclude_with("offline") if {*c.headline} != {*c.said}}  # fmt: skip
    assert apart == {}
