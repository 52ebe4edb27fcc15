"""eval --system on the command line: what it would ask, what it prints, and how a stopped or failing one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import wait_until

SHOP = """
import pathlib, time

def answer(question):
    with open("asked.txt", "a") as file:
        file.write(question + "\\n")
    print("chatter")
    if "7" in question and not pathlib.Path("mended").exists():
        raise ValueError("no item 7 here")
    return {"answer": question.rstrip("?").split()[-1] + " euros", "contexts": []}

def slow(question):
    time.sleep(0.15)
    return answer(question)
"""


@pytest.fixture
def shop(call, write):
    write("shop.py", SHOP)
    rows = [
        {"id": f"q{n}", "question": f"Price of item {n}?", "reference": f"{n} euros"}
        for n in range(40)
    ]
    write("q.jsonl", rows)
    return call


def asked() -> list[str]:
    path = Path("asked.txt")
    return path.read_text().splitlines() if path.exists() else []


def test_a_dry_run_counts_the_systems_questions_and_asks_none(shop, tmp_path) -> None:
    plan = ("eval", "q.jsonl", "--system", "shop.py:answer", "-m", "exact_match")
    before = shop(*plan, "--dry-run")
    assert before.code == 0, before.err
    assert "system: shop.py:answer, to be asked 40 questions and 1 to warm up" in before.out
    assert asked() == []
    assert not (tmp_path / "store.db").exists()
    shop(*plan)
    after = shop(*plan, "--dry-run")
    assert "to be asked 40 questions and 1 to warm up" in after.out


def test_a_new_run_asks_a_system_that_may_have_changed_behind_its_name(shop, write) -> None:
    write("facts.txt", "one")
    write("reads.py", "def answer(question):\n    return open('facts.txt').read()\n")
    plan = ("eval", "q.jsonl", "--system", "reads.py:answer", "-m", "exact_match", "-o", "o.jsonl")
    for fact in ("one", "two"):
        write("facts.txt", fact)
        assert shop(*plan).code == 0
        rows = Path("o.jsonl").read_text(encoding="utf-8").splitlines()
        assert {json.loads(row)["answer"] for row in rows} == {fact}


def test_a_dry_run_of_a_system_that_is_not_there_says_so(shop) -> None:
    found = shop("eval", "q.jsonl", "--system", "shop.py:nobody", "--dry-run")
    assert found.code == 2
    assert "nobody" in found.err


def test_what_a_system_prints_does_not_mix_with_the_results(shop) -> None:
    done = shop("eval", "q.jsonl", "--system", "shop.py:answer", "-m", "exact_match")
    assert "chatter" not in done.out
    assert "chatter" in done.err


def test_retry_errors_asks_the_system_again_for_what_it_failed_on_and_nothing_else(shop) -> None:
    plan = (
        "eval", "q.jsonl", "--system", "shop.py:answer", "--set", "warmup=0",
        "-m", "exact_match", "-o", "out.jsonl",
    )  # fmt: skip
    first = shop(*plan)
    assert first.code == 3  # 4 of 40 failed: under the floor
    assert len(asked()) == 40
    Path("mended").touch()
    second = shop(*plan, "--retry-errors")
    assert second.code == 0, second.out
    assert sorted(asked()[40:]) == sorted(f"Price of item {n}?" for n in (7, 17, 27, 37))
    assert "40 / 40 / 40" in second.out
    assert '"7 euros"' in Path("out.jsonl").read_text()
    runs = shop("runs").out
    assert runs.count("exact_match") == 1  # the same run, mended


def started(*more: str) -> subprocess.Popen[str]:
    words = ["eval", "q.jsonl", "--system", "shop.py:slow", "-m", "exact_match", "-j", "2", *more]
    return subprocess.Popen(
        [sys.executable, "-m", "ragstone", *words],
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_while_answering_it_goes_on_and_asks_nothing_twice(shop, how: signal.Signals) -> None:  # fmt: skip
    Path("mended").touch()
    process = started()
    wait_until(lambda: len(asked()) >= 10, "ten questions are asked")
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    before = len(asked())
    assert 10 <= before < 40
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "of the system kept; resume with:" in said
    rest = started("--resume")
    out, _ = rest.communicate(timeout=120)
    assert rest.returncode == 0
    assert "40 / 40 / 40" in out
    assert len(set(asked())) == 40
    # a warm-up each, and at most the one under way when it was stopped
    assert len(asked()) <= 40 + 2 + 1


def test_a_setting_may_be_json_with_commas_and_is_given_once(call, tmp_path):
    from ragstone.cli.plans import parse_settings

    body = '{"query": "{question}", "top_k": 3}'
    assert parse_settings([f"body={body}", "top_k=5"]) == {"body": body, "top_k": 5}
    data = tmp_path / "q.jsonl"
    data.write_text('{"question": "When?", "reference": "At nine."}\n')
    done = call("eval", str(data), "--system", "pipeline", "--set", "a=1", "--set", "a=2")
    assert done.code == 2
    assert "--set a is given twice" in done.err
