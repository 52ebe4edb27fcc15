"""What a set without an LLM is filled with first and last, and what is written beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.data.corpora import documents
from ragstone.data.documents import Document, read_documents
from ragstone.testset.sets import generate

SHOP = Document(
    "shop", "The yearly pass costs 48 euros. The shop opens in March. The pass is not refunded.", "Linden Bikes: prices", "en"
)  # fmt: skip
LIBRARY = Document(
    "library",
    "A yearly card costs 12 euros. The reading room has 140 seats.",
    "Marlow Library: cards",
    "en",
)


def test_sentences_with_a_gap_come_last_and_only_where_questions_run_out() -> None:
    rich = generate(read_documents(documents()), 60, seed=3)
    assert len(rich) == 60
    assert not [item for item in rich.items if item.how == "cloze"]
    text = (
        "The Linden library opened in 1931 and has 140 seats. Ida Brandt runs the old reading room."
    )
    poor = generate([Document("p", text)], 30, kinds="factual,detail", seed=3)
    made = [item.how == "cloze" for item in poor.items]
    assert any(made)
    assert made == sorted(made)


def test_no_plain_question_is_dressed_or_joined_twice() -> None:
    made = generate([SHOP, LIBRARY], 60, seed=1)
    dressed = [item.proof["plain"] for item in made.items if item.kind in ("informal", "typos")]
    joined = [
        part["question"]
        for item in made.items
        if item.kind in ("two_in_one", "multi_document")
        for part in item.proof["parts"]
    ]
    assert len(dressed) == len(set(dressed))
    assert len(joined) == len(set(joined))


def test_one_short_paragraph_gives_several_plain_questions() -> None:
    text = "The Linden library opened in 1931 and has 140 seats. Books may be kept for three weeks. Ida Brandt runs the reading room."
    made = generate([Document("p", text)], 5, kinds="factual,detail")
    assert [item.how for item in made.items if item.how == "cloze"] == []
    assert len(made) == 5


@pytest.mark.parametrize("format", ["ragstone", "beir"])
def test_a_planted_document_is_written_out_for_the_corpus(tmp_path: Path, format: str) -> None:
    out = tmp_path / ("set" if format == "beir" else "set.jsonl")
    made = generate([SHOP, LIBRARY], 4, kinds="hidden_instruction", out=out, format=format)
    assert made.planted_in == tmp_path / "set.planted.jsonl"
    rows = [json.loads(line) for line in made.planted_in.open(encoding="utf-8")]
    wanted = {item.proof["planted"]["id"]: item.proof["planted"]["text"] for item in made.items}
    assert {row["id"]: row["text"] for row in rows} == wanted
    assert len(wanted) == len(made.items)
    if format == "beir":
        corpus = [json.loads(line) for line in (out / "corpus.jsonl").open(encoding="utf-8")]
        assert wanted.keys() <= {row["_id"] for row in corpus}
    generate([SHOP, LIBRARY], 4, kinds="factual", out=out, format=format)
    assert not made.planted_in.exists()
