"""OpenAI's chat completions, which Ollama, vLLM, llama.cpp, LM Studio and most other servers speak as well.

The dialect of Ollama and the judge of GGUF files (`judges/local/gguf.py`) build on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ragstone.judges.completion import CompletionRequest, Finish
from ragstone.judges.dialects.dialect import (
    CompletionReply,
    Dialect,
    OutputMode,
    Parameters,
    as_object,
    first_row,
    read_count,
    register_dialect,
)
from ragstone.judges.http import MalformedReply


@register_dialect
class OpenAI(Dialect):
    """The chat completions API."""

    name = "openai"
    home = "https://api.openai.com/v1"
    key_variables: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "api.openai.com": ("OPENAI_API_KEY",),
        "openrouter.ai": ("OPENROUTER_API_KEY",),
        "api.mistral.ai": ("MISTRAL_API_KEY",),
        "api.deepseek.com": ("DEEPSEEK_API_KEY",),
        "api.groq.com": ("GROQ_API_KEY",),
        "api.together.xyz": ("TOGETHER_API_KEY",),
        "api.x.ai": ("XAI_API_KEY",),
    }
    max_output_tokens = 4096
    """Sent with every request and part of the cache key: with another number every stored reply is asked for again."""
    parameter_needs: ClassVar[Mapping[str, str]] = {"top_logprobs": "logprobs"}

    def __init__(self, host: str) -> None:
        super().__init__(host)
        if host == "api.openai.com":  # OpenAI's newer models know the limit under this name only
            self.length_parameter = "max_completion_tokens"

    @property
    def choice_parameters(self) -> dict[str, Any]:
        return {self.length_parameter: 1, "logprobs": True, "top_logprobs": 20}

    def path(self, model: str) -> str:
        return "/chat/completions"

    def key_headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"}

    def body(
        self, model: str, request: CompletionRequest, parameters: Parameters, mode: OutputMode
    ) -> dict[str, Any]:
        messages = [{"role": "user", "content": request.user}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        body = {"model": model, "messages": messages, **parameters}
        if mode == "schema":
            schema = {"name": request.name, "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif mode == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def parse_reply(self, reply: Any) -> CompletionReply:
        choice = first_row(reply, "choices")
        message = choice.get("message")
        if not isinstance(message, dict):
            raise MalformedReply("server_without_message")
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
        reason = choice.get("finish_reason")
        refused = message.get("refusal") or reason == "content_filter"
        finish: Finish = "refusal" if refused else "length" if reason == "length" else "stop"
        usage = as_object(reply.get("usage"))
        return CompletionReply(
            content if isinstance(content, str) else "",
            finish,
            read_count(usage, "prompt_tokens"),
            read_count(usage, "completion_tokens"),
            _read_first_tokens(choice.get("logprobs")),
        )


def _read_first_tokens(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """Return the alternatives of the first token that is not blank; a malformed list counts as none."""
    content = as_object(logprobs).get("content")
    for entry in content if isinstance(content, list) else ():
        if isinstance(entry, dict) and str(entry.get("token", "")).strip():
            rows = entry.get("top_logprobs") or [entry]
            if not isinstance(rows, list) or not all(map(_is_token, rows)):
                return ()
            return tuple((row["token"], float(row["logprob"])) for row in rows)
    return ()


def _is_token(row: Any) -> bool:
    logprob = as_object(row).get("logprob")
    is_number = isinstance(logprob, int | float) and not isinstance(logprob, bool)
    return is_number and isinstance(row.get("token"), str)
