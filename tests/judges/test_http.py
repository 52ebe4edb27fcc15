"""Retries, waits, limits of concurrency, budgets and parameters that a model refuses."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest

from faults.catalogue import FAULTS, status
from faults.scoring import settings
from faults.server import Call, FaultServer
from ragstone.asks import Ask, Case, Reply, embed, questions, rate, support
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges.factory import make_judge
from ragstone.judges.http import MAX_REPLY_BYTES, JsonClient, parse_retry_after
from ragstone.judges.limits import Budget, ConcurrencyLimiter, RateLimiter
from ragstone.types import Chunk

Serve = Callable[..., FaultServer]
PLAIN = rate({"answer": "It is so."}, "tone", "Is it polite?", ["rude", "plain", "polite"])


def asked(server: FaultServer, *asks: Ask, **more: Any) -> list[Any]:
    """What a judge on the server answers, all at once."""

    async def put() -> list[Any]:
        judge = make_judge(settings(server, **{"deadline": 30.0, "timeout": 30.0} | more))
        try:
            return await judge.answer(asks or [PLAIN])
        finally:
            await judge.close()

    return asyncio.run(put())


def many(count: int) -> list[Ask]:
    return [rate({"answer": f"No {n}."}, "tone", "Polite?", ["a", "b", "c"]) for n in range(count)]


def then_honest(*first: Any) -> Any:
    """These behaviours one after the other, then the truth."""
    left = list(first)

    async def behave(call: Call) -> None:
        await (left.pop(0)(call) if left else call.answer())

    return behave


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a client decides to wait before each further attempt; it does wait them."""
    seconds: list[float] = []

    async def sleep(wait: float) -> None:
        seconds.append(wait)
        await asyncio.sleep(wait)

    monkeypatch.setitem(JsonClient.__init__.__kwdefaults__, "sleep", sleep)
    return seconds


@pytest.mark.parametrize("wanted", [0.4, 1.0])
@pytest.mark.parametrize("header", ["Retry_After", "retry_after_ms"])
def test_retry_after_is_obeyed_within_a_tenth(
    wanted: float, header: str, serve: Serve, waits: list[float]
) -> None:
    value = f"{wanted * 1000:g}" if header.endswith("ms") else f"{wanted:g}"
    server = serve(then_honest(status(429, **{header: value})))
    (answered,) = asked(server)
    assert isinstance(answered, Reply)
    first, second = server.calls
    assert second.at - first.at >= wanted
    (wait,) = waits
    assert wanted <= wait <= wanted * 1.1


