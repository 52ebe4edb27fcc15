"""Anthropic's Messages API with structured output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ragstone.judges.completion import CompletionRequest
from ragstone.judges.dialects.dialect import (
    CompletionReply,
    Dialect,
    OutputMode,
    Parameters,
    as_object,
    read_count,
    register_dialect,
)
from ragstone.judges.http import MalformedReply

_INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CUT_OFF = ("max_tokens", "model_context_window_exceeded")


@register_dialect
class Anthropic(Dialect):
    """The Messages API."""

    name = "anthropic"
    home = "https://api.anthropic.com/v1"
    key_variables: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "api.anthropic.com": ("ANTHROPIC_API_KEY",)
    }
    fixed_headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}
    modes = ("schema", "text")

    def path(self, model: str) -> str:
        return "/messages"

    def key_headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key}

    def body(
        self, model: str, request: CompletionRequest, parameters: Parameters, mode: OutputMode
    ) -> dict[str, Any]:
        body = {
            "model": model,
            **({"system": request.system} if request.system else {}),
            "messages": [{"role": "user", "content": request.user}],
            **parameters,
        }
        if mode == "schema":
            output = {"type": "json_schema", "schema": request.schema}
            body["output_config"] = {**as_object(body.get("output_config")), "format": output}
        return body

    def parse_reply(self, reply: Any) -> CompletionReply:
        blocks = reply.get("content") if isinstance(reply, dict) else None
        if not isinstance(blocks, list):
            raise MalformedReply("server_without_content")
        texts = [b for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
        reason = reply.get("stop_reason")
        usage = as_object(reply.get("usage"))
        return CompletionReply(
            "".join(str(block.get("text") or "") for block in texts),
            "refusal" if reason == "refusal" else "length" if reason in _CUT_OFF else "stop",
            sum(read_count(usage, name) for name in _INPUT_COUNTS),
            read_count(usage, "output_tokens"),
        )
