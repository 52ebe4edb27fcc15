"""The 32 faults, each a behaviour of the server."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import time
import zlib
from collections.abc import Callable
from email.utils import formatdate
from functools import cache
from typing import Any

from faults.server import Behaviour, Call

Mangle = Callable[[dict[str, Any]], Any]


def status(code: int, **headers: str) -> Behaviour:
    async def behave(call: Call) -> None:
        await call.send(code, json.dumps({"error": {"message": "not now"}}).encode(), **headers)

    return behave


async def dated(call: Call) -> None:
    """429 until a date one second or so ahead."""
    await call.send(429, b"{}", Retry_After=formatdate(time.time() + 1.5, usegmt=True))


def _reset(call: Call) -> None:
    sock = call.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    call.writer.transport.abort()


async def reset_before_headers(call: Call) -> None:
    _reset(call)


async def reset_after_headers(call: Call) -> None:
    call.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
    await call.writer.drain()
    await asyncio.sleep(0.01)
    _reset(call)


async def refused(call: Call) -> None:
    """Stands for a closed port; the tests close the server instead."""
    _reset(call)


async def hang(call: Call) -> None:
    await asyncio.sleep(3600)


async def drip(call: Call) -> None:
    """One byte each half second."""
    body = json.dumps(call.envelope(json.dumps(_truth(call)))).encode()
    call.writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode())
    for byte in body:
        call.writer.write(bytes([byte]))
        await call.writer.drain()
        await asyncio.sleep(0.5)


async def cut_chunk(call: Call) -> None:
    call.writer.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{"choices": [')
    await call.writer.drain()
    call.writer.close()


async def gzip_bomb(call: Call) -> None:
    await call.send(200, _bomb(256), Content_Encoding="gzip")


@cache
def _bomb(megabytes: int) -> bytes:
    """So many megabytes of spaces as gzip, made a megabyte at a time at the quickest level."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(b" " * 2**20) for _ in range(megabytes)]
    return b"".join([*parts, packer.flush()])


def _truth(call: Call) -> dict[str, Any]:
    return {"data": []} if call.path.endswith("/embeddings") else call.truth()


def said(make: Callable[[dict[str, Any]], str], finish: str = "stop") -> Behaviour:
    """A behaviour that says something made of the true reply; embeddings are answered honestly."""

    async def behave(call: Call) -> None:
        if call.path.endswith("/embeddings"):
            await call.answer()
        else:
            await call.say(make(call.truth()), finish)

    return behave


def mangled(mangle: Mangle) -> Behaviour:
    return said(lambda truth: json.dumps(mangle(truth), ensure_ascii=False))


async def refusal(call: Call) -> None:
    if call.path.endswith("/embeddings"):
        await call.answer()
    else:
        await call.say("", refusal="I cannot help with that.")


def _rows(truth: dict[str, Any]) -> tuple[str, list[Any]] | None:
    return next(((k, v) for k, v in truth.items() if isinstance(v, list)), None)


def _each(truth: dict[str, Any], change: Callable[[str, list[Any]], list[Any]]) -> dict[str, Any]:
    found = _rows(truth)
    return truth if found is None else {**truth, found[0]: change(*found)}


def _missing(truth: dict[str, Any]) -> dict[str, Any]:
    if "level" in truth:
        return {k: v for k, v in truth.items() if k != "level"}
    return _each(truth, lambda name, rows: rows[1:])


def _duplicated(truth: dict[str, Any]) -> dict[str, Any]:
    if "level" in truth:
        return {**truth, "level": [truth["level"], truth["level"]]}
    return _each(truth, lambda name, rows: rows + [_changed(row) for row in rows[:1]])


