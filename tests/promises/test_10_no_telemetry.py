"""No telemetry: no command looks up a name or opens a connection that its user did not ask for.

Python's own audit hook watches every lookup and every connection while each command runs on real data; commands that are there to
connect (`judge get`, `monitor serve`, `view`) are named."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from ragstone.cli import COMMANDS, main
from ragstone.cli import ragstone as group
from sampling import sample_every

CALLS = {
    "demo": ["demo"],
    "init": ["init", "rows.jsonl"],
    "generate": ["generate", "documents", "-n", "2", "-o", "set.jsonl"],
    "testset check": ["testset", "check", "rows.jsonl"],
    "testset card": ["testset", "card", "rows.jsonl"],
    "testset compare": ["testset", "compare", "rows.jsonl", "many.jsonl"],
    "testset export": ["testset", "export", "questions", "set.jsonl"],
    "eval": ["eval", "rows.jsonl", "-m", "token_f1,faithfulness", "--store", "new.db"],
    "metrics": ["metrics", "faithfulness"],
    "report": ["report", "last", "-o", "report.html"],
    "compare": ["compare", "a", "b"],
    "bench": ["bench", "bench.yaml"],
    "ablate": [
        "ablate",
        "rows.jsonl",
        "--system",
        "pipeline",
        "--set",
        "documents=documents",
        "--vary",
        "top_k=1,2",
        "-m",
        "token_f1",
    ],
    "tune": [
        "tune",
        "many.jsonl",
        "--system",
        "pipeline",
        "--set",
        "documents=documents",
        "--vary",
        "top_k=1,2",
        "--objective",
        "token_f1",
    ],
    "failures": ["failures", "last"],
    "diagnose": ["diagnose", "last"],
    "plan": ["plan", "--effect", "0.1"],
    "slurm cancel": ["slurm", "cancel", "last"],
    "slurm certificates": ["slurm", "certificates", "tls"],
    "slurm status": ["slurm", "status", "last"],
    "slurm write": ["slurm", "write", "config.yaml"],
    "monitor import": ["monitor", "import", "rows.jsonl"],
    "monitor score": ["monitor", "score", "--since", "1d"],
    "monitor summary": ["monitor", "summary"],
    "monitor compare": ["monitor", "compare"],
    "monitor status": ["monitor", "status"],
    "monitor report": ["monitor", "report"],
    "monitor check": ["monitor", "check"],
    "monitor alert ack": ["monitor", "alert", "ack", "a1"],
    "monitor alert list": ["monitor", "alert", "list"],
    "monitor alert mute": ["monitor", "alert", "mute", "a1"],
    "monitor alert note": ["monitor", "alert", "note", "a1", "seen"],
    "monitor alert test": ["monitor", "alert", "test"],
    "monitor purge": ["monitor", "purge", "--before", "90d", "--yes"],
    "runs delete": ["runs", "delete", "b", "--yes"],
    "runs list": ["runs", "list"],
    "runs show": ["runs", "show", "a"],
    "store check": ["store", "check"],
    "store upgrade": ["store", "upgrade"],
    "judge attack": ["judge", "attack", "--judge", "offline"],
    "judge check": ["judge", "check", "offline", "-m", "coherence"],
    "judge fit": ["judge", "fit", "last"],
    "judge measure": ["judge", "measure"],
    "judge prompts": ["judge", "prompts"],
    "judge quality": ["judge", "quality"],
    "label run": ["label", "last"],
    "label adjudicate": ["label", "adjudicate"],
    "label agreement": ["label", "agreement"],
    "label export": ["label", "export", "labels.jsonl"],
    "label import": ["label", "import", "labels.jsonl"],
    "import": ["import", "rows.jsonl", "-o", "out.jsonl"],
    "export": ["export", "last", "-o", "out.csv"],
    "doctor": ["doctor"],
}
"""Command → a call of it; many find nothing to do, but all get as far as their work."""

MEANT_TO_CONNECT = {"judge get", "mcp", "monitor serve", "view"}
"""Commands whose very work is a connection: to the hub that is named, from the browser, or from an assistant over stdio."""

_watched: list[str] | None = None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _watched is None or not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto"):
        # a path is a socket of this machine, as databases and asyncio use
        if isinstance(arguments[1], tuple):
            _watched.append(f"{event} {arguments[1]}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        _watched.append(f"{event} {arguments[0]}")


sys.addaudithook(_watch)


@contextmanager
def watch_sockets() -> Iterator[list[str]]:
    """Collect lookups and connections of this process."""
    global _watched
    _watched = seen = []
    try:
        yield seen
    finally:
        _watched = None


def list_commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield every command that does something."""
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from list_commands(inner, (*path, name))


def test_every_command_is_called_or_meant_to_connect() -> None:
    assert set(list_commands(group)) == {*CALLS, *MEANT_TO_CONNECT}
    assert COMMANDS


def test_the_hook_sees_a_connection() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener, watch_sockets() as seen:
        socket.create_connection(listener.getsockname()).close()
        assert [line.split()[0] for line in seen] == ["socket.getaddrinfo", "socket.connect"]


@pytest.mark.parametrize("name", sample_every(7, sorted(CALLS, key=len)))
def test_a_command_connects_to_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_STORE", str(tmp_path / "store.db"))
    write_files(tmp_path)
    for run in ("a", "b"):
        arguments = ["eval", "rows.jsonl", "-m", "token_f1", "--name", run, "--quiet"]
        assert call(arguments) == 0, capsys.readouterr().err
    with watch_sockets() as seen:
        code = call(CALLS[name])
    printed = capsys.readouterr()
    assert seen == []
    assert code != 70, printed.err
    # a call that is not understood would show nothing
    assert "(see ragstone" not in printed.err, printed.err


def call(arguments: list[str]) -> int:
    """The exit code of a command."""
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0


def write_files(folder: Path) -> None:
    rows = [
        {"id": str(n), "question": f"What is {n}?", "answer": f"It is {n}.", "reference": f"{n}", "contexts": [f"It is {n}."]}
        for n in range(40)
    ]  # fmt: skip
    for name, count in (("rows", 4), ("many", 40)):
        lines = [json.dumps(row) + "\n" for row in rows[:count]]
        (folder / f"{name}.jsonl").write_text("".join(lines))
    (folder / "labels.jsonl").write_text("")
    (folder / "documents").mkdir()
    (folder / "tls").mkdir()
    (folder / "documents" / "a.md").write_text("# Parcels\n\nThe shop in Ulm sends parcels on Monday. Returns are free for 30 days.\n")  # fmt: skip
    (folder / "config.yaml").write_text("data: rows.jsonl\nmetrics: [token_f1]\n")
    (folder / "bench.yaml").write_text(
        "data: rows.jsonl\nmetrics: [token_f1]\nsystem: pipeline\nconfigurations:\n  one: {}\n  two: {top_k: 1}\n"
    )
