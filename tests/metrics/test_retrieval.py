"""Ranking metrics on single samples: the worked examples and every rule of METRICS.md."""

from __future__ import annotations

import pytest

from ragstone.errors import MissingField, NotApplicable
from ragstone.locale.messages import compose
from ragstone.metrics import resolve
from ragstone.metrics.retrieval import (
    average_precision,
    f1,
    hit_rate,
    mrr,
    ndcg,
    precision,
    recall,
)
from ragstone.types import Chunk, Ranked, chunks

ALL = (precision, recall, f1, hit_rate, mrr, average_precision, ndcg)


def test_worked_example_of_six_documents():
    ranked, grades = chunks("d3", "d1", "d5", "d7", "d2", "d4"), {"d1": 3.0, "d2": 2.0, "d6": 1.0}
    assert precision(ranked, grades, k=3).value == pytest.approx(1 / 3)
    assert recall(ranked, grades, k=3).value == pytest.approx(1 / 3)
    assert f1(ranked, grades, k=3).value == pytest.approx(1 / 3)
    assert mrr(ranked, grades).value == 0.5
    assert average_precision(ranked, grades).value == pytest.approx(0.3)
    assert ndcg(ranked, grades, k=5).value == pytest.approx(0.560, abs=5e-4)


def test_worked_example_of_three_queries():
    queries = [
        (chunks("r1", "s1", "r2"), {"r1": 1.0, "r2": 1.0, "r3": 1.0}),
        (chunks("p1", "a1", "s1"), {"p1": 1.0, "p2": 1.0}),
        (chunks("a1", "a2", "c1"), {"a1": 1.0, "a2": 1.0}),
    ]
    wanted = {precision: 0.556, recall: 0.722, mrr: 1, ndcg: 0.772, hit_rate: 1}
    for metric, mean in wanted.items():
        values = [metric(ranked, grades, k=3).value for ranked, grades in queries]
        assert sum(values) / 3 == pytest.approx(mean, abs=5e-4), metric.__name__


def test_recall_counts_only_the_top_k():
    assert recall(chunks("a", "x", "b"), {"a": 1, "b": 1}, k=2).value == 0.5


def test_precision_without_a_cut_divides_by_what_was_retrieved():
    assert precision(chunks("a", "x", "y"), {"a": 1}).value == pytest.approx(1 / 3)


def test_precision_at_k_divides_by_k_even_when_fewer_were_retrieved():
    assert precision(chunks("a"), {"a": 1}, k=10).value == 0.1


def test_reciprocal_rank_beyond_the_cut_is_zero():
    assert mrr(chunks("x", "y", "a"), {"a": 1}, k=2).value == 0.0
    assert mrr(chunks("x", "y", "a"), {"a": 1}, k=3).value == pytest.approx(1 / 3)


def test_exp2_gain_weighs_high_grades_more():
    ranked, grades = chunks("low", "high"), {"high": 3.0, "low": 1.0}
    linear = (1 + 3 / 1.584962500721156) / (3 + 1 / 1.584962500721156)
    exp2 = (1 + 7 / 1.584962500721156) / (7 + 1 / 1.584962500721156)
    assert ndcg(ranked, grades).value == pytest.approx(linear, abs=1e-12)
    assert ndcg(ranked, grades, gain="exp2").value == pytest.approx(exp2, abs=1e-12)


@pytest.mark.parametrize("metric", ALL)
def test_empty_retrieval_scores_zero(metric):
    assert metric(Ranked(), {"a": 1.0}).value == 0.0
    assert metric(Ranked(), {"a": 1.0}, k=5).value == 0.0


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("grades", [{}, {"a": 0.0}, {"a": -1.0, "b": 0.0}])
def test_nothing_relevant_is_not_applicable(metric, grades):
    with pytest.raises(NotApplicable):
        metric(chunks("a"), grades)


@pytest.mark.parametrize("metric", ALL)
def test_a_chunk_without_id_says_what_to_give(metric):
    with pytest.raises(MissingField, match=r"no document id.*give the ids"):
        metric(Ranked([Chunk(id="a"), Chunk(text="no id")]), {"a": 1.0})


@pytest.mark.parametrize("metric", ALL)
def test_a_repeated_document_counts_once_at_its_first_rank_and_is_warned_of(metric):
    grades = {"a": 2.0, "b": 1.0}
    repeated = metric(chunks("x", "a", "x", "a", "b"), grades)
    assert repeated.value == metric(chunks("x", "a", "b"), grades).value
    assert repeated.warnings == (compose("ranking_repeats_ids"),)
    assert metric(chunks("x", "a", "b"), grades).warnings == ()


def test_grades_of_zero_and_below_are_not_relevant():
    ranked = chunks("zero", "bad", "a")
    assert mrr(ranked, {"zero": 0.0, "bad": -2.0, "a": 1.0}).value == pytest.approx(1 / 3)
    assert recall(ranked, {"zero": 0.0, "bad": -2.0, "a": 1.0}).value == 1.0
    assert ndcg(ranked, {"zero": 0.0, "bad": -2.0, "a": 1.0}).value == 0.5


@pytest.mark.parametrize("gain", ["linear", "exp2"])
@pytest.mark.parametrize("high", [1.7e308, 1023.0, 1e-320])
def test_ndcg_of_extreme_grades_is_a_number(gain, high):
    grades = {"a": high, "b": high, "c": high / 2, "d": high / 4}
    assert ndcg(chunks("a", "b", "c", "d"), grades, gain=gain).value == 1.0
    assert 0 < ndcg(chunks("d", "c", "b", "x"), grades, gain=gain).value < 1


def test_a_mapping_changed_between_two_calls_is_seen():
    ranked, grades = chunks("a", "b"), {"a": 1.0}
    assert recall(ranked, grades, k=1).value == 1.0
    grades["b"] = 1.0
    assert recall(ranked, grades, k=1).value == 0.5


def test_a_plain_list_changed_between_two_calls_is_seen():
    ranked = list(chunks("a", "b"))
    assert mrr(ranked, {"b": 1.0}).value == 0.5
    ranked.reverse()
    assert mrr(ranked, {"b": 1.0}).value == 1.0


def test_hit_rate_alone_is_binary():
    assert [name for name in ("precision", "hit_rate", "mrr") if resolve(name).binary] == [
        "hit_rate"
    ]


def test_grades_that_change_in_place_are_seen() -> None:
    contexts, relevant = chunks("a", "b"), {"b": 1.0}
    assert mrr(contexts, relevant).value == 0.5
    relevant["a"] = 1.0
    assert mrr(contexts, relevant).value == 1.0
    assert recall(contexts, relevant, k=1).value == 0.5
