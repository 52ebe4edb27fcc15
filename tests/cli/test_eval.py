"""`ragstone eval`: from a data file to a table, files and an exit code."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone.cli.progress import Bar, count_lines, format_duration, show_waiting
from ragstone.engine import Progress
from ragstone.types import Usage
from waiting import wait_until


def test_scores_are_shown_and_kept(call, rows):
    result = call("eval", "data.jsonl", "-m", "recall@5,token_f1", "-m", "exact_match")
    assert result.code == 0
    for name in ("recall@5", "token_f1", "exact_match"):
        assert name in result.out
    assert result.out.count("0.800") == 3
    assert result.err == "read 10 samples as ragstone columns\n"
    assert "recall@5 0.800" in call("runs").out


def test_without_metrics_those_that_fit_are_chosen_and_named(call, rows):
    result = call("eval", "data.jsonl")
    assert result.code == 0
    (said,) = [line for line in result.err.splitlines() if line.startswith("metrics that fit")]
    assert {"recall", "ndcg", "token_f1"} <= set(said.partition(": ")[2].split(", "))
    assert "abstention_accuracy" not in said  # no unanswerable question in the data
    assert "faithfulness" in said  # by the embedded judge
    assert "hallucination_rate" not in said  # says the same as faithfulness


def test_outputs_are_written_by_extension(call, rows, tmp_path):
    names = ["o.jsonl", "o.json", "o.csv", "o.md", "o.html", "o.xml"]
    flags = [part for name in names for part in ("-o", name)]
    result = call("eval", "data.jsonl", "-m", "recall@5", *flags)
    assert result.code == 0
    assert [line for line in result.err.splitlines() if line.startswith("wrote")] == [
        f"wrote {name}" for name in names
    ]
    first = json.loads((tmp_path / "o.jsonl").read_text().splitlines()[0])
    assert first["recall@5"] == 1.0
    assert first["question"] == "What is 1?"
    assert len(json.loads((tmp_path / "o.json").read_text())) == 10
    with (tmp_path / "o.csv").open(newline="") as file:
        assert [float(row["recall@5"]) for row in csv.DictReader(file)].count(1.0) == 8
    assert "recall@5" in (tmp_path / "o.md").read_text()
    assert "<html" in (tmp_path / "o.html").read_text()
    assert "<testsuite" in (tmp_path / "o.xml").read_text()


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["recall@5 >= 0.2"], 0),
        (["recall@5 >= 0.7"], 1),  # the mean is 0.8, the lower end of the interval is not
        (["recall@5 mean >= 0.7"], 0),
        (["recall@5 mean >= 0.9"], 1),
        (["recall@5 mean >= 0.7", "token_f1 mean >= 0.9"], 1),
    ],
)
def test_a_missed_gate_exits_1(call, rows, gates, code):
    flags = [part for gate in gates for part in ("--gate", gate)]
    assert call("eval", "data.jsonl", "-m", "recall@5,token_f1", *flags).code == code


def test_quiet_says_only_what_went_wrong(call, rows):
    fine = call("eval", "data.jsonl", "-m", "recall@5", "--quiet")
    assert (fine.code, fine.out, fine.err) == (0, "", "")
    missed = call("eval", "data.jsonl", "-m", "recall@5", "-q", "--gate", "recall@5 mean >= 0.9")
    assert missed.code == 1
    assert missed.out == ""
    assert missed.err.count("\n") == 1
    assert missed.err.startswith("recall@5 mean >= 0.9: mean is 0.8")


def test_too_few_scored_exits_3(call, write):
    write(
        "data.jsonl",
        [
            {"question": "a", "reference": "x", "answer": "x"},
            {"question": "b", "reference": "x", "error": "timed out"},
        ],
    )
    assert call("eval", "data.jsonl", "-m", "token_f1").code == 3
    quiet = call("eval", "data.jsonl", "-m", "token_f1", "-q")
    assert quiet.code == 3
    assert "1 of 2 applicable samples" in quiet.err
    for floor in ("0.5", "0"):
        assert call("eval", "data.jsonl", "-m", "token_f1", "--floor", floor).code == 0


def test_a_config_file_says_it_all_and_flags_replace_it(call, rows, write, tmp_path):
    write(
        "plan.yaml",
        "name: nightly\ndata: data.jsonl\nmetrics: [recall@5, token_f1]\noutput: out.jsonl\n"
        "gates: {recall@5: mean >= 0.9}\n",
    )
    assert call("eval", "-c", "plan.yaml").code == 1
    assert (tmp_path / "out.jsonl").is_file()
    assert "nightly" in call("runs").out
    looser = call("eval", "-c", "plan.yaml", "--gate", "recall@5 mean >= 0.5", "-o", "x.md")
    assert looser.code == 0
    assert (tmp_path / "x.md").is_file()
    assert call("eval", "-c", "plan.yaml", "--limit", "4").code == 0  # the first four are right


def test_a_gate_that_m_leaves_out_is_said_not_forgotten(call, rows, write):
    write("plan.yaml", "data: data.jsonl\nmetrics: [recall@5]\ngates: {recall@5: mean >= 0.9}\n")
    result = call("eval", "-c", "plan.yaml", "-m", "token_f1")
    assert result.code == 0
    assert "not checked, because -m leaves the metric out: recall@5 mean >= 0.9" in result.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-m", "recal@5"], "no metric 'recal'; did you mean 'recall'?"),
        (["-m", ""], "-m '' names no metric"),
        (["-m", "recall@0"], "the cut-off starts at 1"),
        (["-o", "x.docx"], "'x.docx' names no format"),
        (["-o", "data.jsonl/x.md"], "is a file, not a folder"),
        (["--field", "answr=x"], "did you mean 'answer'?"),
        (["--gate", "recall@5"], "is not a gate"),
        (["--gate", "recall@5 >= much"], "is not a rule"),
        (["--gate", "recall@7 >= 0.5"], "a gate on 'recall@7', which is not measured"),
        (["-m", "map", "--gate", "recall@7 >= 0.5"], "'recall@7' is not among the metrics"),
        (["--gate", "map >= 0", "--gate", "map <= 1"], "has another gate already"),
        (["-c", "none.yaml"], "there is no config file 'none.yaml'"),
    ],
)
def test_a_mistake_is_found_before_anything_is_scored(call, rows, tmp_path, flags, said):
    result = call("eval", "data.jsonl", *flags)
    assert result.code == 2
    assert said in result.err
    assert result.err.splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "store.db").exists()


def test_all_mistakes_in_flags_come_at_once(call, rows):
    result = call("eval", "data.jsonl", "-m", "recal,tokn_f1", "--field", "x=y", "--gate", "z")
    assert result.code == 2
    assert result.err.startswith("error: 4 mistakes:\n")


def test_bad_rows_stop_the_run_or_are_counted(call, write):
    good = {"question": "a", "answer": "x", "reference": "x"}
    write("data.jsonl", json.dumps(good) + "\n{broken\n" + json.dumps(good) + "\n")
    stopped = call("eval", "data.jsonl", "-m", "token_f1")
    assert stopped.code == 2
    assert "data.jsonl:2" in stopped.err
    skipped = call("eval", "data.jsonl", "-m", "token_f1", "--skip-bad-rows")
    assert skipped.code == 0
    assert "read 2 samples" in skipped.err
    assert "data.jsonl:2" in skipped.out


def test_columns_of_ones_own(call, write):
    write("own.jsonl", [{"ask": "a", "out": {"text": "x"}, "gold": "x"}] * 3)
    flags = ["--field", "answer=out.text", "--field", "reference=gold"]
    result = call("eval", "own.jsonl", "-m", "exact_match", *flags)
    assert result.code == 0
    assert "1.000" in result.out


def test_standard_input(rows, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "ragstone", "eval", "-", "-m", "recall@5", "--store", "s.db"],
        input=rows.read_bytes(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert b"0.800" in done.stdout
    assert b"read 10 samples as ragstone columns" in done.stderr


def test_a_dry_run_writes_nothing(call, rows, tmp_path):
    before = sorted(tmp_path.iterdir())
    result = call("eval", "data.jsonl", "-m", "recall@5,token_f1", "--dry-run", "-o", "x.html")
    assert result.code == 0
    assert "10 samples of data.jsonl, read as ragstone columns" in result.out
    assert "recall@5" in result.out
    assert "Nothing was asked, written or paid." in result.out
    assert sorted(tmp_path.iterdir()) == before


SLOW_METRIC = """
import os, time
def slowly(answer: str) -> float:
    "1, after a while."
    time.sleep(float(os.environ.get("SLEEP", 0)))
    return 1.0
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_was_finished_and_says_how_to_go_on(call, write, tmp_path, how):
    write("slow.py", SLOW_METRIC)
    write("data.jsonl", [{"question": str(n), "answer": str(n)} for n in range(2_000)])
    arguments = ["eval", "data.jsonl", "-m", "slow.py:slowly"]
    running = subprocess.Popen(
        [sys.executable, "-m", "ragstone", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "RAGSTONE_STORE": str(tmp_path / "store.db"), "SLEEP": "0.005"},
    )
    wait_for_samples(tmp_path / "store.db")
    running.send_signal(how)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in said
    assert said.startswith("stopped; ")
    assert "samples scored and kept; resume with: " in said
    assert said.rstrip().endswith(": python -m ragstone eval data.jsonl -m slow.py:slowly --resume")
    again = call(*arguments, "--resume")
    assert again.code == 0
    assert "read 2,000 samples" in again.err
    assert len(json.loads(call("runs", "list", "--json").out)) == 1


