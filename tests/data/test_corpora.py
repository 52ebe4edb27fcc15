"""The built-in corpus is what it says: ids exist, references stand in the documents, nothing twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from ragstone.data import corpora, read
from ragstone.data.documents import read_documents
from ragstone.errors import DataError
from ragstone.text.language import ABSTENTIONS
from ragstone.text.words import split_bare_words

DOCUMENTS = {document.id: document for document in read_documents(corpora.documents())}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in corpora.questions().read_text(encoding="utf-8").splitlines()
]


def of_type(*types: str) -> list[dict[str, Any]]:
    return [row for row in QUESTIONS if row["meta"]["type"] in types]


def test_it_is_large_enough_and_half_spanish() -> None:
    languages = Counter(document.language for document in DOCUMENTS.values())
    assert len(DOCUMENTS) >= 60
    assert len(QUESTIONS) >= 120
    assert min(languages["en"], languages["es"]) >= 0.45 * len(DOCUMENTS)
    assert len(of_type("impossible")) >= 20
    assert len(of_type("multi")) >= 10


def test_documents_are_of_a_readable_length() -> None:
    assert all(150 <= len(document.text.split()) <= 400 for document in DOCUMENTS.values())


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])
def test_what_is_wanted_stands_in_the_relevant_documents(row: dict[str, Any]) -> None:
    if row["meta"]["type"] == "impossible":
        assert row["reference"] in ABSTENTIONS
        assert "relevant" not in row
        return
    assert set(row["relevant"]) <= DOCUMENTS.keys()
    told = [DOCUMENTS[key] for key, grade in row["relevant"].items() if grade]
    text = " ".join(f"{document.title} {document.text}" for document in told)
    wanted = split_bare_words(row["reference"], row["language"])
    if row["meta"]["type"] == "cross":  # asked in the other language: figures are what both share
        wanted = [word for word in wanted if word[0].isdigit()]
    assert wanted
    assert set(wanted) <= set(split_bare_words(text, row["language"]))


def test_a_near_question_is_not_answered_by_its_neighbour() -> None:
    for row in of_type("near"):
        others = [DOCUMENTS[key] for key, grade in row["relevant"].items() if not grade]
        assert others
        text = " ".join(document.text for document in others)
        assert row["reference"].lower() not in text.lower(), row["id"]


def test_documents_that_need_two_documents_name_two() -> None:
    assert all(sum(map(bool, row["relevant"].values())) >= 2 for row in of_type("multi"))


def test_nothing_stands_twice() -> None:
    for rows in (
        [row["question"] for row in QUESTIONS],
        [row["id"] for row in QUESTIONS],
        [document.text for document in DOCUMENTS.values()],
        [document.title for document in DOCUMENTS.values()],
    ):
        assert len(rows) == len(set(rows))


def test_it_reads_as_any_data_set() -> None:
    reading = read(corpora.questions())
    assert reading.check() == len(QUESTIONS)
    assert reading.format == "ragstone columns"


def test_an_unknown_corpus_is_named() -> None:
    with pytest.raises(DataError, match="no built-in corpus 'countie'; did you mean 'counties'"):
        corpora.documents("countie")
