"""References and predictions of two files, matched into samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data import pair_predictions
from ragstone.types import Sample

REFERENCE = {"question_id": "q1", "question": "Where?", "answer": "Paris"}


def pair(refs: object, preds: object) -> Sample:
    (record,) = pair_predictions(refs, preds)
    return record.sample


def test_a_prediction_brings_its_contexts() -> None:
    contexts = [{"id": "d1", "text": "Paris is the capital."}]
    sample = pair([REFERENCE], [{"question_id": "q1", "answer": "Rome", "contexts": contexts}])
    assert (sample.reference, sample.answer) == ("Paris", "Rome")
    assert sample.contexts is not None
    assert [(chunk.id, chunk.text) for chunk in sample.contexts] == [("d1", contexts[0]["text"])]


@pytest.mark.parametrize("answer", ["Rome", ""])
def test_an_empty_cell_of_the_references_is_no_value_and_an_empty_answer_one(
    tmp_path: Path, answer: str
) -> None:
    path = tmp_path / "refs.csv"
    path.write_text("question_id,question,type,answer\nq1,Where?,,Paris\n", "utf-8")
    sample = pair(path, [{"question_id": "q1", "answer": answer}])
    assert (sample.reference, sample.answer, sample.error) == ("Paris", answer, None)
    assert "type" not in sample.meta


def test_an_answer_that_its_format_reads_as_a_reference_is_the_prediction() -> None:
    sample = pair([REFERENCE], [{"question_id": "q1", "question": "Where?", "reference": "Rome"}])
    assert (sample.reference, sample.answer, sample.error) == ("Paris", "Rome", None)
