"""Bulk ranking in whole arrays: the same bits as one query after the other, whatever the scores are."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import ragstone.rankings as bulk
from ragstone.errors import DataError
from ragstone.rankings import FORMULAS, MIN_FOR_ARRAYS, arrays, score_rankings
from ragstone.rankings.arrays import ARRAY_FORMULAS

CUTS = ("@1", "@3", "@10", "@1000", "")
METRICS = [family + cut for family in FORMULAS for cut in CUTS]


def score_with(minimum, rankings, relevant, gain="linear"):
    metrics = [{name: {"gain": gain}} if name.startswith("ndcg") else name for name in METRICS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "MIN_FOR_ARRAYS", minimum)
        return score_rankings(rankings, relevant, metrics)


def score_both(rankings, relevant, gain="linear"):
    return score_with(0, rankings, relevant, gain), score_with(10**9, rankings, relevant, gain)


def assert_same(rankings, relevant, gain="linear"):
    ours, plain = score_both(rankings, relevant, gain)
    for name in ours.__slots__:
        assert getattr(ours, name) == getattr(plain, name), name
    return ours


def draw_queries(seed: int, count: int, draw_score) -> tuple[list, list]:
    """Rankings of 0 to 40 ids in no order, and up to 20 grades from -1 to 3, many never found."""
    rng = random.Random(seed)
    pool = [f"d{n}" for n in range(70)]
    rankings = [
        {name: draw_score(rng) for name in rng.sample(pool, rng.randint(0, 40))}
        for _ in range(count)
    ]
    relevant = [
        {name: rng.randint(-1, 3) for name in rng.sample(pool, rng.randint(0, 20))}
        for _ in range(count)
    ]
    return rankings, relevant


SCORES = {
    "floats": lambda rng: rng.random(),
    "tied floats": lambda rng: rng.randint(0, 9) / 4,
    "both zeros": lambda rng: rng.choice([0.0, -0.0, rng.random(), -rng.random()]),
    "infinities": lambda rng: rng.choice([math.inf, -math.inf, rng.random()]),
    "ints": lambda rng: rng.randint(-(10**6), 10**6),
    "ints that floats cannot tell apart": lambda rng: 2**60 + rng.randint(0, 200),
    "ints beyond the floats": lambda rng: 10**400 + rng.randint(0, 200),
    "numpy floats": lambda rng: np.float32(rng.random()),
    "numpy ints": lambda rng: np.int64(rng.randint(0, 100)),
    "fractions": lambda rng: Fraction(rng.randint(1, 10**6), 10**40),
    "decimals": lambda rng: Decimal(1) + Decimal(rng.randint(1, 99)).scaleb(-20),
    "bools": lambda rng: rng.random() < 0.1,
}


@pytest.mark.parametrize("gain", ["linear", "exp2"])
@pytest.mark.parametrize("kind", SCORES)
def test_arrays_equal_the_formulas(kind, gain, monkeypatch):
    monkeypatch.setattr(bulk, "BLOCK", 70)
    monkeypatch.setattr(arrays, "LOOKUP_BATCH", 16)
    found = assert_same(*draw_queries(3, 300, SCORES[kind]), gain)
    assert found.ids
    assert found.undefined


def test_arrays_know_every_formula():
    assert ARRAY_FORMULAS.keys() == FORMULAS.keys()


def test_ties_are_ordered_as_trec_eval_does():
    rankings, relevant = draw_queries(5, 400, SCORES["tied floats"])
    run = {f"q{n}": ranking for n, ranking in enumerate(rankings) if ranking}
    qrel = {f"q{n}": grades for n, grades in enumerate(relevant) if grades}
    asked = {"recip_rank": "mrr", "map": "map", "ndcg_cut.10": "ndcg@10", "P.10": "precision@10"}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, set(asked)).evaluate(run)
    ours = score_rankings(run, qrel, list(asked.values()))
    assert len(ours.ids) >= MIN_FOR_ARRAYS
    assert set(ours.unranked) == qrel.keys() - run.keys()
    for name, mine in asked.items():
        want = [theirs[query][name.replace(".", "_")] for query in ours.ids]
        assert ours[mine].tolist() == pytest.approx(want, abs=1e-9)


grades = st.floats(-2, 1.7e308, allow_nan=False) | st.integers(0, 3) | st.floats(0, 1e-300)
scores = st.floats(allow_nan=False) | st.integers() | st.sampled_from([0.0, -0.0, 1.0])
names = st.sampled_from([f"d{n}" for n in range(12)])
queries = st.lists(
    st.tuples(st.dictionaries(names, scores), st.dictionaries(names, grades)), min_size=1
)


@given(queries, st.sampled_from(["linear", "exp2"]))
def test_arrays_equal_the_formulas_on_any_numbers(drawn, gain):
    ours, plain = score_both([one[0] for one in drawn], [one[1] for one in drawn], gain)
    assert (ours.ids, ours.undefined) == (plain.ids, plain.undefined)
    for name, values in ours.values.items():
        assert values.tolist() == pytest.approx(plain.values[name].tolist(), abs=1e-12), name


def test_grades_that_differ_by_less_than_a_difference_can_hold_are_told_apart():
    relevant = {"a": 1e-20, "b": 2e-20, "c": 3.0, "d": 1.0}
    assert_same([{"d": 3.0, "a": 2.0, "b": 1.0}] * 3, [relevant] * 3)


def test_other_shapes_among_the_dictionaries_are_scored_too():
    rankings = [{"a": 2.0, "b": 1.0}, ["b", "a", "b"], ("a",), {"b": 1.0}, {}]
    relevant = [{"a": 1}, {"a": 2}, ["a", "c"], {"b"}, {"a": 1}]
    found = assert_same(rankings, relevant)
    assert found["mrr"].tolist() == [1.0, 0.5, 1.0, 1.0, 0.0]
    assert len(found.warnings) == 1


def test_queries_that_are_not_judged_or_not_ranked():
    run = {f"q{n}": {"a": 1.0, "b": 0.5} for n in range(300)}
    qrel = {f"q{n}": {"b": 1} if n % 2 else {"b": 0} for n in range(100, 400)}
    found = score_rankings(run, qrel, ["mrr"])
    assert found.ids == [f"q{n}" for n in range(101, 300, 2)]
    assert found.undefined == [f"q{n}" for n in range(300) if n < 100 or n % 2 == 0]
    assert found.unranked == [f"q{n}" for n in range(300, 400)]
    assert found["mrr"].tolist() == [0.5] * 100


def test_nothing_retrieved_or_nothing_judged_anywhere():
    assert set(assert_same([{}] * 3, [{"a": 1}] * 3)["map"]) == {0.0}
    assert assert_same([{"a": 1.0}] * 3, [{}] * 3).undefined == [0, 1, 2]
    assert_same([{}], [{}])


@pytest.mark.parametrize(
    ("ranking", "judged", "refusal", "says"),
    [
        ({"a": 1.0, "b": math.nan}, {"a": 1}, DataError, "query 250 has a score that is NaN"),
        ({"a": 1.0}, {"a": math.nan}, DataError, "query 250 in `relevant` is not a finite"),
        ({"a": 1.0}, {"a": math.inf}, DataError, "query 250 in `relevant` is not a finite"),
        ({"a": 1.0, "b": "2"}, {"a": 1}, TypeError, "NoneType|str"),
        ({"a": 1.0, "b": None}, {"a": 1}, TypeError, "NoneType|str"),
    ],
)
def test_many_queries_are_refused_as_few_are(ranking, judged, refusal, says):
    rankings, relevant = [{"a": 1.0}] * 300, [{"a": 1}] * 300
    rankings[250], relevant[250] = ranking, judged
    with pytest.raises(refusal, match=says):
        score_rankings(rankings, relevant)


@pytest.mark.parametrize("kind", [np.float32, Decimal, Fraction])
def test_grades_of_any_kind_are_taken_as_floats(kind):
    rankings = [{"a": 2.0, "b": 1.0, "c": 0.5}] * 3
    relevant = [{"b": kind("0.1"), "c": kind("0.3")}] * 3
    found = assert_same(rankings, relevant)
    plain = {name: float(grade) for name, grade in relevant[0].items()}
    assert (
        found["ndcg"].tolist() == score_rankings(rankings, [plain] * 3, ["ndcg"])["ndcg"].tolist()
    )


def test_few_queries_need_no_numpy():
    code = (
        "import sys, ragstone.rankings as it\n"
        "it.score_rankings([{'a': 1.0}], [{'a': 1}], ['mrr'])\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
