"""The first minute: `ragstone eval FILE` on whatever the file holds, and `ragstone init`."""

from __future__ import annotations

import csv
import json
import re
import shlex

import pytest
import yaml

CONTEXTS = ["Items can be returned within 30 days of delivery.", "Shipping to Norway takes 5 days."]
FULL = {
    "question": "How long can I return a lamp?",
    "answer": "Items can be returned within 60 days of delivery.",
    "contexts": CONTEXTS,
    "reference": "Items can be returned within 30 days of delivery.",
}


def keep(*names: str) -> dict[str, object]:
    return {name: FULL[name] for name in names}


@pytest.mark.parametrize(
    ("row", "metrics"),
    [
        (keep("question", "answer", "contexts"), {"faithfulness", "answer_relevance"}),
        (keep("question", "answer"), {"answer_relevance"}),
        (keep("answer", "contexts"), {"faithfulness"}),
        (keep("question", "contexts"), {"context_relevance"}),
        (keep("question", "answer", "reference"), {"answer_correctness", "token_f1"}),
        (keep("question", "contexts", "reference"), {"context_recall"}),
        ({"question": "q", "contexts": [{"id": "a"}], "relevant": ["a"]}, {"recall", "mrr"}),
        ({"user_input": "q?", "response": "It is free.", "retrieved_contexts": CONTEXTS}, {"faithfulness"}),
    ],
)  # fmt: skip
def test_every_shape_of_file_is_scored_by_what_fits(call, write, row, metrics):
    write("answers.jsonl", [row] * 3)
    result = call("eval", "answers.jsonl")
    assert result.code == 0
    (said,) = [line for line in result.err.splitlines() if line.startswith("metrics that fit")]
    assert metrics <= set(said.partition(": ")[2].split(", "))


def test_ids_without_texts_are_not_given_to_a_judge(call, write):
    write("ids.jsonl", [{"question": "q", "contexts": [{"id": "a"}], "relevant": ["a"]}])
    result = call("eval", "ids.jsonl")
    assert "context_relevance" not in result.err
    assert "judge" not in result.out.replace("no judge", "")


@pytest.mark.parametrize(
    ("row", "language", "sentence"),
    [
        ({"question": "a?"}, "en", "there are only questions"),
        ({"question": "a?"}, "es", "solo hay preguntas"),
        (keep("question", "reference"), "en", "only question and reference"),
        (keep("question", "reference"), "es", "solo tienen pregunta y referencia"),
    ],
)
def test_a_file_with_nothing_scorable_ends_with_one_sentence(call, write, row, language, sentence):
    write("data.jsonl", [row])
    result = call("eval", "data.jsonl", "--lang", language)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert sentence in result.err


GERMAN = {
    "question": "Wie lange kann ich eine Lampe zurückgeben, wenn sie nicht gefällt?",
    "answer": "Sie können die Lampe innerhalb von dreißig Tagen zurückgeben, wenn sie nicht gefällt.",
    "contexts": ["Die Ware kann innerhalb von dreißig Tagen nach der Lieferung zurückgegeben werden."],
}  # fmt: skip


def test_a_language_that_the_embedded_judge_does_not_know_is_said_not_guessed(call, write):
    write("de.jsonl", [GERMAN])
    result = call("eval", "de.jsonl")
    assert (result.code, "faithfulness" in result.out) == (0, False)
    assert "was never measured in the language of these texts (de)" in " ".join(result.out.split())
    write("de.jsonl", [GERMAN | {"reference": "Innerhalb von dreißig Tagen."}])
    result = call("eval", "de.jsonl")
    assert result.code == 0
    assert "faithfulness" not in result.out
    assert "Nothing was judged" in " ".join(result.out.split())


