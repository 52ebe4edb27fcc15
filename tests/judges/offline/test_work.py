"""How much work the offline judge does: counted, since seconds depend on the machine."""

import asyncio
import random
from typing import Any

import numpy as np
import pytest

from ragstone.asks import Case, claims, embed, support, useful
from ragstone.judges.offline import (
    OfflineJudge,
    cutting,
    features,
    model,
    reading,
    verdicts,
    words,
)
from ragstone.text import encoder
from ragstone.types import Chunk

CHUNKS = [
    "Ada Lovelace wrote the first program in 1843. She lived in London.",
    "The Analytical Engine was never built. Charles Babbage drew its plans.",
    "London lies on the Thames and has 9 million people.",
]
ANSWER = "Ada Lovelace wrote the first program. The engine was built in 1850."


def answered(*asks: Any) -> list[Any]:
    return asyncio.run(OfflineJudge().answer(asks))


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        return self.function(*args, **named)


def count(monkeypatch: pytest.MonkeyPatch, home: Any, name: str) -> Counted:
    counted = Counted(getattr(home, name))
    monkeypatch.setattr(home, name, counted)
    return counted


def test_each_text_is_read_once_however_many_questions_are_asked_of_it() -> None:
    sources = tuple(Chunk(str(n), text) for n, text in enumerate(CHUNKS))
    told = ("Ada Lovelace wrote the first program.", "The engine was built in 1850.")
    reading._read.cache_clear()
    answered(support(Case(told, sources)), support(Case((told[0],), sources)))
    answered(useful("Who wrote the first program?", sources, {"a": told[0]}))
    assert reading._read.cache_info().misses == len(
        {*CHUNKS, *told, "Who wrote the first program?"}
    )


def test_claims_of_a_case_are_laid_on_their_sources_once_and_judged_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    laid = count(monkeypatch, features, "align")
    predicted = count(monkeypatch, model.LogisticModel, "logits")
    monkeypatch.setattr(model.LogisticModel, "logits", lambda self, rows: predicted(self, rows))
    told = [reading.read(f"Ada Lovelace wrote program number {n}.") for n in range(12)]
    verdicts.judge_case(told, [reading.read(text) for text in CHUNKS])
    # once for all claims, once for the whole answer
    assert (laid.calls, predicted.calls) == (1, 2)


def test_the_work_of_reading_grows_with_the_number_of_sentences_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = count(monkeypatch, reading, "numbers")
    for sentences in (10, 40):
        looked.calls = 0
        text = " ".join(f"Line {n} of {sentences} says little." for n in range(sentences))
        reading.read(text)
        assert looked.calls == sentences


def test_the_encoder_sees_each_distinct_text_of_a_question_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    class Spy:
        def encode(self, texts: list[str]) -> Any:
            seen.extend(text for text in texts if text != " ")  # blanks fill up a group
            return np.ones((len(texts), encoder.DIMENSIONS), np.float32)

    monkeypatch.setattr(encoder, "_load_encoder", Spy)
    monkeypatch.setattr(encoder, "_recent", type(encoder._recent)())
    for _ in range(3):
        answered(embed("one text", "another text", "one text"))
    assert sorted(seen) == ["another text", "one text"]


def test_a_support_question_needs_no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = count(monkeypatch, encoder, "_load_encoder")
    answered(claims(ANSWER), support(Case((ANSWER,), (Chunk("a", CHUNKS[0]),))))
    assert loaded.calls == 0


WORDS = [
    "The",
    "the",
    "two",
    "Two",
    "twenty",
    "five",
    "5",
    "12",
    "1879",
    "3rd",
    "7",
    "pm",
    "PM",
    "p.m.",
    "a",
    "8:30",
    "8:30pm",
    "million",
    "k",
    "hundred",
    "th",
    "McDonald",
    "WiFi",
    "Wi-Fi",
    "takeout",
    "TakeOut",
    "iPhone",
    "NATO",
    "NATO's",
    "don't",
    "Don’t",
    "not",
    "May",
    "may",
    "%",
    "$5",
    "1,234.5",
    "1.234,5",
    "½",
    "²",
    "10²",
    "café",
    "Él",
    "año",
    "ñ",
    "東京",
    "día",
    "o",
    "Washington",
    "twin",
    "Tower",
    "work",
    "OutdoorSeating",
]


@pytest.mark.parametrize("language", ["en", "es", "fr"])
def test_words_looked_up_are_what_reading_one_by_one_gives(language: str) -> None:
    luck = random.Random(7)
    for _ in range(600):
        text = luck.choice(["", " "]).join(
            luck.choice(WORDS) + luck.choice([" ", " ", "-", ", "]) for _ in range(8)
        )
        slow = words.tokens(text, 0, len(text), language)
        assert words.numbers(text, 0, len(text), language) == [
            words.number_of(row[2:]) for row in slow
        ], text
        assert words.places(text, 0, len(text), language) == [row[:2] for row in slow], text
        assert words.written(text, 0, len(text), language) == [
            text[row[0] : row[1]] for row in slow
        ], text


def test_the_quick_pattern_finds_in_ascii_what_the_full_one_finds() -> None:
    luck = random.Random(8)
    for _ in range(2000):
        text = "".join(luck.choice("aTtwWiIfF-oOuUkKeE' 12:.,pPmM%$_\n") for _ in range(30))
        assert cutting.ASCII_TOKEN.findall(text) == cutting.TOKEN.findall(text)


def test_words_split_at_marks_are_those_that_the_pattern_finds() -> None:
    luck = random.Random(9)
    parts = [
        "wifi",
        "Wi-Fi",
        "takeouts",
        "Take-Out",
        "McAdam",
        "x",
        "a_b",
        "end.",
        "(so)",
        "é",
        "#",
        "I'm",
        "7%",
        "\t",
    ]
    for _ in range(2000):
        text = luck.choice(["", " "]).join(luck.choices(parts, k=luck.randint(0, 5)))
        assert cutting.raw_tokens(text) == cutting.TOKEN.findall(text)


def test_a_raised_figure_alone_is_read_like_any_sign() -> None:
    assert len(reading.read("10² = 100").ids) == 3


def test_sentences_that_chunks_share_are_looked_up_once() -> None:
    words._plain_sentence.cache_clear()
    reading._read.cache_clear()
    first, second = CHUNKS[0], CHUNKS[0].split(". ")[1] + " She died in 1852."
    reading.read(first, "en")
    before = words._plain_sentence.cache_info().misses
    reading.read(second, "en")
    assert words._plain_sentence.cache_info().misses == before + 1


def test_a_sentence_reads_the_same_whatever_text_it_stands_in() -> None:
    words._plain_sentence.cache_clear()
    alone = reading.read("She lived in London.", "en")
    joined = reading.read("Ada wrote it. She lived in London. Él no.", "en")
    words._plain_sentence.cache_clear()
    reading._read.cache_clear()
    assert reading.read("She lived in London.", "en").ids.tolist() == alone.ids.tolist()
    assert joined.ids[joined.sentence == 1].tolist() == alone.ids.tolist()
