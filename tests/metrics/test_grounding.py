"""Faithfulness, hallucination, noise: claims of the answer against what was retrieved."""

from __future__ import annotations

import pytest

from ragstone.errors import JudgeFailed, MissingField, NotApplicable
from ragstone.metrics.grounding import faithfulness, hallucination_rate, noise_sensitivity
from ragstone.types import Chunk, Ranked, chunks

BORN, DATE = "Einstein was born in Germany.", "He was born on 20 March 1879."
ANSWER = f"{BORN} {DATE}"
FACTS = "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."
CONTEXTS = chunks({"id": "bio", "text": FACTS})


def test_faithfulness_of_the_worked_example_is_one_half(drive, Script):
    judge = Script(quotes={BORN: ["a German-born theoretical physicist"]})
    assert drive(faithfulness(ANSWER, CONTEXTS), judge).value == 0.5


def test_every_claim_brings_its_evidence(drive, Script):
    judge = Script(
        quotes={BORN: ["German-born"]},
        against={DATE: ["born 14 March 1879"]},
    )
    supported, contradicted = drive(faithfulness(ANSWER, CONTEXTS), judge).findings
    assert supported.text == BORN
    assert supported.verdict == "supported"
    assert supported.chunk == "bio"
    assert supported.verified is True
    assert FACTS[supported.start : supported.end] == "German-born"
    assert ANSWER[slice(*supported.span)] == BORN
    assert contradicted.verdict == "contradicted"
    assert FACTS[contradicted.start : contradicted.end] == "born 14 March 1879"
    assert ANSWER[slice(*contradicted.span)] == DATE


def test_a_chunk_without_id_is_named_by_its_rank(drive, Script):
    contexts = Ranked([Chunk(text="Nothing."), Chunk(text=FACTS)])
    found = drive(faithfulness(BORN, contexts), Script(quotes={BORN: ["German-born"]})).findings
    assert found[0].chunk == "2"


def test_hallucination_rate_counts_and_splits_both_kinds(drive, Script):
    answer = f"{ANSWER} He liked tea."
    judge = Script(quotes={BORN: ["German-born"]}, against={DATE: ["14 March 1879"]})
    score = drive(hallucination_rate(answer, CONTEXTS), judge)
    assert score.value == pytest.approx(2 / 3)
    assert [f.verdict for f in score.findings] == ["supported", "contradicted", "not_found"]


def test_nothing_retrieved_supports_nothing_and_asks_for_no_verdict(drive, Script):
    judge = Script()
    score = drive(faithfulness(ANSWER, Ranked()), judge)
    assert score.value == 0.0
    assert [f.verdict for f in score.findings] == ["not_found", "not_found"]
    assert [ask.kind for ask in judge.asked] == ["claims"]


def test_contexts_that_are_only_ids_lack_a_field(drive, Script):
    with pytest.raises(MissingField, match="ids without texts"):
        drive(faithfulness(ANSWER, chunks("d1", "d2")), Script())


def test_an_answer_without_claims_is_not_applicable(drive, Script):
    judge = Script(replies={"claims": {"claims": []}})
    with pytest.raises(NotApplicable, match="makes no claim"):
        drive(faithfulness("Hello!", CONTEXTS), judge)
    with pytest.raises(NotApplicable, match="is empty"):
        drive(faithfulness("  ", CONTEXTS), judge)


def verdict(identifier, said="supported", source="k1", quote="German-born"):
    evidence = [{"source": source, "quote": quote}] if source else []
    return {"id": identifier, "verdict": said, "evidence": evidence, "reason": "so it says"}


def graded(drive, Script, *rows):
    return drive(faithfulness(ANSWER, CONTEXTS), Script(replies={"support": {"verdicts": [*rows]}}))


def test_support_without_a_quote_in_the_source_does_not_count(drive, Script):
    score = graded(drive, Script, verdict("c1"), verdict("c2", quote="born on 20 March 1879"))
    assert score.value == 0.5
    lie = score.findings[1]
    assert (lie.verdict, lie.verified, lie.start) == ("not_found", False, None)
    assert lie.reason == "the judge says supported, but its quote is not in the source (so it says)"


def test_support_without_any_quote_does_not_count(drive, Script):
    score = graded(drive, Script, verdict("c1"), verdict("c2", source=None))
    assert score.value == 0.5
    assert score.findings[1].verified is False


