"""The card of a test set and the comparison of two versions: what they count, and what they warn of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.testset import command
from ragstone.testset.card import build_card
from ragstone.testset.review import Decision, Review
from ragstone.testset.versions import compare_versions


def make_row(number: int, **changes: Any) -> dict[str, Any]:
    """An item as `ragstone generate` writes it."""
    document = f"d{number % 8}"
    meta = {
        "kind": ("factual", "how_to", "detail")[number % 3], "difficulty": "easy", "how": "template:definition",
        "evidence": [{"document": document, "quote": "x", "start": 0, "end": 1}], "proof": {"round_trip": "reader"},
    }  # fmt: skip
    row = {
        "id": f"i{number}", "question": f"What is tool {number}?", "reference": f"Tool {number}.",
        "relevant": {document: 1.0}, "language": "en", "meta": meta,
    }  # fmt: skip
    return {**row, **changes}


def write_set(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_card_counts_where_items_come_from_and_who_read_them(tmp_path: Path) -> None:
    path = write_set(tmp_path / "set.jsonl", [make_row(n) for n in range(24)])
    review = Review.open(path)
    review.decide(Decision("i0", "accept"))
    review.decide(Decision("i1", "reject"))
    card = build_card(path, labelled=["i2", "not-there"])
    assert card.items == 23, "a rejected item is no part of the set"
    assert card.makers == {"rules": 23}
    assert card.proofs == {"round_trip": 23}
    assert card.read == {"accept": 1, "edit": 0, "reject": 1, "labelled": 1}
    assert card.read_share == pytest.approx(2 / 23)


def test_a_balanced_large_set_that_was_read_has_no_weakness(tmp_path: Path) -> None:
    rows = [make_row(n) for n in range(120)]
    for n, row in enumerate(rows):
        row["meta"] = {
            **row["meta"],
            "how": "openai:writer",
            "proof": {"answered_by": "openai:other"},
        }
        if n % 10 == 0:
            row["meta"]["kind"] = "near_miss"
            row["relevant"] = {}
    path = write_set(tmp_path / "set.jsonl", rows)
    card = build_card(path, labelled=[f"i{n}" for n in range(60)])
    assert card.weaknesses == ()


def test_a_card_names_each_weakness(tmp_path: Path) -> None:
    meta = make_row(0)["meta"]
    own = {**meta, "kind": "factual", "how": "m", "proof": {"answered_by": "m"}}
    bare = {**meta, "kind": "factual", "proof": {}}
    rows = [make_row(n, relevant={"d": 1.0}, meta=own if n else bare) for n in range(10)]
    codes = {code for code, _ in build_card(write_set(tmp_path / "s.jsonl", rows)).weaknesses}
    assert codes == {"small", "one_kind", "one_document", "few_unanswerable", "unread", "unproved", "own_proof"}  # fmt: skip


def test_two_versions_are_compared_item_by_item(tmp_path: Path) -> None:
    rows = [make_row(n) for n in range(6)]
    old = write_set(tmp_path / "old.jsonl", rows)
    same = compare_versions(old, write_set(tmp_path / "turned.jsonl", rows[::-1]))
    assert same.is_empty, "the order of the items does not matter"
    assert same.old == same.new
    changed = [
        make_row(1, reference="Another."),
        make_row(2, id="other-id"),
        *rows[3:],
        make_row(9),
    ]
    found = compare_versions(old, write_set(tmp_path / "new.jsonl", changed))
    assert [item.id for item in found.changed] == ["i1"]
    assert found.changed[0].fields == {"reference": ("Tool 1.", "Another.")}
    assert [item.id for item in found.added] == ["i9"]
    assert [item.id for item in found.removed] == ["i0"]
    assert found.same == 4, "the same question with another id is the same item"


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_commands_show_and_write_them(tmp_path: Path, language: str) -> None:
    old = write_set(tmp_path / "old.jsonl", [make_row(n) for n in range(6)])
    new = write_set(tmp_path / "new.jsonl", [make_row(n) for n in range(2, 8)])
    card = tmp_path / "card.md"
    run = CliRunner().invoke(command, ["card", str(old), "-o", str(card), "--lang", language], standalone_mode=False)  # fmt: skip
    assert run.exit_code == 0, run.output
    assert "old.jsonl" in card.read_text("utf-8")
    assert "{" not in card.read_text("utf-8")
    run = CliRunner().invoke(
        command, ["compare", str(old), str(new), "--lang", language], standalone_mode=False
    )
    assert run.exit_code == 0
    assert "i7" in run.output
    assert "i0" in run.output
    told = CliRunner().invoke(
        command, ["compare", str(old), str(new), "--json"], standalone_mode=False
    )
    assert json.loads(told.output)["same"] == 4
