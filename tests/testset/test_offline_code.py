"""A span of code in a sentence is one word: nothing in it is read, and it is asked as it is written."""

from __future__ import annotations

import pytest

from ragstone.data.documents import Document
from ragstone.testset.offline.twists import paraphrase
from ragstone.testset.offline.walk import facts_of
from ragstone.testset.prose import prose


def told(text: str, language: str) -> dict[str, str]:
    found = facts_of(Document("d", text, "", language), language)
    return {fact.question: fact.answer for fact in found}


@pytest.mark.parametrize(
    ("sentence", "language", "question", "answer"),
    [
        ("The field `judge_error` holds the message of the judge.", "en", "What does the field `judge_error` hold?", "the message of the judge"),
        ("The variable judge_error holds the message of the judge.", "en", "What does the variable judge_error hold?", "the message of the judge"),
        ("`judge_error` was introduced in 2021.", "en", "When was `judge_error` introduced?", "2021"),
        ("The key `a: b; c and more words` is stored in `config.toml` since 2019.", "en", "Since when is the key `a: b; c and more words` stored in `config.toml`?", "2019"),
        ("El campo `judge_error` guarda el mensaje del juez.", "es", "¿Qué guarda el campo `judge_error`?", "el mensaje del juez"),
        ("La opción `max_items: all` admite 40 elementos.", "es", "¿Cuántos elementos admite la opción `max_items: all`?", "40 elementos"),
        ("El campo judge_error tiene 20 letras.", "es", "¿Cuántas letras tiene el campo judge_error?", "20 letras"),
    ],
)  # fmt: skip
def test_code_is_asked_as_it_is_written(
    sentence: str, language: str, question: str, answer: str
) -> None:
    assert told(sentence, language)[question] == answer


def test_no_number_is_read_out_of_code() -> None:
    assert not any(
        "12 items" in answer
        for answer in told("The command `take 12 items` prints the report.", "en").values()
    )


def test_underscores_in_code_are_no_emphasis() -> None:
    text = "# Files\n\nThe file `__init__.py` is __never__ empty.\n"
    read = prose(text)
    assert len(read) == len(text)
    assert "`__init__.py` is   never   empty." in read


def test_a_paraphrase_leaves_code_alone() -> None:
    said = paraphrase("Where does the company `open city` the account?", "en")
    assert "`open city`" in said
    assert "firm" in said
