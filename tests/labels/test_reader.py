"""Labels from files: own rows, spreadsheets, and exports of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import DataError
from ragstone.labels import Label, ReadOptions, read_labels


def write(folder: Path, *rows: Any) -> str:
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_own_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    label = Label(
        "q1", "claim", 0.0, "contradicted", item="The mill is old.", author="ana",
        at=1_700_000_000_000_000, run="r1", comment="1850", content="ab", sampling_probability=0.125, origin="random",
    )  # fmt: skip
    note = Label("q2", "note", None, "look at this", author="ana", at=1_700_000_000_000_000)
    file = read_labels(write(tmp_path, label.to_row(), note.to_row()))
    assert file.labels == (label, note)


def test_a_spreadsheet_has_a_column_for_each_question(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(
        "id,annotator,Correctness,relevance\nq1,ana,yes,1\nq2,ana,incorrect,\n", "utf-8"
    )
    labels = read_labels(str(path)).labels
    assert [(label.sample, label.target, label.value) for label in labels] == [
        ("q1", "correctness", 1.0),
        ("q1", "relevance", 1.0),
        ("q2", "correctness", 0.0),
    ]
    assert {label.author for label in labels} == {"ana"}


def test_columns_can_be_mapped_and_scales_given(tmp_path: Path) -> None:
    path = write(tmp_path, {"ticket": 7, "stars": 4, "who": {"name": "luis"}})
    fields = {"sample": "ticket", "value": "stars", "author": "who.name"}
    (label,) = read_labels(path, ReadOptions(fields, "correctness", scale=(1, 5))).labels
    assert (label.sample, label.value, label.author) == ("7", 0.75, "luis")


@pytest.mark.parametrize(
    ("title", "row", "expected"),
    [
        (
            "Phoenix annotations",
            {"id": "a", "span_id": "67f6", "name": "correctness", "annotator_kind": "HUMAN", "user_id": "u1",
             "result": {"label": "correct", "score": None, "explanation": "yes"}, "created_at": "2026-01-01T00:00:00Z"},
            ("67f6", "correctness", 1.0, "u1", "yes"),
        ),
        (
            "Langfuse scores",
            {"id": "a", "traceId": "t1", "name": "Helpfulness", "value": 0.5, "dataType": "NUMERIC",
             "source": "ANNOTATION", "authorUserId": "u2", "comment": "so so"},
            ("t1", "score", 0.5, "u2", "so so"),
        ),
        (
            "LangSmith feedback",
            {"id": "a", "run_id": "r1", "key": "correctness", "score": 0, "value": None, "comment": None,
             "feedback_source": {"type": "app", "user_id": "u3"}},
            ("r1", "correctness", 0.0, "u3", ""),
        ),
        (
            "Argilla records",
            {"id": "a", "external_id": "q1", "fields": {"text": "x"}, "responses":
             {"relevance": [{"value": "irrelevant", "user_id": "u4", "status": "submitted"}]}},
            ("q1", "relevance", 0.0, "u4", ""),
        ),
    ],
)  # fmt: skip
def test_exports_of_other_tools_are_recognised(
    tmp_path: Path, title: str, row: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    file = read_labels(write(tmp_path, row))
    (label,) = file.labels
    assert file.format == title
    assert (label.sample, label.target, label.value, label.author, label.comment) == expected
    assert label.run == ""


def test_judgements_of_models_are_no_labels_of_people(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"span_id": "1", "name": "correctness", "annotator_kind": "LLM", "result": {"score": 1}},
        {"span_id": "2", "name": "correctness", "annotator_kind": "HUMAN", "result": {"score": 1}},
    )
    file = read_labels(path)
    assert [label.sample for label in file.labels] == ["2"]
    assert file.skipped == {"annotated by LLM": 1}


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (
            {"sample": "q1", "on": "correctness", "value": 4},
            "outside 0..1; give the scale: --scale 1..5",
        ),
        (
            {"sample": "q1", "on": "claim", "item": "x", "value": "maybe"},
            "supported, contradicted or not_found",
        ),
        ({"sample": "q1", "on": "correctnes", "value": 1}, "did you mean 'correctness'"),
        ({"sample": "q1", "on": "claim", "value": "supported"}, "needs its item"),
        ({"sample": "q1", "on": "correctness", "value": 1, "chance": 0}, "no probability above 0"),
        ({"sample": "q1", "value": 1}, "no column says what is labelled"),
        ({"value": 1}, "no column names the sample"),
    ],
)
def test_a_bad_row_is_named_with_the_remedy(
    tmp_path: Path, row: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(DataError, match="labels") as bad:
        read_labels(write(tmp_path, row))
    assert complaint in str(bad.value)