def wait_for_samples(path) -> None:
    def has_scores() -> bool:
        if not path.exists():
            return False
        with sqlite3.connect(path) as store:
            try:
                (count,) = store.execute("SELECT COUNT(*) FROM samples").fetchone()
            except sqlite3.OperationalError:  # not made yet
                return False
            return count > 0

    wait_until(has_scores, "something is scored", every_seconds=0.1)


def test_the_bar_keeps_still_on_a_pipe_and_when_quiet(capfd, monkeypatch):
    monkeypatch.setattr("ragstone.cli.progress.SHOW_AFTER_SECONDS", 0.0)
    with Bar() as bar:
        bar(Progress(5, 10, 0, Usage()))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Bar(quiet=True) as bar, show_waiting("x", quiet=True):
        bar(Progress(5, 10, 0, Usage()))
    assert capfd.readouterr() == ("", "")


def test_the_bar_says_rate_time_left_cost_and_failures():
    bar = Bar()
    bar._rate_since, bar._rate_done = 100.0, 0
    said = bar.format_facts(Progress(50, 250, 3, Usage(calls=9, usd=1.5)), 110.0)
    assert said == "50/250  5.0/s  40 s left  $1.50  3 failed"
    assert bar.format_facts(Progress(50, None, 0, Usage()), 110.0) == "50  5.0/s"


