"""Ranking metrics against trec_eval (through pytrec_eval), one by one and in bulk."""

from __future__ import annotations

import random

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import DataError, UnknownMetric, Unscored
from ragstone.locale.messages import compose
from ragstone.metrics import resolve
from ragstone.rankings import FORMULAS, score_rankings
from ragstone.types import chunks

CUTS = (1, 3, 10, 1000)


def random_queries(count: int) -> tuple[list[list[str]], list[dict[str, int]]]:
    """Rankings of 0 to 30 ids, some repeated, with grades from -1 to 4, many never found."""
    rng = random.Random(7)
    pool = [f"d{n}" for n in range(60)]
    rankings = [rng.choices(pool, k=rng.randint(0, 30)) for _ in range(count)]
    relevant = [
        {name: rng.randint(-1, 4) for name in rng.sample(pool, rng.randint(0, 25))}
        for _ in range(count)
    ]
    return rankings, relevant


def trec_eval(rankings, relevant, cut: int | None) -> list[dict[str, float] | None]:
    """What trec_eval says, under our names; None where no document is relevant."""
    distinct = [list(dict.fromkeys(ranking)) for ranking in rankings]
    whole = evaluated(distinct, relevant, cut)
    short = evaluated([ranking[:cut] for ranking in distinct], relevant, None)
    return [
        in_our_names(whole.get(str(n)), short.get(str(n)))
        if any(grade > 0 for grade in grades.values())
        else None
        for n, grades in enumerate(relevant)
    ]


def evaluated(rankings, relevant, cut: int | None) -> dict[str, dict[str, float]]:
    names = {"p": "set_P", "recall": "set_recall", "map": "map", "ndcg": "ndcg"}
    if cut is not None:
        names = {"p": "P", "recall": "recall", "map": "map_cut", "ndcg": "ndcg_cut"}
        names = {ours: f"{theirs}.{cut}" for ours, theirs in names.items()}
    names["recip_rank"] = "recip_rank"
    runs = {
        str(n): {name: float(len(ranking) - place) for place, name in enumerate(ranking)}
        for n, ranking in enumerate(rankings)
        if ranking
    }
    qrels = {str(n): grades for n, grades in enumerate(relevant) if grades}
    found = pytrec_eval.RelevanceEvaluator(qrels, set(names.values())).evaluate(runs)
    return {
        query: {ours: values[theirs.replace(".", "_")] for ours, theirs in names.items()}
        for query, values in found.items()
    }


def in_our_names(whole, short) -> dict[str, float]:
    if whole is None or short is None:  # nothing was retrieved
        return dict.fromkeys(FORMULAS, 0.0)
    p, r = whole["p"], whole["recall"]
    return {
        "precision": p,
        "recall": r,
        "f1": 2 * p * r / (p + r) if p + r else 0.0,
        "hit_rate": float(short["recip_rank"] > 0),
        "mrr": short["recip_rank"],
        "map": whole["map"],
        "ndcg": whole["ndcg"],
    }


