"""Judges that cannot be reached: told in one sentence that says what to look at, and not waited for again and again."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import pytest
from click.testing import CliRunner

import ragstone
from faults.scoring import SAMPLE, settings
from faults.server import FaultServer
from ragstone.asks import Ask, rate
from ragstone.cli.judge import command
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.judges import http
from ragstone.judges.connection_errors import explain_connection_error
from ragstone.judges.factory import make_judge
from ragstone.judges.secrets import parse_base_url
from scripted import ScriptedJudge

METRICS = ["coherence", "answer_similarity"]
ASK = rate({"answer": "So."}, "tone", "Is it polite?", ["no", "yes"])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http.random, "uniform", lambda low, high: high / 100)


@pytest.fixture
def listen() -> Iterator[Callable[..., int]]:
    """Starts something that listens on a port and does as told with each connection."""
    opened: list[socket.socket] = []

    def start(behave: Callable[[socket.socket], Any]) -> int:
        door = socket.create_server(("127.0.0.1", 0))
        opened.append(door)

        def serve() -> None:
            while True:
                try:
                    guest, _ = door.accept()
                except OSError:
                    return
                behave(guest)
                guest.close()

        threading.Thread(target=serve, daemon=True).start()
        return int(door.getsockname()[1])

    yield start
    for door in opened:
        door.shutdown(socket.SHUT_RDWR)
        door.close()


def says(reply: bytes) -> Callable[[socket.socket], None]:
    def behave(guest: socket.socket) -> None:
        guest.recv(65536)
        if reply:
            guest.sendall(reply)

    return behave


def reason(url: str, *asks: Ask, **more: Any) -> str:
    async def put() -> Any:
        judge = make_judge({"model": "openai:m", "base_url": url, "max_retries": 1, **more})
        try:
            return (await judge.answer(asks or [ASK]))[0]
        finally:
            await judge.close()

    answered = asyncio.run(put())
    assert isinstance(answered, JudgeFailed)
    assert answered.kind == "transport"
    return answered.reason


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def test_nobody_answers() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    assert reason(url) == f"nobody answers at {url}; is the server running?"


def test_a_host_that_nobody_knows() -> None:
    said = reason("http://nowhere.invalid/v1")
    assert said == "the host 'nowhere.invalid' is not known; check base_url and the network"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b"", "127.0.0.1 closed the connection without a reply (2 tries)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "the reply of 127.0.0.1 broke off"),
        (b"SSH-2.0-OpenSSH_9\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 404 x\r\nContent-Length: 2\r\n\r\nno", "HTTP 404: no; check base_url, which"),
    ],
)
def test_servers_that_are_no_judges(reply: bytes, said: str, listen: Callable[..., int]) -> None:
    assert said in reason(f"http://127.0.0.1:{listen(says(reply))}/v1")


def test_a_server_without_tls(listen: Callable[..., int]) -> None:
    url = f"https://127.0.0.1:{listen(says(b'HTTP/1.1 400 x'))}/v1"
    assert reason(url).startswith(f"no secure connection to {url}; does it speak http://")


def test_a_certificate_that_is_not_trusted() -> None:
    fault = ssl.SSLCertVerificationError(1, "certificate verify failed")
    fault.verify_message = "self-signed certificate"
    key = aiohttp.client_reqrep.ConnectionKey("host", 443, True, True, None, None, None)
    broken = aiohttp.ClientConnectorCertificateError(key, fault)
    said = explain_connection_error(broken, parse_base_url("https://host/v1"), str)
    assert said.startswith("the certificate of host is not trusted (self-signed certificate)")


def test_a_server_that_takes_too_long(listen: Callable[..., int]) -> None:
    waiting = threading.Event()
    url = f"http://127.0.0.1:{listen(lambda guest: waiting.wait(10))}/v1"
    try:
        assert reason(url, timeout=0.1).startswith("no complete reply from 127.0.0.1 within 0.1 s")
    finally:
        waiting.set()


def test_a_host_that_was_never_reached_is_given_up_for_all_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries = []
    once = http.JsonClient._send_once

    async def counted(client: Any, *more: Any) -> Any:
        tries.append(client)
        return await once(client, *more)

    monkeypatch.setattr(http.JsonClient, "_send_once", counted)
    asks = [rate({"answer": f"{n}."}, "tone", "Polite?", ["no", "yes"]) for n in range(50)]
    reason(f"http://127.0.0.1:{closed_port()}/v1", *asks, concurrency=4)
    assert len(tries) <= 4 * 2


def test_no_connection_is_left_open_whoever_made_the_judge(
    serve: Callable[..., FaultServer], caplog: pytest.LogCaptureFixture
) -> None:
    spec = settings(serve())
    samples = (SAMPLE | {"answer": f"It is number {n}."} for n in range(9))

    def judged(judge: Any) -> None:
        assert ragstone.evaluate([next(samples)], METRICS, judge=judge).scores()

    async def awaited() -> None:
        async with make_judge(spec) as judge:  # type: ignore[attr-defined]
            for _ in range(2):
                await ragstone.aevaluate([next(samples)], METRICS, judge=judge)
            judged(judge)  # on a loop and in a thread of its own
            await ragstone.aevaluate([next(samples)], METRICS, judge=judge)

    judged(spec)
    given = make_judge(spec)
    judged(given)
    judged(given)
    asyncio.run(awaited())
    del given
    gc.collect()
    assert [one for one in caplog.records if "nclosed" in one.message] == []


def test_a_judge_of_the_users_own_is_not_closed() -> None:
    closed = []

    class Mine(ScriptedJudge):
        async def close(self) -> None:
            closed.append(self)

    ragstone.evaluate([SAMPLE], ["coherence"], judge=Mine())
    assert closed == []


def test_one_judge_serves_several_threads_at_once(serve: Callable[..., FaultServer]) -> None:
    judge = make_judge(settings(serve(delay=0.005), concurrency=2, deadline=30.0, timeout=30.0))
    means: list[float | None] = []

    def work(name: int) -> None:
        rows = [SAMPLE | {"id": str(n), "answer": f"It is {name} and {n}."} for n in range(20)]
        means.append(ragstone.evaluate(rows, ["coherence"], judge=judge).summary().metrics[0].mean)

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(means) == 3
    assert None not in means


def test_the_check_of_a_judge_that_is_not_there_is_one_sentence() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    result = CliRunner().invoke(command, ["check", "--judge", "openai:m", "--base-url", url])
    assert isinstance(result.exception, RagstoneError)
    assert str(result.exception).startswith("openai:m could not be asked: nobody answers at http")
