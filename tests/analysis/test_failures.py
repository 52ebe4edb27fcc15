"""Failure classes: planted faults are called by their name, slices that fail more are found, chance ones are not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragstone.analysis.classes import choose_deciders
from ragstone.analysis.classify import classify
from ragstone.analysis.failures import analyse_failures, binomial_tail
from ragstone.analysis.slices import fisher_test
from ragstone.errors import RagstoneError
from ragstone.types import Finding, Sample, Score, chunks

METRICS = [{"name": name} for name in ("recall@3", "recall@10", "faithfulness", "answer_correctness")]
DECIDERS = choose_deciders(METRICS, {}, {})
REFUSAL = "It is not mentioned in the document."
FAILED = Score(outcome="judge_error", kind="refusal", reason="no")


def classed(
    recall: float | Score = 1.0,
    faithful: float | Score = 1.0,
    correct: float | Score = 1.0,
    *,
    answer: str | None = "The answer.",
    reference: str = "The answer.",
    **fields: object,
):
    values = {"recall@10": recall, "faithfulness": faithful, "answer_correctness": correct}
    scores = {
        name: value if isinstance(value, Score) else Score(value) for name, value in values.items()
    }
    sample = Sample("q", question="?", answer=answer, reference=reference, **fields)  # type: ignore[arg-type]
    return classify(sample, scores, DECIDERS)


def test_a_good_answer_is_fine() -> None:
    assert classed().kind == "fine"


def test_low_recall_is_a_retrieval_failure_whatever_follows_from_it() -> None:
    found = classed(
        0.4, 0.1, 0.1, contexts=chunks("x", "b", "y"), relevant={"a": 1, "b": 1, "n": 0}
    )
    assert (found.kind, found.also) == (
        "retrieval_failure",
        ("hallucination", "generation_failure"),
    )
    assert (found.missed, found.instead) == (("a",), ("x", "y"))


def test_a_refusal_for_want_of_evidence_is_the_retrievers_fault() -> None:
    assert classed(0.0, answer=REFUSAL, contexts=chunks()).kind == "retrieval_failure"


def test_a_refusal_of_what_was_retrieved_is_false() -> None:
    assert classed(1.0, 1.0, 0.0, answer=REFUSAL).kind == "false_refusal"


def test_an_answer_where_there_is_none_is_a_missed_refusal() -> None:
    nothing = Score(outcome="not_applicable", reason="none")
    found = classed(nothing, 0.0, 0.0, reference=REFUSAL)
    assert (found.kind, found.also) == ("missed_refusal", ("hallucination",))


def test_a_right_refusal_is_fine_although_it_claims_nothing() -> None:
    nothing = Score(outcome="not_applicable", reason="none")
    assert classed(nothing, nothing, nothing, answer=REFUSAL, reference=REFUSAL).kind == "fine"


def test_unsupported_claims_are_a_hallucination_and_are_named() -> None:
    findings = (Finding("True.", "supported"), Finding("Made up.", "not_found"))
    found = classed(1.0, Score(0.5, findings=findings), 0.2)
    assert found.kind == "hallucination"
    assert [claim.text for claim in found.claims] == ["Made up."]


def test_a_wrong_answer_from_good_evidence_is_a_generation_failure() -> None:
    assert classed(1.0, 1.0, 0.69).kind == "generation_failure"
    assert classed(1.0, 1.0, 0.7).kind == "fine"


def test_what_the_judge_could_not_decide_is_its_failure_only_when_nothing_else_shows() -> None:
    assert classed(1.0, FAILED, 1.0).kind == "judge_failure"
    assert classed(0.0, FAILED, 1.0).kind == "retrieval_failure"


def test_a_system_that_gave_nothing_failed_itself() -> None:
    broken = Score(outcome="system_error", reason="timeout")
    assert classed(broken, broken, broken, answer=None, error="timeout").kind == "system_failure"


def test_without_any_metric_that_decides_nothing_is_called_fine() -> None:
    sample = Sample("q", question="?", answer="Yes.", reference="Yes.")
    assert classify(sample, {"coherence": Score(1.0)}, {}).kind == "unclassified"


def test_the_deepest_recall_decides_and_thresholds_can_be_set() -> None:
    assert DECIDERS["retrieval_failure"][0].metric == "recall@10"
    mild = choose_deciders(METRICS, {}, {"hallucination": 0.3, "answer_correctness": 0.1})
    assert mild["hallucination"][0].criterion.limit == 0.3
    assert mild["generation_failure"][0].criterion.limit == 0.1
    with pytest.raises(
        RagstoneError, match="no threshold 'halucination'; did you mean 'hallucination'"
    ):
        choose_deciders(METRICS, {}, {"halucination": 0.3})


def test_a_lower_is_better_metric_decides_from_the_other_side() -> None:
    deciders = choose_deciders([{"name": "hallucination_rate"}], {}, {})
    sample = Sample("q", question="?", answer="Yes.", reference="Yes.")
    assert classify(sample, {"hallucination_rate": Score(0.5)}, deciders).kind == "hallucination"
    assert classify(sample, {"hallucination_rate": Score(0.1)}, deciders).kind == "fine"


def run_of(build, failing, metas, name="run"):
    rows = [{"question": "?", "answer": "a", "reference": "a", **meta} for meta in metas]
    return build(name, {"recall": [0.0 if bad else 1.0 for bad in failing]}, rows=rows)


def test_a_run_is_counted_with_intervals_and_examples(build) -> None:
    failures = analyse_failures(run_of(build, [True] * 10 + [False] * 30, [{}] * 40))
    rates = {rate.label: rate for rate in failures.rates}
    assert rates["retrieval_failure"].count == 10
    assert rates["retrieval_failure"].rate == 0.25
    assert rates["retrieval_failure"].low == pytest.approx(0.142, abs=0.001)
    assert [one.id for one in failures.examples["retrieval_failure"]][:2] == ["q0", "q1"]
    json.dumps(failures.to_dict(), allow_nan=False)


def test_the_slice_that_fails_more_is_found_among_many(build) -> None:
    dice = np.random.default_rng(1)
    metas = [{"type": f"t{n % 8}", "topic": f"p{n % 5}"} for n in range(400)]
    failing = [dice.random() < (0.7 if meta["type"] == "t3" else 0.15) for meta in metas]
    failures = analyse_failures(run_of(build, failing, metas))
    assert [(one.field, one.value) for one in failures.worse] == [("type", "t3")]
    assert failures.worse[0].classes["retrieval_failure"] == failures.worse[0].failures


def test_slices_of_equal_samples_are_seldom_called_worse(build) -> None:
    dice = np.random.default_rng(2)
    alarms = 0
    for study in range(60):
        metas = [{"type": f"t{n % 6}", "topic": f"p{n % 7}"} for n in range(150)]
        alarms += bool(
            analyse_failures(run_of(build, dice.random(150) < 0.3, metas, f"s{study}")).worse
        )
    assert alarms <= 7  # 3 expected at most; more than 7 has a chance of 1 %


def test_a_field_with_a_value_for_each_sample_is_no_slice_and_said_so(build) -> None:
    failures = analyse_failures(
        run_of(build, [False] * 300, [{"url": f"u{n}"} for n in range(300)])
    )
    assert failures.slices == ()
    assert failures.dropped == ("url",)


@pytest.mark.parametrize("table", [(3, 7, 1, 19), (0, 5, 6, 0), (8, 2, 40, 350), (10, 10, 10, 10)])
def test_fisher_equals_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    assert fisher_test(*table) == pytest.approx(
        scipy_stats.fisher_exact([[a, b], [c, d]]).pvalue, rel=1e-9
    )