def _changed(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    other = {"supported": "not_found", "not_found": "contradicted", "contradicted": "supported"}
    row = dict(row)
    if "verdict" in row:
        row["verdict"] = other[row["verdict"]]
    if "grade" in row:
        row["grade"] = 2 - row["grade"]
    if "sentence" in row:
        row["sentence"] += "00"
    return row


def _invented(truth: dict[str, Any]) -> dict[str, Any]:
    def more(name: str, rows: list[Any]) -> list[Any]:
        if not rows or not isinstance(rows[0], dict):
            return [*rows, "And what else?", "And then?"]
        extra = dict(rows[0])
        for key in ("id", "sentence"):
            if key in extra:
                extra[key] = "z99"
        return [*rows, extra]

    if "level" in truth:
        return {**truth, "level": 99}
    return _each(truth, more)


def _unknown_verdict(truth: dict[str, Any]) -> dict[str, Any]:
    if "verdicts" in truth:
        return {**truth, "verdicts": [{**row, "verdict": "mostly"} for row in truth["verdicts"]]}
    if "aspects" in truth:
        return {**truth, "aspects": [{**row, "covered": "partly"} for row in truth["aspects"]]}
    if "evasive" in truth:
        return {**truth, "evasive": "perhaps"}
    return {**truth, **({"level": "good"} if "level" in truth else {"grades": [{"grade": "high"}]})}


def _out_of_range(truth: dict[str, Any]) -> dict[str, Any]:
    if "level" in truth:
        return {**truth, "level": 7}
    if "claims" in truth:
        return {**truth, "claims": [{**row, "sentence": "s0"} for row in truth["claims"]]}
    if "grades" in truth:
        return {**truth, "grades": [{**row, "grade": 5} for row in truth["grades"]]}
    return _unknown_verdict(truth)


def _nan(truth: dict[str, Any]) -> str:
    return json.dumps(
        {**truth, "level": float("nan")} if "level" in truth else truth | {"x": float("inf")}
    )


def _duplicate_keys(truth: dict[str, Any]) -> str:
    found = _rows(truth)
    other = json.dumps(_changed_all(truth))[1:-1]
    return "{" + json.dumps(truth)[1:-1] + ", " + other + "}" if found or "level" in truth else "{}"


def _changed_all(truth: dict[str, Any]) -> dict[str, Any]:
    if "level" in truth:
        return {**truth, "level": 0}
    return _each(truth, lambda name, rows: [_changed(row) for row in rows])


def _brace(truth: dict[str, Any]) -> dict[str, Any]:
    """A closing brace inside a string: legal, and a trap for those who cut at braces."""
    if "reason" in truth:
        return {**truth, "reason": 'because }}} "{" of it'}
    return _each(
        truth,
        lambda name, rows: [
            {**row, "reason": 'a } and {"level": 4}'}
            if isinstance(row, dict) and "reason" in row
            else row
            for row in rows
        ],
    )


def _other_language(truth: dict[str, Any]) -> str:
    text = json.dumps(truth)
    for word, foreign in (("supported", "belegt"), ("not_found", "未发现"), ("grade", "Note"),
                          ("level", "Stufe"), ("claim", "Behauptung"), ("covered", "abgedeckt"),
                          ("evasive", "ausweichend")):  # fmt: skip
        text = text.replace(word, foreign)
    return text


def _wrong_nonce(truth: dict[str, Any]) -> dict[str, Any]:
    return {**_changed_all(truth), "check": "deadbeef"}


def _prose(truth: dict[str, Any]) -> str:
    return f"Let me see {{carefully}}. Here it is: {json.dumps(truth)} I hope this helps :-}}"


FAULTS: dict[str, Behaviour] = {
    "429, seconds": status(429, Retry_After="0.2"),
    "429, date": dated,
    "429, no header": status(429),
    "429, absurd": status(429, Retry_After="86400000"),
    "500": status(500),
    "502": status(502),
    "503": status(503),
    "401": status(401),
    "refused": refused,
    "reset before headers": reset_before_headers,
    "reset after headers": reset_after_headers,
    "hang": hang,
    "drip": drip,
    "cut chunk": cut_chunk,
    "gzip bomb": gzip_bomb,
    "truncated": said(lambda truth: json.dumps(truth)[: len(json.dumps(truth)) // 2], "length"),
    "two documents": said(
        lambda truth: json.dumps(truth) + "\n" + json.dumps(_changed_all(truth) | {"n": 2})
    ),
    "fenced": said(lambda truth: f"```json\n{json.dumps(truth, indent=1)}\n```"),
    "in prose": said(_prose),
    "brace in string": mangled(_brace),
    "duplicate keys": said(_duplicate_keys),
    "NaN": said(_nan),
    "refusal": refusal,
    "wrong schema": mangled(lambda truth: {"check": truth["check"], "answer": [truth]}),
    "unknown verdict": mangled(_unknown_verdict),
    "out of range": mangled(_out_of_range),
    "missing ids": mangled(_missing),
    "duplicated ids": mangled(_duplicated),
    "invented ids": mangled(_invented),
    "empty lists": mangled(lambda truth: _each(truth, lambda name, rows: [])),
    "other language": said(_other_language),
    "wrong nonce": mangled(_wrong_nonce),
}

TRANSPORT = tuple(FAULTS)[:15]
"""Those that no reply gets through."""

NEVER_DONE = ("hang", "drip")
"""Those that only a time-out ends."""

HARMLESS = ("fenced", "in prose", "brace in string")
"""Those that a careful reader reads all the same."""


def only_first(behave: Behaviour) -> Behaviour:
    """The fault at the first attempt at each question, then the truth."""
    seen: set[str] = set()

    async def once(call: Call) -> None:
        text = json.dumps(call.body.get("input")) if "input" in call.body else call.prompt[1]
        key = re.sub(r"[0-9a-f]{8}", "", text.partition("Reply with one JSON")[0])[:200]
        if key in seen or "could not be used: " in text:
            await call.answer()
        else:
            seen.add(key)
            await behave(call)

    return once
