"""`ragstone import`: any known format as ragstone's own rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RAGAS = [
    {
        "user_input": "a?",
        "response": "yes",
        "retrieved_contexts": ["t1", "t2"],
        "retrieved_context_ids": ["d1", "d2"],
        "reference": "no",
        "reference_context_ids": ["d2"],
    }
]


def test_foreign_columns_become_our_own(call, write):
    write("r.jsonl", RAGAS)
    result = call("import", "r.jsonl")
    assert result.code == 0
    assert result.err == "read 1 sample as ragas columns\n"
    row = json.loads(result.out)
    assert (row["question"], row["answer"], row["reference"]) == ("a?", "yes", "no")
    assert row["contexts"] == [{"id": "d1", "text": "t1"}, {"id": "d2", "text": "t2"}]
    assert row["relevant"] == {"d2": 1}


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet"])
def test_what_was_written_is_read_alike(call, write, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    write("r.jsonl", RAGAS * 3)
    direct = call("import", "r.jsonl").out
    assert call("import", "r.jsonl", "-o", f"own.{ending}").code == 0
    again = call("import", f"own.{ending}")
    assert "ragstone columns" in again.err
    assert [json.loads(line) for line in again.out.splitlines()] == [
        json.loads(line) for line in direct.splitlines()
    ]


def test_scores_do_not_change_by_importing(call, write):
    write("r.jsonl", RAGAS)
    call("import", "r.jsonl", "-o", "own.csv")
    tables = [call("eval", name, "-m", "mrr,token_f1").out for name in ("r.jsonl", "own.csv")]
    figures = [[line for line in table.splitlines() if "↑" in line] for table in tables]
    assert figures[0] == figures[1] != []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.jsonl"], "no file 'none.jsonl'"),
        (["r.jsonl", "-o", "x.docx"], "cannot write 'x.docx'"),
        (["r.jsonl", "--format", "ragaz"], "ragas"),
        (["r.jsonl", "--field", "answer"], "write answer=output.text"),
    ],
)
def test_mistakes(call, write, arguments, said):
    write("r.jsonl", RAGAS)
    result = call("import", *arguments)
    assert result.code == 2
    assert said in result.err


def test_raw_csv_has_no_quote_in_front_of_formulas(call, write):
    write("data.jsonl", [{"id": "1", "question": "q", "answer": "=1+1"}])
    for flags, cell in (((), "'=1+1"), (("--raw",), "=1+1")):
        assert call("import", "data.jsonl", "-o", "out.csv", *flags).code == 0
        assert cell in Path("out.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    assert call("eval", "data.jsonl", "-m", "answer_language", "-q").code in (0, 3)
    for flags, cell in (((), "'=1+1"), (("--raw",), "=1+1")):
        assert call("export", "-o", "run.csv", *flags).code == 0
        assert cell in Path("run.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
