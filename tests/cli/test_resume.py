"""`eval --resume` without data: the plan comes from the store, from any folder, also from stores of ragstone 0.1."""

from __future__ import annotations

import json
import sqlite3
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.experiments.run import Run
from ragstone.store import NewRow, Store

OWN = 'def own_length(answer: str) -> float:\n    "1."\n    return 1.0\n'


def cut_short(path: Path, keep: int = 4) -> str:
    """Make the newest run of a store one that was interrupted after some samples."""
    opened = Store.open(path)
    run = opened.run("last")
    rows = [
        NewRow(r.position, r.id, r.sample.group, r.row, r.scores) for r in islice(run.rows(), keep)
    ]
    with sqlite3.connect(path) as store:
        ((number,),) = store.execute("SELECT MAX(number) FROM runs")
        for table in ("samples", "sample_inputs", "scores", "findings"):
            store.execute(f"DELETE FROM {table} WHERE run = ?", (number,))
        store.execute(
            "UPDATE runs SET status = 'running', total = NULL WHERE number = ?", (number,)
        )
    opened.append(run.id, rows).result()
    opened.close()
    return run.id


def stored_plan(path: Path) -> dict[str, Any]:
    with sqlite3.connect(path) as store:
        ((text,),) = store.execute("SELECT plan FROM runs ORDER BY number DESC LIMIT 1")
    return json.loads(text)


def replace_plan(path: Path, plan: dict[str, Any]) -> None:
    with sqlite3.connect(path) as store:
        store.execute("UPDATE runs SET plan = ?", (json.dumps(plan),))


@pytest.fixture
def elsewhere(monkeypatch, tmp_path_factory):
    """Go to another folder; the store's place is known by the environment."""
    return lambda: monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


def test_a_run_is_resumed_from_another_folder(call, rows, write, tmp_path, elsewhere):
    write("own.py", OWN)
    first = call("eval", "data.jsonl", "-m", "own.py:own_length,token_f1", "-o", "scores.csv",
                 "--gate", "token_f1 mean >= 0.5", "--floor", "0.5")  # fmt: skip
    assert first.code == 0
    whole = (tmp_path / "scores.csv").read_bytes()
    (tmp_path / "scores.csv").unlink()
    run = cut_short(tmp_path / "store.db")
    here = Path.cwd()
    elsewhere()
    folder = Path.cwd()
    again = call("eval", "--resume")
    assert again.code == 0
    assert f"resuming run {run}" in again.err
    assert Path.cwd() == folder != here
    assert (tmp_path / "scores.csv").read_bytes() == whole
    info = Run.open(run).info
    assert info.status == "done"
    assert info.plan.data.path == str(tmp_path / "data.jsonl")
    assert info.plan.gates == {"token_f1": "mean >= 0.5"}
    assert info.facts.command == (
        "eval", "data.jsonl", "-m", "own.py:own_length,token_f1", "-o", "scores.csv",
        "--gate", "token_f1 mean >= 0.5", "--floor", "0.5",
    )  # fmt: skip


def test_a_config_with_a_system_is_resumed_from_another_folder(call, write, tmp_path, elsewhere):
    write(
        "shop_for_resume.py",
        "def ask(question, *, shift=0):\n    return {'answer': question[-1]}\n",
    )
    write(
        "q.jsonl",
        [{"id": str(n), "question": f"What is {n}", "reference": str(n)} for n in range(8)],
    )
    write(
        "c.yaml", "data: q.jsonl\nsystem: shop_for_resume:ask\nmetrics: [exact_match]\nname: shop\n"
    )
    first = call("eval", "-c", "c.yaml", "--set", "shift=2")
    assert first.code == 0, first.err
    run = cut_short(tmp_path / "store.db")
    elsewhere()
    sys.path[:] = [folder for folder in sys.path if folder != str(tmp_path)]
    del sys.modules["shop_for_resume"]
    again = call("eval", "--resume", "--run", run)
    assert again.code == 0, again.err
    info = Run.open(run).info
    assert (info.status, info.total, info.name) == ("done", 8, "shop")
    assert info.plan.system.settings == {"shift": 2}
    assert Run.open(run).summary()["exact_match"].mean == 1


def old_plan(folder: Path, command: list[str], **more: Any) -> dict[str, Any]:
    """The plan of a run as ragstone 0.1 stored it."""
    return {
        "source": str((folder / "data.jsonl").resolve()), "metrics": ["token_f1"], "judge": None,
        "language": None, "limit": None, "format": None, "fields": None, "skip_bad_rows": False,
        "floor": 0.95, "gates": None, "command": command, "folder": str(folder), "ragstone": "0.1.0",
        **more,
    }  # fmt: skip


