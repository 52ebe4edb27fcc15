"""Judges asked through batch APIs: rounds, prices, failures, and jobs that outlive the process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.batches import BatchServer, serve_batches
from faults.scoring import SAMPLE
from ragstone import evaluate
from ragstone.asks import fences
from ragstone.errors import RagstoneError
from ragstone.experiments.run import Run
from ragstone.judges import batching
from ragstone.judges.factory import make_judge
from ragstone.store import Store
from ragstone.store.judge_jobs import load_waiting_jobs

METRICS = ["faithfulness"]
MODELS = ["openai:m", "anthropic:m"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(batching, "QUIET_SECONDS", 0.5)
    monkeypatch.setattr(batching, "FIRST_POLL_SECONDS", 0.05)
    monkeypatch.setattr(batching, "MAX_POLL_SECONDS", 0.05)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    with serve_batches() as running:
        yield running


def make_samples(count: int) -> list[dict[str, Any]]:
    return [
        SAMPLE | {"id": f"s{n}", "answer": f"{SAMPLE['answer']} It has {n} steps."}
        for n in range(count)
    ]


def judge_spec(server: BatchServer, model: str, **more: Any) -> dict[str, Any]:
    spec = {"model": model, "base_url": server.url, "batch": True, "language": "en"}
    return spec | {"prices": {"input": 10.0, "output": 50.0}} | more


def score(server: BatchServer, model: str, store: Any = ":memory:", **more: Any) -> Run:
    spec = judge_spec(server, model, **more.pop("judge", {}))
    return evaluate(make_samples(12), METRICS, judge=spec, store=store, language="en", **more)


def values(run: Run) -> list[float | None]:
    return [row.scores["faithfulness"].value for row in run.rows()]


@pytest.mark.parametrize("model", MODELS)
def test_questions_of_all_samples_go_into_few_jobs_at_half_the_price(
    server: BatchServer, model: str
) -> None:
    run = score(server, model)
    assert None not in values(run)
    assert server.single_calls == 0
    # a slow machine may end a round early; one job for each question it cannot be
    assert len(server.jobs) <= server.request_count / 3
    assert run.summary().usage.calls == server.request_count
    assert run.summary().usage.usd == pytest.approx(
        0.5 * server.request_count * (1000 * 10 + 100 * 50) / 1e6
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_killed_run_collects_its_jobs_another_day(
    server: BatchServer, model: str, tmp_path: Path
) -> None:
    store = str(tmp_path / "runs.db")
    server.released.clear()
    stop_when_sent(lambda: score(server, model, store, name="night"))
    sent = server.request_count
    opened = Store.open(store)
    (waiting,) = load_waiting_jobs(opened).values()
    assert (waiting.jobs, waiting.requests) == (len(server.jobs), sent)
    opened.close()
    # another process has another secret; the run keeps its own
    fences._SECRET.set(fences.make_secret())
    server.released.set()
    run = score(server, model, store, name="night", resume=True)
    assert None not in values(run)
    asked = [row["custom_id"] for rows in server.jobs.values() for row in rows]
    assert len(asked) == len(set(asked)) > sent  # nothing was sent twice; the second round is new
    assert load_waiting_jobs(run.stored.store) == {}
    assert run.stored.store.read("SELECT * FROM judge_jobs") == []
    assert values(run) == values(score(server, model))


def stop_when_sent(work: Callable[[], Run]) -> None:
    """Do the work until its first round of questions is at the server."""

    async def stop(queue: Any, job: Any) -> None:
        for task in asyncio.all_tasks():
            task.cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching.BatchQueue, "_follow", stop)
        with pytest.raises(asyncio.CancelledError):
            work()


@pytest.mark.slow
def test_a_process_that_was_killed_loses_no_job(server: BatchServer, tmp_path: Path) -> None:
    server.released.clear()
    rows = "".join(json.dumps(sample) + "\n" for sample in make_samples(30))
    (tmp_path / "data.jsonl").write_text(rows)
    config = {
        "data": "data.jsonl", "metrics": METRICS, "language": "en", "store": "runs.db",
        "judge": judge_spec(server, "anthropic:m"),
    }  # fmt: skip
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    command = [sys.executable, "-m", "ragstone", "eval", "-c", "config.yaml"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        # a sentence of the note, which is written once the job stands in the store
        assert any("collect the replies later with --resume" in line for line in process.stderr)
        process.kill()
    sent = server.request_count
    listed = subprocess.run(
        [sys.executable, "-m", "ragstone", "runs", "--store", "runs.db"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"waits for 1 job ({sent} questions" in " ".join(listed.stdout.split())
    server.released.set()
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    asked = [row["custom_id"] for rows in server.jobs.values() for row in rows]
    assert len(asked) == len(set(asked)) > sent


def test_replies_of_jobs_are_cached_like_those_of_single_calls(
    server: BatchServer, tmp_path: Path
) -> None:
    store = str(tmp_path / "runs.db")
    first = score(server, "openai:m", store)
    sent = server.request_count
    again = score(server, "openai:m", store, judge={"batch": False})
    assert server.request_count == sent
    assert server.single_calls == 0
    assert values(again) == values(first)


@pytest.mark.parametrize("model", MODELS)
def test_a_parameter_that_the_model_rejects_is_left_out_of_the_next_job(
    server: BatchServer, model: str
) -> None:
    server.spoil = lambda body: (400, "temperature is not supported") if "temperature" in body else None  # fmt: skip
    run = score(server, f"{model}-cold")
    assert None not in values(run)


@pytest.mark.parametrize("model", MODELS)
def test_an_expired_request_is_sent_once_more(server: BatchServer, model: str) -> None:
    seen: set[str] = set()

    def expire_first(body: dict[str, Any]) -> tuple[int, str] | None:
        is_new = (text := str(body)) not in seen
        seen.add(text)
        return (0, "expired") if is_new else None

    server.spoil = expire_first
    assert None not in values(score(server, model))


def test_a_failed_job_is_a_judge_error_with_what_the_provider_says(server: BatchServer) -> None:
    server.failure = "Enqueued token limit reached"
    run = score(server, "openai:m")
    scores = [row.scores["faithfulness"] for row in run.rows()]
    assert {score.outcome for score in scores} == {"judge_error"}
    assert "Enqueued token limit reached" in str(scores[0].reason)


@pytest.mark.parametrize("model", MODELS)
def test_requests_that_fail_twice_are_judge_errors(server: BatchServer, model: str) -> None:
    server.spoil = lambda body: (500, "the model is down") if "s0" in str(body) else (0, "expired")
    run = score(server, model)
    assert set(values(run)) == {None}


def test_a_budget_counts_what_waits(server: BatchServer) -> None:
    run = score(server, "openai:m", judge={"max_calls": 5})
    assert server.request_count <= 5
    assert "skipped_budget" in {row.scores["faithfulness"].outcome for row in run.rows()}


def test_settings_that_exclude_each_other_are_refused() -> None:
    for spec, part in [
        ({"model": "gemini:m", "api_key": "x"}, "openai:MODEL, anthropic:MODEL"),
        ({"model": "openai:m", "api_key": "x", "small": True}, "small"),
        ({"model": "hf:somewhere"}, "give a number"),
    ]:
        with pytest.raises(RagstoneError, match=part):
            make_judge({**spec, "batch": True})


@pytest.mark.slow
def test_the_providers_own_clients_understand_the_server(server: BatchServer) -> None:
    """What the other tests talk to is the API that the clients were written for."""
    openai, anthropic = pytest.importorskip("openai"), pytest.importorskip("anthropic")
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    server.spoil = lambda body: (400, "spoiled")
    client = openai.OpenAI(base_url=server.url, api_key="x", max_retries=0)
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": messages}}  # fmt: skip
    file = client.files.create(file=("x.jsonl", json.dumps(line).encode()), purpose="batch")
    job = client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    state = client.batches.retrieve(job.id)
    assert (state.status, state.output_file_id) == ("completed", None)
    assert state.error_file_id is not None
    assert json.loads(client.files.content(state.error_file_id).text)["custom_id"] == "a"
    other = anthropic.Anthropic(base_url=server.url.removesuffix("/v1"), api_key="x", max_retries=0)
    request = {
        "custom_id": "b",
        "params": {"model": "m", "max_tokens": 9, "messages": messages[1:]},
    }
    batch = other.messages.batches.create(requests=[request])
    assert other.messages.batches.retrieve(batch.id).processing_status == "ended"
    (result,) = other.messages.batches.results(batch.id)
    assert (result.custom_id, result.result.type) == ("b", "errored")
    assert result.result.error.error.message == "spoiled"
