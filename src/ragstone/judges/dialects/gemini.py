"""Google's generateContent with a response schema."""

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

_REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "LANGUAGE", "IMAGE_SAFETY"}
)


@register_dialect
class Gemini(Dialect):
    """The generateContent API."""

    name = "gemini"
    home = "https://generativelanguage.googleapis.com/v1beta"
    key_variables: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "generativelanguage.googleapis.com": ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    }
    length_parameter = "maxOutputTokens"
    parameter_names: ClassVar[Mapping[str, str]] = {"top_p": "topP"}

    def path(self, model: str) -> str:
        return f"/models/{model.removeprefix('models/')}:generateContent"

    def key_headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key}

    def body(
        self, model: str, request: CompletionRequest, parameters: Parameters, mode: OutputMode
    ) -> dict[str, Any]:
        config = dict(parameters)
        if mode != "text":
            config["responseMimeType"] = "application/json"
        if mode == "schema":
            config["responseJsonSchema"] = request.schema
        system = {"systemInstruction": {"parts": [{"text": request.system}]}}
        return {
            **(system if request.system else {}),
            "contents": [{"role": "user", "parts": [{"text": request.user}]}],
            "generationConfig": config,
        }

    def parse_reply(self, reply: Any) -> CompletionReply:
        usage = as_object(reply.get("usageMetadata") if isinstance(reply, dict) else None)
        input_tokens = read_count(usage, "promptTokenCount")
        output_tokens = read_count(usage, "candidatesTokenCount")
        output_tokens += read_count(usage, "thoughtsTokenCount")
        if isinstance(reply, dict) and as_object(reply.get("promptFeedback")).get("blockReason"):
            return CompletionReply("", "refusal", input_tokens, output_tokens)
        candidate = first_row(reply, "candidates")
        parts = as_object(candidate.get("content")).get("parts") or []
        text = "".join(
            str(part.get("text") or "")
            for part in parts
            if isinstance(part, dict) and not part.get("thought")
        )
        reason = str(candidate.get("finishReason") or "STOP")
        finish: Finish = (
            "length" if reason == "MAX_TOKENS" else "refusal" if reason in _REFUSALS else "stop"
        )
        return CompletionReply(text, finish, input_tokens, output_tokens)
