"""How OpenAI's, Anthropic's and Google's servers are spoken to; nothing else differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

from ragstone.judges.http import MalformedReply
from ragstone.judges.model_judge import CompletionRequest

Mode = Literal["schema", "json", "text"]
"""How a reply is held to its form: by schema, as any JSON, by the prompt alone."""


class Written(NamedTuple):
    """What a server's reply says, in any dialect."""

    text: str
    finish: Literal["stop", "length", "refusal"]
    input_tokens: int
    output_tokens: int


class Dialect(Protocol):
    """One vendor's way of asking for a completion."""

    name: str
    home: str
    """The vendor's own base URL."""
    modes: tuple[Mode, ...]
    """From the strictest to the loosest."""
    defaults: Mapping[str, Any]
    """Parameters sent unless the config says otherwise or the model refuses them."""
    length: str
    """The parameter that limits the length of a reply."""

    def path(self, model: str) -> str:
        """What follows the base URL."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """How the key is shown."""
        ...

    def body(
        self, model: str, order: CompletionRequest, parameters: Mapping[str, Any], mode: Mode
    ) -> dict[str, Any]:
        """The request."""
        ...

    def read(self, reply: Any) -> Written:
        """The reply; BadEnvelope when it is none."""
        ...


class OpenAI:
    """Chat completions, as spoken by OpenAI, Ollama, vLLM, llama.cpp, LM Studio and most others."""

    name = "openai"
    home = "https://api.openai.com/v1"
    modes: tuple[Mode, ...] = ("schema", "json", "text")

    def __init__(self, length: str = "max_tokens") -> None:
        self.length = length
        self.defaults: Mapping[str, Any] = {"temperature": 0, length: 4096}

    def path(self, model: str) -> str:
        return "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"}

    def body(
        self, model: str, order: CompletionRequest, parameters: Mapping[str, Any], mode: Mode
    ) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": order.system},
            {"role": "user", "content": order.user},
        ]
        body = {"model": model, "messages": messages, **parameters}
        if mode == "schema":
            form = {"name": order.name, "strict": True, "schema": order.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif mode == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def read(self, reply: Any) -> Written:
        choice = _first(reply, "choices")
        message = choice.get("message")
        if not isinstance(message, dict):
            raise MalformedReply("the server's reply holds no message")
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(p.get("text") or "" for p in content if isinstance(p, dict))
        why = choice.get("finish_reason")
        declined = message.get("refusal") or why == "content_filter"
        finish: Literal["stop", "length", "refusal"] = (
            "refusal" if declined else "length" if why == "length" else "stop"
        )
        usage = _mapping(reply.get("usage"))
        return Written(
            content if isinstance(content, str) else "",
            finish,
            _count(usage, "prompt_tokens"),
            _count(usage, "completion_tokens"),
        )


class Anthropic:
    """The Messages API with structured output."""

    name = "anthropic"
    home = "https://api.anthropic.com/v1"
    modes: tuple[Mode, ...] = ("schema", "text")
    defaults: Mapping[str, Any] = {"temperature": 0, "max_tokens": 8192}
    length = "max_tokens"

    def path(self, model: str) -> str:
        return "/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-api-key": key}

    def body(
        self, model: str, order: CompletionRequest, parameters: Mapping[str, Any], mode: Mode
    ) -> dict[str, Any]:
        body = {
            "model": model,
            "system": order.system,
            "messages": [{"role": "user", "content": order.user}],
            **parameters,
        }
        if mode == "schema":
            form = {"type": "json_schema", "schema": order.schema}
            body["output_config"] = {**_mapping(body.get("output_config")), "format": form}
        return body

    def read(self, reply: Any) -> Written:
        blocks = reply.get("content") if isinstance(reply, dict) else None
        if not isinstance(blocks, list):
            raise MalformedReply("the server's reply holds no content")
        why = reply.get("stop_reason")
        cut = why in ("max_tokens", "model_context_window_exceeded")
        usage = _mapping(reply.get("usage"))
        spent = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return Written(
            "".join(
                str(b.get("text") or "")
                for b in blocks
                if isinstance(b, dict) and b.get("type") == "text"
            ),
            "refusal" if why == "refusal" else "length" if cut else "stop",
            sum(_count(usage, name) for name in spent),
            _count(usage, "output_tokens"),
        )


class Gemini:
    """generateContent with a response schema."""

    name = "gemini"
    home = "https://generativelanguage.googleapis.com/v1beta"
    modes: tuple[Mode, ...] = ("schema", "json", "text")
    defaults: Mapping[str, Any] = {"temperature": 0, "maxOutputTokens": 8192}
    length = "maxOutputTokens"

    def path(self, model: str) -> str:
        return f"/models/{model.removeprefix('models/')}:generateContent"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key}

    def body(
        self, model: str, order: CompletionRequest, parameters: Mapping[str, Any], mode: Mode
    ) -> dict[str, Any]:
        settings = dict(parameters)
        if mode != "text":
            settings["responseMimeType"] = "application/json"
        if mode == "schema":
            settings["responseJsonSchema"] = order.schema
        return {
            "systemInstruction": {"parts": [{"text": order.system}]},
            "contents": [{"role": "user", "parts": [{"text": order.user}]}],
            "generationConfig": settings,
        }

    def read(self, reply: Any) -> Written:
        usage = _mapping(reply.get("usageMetadata") if isinstance(reply, dict) else None)
        spent = _count(usage, "promptTokenCount")
        written = _count(usage, "candidatesTokenCount") + _count(usage, "thoughtsTokenCount")
        if isinstance(reply, dict) and _mapping(reply.get("promptFeedback")).get("blockReason"):
            return Written("", "refusal", spent, written)
        candidate = _first(reply, "candidates")
        parts = _mapping(candidate.get("content")).get("parts") or []
        text = "".join(
            str(p.get("text") or "") for p in parts if isinstance(p, dict) and not p.get("thought")
        )
        why = str(candidate.get("finishReason") or "STOP")
        finish: Literal["stop", "length", "refusal"] = (
            "length" if why == "MAX_TOKENS" else "refusal" if why in _DECLINED else "stop"
        )
        return Written(text, finish, spent, written)


_DECLINED = frozenset(
    {"SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "LANGUAGE", "IMAGE_SAFETY"}
)


def dialect_of(name: str, host: str) -> Dialect:
    """The dialect of that name, as its host speaks it."""
    if name == "openai":  # OpenAI's newer models know the limit under this name only
        return OpenAI("max_completion_tokens" if host == "api.openai.com" else "max_tokens")
    return Anthropic() if name == "anthropic" else Gemini()


VENDORS: dict[str, str] = {one.name: one.home for one in (OpenAI, Anthropic, Gemini)}
"""Dialect → the vendor's own base URL."""


def _first(reply: Any, name: str) -> dict[str, Any]:
    rows = reply.get(name) if isinstance(reply, dict) else None
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        raise MalformedReply(f"the server's reply holds no {name}")
    return rows[0]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0
