"""`--base-url` and `--small` beside `--judge`, wherever a command takes a judge."""

from __future__ import annotations

import json

import pytest

from faults.server import FaultServer


@pytest.mark.parametrize(
    "command", [("eval",), ("generate",), ("testset", "check"), ("ablate",), ("tune",)]
)
def test_more_of_a_judge_that_is_not_named_is_an_error(call, write, command) -> None:
    data = str(write("data.jsonl", '{"question": "Q?", "answer": "A."}\n'))
    system = ("--system", "pipeline:.") if command[0] in ("ablate", "tune") else ()
    vary = {
        "ablate": ("--vary", "top_k=1,2"),
        "tune": ("--vary", "top_k=1..3", "--objective", "recall@5"),
    }.get(command[0], ())
    done = call(*command, data, *system, *vary, "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 2
    assert "name it with --judge" in done.err


def test_eval_asks_the_server_that_is_named(call, write) -> None:
    data = str(write("data.jsonl", json.dumps({"question": "Q?", "answer": "It is red."}) + "\n"))
    with FaultServer() as server:
        done = call(
            "eval", data, "-m", "coherence", "--judge", "openai:m", "--base-url", server.url
        )
        assert done.code in (0, 3), done.err
        assert server.calls
