"""Tools for assistants, asked over stdio by the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.cli import run

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

ROWS = [
    {"id": "a", "question": "How long is the warranty?", "answer": "It lasts five years.",
     "contexts": ["The warranty lasts two years."], "reference": "Two years."},
    {"id": "b", "question": "When does it open?", "answer": "It opens at nine.",
     "contexts": ["The shop opens at nine."], "reference": "At nine."},
    {"id": "c", "question": "Who signs?", "answer": "I don't know.",
     "contexts": ["The manager signs."], "reference": "The manager."},
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> str:
    place = str(tmp_path / "runs.db")
    for name in ("monday", "tuesday"):
        evaluate(ROWS, ["faithfulness", "token_f1", "answer_correctness"], store=place, name=name)
    return place


def talk(
    store: str, calls: Sequence[tuple[str, dict[str, Any]]], *options: str
) -> tuple[list[str], list[Any]]:
    """The names of the tools, and what each call gave; an error is given as its text."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def converse() -> tuple[list[str], list[Any]]:
        command = ["-m", "ragstone", "mcp", "--store", store, *options]
        server = StdioServerParameters(command=sys.executable, args=command)
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            given = []
            for name, arguments in calls:
                result = await session.call_tool(name, arguments)
                texts = [part.text for part in result.content]
                given.append(texts[0] if result.is_error else [json.loads(text) for text in texts])
            return names, given

    return asyncio.run(converse())


def test_an_assistant_reads_runs_failures_and_comparisons(store: str, tmp_path: Path) -> None:
    rows = tmp_path / "set.jsonl"
    rows.write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_runs", {}),
        ("show_run", {"run": "monday"}),
        ("compare_runs", {"baseline": "monday", "candidate": "tuesday"}),
        ("show_failures", {"run": "monday"}),
        ("check_testset", {"path": str(rows)}),
        ("show_run", {"run": "sunday"}),
    ]
    names, (runs, shown, compared, failures, checked, missing) = talk(store, calls)
    assert "run_evaluation" not in names
    assert [row["name"] for row in runs] == ["tuesday", "monday"]
    assert {m["metric"] for m in shown[0]["summary"]["metrics"]} >= {"faithfulness", "token_f1"}
    verdicts = {d["verdict"] for d in compared[0]["versus"][0]["differences"]}
    assert verdicts <= {"identical", "unclear", "equivalent"}
    assert failures[0]["classes"]["false_refusal"] == 1
    assert any(example["id"] == "c" for example in failures[0]["examples"])
    assert checked[0]["total"] == 3
    assert "sunday" in missing
    assert "Traceback" not in missing


def test_running_an_evaluation_needs_leave(store: str, tmp_path: Path) -> None:
    data = tmp_path / "new.jsonl"
    data.write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("run_evaluation", {"data": str(data), "metrics": ["token_f1"]}),
        ("run_evaluation", {"data": str(tmp_path / "none.jsonl")}),
        ("list_runs", {"limit": 1}),
    ]
    names, (made, missing, runs) = talk(store, calls, "--allow-run")
    assert "run_evaluation" in names
    assert set(made[0]["metrics"]) == {"token_f1"}
    assert "none.jsonl" in missing
    assert runs[0]["id"] == made[0]["id"]


def test_without_the_package_the_command_names_the_extra(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert run(["mcp"]) == 2
    assert "pip install 'ragstone[mcp]'" in capsys.readouterr().err