def test_lines_stand_for_samples_where_they_are_not_counted(rows):
    assert count_lines(str(rows)) == 10
    assert count_lines(str(rows), 4) == 4
    assert count_lines("-") is None


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "0 s"), (45, "45 s"), (600, "10 min"), (7_500, "2 h 5 min")]
)
def test_durations_as_people_say_them(seconds, said):
    assert format_duration(seconds) == said


def test_a_metric_that_wraps_another_is_computed_itself(call, rows, write, monkeypatch):
    monkeypatch.syspath_prepend(Path.cwd())
    write("decorators.py", DECORATOR)
    code = """
import functools
from decorators import halve
from ragstone import metric
@metric
@halve
def first(answer: str) -> float:
    return 0.5
@metric
@halve
def second(answer: str) -> float:
    return 1.0
def base(answer: str) -> float:
    "0.5."
    return 0.5
@metric
@functools.wraps(base)
def mine(answer):
    return 0.5 * base(answer)
"""
    write("own.py", code)
    assert call("eval", "data.jsonl", "-m", "own.py:mine", "-q", "-o", "out.jsonl").code == 0
    first = Path("out.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first)["base"] == 0.25
    for name, value in (("first", 0.25), ("second", 0.5)):
        assert call("eval", "data.jsonl", "-m", f"own.py:{name}", "-q", "-o", "out.jsonl").code == 0
        line = Path("out.jsonl").read_text(encoding="utf-8").splitlines()[0]
        assert json.loads(line)[name] == value


DECORATOR = """
import functools
def halve(function):
    @functools.wraps(function)
    def halved(*fields):
        return 0.5 * function(*fields)
    return halved
"""
