"""tune on the command line: the search, its report and its files."""

from __future__ import annotations

import json

import pytest

TILL = """
class Till:
    def __init__(self, *, knows=2):
        self.knows = knows

    def answer(self, question):
        n = int(question.rstrip("?").split()[-1])
        return {"answer": f"{n} euros" if n % 10 < self.knows else "no idea", "tokens": self.knows}
"""


@pytest.fixture
def till(call, write):
    write("till.py", TILL)
    rows = [
        {"id": f"q{n}", "question": f"How much is item {n}?", "reference": f"{n} euros"}
        for n in range(80)
    ]
    write("q.jsonl", rows)

    def tune(*more: str):
        return call("tune", "q.jsonl", "--system", "till.py:Till", "--objective", "exact_match", *more)  # fmt: skip

    return tune


def test_the_winner_stands_next_to_the_baseline_on_held_out_questions(till, tmp_path) -> None:
    done = till("--vary", "knows=2,5,9", "-o", "t.json", "-o", "t.md")
    assert done.code == 0, done.err
    assert "Best: knows=9" in done.out
    assert "held-out questions, as it was: 0." in done.out
    assert "better by" in done.out
    parsed = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert parsed["winner"] == {"knows": 9}
    assert parsed["comparison"]["versus"][0]["differences"][0]["verdict"] == "better"
    assert parsed["evaluations"] < parsed["grid_evaluations"]
    assert "exact_match" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_the_front_is_marked(till) -> None:
    done = till("--vary", "knows=2,9", "--against", "tokens", "--sampler", "grid")
    assert done.code == 0, done.err
    assert done.out.count("★") == 2


def test_the_same_command_gives_the_same_again(till) -> None:
    first = till("--vary", "knows=2,5,9", "--seed", "3")
    assert till("--vary", "knows=2,5,9", "--seed", "3").out == first.out


def test_a_spent_budget_is_told(till) -> None:
    done = till("--vary", "knows=2,5,9", "--calls", "10")
    assert done.code == 0, done.err
    assert "the budget of calls was spent" in done.out


def test_mistakes_are_explained(till) -> None:
    assert till("--vary", "knows").code == 2
    assert "'0*x'" in till("--vary", "knows=1,2", "--objective", "0*x").err
    assert till("--vary", "knows=1,2", "-o", "t.txt").code == 2
