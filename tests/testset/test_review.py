"""A person's decisions on items: kept at once, applied, taken up again, taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.generate import command
from ragstone.errors import DataError
from ragstone.testset.items import Item
from ragstone.testset.review import Decision, Review, decisions_file, original_file, read_items


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [
        Item(f"i{n}", f"Question {n}?", f"Answer {n}", {"d": 1.0}, (), "factual", "easy", "en", "t").to_row()
        for n in range(4)
    ]  # fmt: skip
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_decisions_are_applied_to_the_file_and_the_generated_items_kept(path: Path) -> None:
    before = path.read_bytes()
    review = Review.open(path)
    review.decide(Decision("i0", "accept"))
    review.decide(Decision("i1", "reject"))
    review.decide(Decision("i2", "edit", "A better question?", "A better answer"))
    assert review.write_decided() == 3
    items = {item.id: item for item in read_items(path)}
    assert list(items) == ["i0", "i2", "i3"]
    assert (items["i2"].question, items["i2"].reference) == (
        "A better question?",
        "A better answer",
    )
    assert items["i2"].proof["edited"] is True
    assert original_file(path).read_bytes() == before


def test_a_review_goes_on_where_it_was_and_a_decision_can_be_changed(path: Path) -> None:
    first = Review.open(path)
    first.decide(Decision("i1", "reject"))
    first.write_decided()
    again = Review.open(path)
    assert [item.id for item in again.open_items] == ["i0", "i2", "i3"]
    again.decide(Decision("i1", "accept"))
    assert again.write_decided() == 4
    again.take_back("i1")
    assert "i1" in {item.id for item in Review.open(path).open_items}


def test_a_decision_cut_short_by_death_is_as_if_it_were_not_made(path: Path) -> None:
    Review.open(path).decide(Decision("i0", "reject"))
    with decisions_file(path).open("a") as file:
        file.write('{"id": "i1", "verd')
    assert set(Review.open(path).decisions) == {"i0"}


def test_decisions_of_another_test_set_are_refused(path: Path) -> None:
    decisions_file(path).write_text('{"id": "elsewhere", "verdict": "accept"}\n')
    with pytest.raises(DataError, match="belongs to another test set"):
        Review.open(path)


def test_what_is_no_test_set_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no test set"):
        Review.open(tmp_path / "none.jsonl")
    (tmp_path / "x.jsonl").write_text('{"id": "a", "question": "Q?"}\n')
    with pytest.raises(DataError, match="is not an item of a generated test set"):
        Review.open(tmp_path / "x.jsonl")


def test_keys_in_the_terminal(path: Path) -> None:
    """Accept, reject, take back and accept, edit the question only, quit with one open; then the last."""
    typed = "aruae" + "New words?\n\n" + "q"
    done = CliRunner().invoke(command, ["--review", str(path)], input=typed)
    assert done.exit_code == 0, done.output
    assert "1 of 4  factual, easy, en" in done.output
    assert "2 accepted, 1 edited, 0 rejected, 1 item open" in done.output
    assert [item.question for item in read_items(path)] == [
        "Question 0?", "Question 1?", "New words?", "Question 3?",
    ]  # fmt: skip
    done = CliRunner().invoke(command, ["--review", str(path)], input="xr")
    assert "2 accepted, 1 edited, 1 rejected, 0 items open" in done.output
    assert len(read_items(path)) == 3
    done = CliRunner().invoke(command, ["--review", str(path)])
    assert "every item" in done.output


def test_an_edit_that_changes_nothing_is_no_decision(path: Path) -> None:
    done = CliRunner().invoke(command, ["--review", str(path)], input="e\n\nq")
    assert "nothing changed" in done.output
    assert not Review.open(path).decisions
