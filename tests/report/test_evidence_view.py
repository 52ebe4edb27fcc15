"""Findings as a ledger, and texts cut around their evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.report.excerpts import EvidenceMark, cut_excerpts
from ragstone.report.ledger import build_ledger
from ragstone.types import Chunk, Finding, Ranked, Sample, Score

TEXT = "Albert Einstein was born in Ulm on 14 March 1879. He moved to Munich."


def sample(**fields: object) -> Sample:
    contexts = Ranked(
        [Chunk("a", "Nothing here."), Chunk("b", TEXT), Chunk("", "No id, but born in Ulm.")]
    )
    return Sample("1", **{"contexts": contexts, "answer": "He was born in Ulm.", **fields})  # type: ignore[arg-type]


def test_a_claim_that_two_metrics_share_is_listed_once() -> None:
    finding = Finding("He was born in Ulm.", "supported", chunk="b", quote="born in Ulm")
    book = build_ledger(
        sample(), {"x": Score(1.0, findings=(finding,)), "y": Score(0.0, findings=(finding,))}
    )
    assert [(entry.number, entry.metrics) for entry in book.entries] == [(1, ["x", "y"])]


def test_a_quote_is_marked_where_it_stands() -> None:
    finding = Finding("c", "supported", chunk="b", quote="born in Ulm", start=20, end=31)
    (mark,) = build_ledger(sample(), {"x": Score(1.0, findings=(finding,))}).in_chunks[1]
    assert TEXT[mark.start : mark.end] == "born in Ulm"


def test_offsets_that_do_not_hold_are_looked_up_again() -> None:
    finding = Finding("c", "supported", chunk="b", quote="BORN  in Ulm", start=0, end=11)
    (mark,) = build_ledger(sample(), {"x": Score(1.0, findings=(finding,))}).in_chunks[1]
    assert TEXT[mark.start : mark.end] == "born in Ulm"


def test_a_quote_that_is_nowhere_marks_nothing() -> None:
    finding = Finding(
        "c", "supported", chunk="b", quote="born in Paris", start=20, end=33, verified=False
    )
    assert build_ledger(sample(), {"x": Score(1.0, findings=(finding,))}).in_chunks == {1: []}


def test_a_chunk_without_an_id_goes_by_its_rank() -> None:
    finding = Finding("c", "supported", chunk="3", quote="born in Ulm")
    book = build_ledger(sample(), {"x": Score(1.0, findings=(finding,))})
    assert book.entries[0].chunk == 2
    assert len(book.in_chunks[2]) == 1


def test_a_span_is_marked_in_the_text_its_words_come_from() -> None:
    found = (
        Finding("born in Ulm", "supported", span=(0, 19)),
        Finding("born in Berlin", "omission", span=(0, 18)),
    )
    book = build_ledger(sample(reference="Born in Berlin, no"), {"x": Score(0.5, findings=found)})
    assert [mark.number for mark in book.in_answer] == [1]
    assert [mark.number for mark in book.in_reference] == [2]


def test_a_finding_about_the_answer_marks_the_answer() -> None:
    finding = Finding("aspect", "covered", chunk="answer", quote="in Ulm")
    (mark,) = build_ledger(sample(), {"x": Score(1.0, findings=(finding,))}).in_answer
    assert (mark.start, mark.end) == (12, 18)


spans = st.lists(st.tuples(st.integers(-5, 400), st.integers(-5, 400)), max_size=5)


@given(st.text(max_size=400), spans, st.integers(80, 500))
def test_pieces_lose_no_character_and_say_how_many_are_left_out(
    text: str, places: list[tuple[int, int]], limit: int
) -> None:
    marks = [EvidenceMark(start, end, n, "good") for n, (start, end) in enumerate(places, 1)]
    at = 0
    for part in cut_excerpts(text, marks, limit):
        if part.left_out:
            at += part.left_out
            continue
        assert text[at : at + len(part.text)] == part.text
        for mark in marks:
            inside = mark.start <= at and at + len(part.text) <= mark.end
            if 0 <= mark.start < mark.end <= len(text):
                assert (mark.number in part.numbers) == inside
        at += len(part.text)
    assert at == len(text)


@given(st.text(min_size=1, max_size=2000), spans, st.integers(80, 500))
def test_pieces_show_no_more_than_the_limit(
    text: str, places: list[tuple[int, int]], limit: int
) -> None:
    marks = [EvidenceMark(start, end, n, "good") for n, (start, end) in enumerate(places, 1)]
    assert sum(len(part.text) for part in cut_excerpts(text, marks, limit)) <= limit


def test_a_shortened_text_keeps_its_quote() -> None:
    text = "x" * 5000 + " the proof " + "y" * 5000
    start = text.index("the proof")
    parts = cut_excerpts(text, [EvidenceMark(start, start + 9, 1, "good")], 600)
    assert [part.text for part in parts if part.numbers] == ["the proof"]
    assert sum(part.left_out for part in parts) > 9000


@pytest.mark.parametrize(
    ("spots", "limit", "shown"),
    [
        # half of the room for the beginning, 80 characters around each mark
        ([(500, 520)], 400, [(0, 200), (420, 600)]),
        ([(500, 510), (560, 570)], 800, [(0, 400), (420, 650)]),
        ([(500, 520), (800, 820)], 400, [(0, 200), (420, 600)]),  # no room for the second
        ([(500, 520)], 160, [(0, 80)]),
        ([(5, 10)], 400, [(0, 200)]),
        ([(900, 1001), (8, 8)], 400, [(0, 400)]),  # marks outside the text
        ([], 999, [(0, 999)]),
        ([], 1000, [(0, 1000)]),
    ],
)
def test_a_long_text_is_shown_at_its_beginning_and_around_its_marks(
    spots: list[tuple[int, int]], limit: int, shown: list[tuple[int, int]]
) -> None:
    marks = [EvidenceMark(start, end, n, "good") for n, (start, end) in enumerate(spots)]
    windows: list[tuple[int, int]] = []
    at = 0
    for part in cut_excerpts("x" * 1000, marks, limit):
        end = at + len(part.text) + part.left_out
        if part.text and windows and windows[-1][1] == at:
            windows[-1] = (windows[-1][0], end)
        elif part.text:
            windows.append((at, end))
        at = end
    assert (windows, at) == (shown, 1000)
