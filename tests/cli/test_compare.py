"""compare, plan, bench and ablate on the command line."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def two(call, write):
    """Runs `old` (mostly right) and `new` (mostly wrong) of the same questions."""
    for name, right in (("old", 0.9), ("new", 0.3)):
        rows = [
            {
                "id": f"q{n}",
                "question": f"What is {n}?",
                "answer": "yes" if n % 20 < 20 * right else "no",
                "reference": "yes",
                "topic": "even" if n % 2 == 0 else "odd",
            }
            for n in range(60)
        ]
        path = write(f"{name}.jsonl", rows)
        assert call("eval", str(path), "-m", "exact_match,token_f1", "-q").code == 0
    return call


def test_compare_says_worse_and_fails_only_when_told_to(two) -> None:
    done = two("compare", "old", "new")
    assert done.code == 0
    assert "worse by 0.6" in done.out
    assert two("compare", "old", "new", "--fail-on-regression").code == 1
    assert two("compare", "new", "old", "--fail-on-regression").code == 0


@pytest.mark.parametrize("names", [["old", "new"], ["new", "old"], ["new"]])
def test_a_baseline_is_what_the_others_are_compared_with_wherever_it_is_named(two, names) -> None:
    done = two("compare", *names, "--baseline", "old", "--fail-on-regression")
    assert (done.code, "worse by 0.6" in done.out) == (1, True)


def test_compare_prints_json_and_writes_files(two, tmp_path) -> None:
    done = two("compare", "old", "new", "--json", "-m", "exact_match", "-o", "c.md", "-o", "c.html")
    assert json.loads(done.out)["versus"][0]["differences"][0]["verdict"] == "worse"
    assert (tmp_path / "c.md").is_file()
    assert (tmp_path / "c.html").is_file()


def test_in_github_actions_there_is_a_summary_and_annotations(two, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    done = two("compare", "old", "new", "--quiet", "--fail-on-regression")
    assert "::error title=new::exact_match is worse than in old" in done.out
    assert "# Comparison" in (tmp_path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["old"], "at least two runs"),
        (["old", "old"], "is named twice"),
        (["old", "nobody"], "no run 'nobody'"),
        (["old", "new", "-m", "recall"], "not all runs have a metric 'recall'"),
        (["old", "new", "-o", "c.doc"], "names no format of this report"),
        (["old", "new", "-o", "/dev/null/c.md"], "is a file, not a folder"),
    ],
)
def test_mistakes_are_one_sentence(two, arguments, said) -> None:
    done = two("compare", *arguments)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_plan_answers_with_and_without_runs(two) -> None:
    assert "about 2,216 questions" in two("plan", "--effect", "0.03").out
    measured = two(
        "plan", "--effect", "0.1", "--run", "old", "--run", "new", "-m", "exact_match", "--json"
    )
    assert json.loads(measured.out)["assumed"] is False
    assert "needs the metric" in two("plan", "--effect", "0.1", "--run", "old").err


def test_a_run_is_drawn_as_a_picture(two, tmp_path) -> None:
    assert two("report", "new", "-o", "r.svg").code == 0
    assert (tmp_path / "r.svg").read_text(encoding="utf-8").startswith("<svg")


SYSTEM = """
def make(*, shift=0):
    def answer(question):
        n = int(question.rstrip("?").split()[-1])
        return {"answer": f"{n + (shift if n % 2 else 0)} euros", "contexts": [{"id": f"d{n}", "text": f"{n} euros"}]}
    return answer
"""

BENCH = """
data: q.jsonl
system: "shop.py:make"
metrics: [exact_match, recall]
configurations:
  right: {}
  wrong: {shift: 1}
"""


@pytest.fixture
def shop(call, write):
    write("shop.py", SYSTEM)
    write("bench.yaml", BENCH)
    rows = [{"id": f"q{n}", "question": f"How much is {n}?", "reference": f"{n} euros", "relevant": {f"d{n}": 1}} for n in range(40)]  # fmt: skip
    write("q.jsonl", rows)
    return call


def test_bench_runs_configurations_and_compares_them(shop) -> None:
    done = shop("bench", "bench.yaml", "--fail-on-regression", "-o", "b.html")
    assert done.code == 1
    assert "Keep right: it is better in exact_match" in done.out
    assert "1 regression: exact_match" in done.out
    assert "right: 40 samples, run " in done.err
    listed = json.loads(shop("runs", "list", "--json").out)
    assert {run["name"] for run in listed} == {"right", "wrong"}


def test_ablate_says_what_a_setting_does(shop, tmp_path) -> None:
    done = shop("ablate", "q.jsonl", "--system", "shop.py:make", "--vary", "shift=0,1,2", "-m", "exact_match", "-o", "a.json", "-o", "a.md", "-o", "a.svg")  # fmt: skip
    assert done.code == 0
    assert "worse" in done.out
    plain = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert [run["settings"] for run in plain["runs"]] == [{"shift": 0}, {"shift": 1}, {"shift": 2}]
    assert shop("ablate", "q.jsonl", "--system", "shop.py:make", "--vary", "shift").code == 2


def test_eval_asks_a_system_and_remembers_its_settings(shop) -> None:
    done = shop(
        "eval", "q.jsonl", "--system", "shop.py:make", "--set", "shift=1", "-m", "exact_match"
    )
    assert done.code == 0
    assert "exact_match" in done.out
    facts = json.loads(shop("runs", "show", "--json").out)
    assert facts["plan"]["settings"] == {"shift": 1}
    assert "--set needs the system" in shop("eval", "q.jsonl", "--set", "shift=1").err
