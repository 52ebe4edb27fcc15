"""The server: speaks HTTP by hand, so that it can also break it, in the three dialects, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from faults import choosing, honest


@dataclass
class Call:
    """One request as it came in, and the means to answer it."""

    number: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes
    at: float
    writer: asyncio.StreamWriter = field(repr=False)

    @property
    def prompt(self) -> tuple[str, str]:
        """Instructions and message, whatever the dialect."""
        if "contents" in self.body:
            parts = self.body["contents"][0]["parts"]
            return self.body["systemInstruction"]["parts"][0]["text"], parts[0]["text"]
        messages = self.body["messages"]
        if "system" in self.body:
            return self.body["system"], messages[0]["content"]
        system = messages[0]["content"] if len(messages) > 1 else ""
        return system, messages[-1]["content"]

    def truth(self) -> dict[str, Any]:
        """The honest reply to this call."""
        return honest.reply(*self.prompt)

    async def send(self, status: int, body: bytes, **headers: str) -> None:
        """A whole response."""
        lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await self.writer.drain()

    async def say(self, text: str, finish: str = "stop", refusal: str | None = None) -> None:
        """A completion in the dialect of the call."""
        await self.send(200, json.dumps(self.envelope(text, finish, refusal)).encode())

    def envelope(
        self, text: str, finish: str = "stop", refusal: str | None = None
    ) -> dict[str, Any]:
        """A completion as the dialect wraps it."""
        size = len(self.raw) // 4
        if "contents" in self.body:
            why = {"length": "MAX_TOKENS", "stop": "STOP"}[finish] if not refusal else "SAFETY"
            part = {"content": {"parts": [{"text": text}]}, "finishReason": why}
            usage = {"promptTokenCount": size, "candidatesTokenCount": len(text) // 4}
            return {"candidates": [part], "usageMetadata": usage}
        if self.path.endswith("/messages"):
            why = {"length": "max_tokens", "stop": "end_turn"}[finish] if not refusal else "refusal"
            usage = {"input_tokens": size, "output_tokens": len(text) // 4}
            return {"content": [{"type": "text", "text": text}], "stop_reason": why, "usage": usage}
        message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
        usage = {"prompt_tokens": size, "completion_tokens": len(text) // 4}
        return {
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        }

    async def answer(self) -> None:
        """What an honest server does."""
        if self.path.endswith("/embeddings"):
            rows = [
                {"index": n, "embedding": honest.vector(text)}
                for n, text in enumerate(self.body["input"])
            ]
            await self.send(200, json.dumps({"data": rows, "usage": {"prompt_tokens": 7}}).encode())
            return
        if choosing.is_choice(self.body):
            await choosing.answer(self)
            return
        await self.say(json.dumps(self.truth()))


Behaviour = Callable[[Call], Awaitable[None]]


async def honestly(call: Call) -> None:
    """The behaviour of a server without faults."""
    await call.answer()


class FaultServer:
    """Listens on loopback until closed; `behave` decides what becomes of each call."""

    def __init__(self, behave: Behaviour = honestly, delay: float = 0.0) -> None:
        self.behave = behave
        self.delay = delay
        self.calls: list[Call] = []
        self.most_at_once = 0
        self._at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait(10)

    @property
    def url(self) -> str:
        """The base URL of the OpenAI and Anthropic dialects."""
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        """Stop listening and drop all connections."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def __enter__(self) -> FaultServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                await self._one(reader, writer)
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        given = {
            line.split(": ", 1)[0].lower(): line.split(": ", 1)[1]
            for line in head[1:]
            if ": " in line
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        path = head[0].split()[1]
        call = Call(
            len(self.calls), path, given, json.loads(raw or b"{}"), raw, time.monotonic(), writer
        )
        self.calls.append(call)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.delay:
                await asyncio.sleep(self.delay)
            await self.behave(call)
        finally:
            self._at_once -= 1