def test_an_older_run_is_not_resumed(call, rows, tmp_path):
    command = ["eval", "data.jsonl", "-m", "token_f1"]
    assert call(*command).code == 0
    replace_plan(tmp_path / "store.db", old_plan(tmp_path, command))
    run = cut_short(tmp_path / "store.db")
    for words in ([*command, "--resume"], ["eval", "--resume", "--run", run]):
        said = call(*words)
        assert said.code == 2
        assert "did not write down how it scores" in said.err
    assert call(*command, "--restart").code == 0
    assert len(Store.open(tmp_path / "store.db").runs()) == 2


def test_rows_that_changed_begin_a_new_run_with_restart(call, rows, tmp_path):
    command = ["eval", "data.jsonl", "-m", "token_f1"]
    assert call(*command).code == 0
    run = cut_short(tmp_path / "store.db")
    rows.write_text(rows.read_text().replace("About 2.", "About two."))
    said = call(*command, "--resume")
    assert said.code == 2
    assert f"sample 2 of data.jsonl has changed since run {run} scored it" in said.err
    assert "--restart" in said.err
    assert call(*command, "--restart").code == 0
    runs = {info.id: info.status for info in Store.open(tmp_path / "store.db").runs()}
    assert runs.pop(run) == "running"
    assert list(runs.values()) == ["done"]


def test_an_older_run_is_read_with_its_facts(call, rows, tmp_path):
    assert call("eval", "data.jsonl", "-m", "token_f1").code == 0
    replace_plan(
        tmp_path / "store.db",
        old_plan(tmp_path, ["eval", "data.jsonl"], floor=0.5, limit=7, gates={"token_f1": ">= 0.1"},
                 system="pipeline:docs", settings={"top_k": 3}, parameters={"top_k": 3, "rerank": False},
                 system_identity="abc"),
    )  # fmt: skip
    info = Run.open().info
    assert (info.plan.floor, info.plan.data.limit, info.plan.gates) == (
        0.5,
        7,
        {"token_f1": ">= 0.1"},
    )
    assert info.plan.system.spec == info.facts.system == "pipeline:docs"
    assert (info.facts.parameters["rerank"], info.facts.system_identity) == (False, "abc")
    assert (info.facts.ragstone, info.facts.legacy) == ("0.1.0", True)
    shown = json.loads(call("runs", "show", "--json").out)["plan"]
    assert shown["settings"] == {"top_k": 3}
    assert shown["command"] == ["eval", "data.jsonl"]


def test_what_only_python_had_is_asked_for_there(call, tmp_path):
    samples = [{"id": str(n), "answer": "x", "reference": "x"} for n in range(8)]
    evaluate(samples, ["token_f1"])
    run = cut_short(tmp_path / "store.db")
    assert "no unfinished run" in call("eval", "--resume").err
    said = call("eval", "--resume", "--run", run)
    assert said.code == 2
    assert f"evaluate(..., run_id='{run}', resume=True)" in said.err
    assert evaluate(samples, ["token_f1"], run_id=run, resume=True).info.total == 8


def test_a_run_begun_in_python_on_a_file_is_resumed_by_the_command(call, rows, tmp_path, elsewhere):
    evaluate("data.jsonl", ["token_f1", "recall@5"], limit=9)
    run = cut_short(tmp_path / "store.db")
    elsewhere()
    assert call("eval", "--resume").code == 0
    assert Run.open(run).info.total == 9


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("limit", {"limit": 3}),
        ("language", {"language": "es"}),
        ("format", {"format": "ragas"}),
        ("fields", {"fields": {"reference": "question"}}),
        ("skip_bad_rows", {"skip_bad_rows": True}),
        ("metrics", {"metrics": ["rouge_l"]}),
    ],
)
def test_another_plan_is_refused_under_the_same_id(call, rows, tmp_path, key, change):
    plan: dict[str, Any] = {"samples": "data.jsonl", "metrics": ["token_f1"], "run_id": "mine"}
    evaluate(**plan)
    with pytest.raises(RagstoneError, match=f"{key} "):
        evaluate(**(plan | change))


def test_a_run_of_a_system_is_not_resumed_with_other_metrics_or_another_judge(call, tmp_path):
    def answer(question: str) -> str:
        return "It is so."

    async def judge(asks):
        return [JudgeFailed("out of service") for _ in asks]

    plan: dict[str, Any] = {
        "samples": [{"id": str(n), "question": "Is it?", "reference": "x"} for n in range(8)],
        "system": answer, "metrics": ["coherence"], "resume": True,
    }  # fmt: skip
    evaluate(**plan)
    begun = cut_short(tmp_path / "store.db")
    for change in ({"metrics": ["token_f1"]}, {"judge": judge}):
        with pytest.raises(RagstoneError, match="has changed"):
            evaluate(**(plan | change))
        assert evaluate(**(plan | change), restart=True).info.id != begun
    assert evaluate(**plan).info.id == begun


def test_no_password_of_the_store_is_kept(call, rows, tmp_path, monkeypatch):
    call("eval", "data.jsonl", "-m", "token_f1", "--store", str(tmp_path / "other.db"))
    assert stored_plan(tmp_path / "other.db")["store"] == str(tmp_path / "other.db")
