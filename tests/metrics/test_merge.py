"""Questions of one round put as few: what is united, what stays apart, and that nobody gets another's reply."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from ragstone.asks import (
    Case,
    ask,
    aspects,
    claims,
    embed,
    questions,
    rate,
    support,
    together,
    useful,
)
from ragstone.engine.merge import merge_asks
from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.registry import REGISTERED
from ragstone.types import ChatMessage, Chunk, Sample, chunks

A, B, C = Chunk(text="alpha"), Chunk(text="beta"), Chunk(text="gamma")


def taken(asks, judge):
    """What each Ask gets when the merged ones are answered."""
    got = {}
    for one in merge_asks(asks):
        value = judge(one.ask)
        for index, take in one.parts:
            assert index not in got
            got[index] = take(value)
    return [got[n] for n in range(len(asks))]


MANY = [
    claims("One. Two."),
    claims("Three."),
    claims("One. Two."),
    claims("Eins.", language="de"),
    support(Case(("p", "q"), (A, B))),
    support(Case(("q", "r"), (A, B))),
    support(Case(("p",), (A,))),
    support(Case(("s", "p"), (C,))),
    support(Case(("p",), (A,)), Case(("q",), (B,))),
    useful("Q?", [A, B], {"question": None}),
    useful("Q?", [A, B], {"reference": "alpha"}),
    useful("Q?", [A, B], {"question": None}, wording=2),
    useful("Q?", [A, B], {"reference": "another"}),
    questions("One."),
    aspects("Q?", "One."),
    rate({"answer": "One."}, "tone", "How?", ["a", "b"]),
    embed("a", "b"),
    embed("a", "b"),
]


def test_every_ask_gets_the_reply_it_would_have_got_alone(Script):
    judge = Script(
        quotes={"p": ["alpha"], "q": ["beta"], "s": ["gamma"]}, grades={"alpha": 2, "beta": 1}
    )
    for together_, alone in zip(taken(MANY, judge), map(judge, MANY), strict=True):
        assert together_ == alone


def test_few_asks_are_left():
    kinds = sorted(one.ask.kind for one in merge_asks(MANY))
    assert kinds == sorted(
        ["claims", "claims"]  # two languages
        + ["support"] * 3  # (A, B); A and C as single sources; the one of several cases
        + ["useful"] * 3  # the clash of two references; the other wording
        + ["questions", "aspects", "rate", "embed"]
    )


def test_claims_against_the_same_sources_are_united():
    (one,) = merge_asks([support(Case(("p", "q"), (A, B))), support(Case(("q", "r"), (A, B)))])
    (case,) = one.ask.values["cases"]
    assert [claim["text"] for claim in case["claims"]] == ["p", "q", "r"]
    assert [source["text"] for source in case["sources"]] == ["alpha", "beta"]


def test_single_sources_share_a_question_as_cases_of_their_own():
    (one,) = merge_asks([support(Case(("p",), (A,))), support(Case(("q",), (B,)))])
    assert [len(case["sources"]) for case in one.ask.values["cases"]] == [1, 1]


def test_cases_with_different_questions_stay_apart():
    questions = {"p": "Who?", "q": "Where?", "r": None}
    cases = [Case((text,), (A,), question=question) for text, question in questions.items()]
    (one,) = merge_asks([support(case) for case in cases])
    found = {case.get("question"): case["claims"][0]["text"] for case in one.ask.values["cases"]}
    assert found == {"Who?": "p", "Where?": "q", None: "r"}


def test_targets_of_the_same_chunks_are_united_in_the_schema_too():
    (one,) = merge_asks([MANY[9], MANY[10]])
    assert one.ask.values["targets"] == {"question": None, "reference": "alpha"}
    row = one.ask.schema["properties"]["grades"]["items"]["properties"]
    assert row["target"]["enum"] == ["question", "reference"]


def test_an_ask_without_company_is_left_as_it_is():
    for one in MANY:
        (merged,) = merge_asks([one])
        assert merged.ask == one
        value = {"any": "thing"}
        assert merged.parts[0][1](value) is value


def test_the_order_of_the_questions_does_not_matter():
    few = [MANY[n] for n in (0, 1, 4, 5, 9, 10)]
    wanted = [one.ask for one in merge_asks(few)]
    for order in itertools.permutations(few):
        assert [one.ask for one in merge_asks(order)] == wanted


def test_merging_again_changes_nothing():
    once = [one.ask for one in merge_asks(MANY)]
    twice = [one.ask for one in merge_asks(once)]
    assert {ask.key for ask in twice} == {ask.key for ask in once}


def row(identifier, source="k1"):
    evidence = [{"source": source, "quote": "alpha"}]
    return {"id": identifier, "verdict": "supported", "evidence": evidence, "reason": ""}


def test_a_quote_from_another_case_does_not_pass_for_ones_own():
    asks = [support(Case(("p",), (A,))), support(Case(("q",), (B,)))]

    def judge(merged):
        first, second = (case["sources"][0]["id"] for case in merged.values["cases"])
        return {"verdicts": [row("c1", second), row("c2", first)]}

    for value in taken(asks, judge):
        (verdict,) = value["verdicts"]
        assert verdict["id"] == "c1"
        assert verdict["evidence"][0]["source"] not in ("k1", "k2")


def test_invented_rows_reach_everyone_and_so_are_refused():
    asks = [support(Case(("p",), (A, B))), support(Case(("q",), (A, B)))]
    value = {"verdicts": [row("c1"), row("c2"), row("c77"), "noise", {"id": ["c1"]}]}
    for part in taken(asks, lambda _: value):
        assert len(part["verdicts"]) == 4


@pytest.mark.parametrize("value", [None, [], "text", {}, {"verdicts": None}])
def test_a_reply_without_rows_is_passed_on(value):
    asks = [support(Case(("p",), (A, B))), support(Case(("q",), (A, B)))]
    assert taken(asks, lambda _: value) == [value, value]


def test_repetitions_are_not_merged():
    from dataclasses import replace

    assert len(merge_asks([claims("One."), replace(claims("Two."), repeat=1)])) == 2


def test_together_puts_a_rounds_questions_at_once_and_keeps_failures_apart(drive, Script):
    def one(text, rounds):
        for _ in range(rounds):
            yield from ask(questions(text))
        return text

    def declines():
        yield from ask(questions("x"))
        raise NotApplicable("nothing")

    rounds = []

    def all_of_them():
        inner = together(one("a", 2), declines(), one("b", 1), one("c", 0))
        asks = next(inner)
        while True:
            rounds.append([ask.values["answer"] for ask in asks])
            try:
                asks = inner.send((yield asks))
            except StopIteration as end:
                return end.value

    a, failed, b, c = drive(all_of_them(), Script())
    assert (a, b, c) == ("a", "b", "c")
    assert isinstance(failed, NotApplicable)
    assert rounds == [["a", "x", "b"], ["a"]]


SAMPLE = Sample(
    "1",
    question="Who built the tower and when was it opened to people?",
    answer="Eiffel built it [1]. It opened in 1889 [2]. It is in Paris [3]. It is tall.",
    contexts=chunks(*({"id": f"d{n}", "text": f"Chunk {n}: Eiffel, 1889."} for n in range(5))),
    reference="Eiffel built it. It opened in 1889. It is made of iron.",
)
FIVE = [
    "faithfulness",
    "answer_relevance",
    "context_precision",
    "context_recall",
    "answer_correctness",
]


def judged() -> list[str]:
    return [name for name, one in REGISTERED.items() if one.judged and "ragstone" in _home(one)]


def _home(one):
    return one.function.__module__


def calls(rounds):
    return [ask.kind for asks in rounds for ask in asks if ask.kind != "embed"]


def test_the_five_usual_metrics_take_five_calls_a_sample(play, Script):
    scores, rounds = play(FIVE, SAMPLE, Script())
    assert len(scores) == 5
    assert sorted(calls(rounds)) == ["claims", "questions", "support", "support", "useful"]
    assert len(rounds) == 2


def test_all_judged_metrics_take_eight_calls_a_sample(play, Script):
    names = [name for name in judged() if "messages" not in REGISTERED[name].needs]
    assert len(names) >= 17
    scores, rounds = play(names, SAMPLE, Script())
    assert len(scores) == len(names)
    assert len(calls(rounds)) <= 8
    assert len(rounds) == 2


def test_without_a_reference_all_judged_metrics_take_eight_calls(play, Script):
    sample = Sample("1", SAMPLE.question, SAMPLE.answer, SAMPLE.contexts)
    names = [n for n in judged() if not {"reference", "messages"} & {*REGISTERED[n].needs}]
    _, rounds = play(names, sample, Script())
    assert len(calls(rounds)) <= 8


def test_a_turn_of_a_conversation_takes_three_calls_more(play, Script):
    history = (ChatMessage("user", "Tell me of the tower."), ChatMessage("assistant", "Sure."))
    scores, rounds = play(judged(), replace(SAMPLE, messages=history), Script())
    assert len(scores) == len(judged())
    # the broker puts an Ask of two rounds once
    more = {ask.key: ask.kind for asks in rounds for ask in asks}
    assert [*more.values()].count("standalone") == 1
    assert len([kind for kind in more.values() if kind != "embed"]) <= 11


def test_scores_do_not_depend_on_company_or_order(play, drive, Script):
    facts = {
        "Eiffel built it [1].": ["Eiffel, 1889"],
        "Eiffel built it.": ["Eiffel, 1889"],
        "It opened in 1889.": ["opened in 1889"],
    }
    grades = {chunk.text: n % 3 for n, chunk in enumerate(SAMPLE.contexts)}
    names = [name for name in judged() if "messages" not in REGISTERED[name].needs]
    together_, _ = play(names, SAMPLE, Script(quotes=facts, grades=grades))
    reverse, _ = play(names[::-1], SAMPLE, Script(quotes=facts, grades=grades))
    assert together_ == reverse
    for name in names:
        alone, _ = play([name], SAMPLE, Script(quotes=facts, grades=grades))
        assert alone[name] == together_[name], name
    assert together_["faithfulness"].value == 0.25


def test_a_failed_question_fails_only_the_metrics_that_asked_it(play, Script):
    judge = Script(replies={"useful": JudgeFailed("transport", "no line")})
    scores, _ = play(FIVE, SAMPLE, judge)
    failed = [name for name, score in scores.items() if isinstance(score, JudgeFailed)]
    assert failed == ["context_precision"]


def test_a_bare_answer_with_and_without_its_question_is_two_texts():
    asks = [claims("France"), claims("France", question="Which country?")]
    (merged,) = merge_asks(asks)
    assert [item.get("question") for item in merged.ask.values["texts"]] == [None, "Which country?"]
    reply = {
        "claims": [
            {"text_id": "t1", "sentence": 0, "claim": "France"},
            {"text_id": "t2", "sentence": 0, "claim": "The country is France."},
        ]
    }
    parts = {index: extract(reply)["claims"] for index, extract in merged.parts}
    assert [parts[n][0]["claim"] for n in (0, 1)] == ["France", "The country is France."]
    assert {row["text_id"] for rows in parts.values() for row in rows} == {"t1"}


def test_the_bare_answers_of_claims_are_kept_when_cases_are_united():
    bare = support(Case(("France reported it.",), (A, B), ("France",)))
    (merged,) = merge_asks([bare, support(Case(("q",), (A, B)))])
    (case,) = merged.ask.values["cases"]
    assert {claim["text"]: claim.get("answer") for claim in case["claims"]} == {
        "France reported it.": "France",
        "q": None,
    }