def test_one_invented_quote_alone_is_a_claim_not_found(drive, Script):
    rows = verdict("c1", quote="made up words"), verdict("c2", "not_found", source=None)
    assert graded(drive, Script, *rows).value == 0.0


def test_a_judge_that_can_quote_nothing_it_calls_supported_is_compromised(drive, Script):
    with pytest.raises(JudgeFailed, match="no quote of the 2") as raised:
        graded(drive, Script, verdict("c1", quote="made up"), verdict("c2", source=None))
    assert raised.value.kind == "compromised"


@pytest.mark.parametrize(
    "rows",
    [
        [verdict("c1")],
        [],
        [verdict("c1"), verdict("c1")],
        [verdict("c1"), verdict("c1"), verdict("c2")],
        [verdict("c1"), verdict("c3")],
        [verdict("c1"), verdict("c2"), verdict("c3")],
        [verdict("c1"), verdict("c2", source="k9")],
    ],
    ids=["missing", "empty", "repeated", "repeated extra", "invented", "extra", "invented source"],
)
def test_ids_must_be_covered_exactly_once(drive, Script, rows):
    with pytest.raises(JudgeFailed) as raised:
        graded(drive, Script, *rows)
    assert raised.value.kind == "incomplete"


@pytest.mark.parametrize(
    "reply",
    [
        None,
        [],
        {},
        {"verdicts": None},
        {"verdicts": [1, 2]},
        {"verdicts": [{"id": "c1"}]},
        {"verdicts": [{**verdict("c1"), "verdict": "maybe"}, verdict("c2")]},
        {"verdicts": [{**verdict("c1"), "evidence": ["k1"]}, verdict("c2")]},
        {"verdicts": [{**verdict("c1"), "evidence": [{"source": 1, "quote": ""}]}, verdict("c2")]},
    ],
)
def test_a_reply_of_another_shape_is_unparseable(drive, Script, reply):
    with pytest.raises(JudgeFailed) as raised:
        drive(faithfulness(ANSWER, CONTEXTS), Script(replies={"support": reply}))
    assert raised.value.kind == "unparseable"


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"text_id": "t2", "sentence": 0, "claim": "x"}, "incomplete"),
        ({"text_id": "t1", "sentence": 2, "claim": "x"}, "incomplete"),
        ({"text_id": "t1", "sentence": -1, "claim": "x"}, "incomplete"),
        ({"text_id": "t1", "sentence": True, "claim": "x"}, "unparseable"),
        ({"text_id": "t1", "sentence": 0, "claim": " "}, "unparseable"),
        ({"text_id": "t1", "claim": "x"}, "unparseable"),
    ],
)
def test_a_claim_from_nowhere_is_refused(drive, Script, row, kind):
    with pytest.raises(JudgeFailed) as raised:
        drive(faithfulness(ANSWER, CONTEXTS), Script(replies={"claims": {"claims": [row]}}))
    assert raised.value.kind == kind


def test_a_claim_repeated_in_another_sentence_is_asked_and_counted_once(drive, Script):
    judge = Script(quotes={BORN: ["German-born"]})
    score = drive(faithfulness(f"{BORN} {DATE} {BORN}", CONTEXTS), judge)
    assert score.value == pytest.approx(1 / 2)
    assert "said 2 times, counted once" in score.findings[0].reason
    (case,) = judge.asked[-1].values["cases"]
    assert [claim["text"] for claim in case["claims"]] == [BORN, DATE]


def test_the_same_words_count_once_whatever_their_case_and_marks_and_another_order_is_another_claim(
    drive, Script
):
    answer = "Alice beat Bob. alice beat Bob! Bob beat Alice."
    score = drive(faithfulness(answer, chunks({"id": "d", "text": "They played."})), Script())
    assert [finding.text for finding in score.findings] == ["Alice beat Bob.", "Bob beat Alice."]


def test_a_failed_judge_is_told(drive, Script):
    with pytest.raises(JudgeFailed, match="declined"):
        drive(
            faithfulness(ANSWER, CONTEXTS),
            Script(replies={"support": JudgeFailed("refusal", "declined")}),
        )


