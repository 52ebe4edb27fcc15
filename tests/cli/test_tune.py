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
    said = " ".join(done.out.split())
    assert said.index("Choose knows=9: exact_match +0.") < said.index("Trials on the tuning")
    assert "24 questions that the search never saw" in said
    details = " ".join(till("--vary", "knows=2,5,9", "--details").out.split())
    assert details.index("tune: knows=9") < details.index("better by")
    parsed = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert parsed["winner"] == {"knows": 9}
    assert parsed["comparison"]["versus"][0]["differences"][0]["verdict"] == "better"
    for trial in parsed["trials"]:
        assert (trial["estimate"] is None) == (trial["questions"] == 56)
        assert trial["winner_beside"] is not None
    assert parsed["evaluations"] < parsed["grid_evaluations"]
    assert "exact_match" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_runs_lists_the_trials_of_a_search_on_request_only(till, call) -> None:
    assert till("--vary", "knows=2,9").code == 0
    shown = call("runs", "list", "--json")
    every = json.loads(call("runs", "list", "--json", "--trials").out)
    hidden = len(every) - len(json.loads(shown.out))
    assert hidden >= 2
    assert f"{hidden} runs of searches for settings not listed; --trials" in shown.err


def test_the_front_is_marked(till) -> None:
    done = till("--vary", "knows=2,9", "--against", "tokens")
    assert done.code == 0, done.err
    trials = done.out[done.out.index("Trials on the tuning questions") :]
    assert trials.count("★") == 2
    assert "regression: tokens" not in done.out


def test_the_same_command_gives_the_same_again(till) -> None:
    first = till("--vary", "knows=2,5,9", "--seed", "3")
    assert till("--vary", "knows=2,5,9", "--seed", "3").out == first.out


def test_a_spent_budget_is_told(till) -> None:
    done = till("--vary", "knows=2,5,9", "--calls", "10")
    assert done.code == 0, done.err
    assert "the budget of calls was spent" in " ".join(done.out.split())


def test_estimates_are_marked_and_stand_beside_what_was_measured(till) -> None:
    done = till("--vary", "knows=1,2,3,4,5,6,7,8,9", "--details")
    trials = done.out[done.out.index("Trials on the tuning questions") :]
    assert "≈ 0." in trials
    assert "where questions are missing" in " ".join(trials.split())
    spanish = " ".join(till("--vary", "knows=2,9", "--lang", "es", "--details").out.split())
    assert "Elige knows=9" in spanish
    assert "donde faltan preguntas" in spanish


def test_a_search_that_finds_nothing_better_says_to_keep_the_system(till) -> None:
    done = till("--vary", "knows=2,1")
    assert "Keep the current system" in done.out
    assert "Trials on the tuning questions" in done.out


def test_mistakes_are_explained(till) -> None:
    assert till("--vary", "knows").code == 2
    assert "'0*x'" in till("--vary", "knows=1,2", "--objective", "0*x").err
    assert till("--vary", "knows=1,2", "-o", "t.txt").code == 2