def test_every_printed_command_runs_as_it_is_printed(call, write, tmp_path, monkeypatch):
    (tmp_path / "my data").mkdir()
    rows = [FULL | {"id": f"q{n}"} for n in range(4)]
    write("my data/answers.jsonl", rows)
    monkeypatch.setenv("COLUMNS", "40")  # a command is not broken by a narrow terminal
    call("eval", "my data/answers.jsonl", "-q", "--store", "other/runs.db")
    shown = call("eval", "my data/answers.jsonl", "--store", "other/runs.db").out
    commands = re.findall(r"^ *\$ (ragstone .+)$", shown, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["report", "diagnose", "compare", "init"]
    for command in commands:
        result = call(*shlex.split(command)[1:])
        assert result.code == 0, (command, result.err)
    assert (tmp_path / "report.html").is_file()
    assert call("eval", "-c", "ragstone.yaml", "-q").code == 0


def test_the_worst_claims_come_with_the_text_that_decides_them(call, write):
    rows = [
        FULL | {"id": "wrong"},
        FULL | {"id": "invented", "answer": "The lamp was designed by a famous Danish architect."},
        FULL | {"id": "right", "answer": CONTEXTS[0]},
    ]
    write("answers.jsonl", rows)
    shown = " ".join(call("eval", "answers.jsonl").out.split())
    claims = shown.partition("The 2 worst claims")[2]
    assert "wrong “Items can be returned within 60 days of delivery.”" in claims
    assert f"decided by rank 1: “{CONTEXTS[0]}”" in claims
    assert "invented “The lamp was designed" in claims
    assert "not found: not in the sources" in claims
    assert "In 2 of 3 answers the judge finds a claim at fault" in shown


def test_perfect_answers_have_no_worst_claims(call, write):
    write("answers.jsonl", [FULL | {"id": f"q{n}", "answer": CONTEXTS[0]} for n in range(30)])
    shown = call("eval", "answers.jsonl", "-m", "faithfulness").out
    assert "worst claim" not in shown
    assert "No failure stands out in 30 samples" in " ".join(shown.split())


def test_who_judged_is_said_once_where_nobody_chose_a_judge(call, write):
    write("answers.jsonl", [FULL])
    assert "For gates name a model: --judge" in " ".join(call("eval", "answers.jsonl").out.split())
    chosen = call("eval", "answers.jsonl", "--judge", "offline").out
    assert "For gates" not in chosen
    spanish = " ".join(call("eval", "answers.jsonl", "--lang", "es").out.split())
    assert "Para umbrales, indica un modelo: --judge" in spanish


def test_explanations_reach_every_written_format(call, write, tmp_path):
    write("answers.jsonl", [FULL])
    files = [f"out/deep/x.{ending}" for ending in ("jsonl", "csv", "md")]
    flags = [part for file in files for part in ("-o", file)]
    assert call("eval", "answers.jsonl", "--explain", "-q", *flags).code == 0
    row = json.loads((tmp_path / files[0]).read_text())
    (claim,) = row["faithfulness.explanation"]
    assert claim["verdict"] == "contradicted"
    assert claim["quote"] == CONTEXTS[0]
    with (tmp_path / files[1]).open(newline="") as file:
        (cells,) = csv.DictReader(file)
    assert cells["faithfulness.explanation"].startswith("contradicted: “Items can")
    assert CONTEXTS[0] in cells["faithfulness.explanation"]
    assert "decided by rank 1" in (tmp_path / files[2]).read_text()
    assert call("export", "-o", "plain.jsonl").code == 0
    assert "explanation" not in (tmp_path / "plain.jsonl").read_text()
    assert call("export", "--explain", "-o", "more.jsonl").code == 0
    assert "faithfulness.explanation" in (tmp_path / "more.jsonl").read_text()


# ── ragstone init ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["en", "es"])
def test_init_writes_a_config_that_runs(call, write, tmp_path, language):
    write("answers.jsonl", [FULL] * 3)
    write(".gitignore", "*.pyc")
    result = call("init", "--lang", language)
    assert (result.code, result.out) == (0, "ragstone eval -c ragstone.yaml\n")
    text = (tmp_path / "ragstone.yaml").read_text()
    config = yaml.safe_load(text)
    assert config["data"] == {"path": "answers.jsonl"}
    assert {"faithfulness", "answer_correctness", "token_f1"} <= set(config["metrics"])
    assert "gates" not in config
    assert '#   faithfulness: ">= 0.8"' in text
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n.ragstone/\n"
    assert call("eval", "-c", "ragstone.yaml", "-q").code == 0
    assert (tmp_path / ".ragstone" / "report.md").is_file()


def test_the_gates_of_the_config_work_once_they_are_uncommented(call, write, tmp_path):
    write("answers.jsonl", [FULL] * 3)
    call("init")
    path = tmp_path / "ragstone.yaml"
    path.write_text(
        re.sub(r"^# (gates:|  [\w@]+: \")", r"\1", path.read_text(), flags=re.MULTILINE)
    )
    assert call("eval", "-c", "ragstone.yaml", "-q").code == 1


def test_init_replaces_nothing_without_force(call, write, tmp_path):
    write("answers.jsonl", [FULL])
    write("ragstone.yaml", "name: mine\n")
    result = call("init")
    assert result.code == 2
    assert "not replaced without --force: 'ragstone.yaml'" in result.err
    assert (tmp_path / "ragstone.yaml").read_text() == "name: mine\n"
    assert not (tmp_path / ".github").exists()
    assert not (tmp_path / ".gitignore").exists()
    for _ in range(2):
        assert call("init", "--force").code == 0
    assert (tmp_path / ".gitignore").read_text() == ".ragstone/\n"


def test_the_ci_job_runs_the_config(call, write, tmp_path):
    write("answers.jsonl", [FULL])
    call("init", "--ci", "none")
    assert not (tmp_path / ".github").exists()
    call("init", "--force")
    job = yaml.safe_load((tmp_path / ".github/workflows/ragstone.yml").read_text())
    commands = [step.get("run") for step in job["jobs"]["evaluate"]["steps"]]
    assert "ragstone eval -c ragstone.yaml" in commands
    write(".gitlab-ci.yml", "stages: [test]\n")
    result = call("init", "--force")
    assert "include: [{local: .gitlab/ragstone.yml}]" in result.err
    gitlab = yaml.safe_load((tmp_path / ".gitlab/ragstone.yml").read_text())
    (command,) = [line for line in gitlab["ragstone"]["script"] if line.startswith("ragstone")]
    assert call(*shlex.split(command)[1:], "-q").code == 0
    assert (tmp_path / ".ragstone/junit.xml").is_file()


def test_init_names_what_it_cannot_choose(call, write):
    assert "no data file here" in call("init").err
    write("a.jsonl", [FULL])
    write("b.jsonl", [FULL])
    assert "2 data files here (a.jsonl, b.jsonl)" in call("init").err


def test_init_keeps_how_the_file_is_read(call, write, tmp_path):
    write("odd.jsonl", [{"q": "a?", "out": {"text": "It is free."}, "reference": "It is free."}])
    fields = ("--field", "question=q", "--field", "answer=out.text")
    assert call("init", "odd.jsonl", *fields).code == 0
    config = yaml.safe_load((tmp_path / "ragstone.yaml").read_text())
    assert config["data"]["fields"] == {"question": "q", "answer": "out.text"}
    assert call("eval", "-c", "ragstone.yaml", "-q").code == 0


def test_init_for_questions_alone_says_what_is_missing(call, write, tmp_path):
    write("questions.jsonl", [{"question": "How long?"}])
    assert call("init").code == 0
    text = (tmp_path / "ragstone.yaml").read_text()
    assert "there are only questions" in text
    assert "# system: my_app.py:answer" in text
    assert "metrics" not in yaml.safe_load(text)