RIGHT, WRONG, NOISE = "Ice melts at 0 degrees.", "Ice is blue.", "Ice melts at 10 degrees."
NOISY = f"{RIGHT} {WRONG} {NOISE}"


def noisy() -> dict[str, list[str]]:
    return {RIGHT: ["melts at 0"], NOISE: ["melts at 10"]}


def test_noise_is_a_wrong_claim_that_a_chunk_supports(drive, Script):
    contexts = chunks({"id": "a", "text": "It melts at 0."}, {"id": "b", "text": "It melts at 10."})
    score = drive(noise_sensitivity(NOISY, contexts, "Ice melts at 0."), Script(quotes=noisy()))
    assert score.value == pytest.approx(1 / 3)
    assert [f.verdict for f in score.findings] == ["right", "wrong", "noise"]
    assert [f.chunk for f in score.findings] == ["reference", "", "b"]


def test_without_contexts_there_is_no_noise(drive, Script):
    judge = Script(quotes=noisy())
    score = drive(noise_sensitivity(NOISY, Ranked(), "Ice melts at 0."), judge)
    assert score.value == 0.0
    assert [f.verdict for f in score.findings] == ["right", "wrong", "wrong"]


def test_noise_needs_a_reference_with_text(drive, Script):
    with pytest.raises(NotApplicable, match="reference is empty"):
        drive(noise_sensitivity(NOISY, CONTEXTS, ""), Script())


def test_an_answer_that_only_names_something_is_split_with_its_question(drive, Script):
    question, statement = "Which country reported it?", "France reported it."
    rows = [{"text_id": "t1", "sentence": 0, "claim": statement}]
    judge = Script(quotes={statement: ["France reported it"]}, replies={"claims": {"claims": rows}})
    contexts = chunks({"id": "a", "text": "France reported it in May."})
    score = drive(faithfulness("France", contexts, question=question), judge)
    assert (score.value, score.findings[0].text) == (1.0, statement)
    assert judge.asked[0].values["texts"][0]["question"] == question
    assert judge.asked[1].values["cases"][0]["claims"][0]["answer"] == "France"


def test_a_whole_sentence_is_split_without_the_question(drive, Script):
    judge = Script()
    contexts = chunks({"id": "a", "text": "France reported it in May."})
    drive(faithfulness("It was France.", contexts, question="Which country reported it?"), judge)
    assert "question" not in judge.asked[0].values["texts"][0]


def test_a_claim_of_yes_or_no_has_the_words_of_the_question(drive, Script):
    statement = "The hotel does not have a pool."
    rows = [{"text_id": "t1", "sentence": 0, "claim": statement}]
    judge = Script(replies={"claims": {"claims": rows}})
    contexts = chunks({"id": "a", "text": "The hotel has a pool."})
    score = drive(faithfulness("No.", contexts, question="Does the hotel have a pool?"), judge)
    assert score.findings[0].text == statement


def rows_of(*chances, verdict="supported"):
    quote = [{"source": "k1", "quote": "The tower stands in Paris. It is tall. It is old."}]
    return {
        "verdicts": [
            {"id": f"c{n}", "verdict": verdict if p >= 0.5 else "not_found", "evidence": quote,
             "reason": "", "probability": p}
            for n, p in enumerate(chances, 1)
        ]
    }  # fmt: skip


TOWER_TEXT = "The tower stands in Paris. It is tall. It is old."


def test_a_claim_counts_with_its_probability(drive, Script):
    contexts = Ranked([Chunk("a", TOWER_TEXT)])
    judge = Script(replies={"support": rows_of(0.9, 0.6, 0.2)})
    score = drive(faithfulness(TOWER_TEXT, contexts), judge)
    assert score.value == pytest.approx((0.9 + 0.6 + 0.2) / 3)
    assert score.probability == pytest.approx(0.2)
    assert drive(hallucination_rate(TOWER_TEXT, contexts), judge).value == pytest.approx(
        1 - score.value
    )


def test_a_claim_between_the_bounds_is_shown_as_unclear(drive, Script):
    contexts = Ranked([Chunk("a", TOWER_TEXT)])
    judge = Script(replies={"support": rows_of(0.7, 0.5, 0.1)})
    findings = drive(faithfulness(TOWER_TEXT, contexts), judge).findings
    assert [finding.shown_verdict for finding in findings] == ["supported", "unclear", "not_found"]
