"""The grades of chunks: what answers a part of a question is useful, what belongs to another question is not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ragstone.judges.offline.useful import answer_useful

CASES = tomllib.loads((Path(__file__).parent / "chunks.toml").read_text("utf-8"))["case"]


def grade(
    question: str, chunks: list[str], target: str | None = None, wording: int = 1
) -> list[dict[str, Any]]:
    values = {
        "question": question,
        "chunks": [{"id": f"k{n}", "text": text} for n, text in enumerate(chunks, 1)],
        "targets": {"question" if target is None else "reference": target},
        "wording": wording,
    }
    rows: list[dict[str, Any]] = answer_useful(values, None)["grades"]
    return rows


def share_useful(kind: str, question: int, chunk: int, towards: bool = False) -> float:
    """The share of chunks of a kind that get a grade, with the languages of question and chunk."""
    grades = []
    for number, case in enumerate(CASES):
        texts = CASES[(number + 7) % len(CASES)]["useful"] if kind == "far" else case[kind]
        target = case["reference"][question] if towards else None
        rows = grade(case["question"][question], [text[chunk] for text in texts], target)
        grades += [row["grade"] > 0 for row in rows]
    return sum(grades) / len(grades)


@pytest.mark.parametrize(
    ("question", "chunk", "bar"), [(0, 0, 0.7), (1, 1, 0.7), (0, 1, 0.7), (1, 0, 0.7)]
)
def test_chunks_that_answer_a_part_are_useful_and_those_of_other_questions_are_not(
    question: int, chunk: int, bar: float
) -> None:
    assert share_useful("useful", question, chunk) >= bar
    assert share_useful("other", question, chunk) <= 0.5
    assert share_useful("far", question, chunk) <= 0.02


@pytest.mark.parametrize("language", [0, 1])
def test_towards_a_reference_chunks_of_the_same_matter_that_do_not_lead_to_it_are_not_useful(
    language: int,
) -> None:
    assert share_useful("useful", language, language, towards=True) >= 0.7
    assert share_useful("other", language, language, towards=True) <= 0.1
    assert share_useful("far", language, language, towards=True) <= 0.02


def test_a_chunk_gets_the_highest_grade_only_when_it_answers_every_part() -> None:
    question = "When did the mill burn down and who rebuilt it?"
    half = "The mill burned down in 1803."
    whole = "The mill burned down in 1803 and was rebuilt by Tomas Arden."
    first, second = grade(question, [half, whole])
    assert (first["grade"], second["grade"]) == (1, 2)


def test_the_second_wording_is_lenient_and_the_chance_is_the_same() -> None:
    chunks = [text[0] for case in CASES for text in case["other"]]
    strict = [grade(CASES[0]["question"][0], [chunk])[0] for chunk in chunks]
    lenient = [grade(CASES[0]["question"][0], [chunk], wording=2)[0] for chunk in chunks]
    assert all(a["probability"] == b["probability"] for a, b in zip(strict, lenient, strict=True))
    assert all(a["grade"] <= b["grade"] for a, b in zip(strict, lenient, strict=True))