def test_a_date_is_waited_for(serve: Serve, waits: list[float]) -> None:
    async def until(call: Call) -> None:
        call.headers["until"] = str(int(time.time()) + 2)
        await call.send(429, b"{}", Retry_After=formatdate(int(time.time()) + 2, usegmt=True))

    server = serve(then_honest(until))
    began = time.time() - time.monotonic()
    asked(server)
    first, second = server.calls
    promised = float(first.headers["until"])
    assert promised <= began + second.at + 0.01
    (wait,) = waits
    assert wait <= 2 * 1.1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        (
            {"retry-after": formatdate(1010, usegmt=True), "Date": formatdate(1000, usegmt=True)},
            10.0,
        ),
    ],
)
def test_retry_after_is_read_in_every_spelling(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert parse_retry_after(headers) == seconds


def test_an_absurd_wait_fails_at_once(serve: Serve) -> None:
    server = serve(status(429, Retry_After="7000"))
    (failed,) = asked(server, deadline=20.0)
    assert isinstance(failed, JudgeFailed)
    assert "7000 s of patience" in failed.reason
    assert len(server.calls) == 1


def test_concurrency_never_exceeds_the_limit(serve: Serve) -> None:
    async def wait_for_seven(call: Call) -> None:
        while server.most_at_once < 7:  # noqa: ASYNC110 - the calls of other tasks
            await asyncio.sleep(0.01)
        await call.answer()

    server = serve(wait_for_seven, delay=0.01)
    asked(server, *many(40), concurrency=7)
    assert server.most_at_once == 7


def test_concurrency_falls_after_429(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[float] = []
    decrease = ConcurrencyLimiter.decrease

    def watch(limiter: ConcurrencyLimiter, started: float) -> None:
        decrease(limiter, started)
        allowed.append(limiter.allowed)

    monkeypatch.setattr(ConcurrencyLimiter, "decrease", watch)
    server = serve(then_honest(status(429, Retry_After="0")))
    (reply,) = asked(server, concurrency=10)
    assert isinstance(reply, Reply)
    assert allowed == [8.0]


def test_a_rate_spaces_calls_below_what_was_asked_for() -> None:
    limiter = RateLimiter(4.0)
    assert [limiter.wait(10.0) for _ in range(3)] == [0.0, 0.25, 0.5]
    assert limiter.wait(20.0) == 0.0  # turns that nobody took are not saved up
    budget = Budget(calls_per_second=1.0)
    budget.next_turn_seconds()
    assert budget.next_turn_seconds() > 1.0  # a server that counts by its own clock sees fewer


def test_the_limit_shrinks_once_a_burst_and_grows_back_slowly() -> None:
    limiter = ConcurrencyLimiter(10)
    before = time.monotonic()
    for _ in range(5):
        limiter.decrease(before)
    assert limiter.allowed == 8.0
    limiter.decrease(time.monotonic() + 1)
    assert limiter.allowed == pytest.approx(6.4)
    for _ in range(6):
        limiter.increase()
    assert 7.2 < limiter.allowed < 7.5
    for _ in range(100):
        limiter.increase()
    assert limiter.allowed == 10.0
    for _ in range(100):
        limiter.decrease(time.monotonic() + 10)
    assert limiter.allowed == 1.0


def test_cancelled_waiters_leave_no_place_taken() -> None:
    async def use() -> int:
        limiter = ConcurrencyLimiter(1)

        async def hold() -> None:
            async with limiter:
                await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(hold()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in tasks[1:4]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return limiter.busy

    assert asyncio.run(use()) == 0


def test_a_parameter_that_is_refused_is_dropped_and_not_sent_again(serve: Serve) -> None:
    async def picky(call: Call) -> None:
        if "temperature" in call.body:
            words = "Unsupported value: 'temperature' does not support 0 with this model."
            await call.send(
                400, json.dumps({"error": {"message": words, "param": "temperature"}}).encode()
            )
        else:
            await call.answer()

    server = serve(picky)
    assert all(isinstance(one, Reply) for one in asked(server, *many(3), concurrency=1))
    assert sum("temperature" in call.body for call in server.calls) == 1
    asked(server, *many(2))
    assert sum("temperature" in call.body for call in server.calls) == 1


@pytest.mark.parametrize(
    ("knows", "used"), [("json_schema", "json_schema"), ("json_object", "json_object"), ("", None)]
)
def test_the_form_is_held_by_what_the_server_knows(
    knows: str, used: str | None, serve: Serve
) -> None:
    async def old(call: Call) -> None:
        form = call.body.get("response_format", {}).get("type")
        if form is not None and form != knows:
            await call.send(400, f"'response_format.type' must not be {form}".encode())
        else:
            await call.answer()

    server = serve(old)
    replies = asked(server, *many(4))
    assert all(isinstance(one, Reply) for one in replies)
    assert server.calls[-1].body.get("response_format", {}).get("type") == used
    settled = len(server.calls)
    asked(server, *many(4))
    assert len(server.calls) == settled + 4


def test_other_refusals_are_not_repeated(serve: Serve) -> None:
    server = serve(status(400))
    (failed,) = asked(server)
    assert isinstance(failed, JudgeFailed)
    assert "HTTP 400: not now" in failed.reason
    assert len(server.calls) == 1


def test_a_locked_door_is_tried_once(serve: Serve) -> None:
    server = serve(status(401))
    answered = asked(server, *many(20), concurrency=1)
    assert {one.kind for one in answered} == {"transport"}
    assert len(server.calls) == 1


def test_redirects_are_not_followed(serve: Serve) -> None:
    elsewhere = serve()
    server = serve(status(307, Location=f"{elsewhere.url}/chat/completions"))
    (failed,) = asked(server)
    assert isinstance(failed, JudgeFailed)
    assert not elsewhere.calls


def test_a_reply_without_end_is_cut(serve: Serve) -> None:
    async def flood(call: Call) -> None:
        call.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(MAX_REPLY_BYTES // 2**20 + 8):
            call.writer.write(b"100000\r\n" + b" " * 2**20 + b"\r\n")
            await call.writer.drain()

    (failed,) = asked(serve(flood), max_retries=0)
    assert isinstance(failed, JudgeFailed)
    assert "larger than" in failed.reason


def test_max_calls_is_checked_before_each_call(serve: Serve) -> None:
    server = serve()
    answered = asked(server, *many(10), max_calls=4)
    assert sum(isinstance(one, Reply) for one in answered) == 4
    assert sum(isinstance(one, OutOfBudget) for one in answered) == 6
    assert len(server.calls) == 4


def test_retries_and_reasks_count_as_calls(serve: Serve) -> None:
    server = serve(then_honest(status(500), status(500)))
    (out,) = asked(server, max_calls=2)
    assert isinstance(out, OutOfBudget)
    assert len(server.calls) == 2


def test_max_usd_is_not_exceeded(serve: Serve) -> None:
    prices = {"input": 1000.0, "output": 1000.0}
    answered = asked(serve(), *many(30), max_usd=3.0, prices=prices)
    spent = sum(one.usage.usd for one in answered if isinstance(one, Reply))
    assert 0 < spent <= 3.0
    assert any(isinstance(one, OutOfBudget) for one in answered)


def test_usage_counts_tokens_and_money(serve: Serve) -> None:
    (free,) = asked(serve())
    assert free.usage.calls == 1
    assert free.usage.input_tokens > 0
    assert free.usage.usd == 0
    (paid,) = asked(serve(), prices={"input": 2.0, "output": 8.0})
    wanted = (paid.usage.input_tokens * 2 + paid.usage.output_tokens * 8) / 1e6
    assert paid.usage.usd == pytest.approx(wanted)


def test_the_run_deadline_stops_further_calls(serve: Serve) -> None:
    server = serve(delay=0.2)
    answered = asked(server, *many(20), concurrency=2, run_deadline=0.5)
    assert any(isinstance(one, Reply) for one in answered)
    assert any(isinstance(one, OutOfBudget) for one in answered)
    assert len(server.calls) <= 8


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m", "gemini:m"])
def test_each_dialect_asks_for_the_schema_in_its_own_way(model: str, serve: Serve) -> None:
    server = serve()
    (answered,) = asked(server, model=model, api_key="sk-secret-key-1")
    assert isinstance(answered, Reply)
    (call,) = server.calls
    if model.startswith("openai"):
        assert call.path == "/v1/chat/completions"
        assert call.headers["authorization"] == "Bearer sk-secret-key-1"
        schema = call.body["response_format"]["json_schema"]["schema"]
    elif model.startswith("anthropic"):
        assert call.path == "/v1/messages"
        assert call.headers["x-api-key"] == "sk-secret-key-1"
        assert call.headers["anthropic-version"]
        schema = call.body["output_config"]["format"]["schema"]
    else:
        assert call.path == "/v1/models/m:generateContent"
        assert call.headers["x-goog-api-key"] == "sk-secret-key-1"
        schema = call.body["generationConfig"]["responseJsonSchema"]
    assert list(schema["properties"]) == ["check", "reason", "level", "control"]


def test_truncated_replies_are_split_until_they_fit(serve: Serve) -> None:
    """A server that can say only two verdicts at a time still checks nine claims, each once."""

    async def short(call: Call) -> None:
        truth = call.truth()
        text = json.dumps(truth)
        await (call.say(text[:50], "length") if len(truth["verdicts"]) > 3 else call.say(text))

    claims = tuple(f"The tower has {n} steps." for n in range(9))
    source = Chunk(text=" ".join(claims[:5]))
    (answered,) = asked(serve(short), support(Case(claims, (source,))))
    verdicts = [row["verdict"] for row in answered.value["verdicts"]]
    assert verdicts == ["supported"] * 5 + ["not_found"] * 4
    assert [row["id"] for row in answered.value["verdicts"]] == [f"c{n}" for n in range(1, 10)]


def test_only_missing_claims_are_asked_again(serve: Serve) -> None:
    async def forgetful(call: Call) -> None:
        truth = call.truth()
        if "could not be used" not in call.prompt[1]:
            truth["verdicts"] = truth["verdicts"][:4]
        await call.say(json.dumps(truth))

    server = serve(forgetful)
    claims = tuple(f"The tower has {n} steps." for n in range(9))
    (answered,) = asked(server, support(Case(claims, (Chunk(text="No."),))))
    assert isinstance(answered, Reply)
    first, second = (sum(claim in c.prompt[1] for claim in claims) for c in server.calls)
    assert first == 9
    assert second in (5, 6)  # one of the four that were kept may have been the trap


def test_claims_without_sources_cost_nothing(serve: Serve) -> None:
    server = serve()
    (answered,) = asked(server, support(Case(("The sky is blue.",), ())))
    assert answered.value["verdicts"][0]["verdict"] == "not_found"
    assert not server.calls


@pytest.mark.parametrize("reply", [{"data": []}, {"data": [{"index": 0, "embedding": [1, "x"]}]},
                                   {"data": [{"index": 5, "embedding": [1.0]}]}, []])  # fmt: skip
def test_embeddings_that_do_not_fit_are_refused(reply: Any, serve: Serve) -> None:
    async def behave(call: Call) -> None:
        await call.send(200, json.dumps(reply).encode())

    (failed,) = asked(serve(behave), embed("a text"), max_retries=0)
    assert isinstance(failed, JudgeFailed)
    assert failed.kind == "transport"


@pytest.mark.parametrize("size", [1e160, 1e308, 10**400])
def test_embeddings_beyond_floats_are_a_typed_error(size: Any, serve: Serve) -> None:
    async def behave(call: Call) -> None:
        rows = [{"index": n, "embedding": [size, -size]} for n in range(len(call.body["input"]))]
        await call.send(200, json.dumps({"data": rows}).encode())

    (failed,) = asked(serve(behave), embed("a text"), max_retries=0)
    assert isinstance(failed, JudgeFailed)
    assert failed.kind in ("unparseable", "transport")
    assert "nan" not in str(failed)  # no store takes one


def test_an_evasive_answer_needs_no_questions(serve: Serve) -> None:
    async def behave(call: Call) -> None:
        await call.say(json.dumps({**call.truth(), "evasive": True, "questions": []}))

    (answered,) = asked(serve(behave), questions("I do not know."))
    assert answered.value == {"evasive": True, "questions": []}


@pytest.mark.parametrize(
    "fault", ["wrong nonce", "missing ids", "invented ids", "unknown verdict", "hang"]
)
def test_a_failure_is_told_in_the_same_words_each_time(fault: str, serve: Serve) -> None:
    """Reasons are counted in reports: no nonce, no number that chance decides."""
    ask = support(Case(("A tower.", "A moon."), (Chunk(text="A tower."),)))
    timeout = 0.3 if fault == "hang" else 30.0
    told = {
        asked(serve(FAULTS[fault]), ask, max_retries=0, timeout=timeout)[0].reason for _ in range(4)
    }
    assert len(told) == 1


def test_a_little_less_than_the_rate_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr("ragstone.judges.limits.time", clock)
    budget = Budget(calls_per_second=9.7)
    assert [round(budget.next_turn_seconds() * 9.7 * 0.97, 6) for _ in range(3)] == [0, 1, 2]
    assert Budget().next_turn_seconds() == 0.0
