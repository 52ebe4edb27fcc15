"""Sentences, and sentences cut after their citation markers."""

import pytest

from ragstone.text.sentences import split_cited_parts, split_sentences


def cut(text: str, language: str | None = None) -> list[str]:
    return [text[start:end] for start, end in split_cited_parts(text, language)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Items go back within 30 days [1], if you have the receipt [2]. Refunds take a week [3].",
            ["Items go back within 30 days [1]", "if you have the receipt [2].", "Refunds take a week [3]."],
        ),
        (
            "Paris is the capital [1][2]; Lyon is large [faq-3] and old.",
            ["Paris is the capital [1][2]", "Lyon is large [faq-3]", "and old."],
        ),
        (
            "Puedes devolverlo en 30 días [1] siempre que tengas el recibo [2, 3].",
            ["Puedes devolverlo en 30 días [1]", "siempre que tengas el recibo [2, 3]."],
        ),
        ("He was born in Ulm [1], Germany [2].", ["He was born in Ulm [1]", "Germany [2]."]),
    ],
)  # fmt: skip
def test_a_sentence_is_cut_after_each_citation(text: str, parts: list[str]) -> None:
    assert cut(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Insulin [1] and metformin [2] lower blood sugar.",
        "The Golden Gate Bridge [1] opened in 1937.",
        "According to [1], the bridge opened in 1937.",
        "Según [2], el puente se abrió en 1937 [1].",
        "He wrote [sic] the letter and [the king] signed it.",
        "The bridge opened in 1937 [1].",
        "[1] The bridge opened in 1937.",
        "x[0] = y[1]",
    ],
)
def test_a_marker_that_follows_no_clause_cuts_nothing(text: str) -> None:
    assert cut(text) == [text[start:end] for start, end in split_sentences(text)] == [text]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One line\n\nand another", ["One line", "and another"]),
        ("No. It closes at nine.", ["No.", "It closes at nine."]),
        ("See No. 5 in the list.", ["See No. 5 in the list."]),
        ("  \n ", []),
    ],
)
def test_lines_are_cut_and_the_answer_no_stands_alone(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text)] == sentences