HOW_MANY = [500, pytest.param(2000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", HOW_MANY)
@pytest.mark.parametrize("cut", [None, *CUTS])
def test_every_ranking_metric_equals_trec_eval(cut, count):
    rankings, relevant = random_queries(count)
    expected = trec_eval(rankings, relevant, cut)
    assert sum(query is None for query in expected) > 0.01 * count
    assert sum(query is not None and query["recall"] == 0 for query in expected) > 0.01 * count
    for family in FORMULAS:
        metric = resolve(f"{family}@{cut}" if cut else family)
        for ranking, grades, want in zip(rankings, relevant, expected, strict=True):
            if want is None:
                with pytest.raises(Unscored):
                    metric.function(chunks(*ranking), grades, **metric.options)
            else:
                got = metric.function(chunks(*ranking), grades, **metric.options).value
                assert got == pytest.approx(want[family], abs=1e-9), (metric.name, ranking, grades)


def one_by_one(metric, rankings, relevant) -> list[float]:
    values = []
    for ranking, grades in zip(rankings, relevant, strict=True):
        try:
            values.append(metric.function(chunks(*ranking), grades, **metric.options).value)
        except Unscored:
            continue
    return values


EVERY = [
    *FORMULAS,
    *(f"{family}@{cut}" for family in FORMULAS for cut in (1, 3, 49, 1000)),
    "ndcg(gain=exp2)",
    "ndcg@3(gain=exp2)",
]


@pytest.mark.parametrize("count", HOW_MANY)
def test_bulk_equals_one_by_one_on_random_rankings(count):
    rankings, relevant = random_queries(count)
    scores = score_rankings(rankings, relevant, EVERY)
    for name in EVERY:
        single = one_by_one(resolve(name), rankings, relevant)
        assert np.abs(scores[name] - np.array(single)).max() < 1e-12, name
    assert len(scores.ids) + len(scores.undefined) == count


names = st.sampled_from([f"d{n}" for n in range(20)])
grades = st.floats(-2, 1.7e308, allow_nan=False) | st.integers(0, 3) | st.floats(0, 1e-300)
queries = st.lists(st.tuples(st.lists(names, max_size=25), st.dictionaries(names, grades)))


@given(queries)
def test_bulk_equals_one_by_one_on_any_grades(drawn):
    rankings, relevant = [one[0] for one in drawn], [one[1] for one in drawn]
    scores = score_rankings(rankings, relevant, EVERY)
    for name in EVERY:
        assert np.isfinite(scores[name]).all()
        single = np.array(one_by_one(resolve(name), rankings, relevant), dtype=float)
        assert scores[name] == pytest.approx(single, abs=1e-9), name


def test_bulk_of_a_run_of_scores_orders_as_trec_eval_does_ties_included():
    run = {"q": {"a": 1.0, "b": 2.0, "c": 1.0, "d": 0.5}}
    qrel = {"q": {"a": 1, "d": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, {"map", "recip_rank"}).evaluate(run)["q"]
    ours = score_rankings(run, qrel, ["map", "mrr"])
    assert ours["mrr"][0] == pytest.approx(theirs["recip_rank"], abs=1e-12)
    assert ours["map"][0] == pytest.approx(theirs["map"], abs=1e-12)


def test_bulk_by_query_names_what_it_did_not_score():
    scores = score_rankings(
        {"q1": ["a"], "q2": ["a"], "q3": ["b"]},
        {"q1": {"a": 1}, "q2": {"a": 0}, "q4": {"a": 1}},
        ["recall"],
    )
    assert (scores.ids, scores.undefined, scores.unranked) == (["q1"], ["q2", "q3"], ["q4"])
    assert scores.means() == {"recall": 1.0}


def test_bulk_takes_relevant_ids_without_grades():
    assert score_rankings([("a", "b")], [{"b"}], ["mrr"])["mrr"].tolist() == [0.5]
    assert score_rankings([["a", "b"]], [["b", "c"]], ["recall"])["recall"].tolist() == [0.5]


def test_bulk_warns_of_repeated_documents():
    scores = score_rankings([["x", "x", "a"], ["a"]], [{"a": 1}, {"a": 1}], ["mrr"])
    assert scores["mrr"].tolist() == [0.5, 1.0]
    assert scores.warnings == (compose("ranking_repeats_ids_in", n=1, total=2),)


def test_bulk_of_nothing_is_empty_and_has_no_mean():
    scores = score_rankings([], [])
    assert scores.means() == {}
    assert all(len(values) == 0 for values in scores.values.values())


@pytest.mark.parametrize(
    ("rankings", "relevant", "says"),
    [
        ([["a"]], [], "1 rankings for 0"),
        ({"q": ["a"]}, [{"a": 1}], "two lists in step or two mappings"),
        (["abc"], [{"a": 1}], "'abc'; give document ids"),
        ([["a"]], ["abc"], "'abc'; give ids"),
        ([["a"]], [{"a": float("inf")}], "not a finite number"),
        ([["a"]], [{"a": float("nan")}], "not a finite number"),
        ({"q": {"a": float("nan")}}, {"q": {"a": 1}}, "NaN"),
    ],
)
def test_bulk_refuses_at_the_door(rankings, relevant, says):
    with pytest.raises(DataError, match=says):
        score_rankings(rankings, relevant)


def test_bulk_knows_ranking_metrics_only():
    with pytest.raises(UnknownMetric, match="'token_f1' is no ranking metric"):
        score_rankings([["a"]], [{"a": 1}], ["token_f1"])
