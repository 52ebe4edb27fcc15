"""Failure classes: planted faults are called by their name, slices that fail more are found, chance ones are not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragstone.analysis.classes import choose_deciders
from ragstone.analysis.classify import classify
from ragstone.analysis.failures import analyse_failures, binomial_tail
from ragstone.analysis.slices import SliceCounter, fisher_test
from ragstone.errors import RagstoneError
from ragstone.judges.scale import ControlValues, JudgeScale
from ragstone.types import Chunk, Finding, Ranked, Sample, Score, chunks

METRICS = [
    {"name": name} for name in ("recall@3", "recall@10", "faithfulness", "answer_correctness")
]
DECIDERS = choose_deciders(METRICS, {}, {})
REFUSAL = "It is not mentioned in the document."
FAILED = Score(outcome="judge_error", kind="refusal", reason="no")


def classed(
    recall: float | Score = 1.0,
    faithful: float | Score = 1.0,
    correct: float | Score = 1.0,
    *,
    answer: str | None = "It opens at ten.",
    reference: str = "From nine on.",
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


def test_a_refusal_is_right_in_whatever_words_the_reference_declines() -> None:
    found = classed(1.0, 1.0, 1.0, answer=REFUSAL, reference="The documents do not say when.")
    assert found.kind == "fine"


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


def scale_of(
    metric: str, language: str = "en", *, false_alarms: float = 0.0, accuracy: float = 1.0
):
    return JudgeScale(
        "j", "judge", language, metric, ControlValues(1.0, 0.1, 100), ControlValues(0.0, 0.1, 100), 0.4,
        accuracy, accuracy, 0.5, 1.0, "controls", "2026-11-17", metric != "hallucination_rate",
        false_alarms,
    )  # fmt: skip


JUDGED = {"faithfulness": {"judged": True}}


def analyse(build, values, scales, **options):
    run = build("judged", {"faithfulness": values}, metrics=JUDGED, **options)
    return analyse_failures(run, scales=scales)


def test_a_judged_metric_decides_by_the_limit_that_was_measured_for_its_judge(build) -> None:
    scales = {("en", "faithfulness"): scale_of("faithfulness")}
    failures = analyse(build, [0.5] * 30 + [0.3] * 10, scales)
    assert failures.count("hallucination") == 10
    assert failures.shown == ("hallucination",)
    assert failures.withheld == ()


@pytest.mark.parametrize(
    ("scales", "reason"),
    [
        ({}, "unknown"),
        ({("es", "faithfulness"): scale_of("faithfulness", "es")}, "unknown"),
        ({("en", "faithfulness"): scale_of("faithfulness", accuracy=0.75)}, "unfit"),
    ],
)
def test_without_a_usable_scale_the_conclusion_is_withheld_and_said_so(
    build, scales, reason
) -> None:
    failures = analyse(build, [0.0] * 40, scales)
    assert failures.count("hallucination") == 0
    assert [(item.metric, item.language, item.reason) for item in failures.withheld] == [("faithfulness", "en", reason)]  # fmt: skip
    set_by_user = analyse_failures(
        failures_run(build), scales=scales, thresholds={"faithfulness": 0.5}
    )
    assert set_by_user.shown == ("hallucination",)


def failures_run(build):
    return build("again", {"faithfulness": [0.0] * 40}, metrics=JUDGED)


def test_as_many_failures_as_the_judge_errs_are_not_shown(build) -> None:
    scales = {("en", "faithfulness"): scale_of("faithfulness", false_alarms=0.1)}
    failures = analyse(build, [0.0] * 6 + [1.0] * 44, scales)
    assert failures.count("hallucination") == 6
    assert failures.shown == ()
    worse = build("worse", {"faithfulness": [0.0] * 20 + [1.0] * 30}, metrics=JUDGED)
    assert analyse_failures(worse, scales=scales).shown == ("hallucination",)


def test_the_binomial_tail_equals_scipy() -> None:
    for count, total, rate in [(0, 10, 0.1), (3, 10, 0.1), (40, 200, 0.15), (1, 5, 0.0)]:
        assert binomial_tail(count, total, rate) == pytest.approx(
            scipy_stats.binom.sf(count - 1, total, rate) if rate else 0.0, abs=1e-12
        )


FULL = "Items may be returned within 30 days. A refund takes 14 working days."


def classed_text(
    answer: str, text: str = FULL, *, faithful: float = 1.0, correct: float = 0.0, **more: str
):
    fields = {
        "question": "How many days does a refund take?",
        "reference": "14 working days",
        **more,
    }
    sample = Sample(
        "q", answer=answer, contexts=chunks({"id": "d", "text": text}), relevant={"d": 1.0}, language="en", **fields
    )  # fmt: skip
    values = {"recall@10": 1.0, "faithfulness": faithful, "answer_correctness": correct}
    return classify(sample, {name: Score(value) for name, value in values.items()}, DECIDERS).kind


def test_a_relevant_document_whose_text_lacks_the_answer_is_faulty_evidence() -> None:
    cut, stale = FULL[:37], FULL.replace("14", "21")
    assert classed_text(REFUSAL, cut) == "faulty_evidence"
    assert classed_text("A refund takes 21 working days.", stale) == "faulty_evidence"
    assert classed_text(REFUSAL) == "false_refusal"
    assert classed_text("A refund takes 21 working days.", faithful=0.0) == "hallucination"


def test_a_missing_id_does_no_harm_where_the_answer_is_right_and_supported() -> None:
    assert classed(0.0).kind == "fine"
    assert classed(0.0, 0.0).kind == "retrieval_failure"


def test_what_stands_word_for_word_in_a_chunk_is_no_hallucination() -> None:
    assert classed_text("A refund takes 14 working days [1].", faithful=0.0, correct=1.0) == "fine"
    assert classed_text("A refund takes 9 working days [1].", faithful=0.0) == "hallucination"


def test_an_answer_in_another_language_is_that_whatever_the_judge_says() -> None:
    spanish = "El reembolso tarda catorce días laborables en llegar a la cuenta."
    assert classed_text(spanish, faithful=0.0) == "wrong_language"


def test_a_right_answer_among_what_nobody_asked_is_verbose_and_a_long_one_is_not() -> None:
    beside = (
        "Our shops were painted last spring by three friends of the owner. The coffee machine has been "
        "repaired twice since then. Bicycles may stand in the yard behind the old mill, and dogs wait "
        "there too. The garden has roses, tulips and a pond with two ducks."
    )
    assert classed_text(f"{beside} A refund takes 14 working days.", correct=0.2) == "verbose"
    long = "A refund takes 14 working days, counted from the day on which the parcel reaches us."
    assert classed_text(long, correct=1.0) == "fine"


def test_a_long_answer_is_not_wrong_by_a_count_of_words() -> None:
    deciders = choose_deciders([{"name": "token_f1"}], {}, {})
    sample = Sample("q", question="?", answer=FULL, reference="14 working days", language="en")
    assert classify(sample, {"token_f1": Score(0.1)}, deciders).kind == "unclassified"


@pytest.mark.parametrize(
    ("field", "value", "rows"),
    [
        ("question_words", "> 4", [{"question": "Why is it that this is so here?" if n % 3 == 0 else "Why is it?"} for n in range(90)]),
        ("chunks", "> 2", [{"contexts": ["x"] * (6 if n % 3 == 0 else 2)} for n in range(90)]),
        ("word", "Tidewell", [{"question": "Does Tidewell pay?" if n % 3 == 0 else "Does it rain?"} for n in range(90)]),
        ("language_pair", "es → en", [
            {"question": "¿Es de la casa?" if n % 3 == 0 else "Is it of the house?", "language": "es" if n % 3 == 0 else "en",
             "answer": "It is one of the many that are here."} for n in range(90)
        ]),
    ],
)  # fmt: skip
def test_slices_that_nobody_tagged_are_named(build, field, value, rows) -> None:
    full = [{"question": "Why?", "answer": "That is so.", "reference": "x", **row} for row in rows]
    metrics = {"hallucination_rate": [1.0 if n % 3 == 0 else 0.0 for n in range(90)]}
    failures = analyse_failures(
        build(f"traits {field}", metrics, rows=full), thresholds={"hallucination": 0.5}
    )
    named = {(part.field, part.value) for part in failures.worse}
    assert (field, value) in named


def test_what_a_class_is_made_of_does_not_explain_it(build) -> None:
    rows = [
        {"question": "?", "answer": "a", "contexts": [] if n % 3 == 0 else [{"id": "d", "text": "t"}], "relevant": {"d": 1}}
        for n in range(90)
    ]  # fmt: skip
    failures = analyse_failures(
        build("empty", {"recall": [float(n % 3 > 0) for n in range(90)]}, rows=rows)
    )
    assert failures.shown == ("retrieval_failure",)
    assert failures.class_slices["retrieval_failure"] == ()


ANSWER_METRICS = [
    {"name": name}
    for name in ("answer_relevance", "faithfulness", "completeness", "answer_correctness")
]


def class_answer(answer: str, relevance: float, complete: float, correct: float) -> str:
    sample = Sample(
        "q", "Who founded the lighthouse society of Torreluna?", answer,
        Ranked([Chunk("d", "The lighthouse society of Torreluna was founded in spring by Ana Prieto.")]),
        reference="Ana Prieto", language="en",
    )  # fmt: skip
    values = (relevance, 1.0, complete, correct)
    scores = {str(m["name"]): Score(v) for m, v in zip(ANSWER_METRICS, values, strict=True)}
    return classify(sample, scores, choose_deciders(ANSWER_METRICS, {}, {})).kind


def test_half_an_answer_is_incomplete_not_off_topic() -> None:
    assert class_answer("It was somebody called Ana.", 0.1, 0.5, 0.5) == "incomplete"
    assert class_answer("The harbour opens at nine.", 0.1, 0.0, 0.0) == "off_topic"


def test_the_right_sentence_with_another_name_in_it_is_wrong_not_off_topic() -> None:
    swapped = "The lighthouse society of Torreluna was founded in spring by Luis Vega."
    assert class_answer(swapped, 0.1, 0.0, 0.0) == "generation_failure"
    assert class_answer("Luis Vega likes lighthouses.", 0.1, 0.0, 0.0) == "off_topic"


def test_a_slice_has_five_samples_and_a_topic_a_share_of_the_questions() -> None:
    def list_slices(with_word: int, tagged: int) -> set[str]:
        counter = SliceCounter()
        for n in range(200):
            meta = {"kind": "rare" if n < tagged else "usual"}
            question = f"What of {'zebras' if n < with_word else 'it'}?"
            counter.add(
                Sample(str(n), question=question, meta=meta), *(["fault"] if n < 100 else [])
            )
        return {f"{found.field}={found.value}" for found in counter.build_slices(["fault"])}

    assert {"kind=rare", "word=zebras"} <= list_slices(8, 5)
    assert list_slices(7, 4).isdisjoint({"kind=rare", "word=zebras"})


def test_a_class_that_hides_another_makes_no_slice_of_it() -> None:
    counter = SliceCounter()
    for n in range(40):
        # half lack the evidence; all are refused
        kinds = ("retrieval_failure", "false_refusal") if n < 20 else ("false_refusal",)
        counter.add(Sample(str(n), meta={"side": "left" if n < 20 else "right"}), *kinds)
    first = counter.build_slices(["false_refusal"])
    assert [part.value for part in first if part.worse] == ["right"]
    assert not any(part.worse for part in counter.build_slices(["false_refusal"], every=True))


@pytest.mark.parametrize(("relevant", "unmatched"), [("1", None), ("doc-1", ("1", "doc-1"))])
def test_ids_that_name_documents_in_another_way_are_said(relevant, unmatched) -> None:
    import ragstone

    row = {"question": "?", "answer": "Yes.", "contexts": [{"id": "1", "text": "Yes."}]}
    run = ragstone.evaluate([row | {"relevant": [relevant]}], ["recall"])
    assert analyse_failures(run.stored).unmatched == unmatched
