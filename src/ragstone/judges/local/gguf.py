"""GGUF files: llama.cpp in this process, through the package xllamacpp."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.errors import JudgeFailed, MissingExtra
from ragstone.judges.completion import Completion, CompletionRequest
from ragstone.judges.dialects import OutputMode
from ragstone.judges.dialects.openai import OpenAI
from ragstone.judges.http import MalformedReply
from ragstone.judges.limits import Budget
from ragstone.judges.local.thread import ModelThread
from ragstone.judges.local.weights import find_gguf, fingerprint_files, list_shards
from ragstone.types import Usage

DEFAULT_CONTEXT = 4096
"""Tokens of prompt and reply together."""
DIALECT = OpenAI("localhost")
"""The form of requests and replies: the one that a llama.cpp server speaks, so that both answer alike."""


class LlamaEngine:
    """A GGUF file loaded by llama.cpp, in a thread of its own; loaded at the first request, again after `close`."""

    def __init__(
        self,
        name: str,
        *,
        threads: int | None = None,
        context: int | None = None,
        device: str | None = None,
    ) -> None:
        if find_spec("xllamacpp") is None:
            raise MissingExtra(f"gguf:{name}", "local")
        self.path = find_gguf(name)
        self.threads = threads or count_processors()
        self.context = context or DEFAULT_CONTEXT
        self.device = device
        self._thread = ModelThread("llama.cpp", self._load)

    async def complete(self, body: Mapping[str, Any], seconds: float) -> Any:
        """Return the reply to a chat completion."""
        return await self._thread.run(seconds, _complete, body)

    async def close(self) -> None:
        """Release the model and end its threads."""
        await self._thread.close()

    def _load(self) -> Any:
        try:
            return _start(self.path, self.threads, self.context, self.device)
        except RuntimeError:  # the library says no more than that
            raise JudgeFailed("transport", "gguf_unloadable", path=str(self.path)) from None


class GgufModel:
    """A language model in a GGUF file; completes prompts as a llama.cpp server with the same file does."""

    notes: tuple[str, ...] = ()
    concurrency = 1

    def __init__(
        self,
        engine: LlamaEngine,
        *,
        parameters: Mapping[str, Any],
        deadline: float = 600.0,
        budget: Budget | None = None,
    ) -> None:
        self.engine = engine
        self.name = f"gguf:{engine.path.name}"
        self.parameters = {**DIALECT.defaults, **parameters}
        self.deadline = deadline
        self.budget = budget or Budget()

    def identity(self) -> Mapping[str, Any]:
        """Return a hash of the file and the parameters; its path, threads and context change no reply."""
        fingerprint = fingerprint_files(list_shards(self.engine.path))
        return {"dialect": "gguf", "model": fingerprint, "parameters": self.parameters}

    async def complete(self, request: CompletionRequest) -> Completion:
        """Complete one prompt."""
        await self.budget.admit(0.0)
        mode: OutputMode = "text" if request.schema is None else "schema"
        parameters = {name: value for name, value in self.parameters.items() if value is not None}
        limit = DIALECT.length_parameter
        if limit in parameters:
            parameters[limit] = request.limit_tokens(parameters[limit])
        body = DIALECT.body(self.engine.path.name, request, parameters, mode)
        # models that think aloud by default (Qwen3) would not begin with the reply
        body.setdefault("chat_template_kwargs", {"enable_thinking": False})
        reply = await self.engine.complete(body, self.deadline)
        _raise_error(reply)
        try:
            read = DIALECT.parse_reply(reply)
        except MalformedReply as fault:
            raise JudgeFailed("transport", fault.reason) from None
        usage = Usage(1, read.input_tokens, read.output_tokens)
        return Completion(read.text, read.finish, usage, read.first_tokens)

    async def close(self) -> None:
        """Release the model."""
        await self.engine.close()


def count_processors() -> int:
    """Return the number of processors that this process may use: fewer than the machine has, in a container or a job."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(path: Path, threads: int, context: int, device: str | None) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cache_ram_mib = 0  # else it keeps up to 8 GiB of prompts that will not come again
    params.warmup = False
    params.verbosity = -1
    if device == "cpu":
        params.n_gpu_layers = 0
    # requests are handed over in the process, but the library always opens a port: any free one, with a key that
    # nobody knows
    params.port = 0
    params.api_keys = [secrets.token_hex(32)]
    return xllamacpp.Server(params)


def _complete(server: Any, body: Mapping[str, Any]) -> Any:
    return server.handle_chat_completions(dict(body))


def _raise_error(reply: Any) -> None:
    error = reply.get("error") if isinstance(reply, dict) else None
    if not isinstance(error, dict):
        return
    if error.get("type") == "exceed_context_size_error":
        raise JudgeFailed(
            "transport",
            "prompt_exceeds_context",
            tokens=int(error.get("n_prompt_tokens") or 0),
            context=int(error.get("n_ctx") or 0),
        )
    text = " ".join(str(error.get("message")).split())[:200]
    raise JudgeFailed("transport", "local_model_failed", error="llama.cpp", text=text)
