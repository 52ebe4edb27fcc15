"""Two-file evaluation: predictions of several systems against one file of references."""

from __future__ import annotations

import csv
import json

import pytest

NOT_THERE = "It is not mentioned in the document."
REFS = [
    {"question_id": f"q{n}", "doc_id": f"d{n}", "question": f"{n}?", "type": kind, "answer": answer}
    for n, (kind, answer) in enumerate(
        [("normal", "SparseSwaps"), ("normal", "Paris"), ("impossible", NOT_THERE)], 1
    )
]


def predictions(*answers: str | None) -> list[dict[str, str]]:
    return [
        {"question_id": f"q{n}", "answer": answer}
        for n, answer in enumerate(answers, 1)
        if answer is not None
    ]


@pytest.fixture
def files(write):
    write("answers.json", REFS)
    write("base.json", predictions("SparseSwaps algorithm", "Rome", "Yes"))
    write("good.json", predictions("sparseswaps", "Paris", NOT_THERE))
    write("gaps.json", predictions("SparseSwaps", None, NOT_THERE))


def test_one_table_for_all_files(call, files):
    result = call("eval", "--refs", "answers.json", "--preds", "base.json", "good.json")
    assert result.code == 0
    heading, *lines = result.out.splitlines()
    assert heading.split() == ["exact_match", "token_f1", "abstention_accuracy"]
    figures = {line.split()[0]: line.split()[1:] for line in lines if ".json" in line}
    assert figures == {
        "base.json": ["0.000", "0.222", "0.000"],
        "good.json": ["1.000", "1.000", "1.000"],
    }


def test_outputs(call, files, tmp_path):
    flags = ["-o", "c.json", "-o", "c.csv", "-o", "c.md"]
    call("eval", "--refs", "answers.json", "--preds", "base.json", "good.json", *flags)
    base, good = json.loads((tmp_path / "c.json").read_text())
    assert (base["name"], base["metrics"]["token_f1"]["mean"]) == (
        "base.json",
        pytest.approx(2 / 9),
    )
    assert good["metrics"]["abstention_accuracy"]["labels"]["correct_refusal"] == 1
    with (tmp_path / "c.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["base.json", "good.json"]
    assert float(rows[1]["exact_match"]) == 1.0
    assert float(rows[1]["exact_match_low"]) < 1.0
    text = (tmp_path / "c.md").read_text()
    assert text.startswith("| | exact_match | token_f1 | abstention_accuracy |\n")
    assert "| good.json | 1.000, " in text


def test_a_missing_prediction_counts_against_coverage(call, files):
    result = call("eval", "--refs", "answers.json", "--preds", "gaps.json")
    assert result.code == 3
    assert "gaps.json: no prediction for 1 of 3 questions" in result.err
    assert "gaps.json: exact_match: " in result.err
    assert (
        call("eval", "--refs", "answers.json", "--preds", "gaps.json", "--floor", "0.5").code == 0
    )


def test_no_unanswerable_question_is_no_fault(call, write):
    write("answers.json", REFS[:2])
    write("p.json", predictions("SparseSwaps", "Paris"))
    result = call("eval", "--refs", "answers.json", "--preds", "p.json")
    assert result.code == 0
    assert "0/0" in result.out


def test_predictions_that_belong_to_no_reference(call, files, write):
    write("odd.json", [*predictions("x"), {"question_id": "z9", "answer": "y"}])
    result = call("eval", "--refs", "answers.json", "--preds", "odd.json")
    assert result.code == 2
    assert "'z9' has no reference in answers.json" in result.err
    write("none.json", [{"question_id": "z9", "answer": "y"}])
    result = call("eval", "--refs", "answers.json", "--preds", "none.json")
    assert result.code == 2
    assert "belongs to a reference" in result.err


def test_gates_hold_for_every_file(call, files):
    gate = ["-m", "exact_match", "--gate", "exact_match mean >= 0.5"]
    result = call("eval", "--refs", "answers.json", "--preds", "good.json", "base.json", *gate)
    assert result.code == 1
    assert "base.json: exact_match mean >= 0.5: mean is 0" in result.err
    assert "good.json: exact_match" not in result.err


def test_files_of_one_name_are_told_apart(call, files, write, tmp_path):
    (tmp_path / "v2").mkdir()
    write("v2/good.json", predictions("x", "y", "z"))
    out = call("eval", "--refs", "answers.json", "--preds", "good.json", "v2/good.json").out
    assert "v2/good.json" in out


def test_a_comparison_is_no_page(call, files):
    result = call("eval", "--refs", "answers.json", "--preds", "good.json", "-o", "c.html")
    assert result.code == 2
    assert "end it in one of .json .csv .md" in result.err
