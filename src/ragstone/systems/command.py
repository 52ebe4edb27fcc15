"""A system under test that is a program: it reads a line with the question and writes a line with the reply.

A command with `{question}` in its words is instead started for each question and read to its end."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.protocol import (
    SystemFault,
    SystemReply,
    build_placeholders,
)
from ragstone.systems.replies import parse_reply
from ragstone.systems.templates import fill_template, has_history_placeholder
from ragstone.types import Sample

MAX_LINE_BYTES = 16 << 20
"""Size limit of a reply."""
STDERR_CHARS = 300
"""How much of what a program wrote to stderr an error shows."""


@dataclass(slots=True)
class Program:
    """A running program; questions and replies alternate on its pipes."""

    process: Process
    loop: asyncio.AbstractEventLoop
    errors: bytearray = field(default_factory=bytearray)
    """The end of what it wrote to stderr."""
    drain_task: asyncio.Task[None] | None = None
    """Reads stderr while the program runs."""


class CommandSystem:
    """A system that starts a program once and asks it line by line; one that ends after its reply is started again."""

    concurrency = 1
    warmup = 1
    takes_contexts = False

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        parameters: Mapping[str, Any] | None = None,
        body: Any = None,
        version: str = "",
        id_from: str | None = None,
    ) -> None:
        words = shlex.split(command) if isinstance(command, str) else [str(w) for w in command]
        if not words:
            raise RagstoneError("the command is empty; write command: python rag.py")
        self._words, self._body, self._version, self._id_from = words, body, version, id_from
        self._parameters = dict(parameters or {})
        text = json.dumps([words, body])
        for name in self._parameters:
            if "{" + name + "}" not in text:
                raise RagstoneError(
                    f"the parameter {name!r} stands nowhere in command or body; write {{{name}}} there"
                )
        self.takes_history = has_history_placeholder(text)
        body_text = json.dumps(body)
        if body is not None and not ("{question}" in body_text or "{messages}" in body_text):
            raise RagstoneError("the body does not hold {question}; say where it goes")
        # the question is an argument, so a new program is started for each
        self._asks_once = "{question}" in json.dumps(words)
        self._idle: list[Program] = []
        self.name = f"command:{Path(words[0]).name}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values of the placeholders in command and body besides the question."""
        return self._parameters

    def identity(self) -> Mapping[str, Any]:
        """Identify the system by its words, the content of the files among them, and its version."""
        return {
            "command": self._words,
            "files": [_hash_file(word) for word in self._words],
            "body": self._body,
            "parameters": self._parameters,
            "version": self._version,
            "id_from": self._id_from,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """Id and language, if the template sends them."""
        text = json.dumps([self._words, self._body])
        return {
            name: getattr(sample, name) for name in ("id", "language") if "{" + name + "}" in text
        }

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Write the question to the program and read its reply."""
        values = {
            **self._parameters,
            **build_placeholders(question, sample),
            "id": sample.id,
            "language": sample.language,
        }
        program = await self._take_program(values)
        started = time.perf_counter()
        try:
            line = await self._exchange(program, self._build_line(values))
        except BaseException:
            # also when timed out: its late reply must not answer the next question
            await _stop_program(program)
            raise
        seconds = round(time.perf_counter() - started, 6)
        # one that closed its output answers no more
        if self._asks_once or program.process.stdout is None or program.process.stdout.at_eof():
            await _stop_program(program)
        else:
            self._idle.append(program)
        reply = parse_reply(_parse_line(line), self._id_from)
        return replace(reply, latency=seconds) if reply.latency is None else reply

    async def close(self) -> None:
        """End the programs."""
        while self._idle:
            await _stop_program(self._idle.pop())

    def _build_line(self, values: Mapping[str, Any]) -> bytes | None:
        if self._body is not None:
            return json.dumps(fill_template(self._body, values)).encode() + b"\n"
        # a line is a question: one with line breaks would be taken for several
        return None if self._asks_once else " ".join(values["question"].split()).encode() + b"\n"

    async def _take_program(self, values: Mapping[str, Any]) -> Program:
        loop = asyncio.get_running_loop()
        while self._idle:
            program = self._idle.pop()
            # its pipes belong to the event loop that started it
            if program.loop is loop and program.process.returncode is None:
                return program
            await _stop_program(program)
        words = [str(word) for word in fill_template(self._words, values)]
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=MAX_LINE_BYTES
            )
        except OSError as broken:
            raise SystemFault(
                "command_not_started", command=words[0], problem=broken.strerror or str(broken)
            ) from None
        program = Program(process, loop)
        program.drain_task = loop.create_task(_drain_errors(program))
        return program

    async def _exchange(self, program: Program, line: bytes | None) -> bytes:
        process = program.process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(ConnectionError):  # one that ended already: what it wrote last is read below
            if line is not None:
                process.stdin.write(line)
                await process.stdin.drain()
            else:
                process.stdin.close()
        try:
            reply = await (process.stdout.read() if self._asks_once else process.stdout.readline())
        except ValueError:  # the line is longer than `limit`
            raise SystemFault("system_reply_too_large", megabytes=MAX_LINE_BYTES >> 20) from None
        if reply.strip():
            return reply
        if not reply:
            await process.wait()
        shown = " ".join(program.errors.decode("utf-8", "replace").split())[-STDERR_CHARS:]
        raise SystemFault(
            "command_silent",
            exit_status=process.returncode if process.returncode is not None else 0,
            text=shown or "–",
        )


async def _drain_errors(program: Program) -> None:
    """Read stderr as it comes: a full pipe would stop the program."""
    assert program.process.stderr is not None
    while part := await program.process.stderr.read(4096):
        program.errors += part
        del program.errors[: -8 * STDERR_CHARS]


async def _stop_program(program: Program) -> None:
    process = program.process
    if process.returncode is None and not program.loop.is_closed():
        with suppress(ProcessLookupError):
            process.kill()
        if program.loop is asyncio.get_running_loop():
            await process.wait()
    if program.drain_task is not None and not program.loop.is_closed():
        program.drain_task.cancel()


def _parse_line(line: bytes) -> Any:
    """Parse a reply: JSON with fields, or the answer itself."""
    text = line.decode("utf-8", "replace").strip()
    if text[:1] in ("{", "[", '"'):
        with suppress(ValueError):
            return json.loads(text)
    return text


def _hash_file(word: str) -> str | None:
    """Hash the file that a word of the command names; None when it names none."""
    path = Path(word)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None
