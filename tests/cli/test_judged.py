"""Judged metrics from the command line: what reaches the judge, what a dry run foretells."""

from __future__ import annotations

import pytest

from scripted import ScriptedJudge


@pytest.fixture
def judges(monkeypatch):
    """Every judge is scripted; the settings each was made with, and the judges by their model."""
    made: dict[str, ScriptedJudge] = {}
    settings: list[object] = []

    def make_judge(spec=None, **_):
        settings.append(spec)
        name = spec if isinstance(spec, str) else spec["model"]
        made[name] = ScriptedJudge(name=name, local=name == "offline")
        return made[name]

    # in this order: dry_run must not import the replacement, which would stay in it
    for home in ("cli.dry_run", "judges.factory"):
        monkeypatch.setattr(f"ragstone.{home}.make_judge", make_judge)
    return made, settings


@pytest.fixture
def answers(write):
    return write("data.jsonl", [{"question": f"{n}?", "answer": f"Answer {n}."} for n in range(40)])


def test_what_the_plan_says_of_judging_reaches_the_judge(call, answers, judges, write, tmp_path):
    (tmp_path / "mine").mkdir()
    write(
        "plan.yaml",
        "data: data.jsonl\nmetrics: [coherence]\nprompts: mine\nembeddings: offline\n"
        "judge: {model: 'openai:m', base_url: 'http://127.0.0.1:9'}\nmax_calls: 500\n",
    )
    result = call("eval", "-c", "plan.yaml", "--max-usd", "0.5", "-j", "3", "--lang", "es")
    assert result.code == 0
    made, settings = judges
    assert settings == [
        {
            "model": "openai:m",
            "base_url": "http://127.0.0.1:9",
            "embeddings": "offline",
            "language": "es",
            "prompts": "mine",
            "concurrency": 3,
            "max_usd": 0.5,
            "max_calls": 500,
        }
    ]
    assert len(made["openai:m"].asked) == 40


def test_without_a_judge_the_embedded_one_answers(call, answers, judges):
    assert call("eval", "data.jsonl", "-m", "coherence").code == 0
    made, _ = judges
    assert list(made) == ["offline"]


def test_metrics_without_questions_make_no_judge(call, rows, judges):
    assert call("eval", "data.jsonl", "-m", "recall@5", "--judge", "openai:m").code == 0
    assert judges == ({}, [])


def test_no_secret_is_stored(call, answers, judges, write, tmp_path, monkeypatch):
    monkeypatch.setenv("STONE_KEY", "s3cret-value")
    write("plan.yaml", "judge: {model: 'openai:m', api_key: '${STONE_KEY}'}\nmetrics: coherence\n")
    result = call("eval", "data.jsonl", "-c", "plan.yaml", "-o", "r.html", "-o", "r.md")
    assert result.code == 0
    _, settings = judges
    assert settings[0]["api_key"] == "s3cret-value"
    for path in tmp_path.iterdir():
        assert path.is_dir() or b"s3cret-value" not in path.read_bytes(), path
    assert "s3cret" not in result.out + result.err


def test_a_dry_run_foretells_calls_and_money_without_asking(call, answers, judges):
    flags = ["-m", "coherence,token_f1", "--judge", "openai:gpt-4o-mini", "--dry-run"]
    result = call("eval", "data.jsonl", *flags)
    assert result.code == 0
    cells = {line.split()[0]: line.split()[1:] for line in result.out.splitlines() if line.strip()}
    assert cells["coherence"][0] == "40"
    assert cells["token_f1"][:4] == ["0", "0", "0", "$0.00"]
    tokens_in, tokens_out = (int(cell.replace(",", "")) for cell in cells["coherence"][1:3])
    assert tokens_in > 40 * 100
    assert tokens_out > 40
    made, _ = judges
    assert made["openai:gpt-4o-mini"].asked == []
    assert len(made["offline"].asked) == 20  # the probed ones


def test_a_dry_run_admits_that_it_knows_no_price(call, answers, judges):
    flags = ["-m", "coherence", "--judge", "openai:nobody-knows-it", "--dry-run"]
    line = next(
        li for li in call("eval", "data.jsonl", *flags).out.splitlines() if "coherence" in li
    )
    assert line.split()[4] == "?"


def test_a_dry_run_needs_no_key_and_says_which_it_will_need(call, answers, write):
    write("plan.yaml", "judge: {model: 'openai:m', api_key: '${STONE_KEY}'}\nmetrics: coherence\n")
    planned = call("eval", "data.jsonl", "-c", "plan.yaml", "--dry-run")
    assert planned.code == 0
    assert "'STONE_KEY' is not set; export STONE_KEY=..." in planned.err
    flags = ["-m", "coherence", "--judge", "anthropic:claude-haiku-4-5"]
    foretold = call("eval", "data.jsonl", *flags, "--dry-run")
    assert foretold.code == 0
    assert (
        "Before the run: api.anthropic.com wants a key; export ANTHROPIC_API_KEY=" in foretold.out
    )
    refused = call("eval", "data.jsonl", *flags)
    assert refused.code == 2
    assert "api.anthropic.com wants a key" in refused.err


def test_a_dry_run_counts_every_juror_and_each_question_to_a_small_judge(call, write):
    write(
        "data.jsonl",
        [
            {
                "id": "a",
                "answer": "The tower is tall. The tower houses a museum of clocks.",
                "contexts": ["The tower is tall."],
            }
        ],
    )

    def calls(judge):
        write("plan.yaml", f"judge: {judge}\nmetrics: faithfulness\n")
        result = call("eval", "data.jsonl", "-c", "plan.yaml", "--dry-run")
        assert result.code == 0, result.err
        line = next(line for line in result.out.splitlines() if line.startswith("faithfulness"))
        return int(line.split()[1])

    place = "base_url: 'http://127.0.0.1:9'"
    assert calls(f"{{model: 'openai:m', {place}}}") == 2
    # local code splits; two claims to check, and an invented one
    assert calls(f"{{model: 'openai:m', small: true, {place}}}") == 3
    # the first juror splits, all three check
    assert calls(f"{{jury: ['openai:a', 'openai:b', 'openai:c'], {place}}}") == 1 + 3
