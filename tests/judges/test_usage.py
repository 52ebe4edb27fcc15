"""A judge may report any nonsense about its usage: the run goes on, and sums stay sums."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import ragstone
from faults.scoring import SAMPLE, settings
from faults.server import Behaviour, Call, FaultServer
from ragstone.asks import Reply
from ragstone.types import NO_USAGE, Usage, clean_usage
from scripted import ScriptedJudge, level_by_hash, rated

Serve = Callable[..., FaultServer]
ABSURD = [10**30, -(10**30), -1, 1e308, math.inf, -math.inf, math.nan, "12", True, None, [5], {}]


@pytest.mark.parametrize("value", ABSURD, ids=repr)
def test_each_absurd_number_counts_as_0(value: Any) -> None:
    for field in fields(Usage):
        usage = Usage(**{"calls": 1, "input_tokens": 7, "usd": 0.5, field.name: value})
        cleaned = clean_usage(usage)
        assert getattr(cleaned, field.name) == (1 if field.name == "usd" and value is True else 0)
        assert cleaned == clean_usage(cleaned)
    assert clean_usage(value) is NO_USAGE


def test_a_sane_report_is_left_as_it_is() -> None:
    usage = Usage(3, 120_000, 4_000, 0.75, 2)
    assert clean_usage(usage) is usage


def report(value: Any) -> Behaviour:
    async def behave(call: Call) -> None:
        usage = {"prompt_tokens": value, "completion_tokens": value}
        if call.path.endswith("/embeddings"):
            await call.answer()
            return
        envelope = call.envelope(json.dumps(call.truth())) | {"usage": usage}
        await call.send(200, json.dumps(envelope).encode())

    return behave


@pytest.mark.parametrize("value", ABSURD, ids=repr)
def test_a_server_with_absurd_usage_is_scored(value: Any, serve: Serve, tmp_path: Path) -> None:
    judge = settings(serve(report(value)), prices={"input": 1.0, "output": 2.0}, max_usd=5.0)
    run = ragstone.evaluate([SAMPLE], ["faithfulness"], judge=judge, store=tmp_path / "s.db")
    assert run.summary()["faithfulness"].mean == 0.25
    assert run.info.usage.calls == 2
    assert (run.info.usage.input_tokens, run.info.usage.usd) == (0, 0.0)


@pytest.mark.parametrize("value", ABSURD, ids=repr)
def test_a_judge_object_with_absurd_usage_is_scored(value: Any, tmp_path: Path) -> None:
    judge = ScriptedJudge()
    judge._one = lambda ask: Reply(level_by_hash(ask), Usage(1, value, value, value))  # type: ignore[method-assign]
    rows = [{"id": str(n), "question": "q", "answer": f"answer {n}"} for n in range(3)]
    run = ragstone.evaluate(rows, [rated("absurd_usage")], judge=judge, store=tmp_path / "s.db")
    assert run.summary()["absurd_usage"].scored == 3
    assert run.info.usage.calls == 3
    assert math.isfinite(run.info.usage.usd)
