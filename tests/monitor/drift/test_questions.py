"""Other questions than usual: topics, languages and lengths are told apart from quality and from chance."""

from __future__ import annotations

import random

import pytest

from ragstone.monitor.drift.questions import (
    QuestionProfile,
    build_question_profile,
    compare_questions,
)
from ragstone.monitor.interactions import Interaction

PARTS = ("pump", "valve", "filter", "motor", "hose", "sensor", "seal", "tank")
ASKED = (
    "How long is the warranty of the {}?", "Which {} fits model {}?", "How do I clean the {}?",
    "Where can I buy a spare {}?", "Why does the {} make a noise after {} hours?",
)  # fmt: skip
OTHER = (
    "Which wine goes with grilled sea bass?", "Who won the chess championship in 1972?",
    "How do I write a sonnet about autumn?", "What is the capital of Mongolia?",
)  # fmt: skip


def asked(n: int, seed: int, *, other: float = 0.0, language: str = "en", tail: str = "") -> list[Interaction]:  # fmt: skip
    rng = random.Random(seed)
    found = []
    for k in range(n):
        text = rng.choice(ASKED).format(rng.choice(PARTS), rng.randrange(100))
        if rng.random() < other:
            text = rng.choice(OTHER)
        found.append(Interaction(f"i{k}", k, text + tail, language=language))
    return found


@pytest.fixture(scope="module")
def usual() -> QuestionProfile:
    profile = build_question_profile(asked(400, 1))
    assert profile is not None
    return QuestionProfile.from_json(profile.to_json())


def fired(usual: QuestionProfile, some: list[Interaction]) -> list[str]:
    shift = compare_questions(usual, some, "2026-05-01", 0.1, 0)
    return [one.rule for one in shift if one.state == "firing"]


def test_more_of_the_same_is_nothing_new(usual: QuestionProfile) -> None:
    assert [fired(usual, asked(200, seed)) for seed in range(2, 7)] == [[]] * 5


def test_questions_of_one_mould_may_be_a_letter_longer() -> None:
    def ask(digits: int) -> list[Interaction]:
        texts = [f"What is the state of order {n + 10**digits}?" for n in range(200)]
        return [Interaction(f"i{n}", n, text, language="en") for n, text in enumerate(texts)]

    mould = build_question_profile(ask(3))
    assert mould is not None
    assert "questions:lengths" not in fired(mould, ask(4))
    assert "questions:lengths" in fired(mould, ask(12))


def test_a_new_topic_is_found_with_examples_of_it(usual: QuestionProfile) -> None:
    shift = compare_questions(usual, asked(200, 9, other=0.3), "2026-05-01", 0.1, 0)
    (one,) = [one for one in shift if one.rule == "questions:topics"]
    assert one.state == "firing"
    assert one.facts["share"] > 0.25
    assert all(example["question"] in OTHER for example in one.facts["examples"])
    assert "of the questions of 2026-05-01 are unlike those" in one.title


def test_another_language_is_found(usual: QuestionProfile) -> None:
    some = asked(120, 3) + asked(80, 4, language="es")
    assert "questions:languages" in fired(usual, some)


def test_longer_questions_are_found(usual: QuestionProfile) -> None:
    assert "questions:lengths" in fired(
        usual, asked(200, 3, tail=" Please answer in full detail." * 3)
    )


def test_a_handful_says_nothing(usual: QuestionProfile) -> None:
    shift = compare_questions(usual, asked(10, 3, other=1.0), "2026-05-01", 0.1, 0)
    assert {one.state for one in shift} == {"unknown"}
    assert build_question_profile(asked(20, 1)) is None
