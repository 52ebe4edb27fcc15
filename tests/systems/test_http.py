"""Endpoints are asked over a real socket on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from ragstone.data import read
from ragstone.errors import RagstoneError
from ragstone.store import Store
from ragstone.systems import SystemFault, SystemReply, SystemRunner, make_system, takes_contexts
from ragstone.systems.templates import fill_template
from ragstone.types import Chunk, Ranked, Sample, chunks

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
NASTY = 'She said "hi" {top_k} \\ {question} \n ¿qué? &a=b/../'


def with_server(handler: Handler, use: Callable[[str], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", handler)
        async with TestServer(app) as server:
            return await use(str(server.make_url("/")).rstrip("/"))

    return asyncio.run(run())


def asked(handler: Handler, spec: dict[str, Any], path: str = "", **parameters: Any) -> SystemReply:
    async def use(url: str) -> SystemReply:
        system = make_system({"url": url + path, **spec}, **parameters)
        try:
            reply = await system.answer(NASTY, Sample("7", language="es"))
            assert reply.latency is not None
            return replace(reply, latency=None)
        finally:
            await system.close()

    return with_server(handler, use)  # type: ignore[no-any-return]


def test_a_question_arrives_as_it_is_and_the_answer_is_found_by_path() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.method, await request.json()))
        hits = [{"doc": {"id": "a"}, "body": "A"}, {"doc": {"id": "b"}, "body": "B"}]
        return web.json_response({"data": {"text": "fine", "hits": hits}, "usage": {"n": 5}})

    reply = asked(
        handler,
        {
            "body": {
                "q": "{question}",
                "note": "about {question}!",
                "k": "{top_k}",
                "who": ["{id}"],
            },
            "answer": "data.text",
            "contexts": "data.hits.body",
            "ids": "data.hits.doc.id",
            "tokens": "usage.n",
        },
        top_k=5,
    )
    assert seen == [("POST", {"q": NASTY, "note": f"about {NASTY}!", "k": 5, "who": ["7"]})]
    assert reply == SystemReply("fine", Ranked([Chunk("a", "A"), Chunk("b", "B")]), None, 5.0)


def test_a_get_carries_the_question_quoted() -> None:
    async def handler(request: web.Request) -> web.Response:
        assert request.method == "GET"
        return web.json_response({"answer": request.query["q"], "contexts": []})

    reply = asked(handler, {"method": "get"}, "/ask?q={question}&x=1")
    assert reply.answer == NASTY


def test_secrets_come_from_the_environment_and_stay_out_of_everything_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAG_KEY", "s3cret-value")

    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=400, text=f"bad key {request.headers['Authorization']}")

    async def use(url: str) -> tuple[str, str]:
        system = make_system({"url": url, "headers": {"Authorization": "Bearer ${RAG_KEY}"}})
        with pytest.raises(SystemFault) as raised:
            await system.answer("?", Sample("1"))
        await system.close()
        return raised.value.reason, json.dumps(system.identity())

    said, identity = with_server(handler, use)
    assert said == "HTTP 400: bad key Bearer ***"
    assert "s3cret" not in identity


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"url": "http://example.org/", "headers": {"A": "${RAG_KEY}"}}, "not encrypted"),
        (
            {"url": "https://example.org/", "headers": {"A": "${RAG_NONE}"}},
            "RAG_NONE}, which is not",
        ),
        ({"url": "https://u:p@example.org/"}, "holds a user or password"),
        ({"url": "https://example.org/", "body": {"q": "x"}}, "neither url nor body holds"),
        ({"url": "https://example.org/", "awnser": "x"}, "no 'awnser'; did you mean 'answer'"),
        ({"url": "https://example.org/", "parameters": {"k": 3}}, "'k' stands nowhere"),
    ],
)
def test_mistakes_are_found_before_anything_is_sent(
    spec: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_KEY", "s3cret-value")
    with pytest.raises(RagstoneError, match=says) as raised:
        make_system(spec)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "body", "calls", "error"),
    [
        (503, "busy", 3, "HTTP 503: busy (3 tries)"),
        (404, "", 1, "HTTP 404"),
        (302, "", 1, "HTTP 302"),
        (
            200,
            "<html>",
            1,
            "the reply is not JSON: '<html>'; if it is a stream or plain text, say stream: sse, lines or text",
        ),
        (200, "[1]", 1, "a context is a int without text and id"),
        (200, '{"x": 1}', 1, "the system's reply has no answer and no contexts (x)"),
    ],
)
def test_what_the_server_says_is_the_samples_error(
    status: int, body: str, calls: int, error: str
) -> None:
    seen = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(1)
        headers = {"Retry-After": "0", "Location": "/elsewhere"}
        return web.Response(status=status, text=body, headers=headers, content_type="text/html")

    async def use(url: str) -> str | None:
        system, store = make_system(url), Store.open(":memory:")
        filling = SystemRunner(system, store, "r", retries=2)
        (record,) = [one async for one in filling.answer_records(read([{"question": "?"}]), {})]
        await system.close()
        store.close()
        return record.sample.error

    assert (with_server(handler, use) or "").startswith(error)
    assert len(seen) == calls


def test_a_server_that_is_down_or_mute_fails_the_sample() -> None:
    async def handler(request: web.Request) -> web.Response:
        await asyncio.sleep(3600)
        return web.Response()

    async def use(url: str) -> list[str | None]:
        errors = []
        for address, retries, timeout in ((url, 1, 0.3), ("http://127.0.0.1:9", 0, 60)):
            system, store = make_system(address), Store.open(":memory:")
            filling = SystemRunner(system, store, "r", retries=retries, timeout=timeout)
            errors += [
                record.sample.error
                async for record in filling.answer_records(read([{"question": "?"}]), {})
            ]
            await system.close()
            store.close()
        return errors

    mute, down = with_server(handler, use)
    assert mute == "no answer within 0.3 s"
    assert "Connect" in down


def test_contexts_can_be_sent_along() -> None:
    async def handler(request: web.Request) -> web.Response:
        given = (await request.json())["contexts"]
        return web.json_response({"answer": "none" if given is None else " ".join(given)})

    async def use(url: str) -> list[str]:
        system: Any = make_system(
            {"url": url, "body": {"q": "{question}", "contexts": "{contexts}"}}
        )
        assert takes_contexts(system)
        own = await system.answer("?", Sample("1"))
        given = await system.answer_with("?", chunks({"id": "a", "text": "gold"}))
        await system.close()
        return [own.answer, given.answer]

    assert with_server(handler, use) == ["none", "gold"]


def test_a_placeholder_in_a_value_is_not_filled_again() -> None:
    assert fill_template("{a}-{b}-{c}", {"a": "{b}", "b": "x"}) == "{b}-x-{c}"
    assert fill_template({"k": ["{n}", "{n} items", 5]}, {"n": 3}) == {"k": [3, "3 items", 5]}


# ── streams, and requests of another shape ────────────────────────────────────────────────


def stream(parts: list[bytes], content_type: str) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": content_type})
        await response.prepare(request)
        for part in parts:
            await response.write(part)
            await asyncio.sleep(0.02)
        return response

    return handler


OPENAI_EVENTS = [
    b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n',
    b'data: {"choices": [{"delta": {"content": "Par"}}]}\n\ndata: {"choices": [{"del',
    b'ta": {"content": "is."}}]}\r\n\r\n',
    b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n',
    b"data: [DONE]\n\n",
]


@pytest.mark.parametrize(
    ("parts", "content_type", "spec", "reply"),
    [
        (OPENAI_EVENTS, "text/event-stream", {}, SystemReply("Paris.", None, None, 9.0)),
        (
            [b"data: Par\n\n", b"data: is.\n\n", b'data: {"contexts": ["T"]}\n\n'],
            "text/event-stream",
            {},
            SystemReply("Paris.", Ranked([Chunk(text="T")])),
        ),
        (
            [
                b'{"o": {"t": "Par"}}\n',
                b'{"o": {"t": "is."}, "hits": [{"id": "a", "text": "A"}]}\n',
            ],
            "application/x-ndjson",
            {"answer": "o.t", "contexts": "hits"},
            SystemReply("Paris.", Ranked([Chunk("a", "A")])),
        ),
        ([b"Par\xc3", b"\xads."], "text/html", {"stream": "text"}, SystemReply("París.")),
        ([b"18", b"79"], "text/plain", {}, SystemReply("1879")),
    ],
)
def test_a_stream_is_read_and_its_first_text_timed(
    parts: list[bytes], content_type: str, spec: dict[str, Any], reply: SystemReply
) -> None:
    found = asked(stream(parts, content_type), spec)
    assert found.first_token is not None
    assert replace(found, first_token=None) == reply


def test_json_that_is_labelled_as_plain_text_is_read() -> None:
    reply = asked(stream([b'{"answer": ', b'"Paris."}'], "text/plain"), {})
    assert reply.answer == "Paris."


def test_settings_of_a_bare_url_map_request_and_reply() -> None:
    async def handler(request: web.Request) -> web.Response:
        given = await request.json()
        if "q" not in given:
            return web.json_response({"detail": "field required"}, status=422)
        return web.json_response({"data": {"text": given["q"]}, "k": given["k"]})

    async def use(url: str) -> SystemReply:
        settings = {"body": '{"q": "{question}", "k": "{top_k}"}', "answer": "data.text"}
        system = make_system(url, **settings, top_k=3)
        try:
            return await system.answer("Why?", Sample("1"))
        finally:
            await system.close()

    assert with_server(handler, use).answer == "Why?"
    with pytest.raises(SystemFault, match=r"refuses the fields .* it was sent .*question"):
        asked(handler, {})


def test_a_server_of_openais_form_is_a_system_by_the_name_of_its_model() -> None:
    async def handler(request: web.Request) -> web.Response:
        given = await request.json()
        text = f"{given['model']} {given['temperature']} {[m['role'] for m in given['messages']]}"
        message = {"role": "assistant", "content": text}
        return web.json_response({"choices": [{"message": message}], "usage": {"total_tokens": 9}})

    async def use(url: str) -> SystemReply:
        system = make_system(
            "openai:m", base_url=f"{url}/v1", temperature=0.5, system="Be brief, please"
        )
        try:
            return await system.answer("Why?", Sample("1"))
        finally:
            await system.close()

    reply = with_server(handler, use)
    assert reply.answer == "m 0.5 ['system', 'user']"
    assert reply.tokens == 9
