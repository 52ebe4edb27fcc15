"""Gemini's dialect: what a request carries, and how every form of reply is read."""

from __future__ import annotations

import pytest

from ragstone.judges.completion import CompletionRequest, Deadline
from ragstone.judges.dialects.dialect import CompletionReply
from ragstone.judges.dialects.gemini import Gemini
from ragstone.judges.http import MalformedReply

REQUEST = CompletionRequest("Be strict.", "Is it so?", {"type": "object"}, "verdict", Deadline(60))
HOST = "generativelanguage.googleapis.com"
API = Gemini(HOST)


def test_key_path_and_parameters_are_those_of_the_api() -> None:
    assert Gemini.key_variables == {HOST: ("GEMINI_API_KEY", "GOOGLE_API_KEY")}
    assert API.headers("k") == {"x-goog-api-key": "k"}
    assert API.path("g-1") == API.path("models/g-1") == "/models/g-1:generateContent"
    settings = {"top_p": 0.9, "max_tokens": 5, "temperature": 1}
    assert API.to_parameters(settings) == {"topP": 0.9, "maxOutputTokens": 5, "temperature": 1}


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        ("schema", {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}}),
        ("json", {"responseMimeType": "application/json"}),
        ("text", {}),
    ],
)  # fmt: skip
def test_a_request_carries_prompt_parameters_and_form(mode, form: dict) -> None:
    assert API.body("g", REQUEST, {"seed": 3}, mode) == {
        "systemInstruction": {"parts": [{"text": "Be strict."}]},
        "contents": [{"role": "user", "parts": [{"text": "Is it so?"}]}],
        "generationConfig": {"seed": 3, **form},
    }


def test_texts_are_joined_and_thoughts_count_only_as_tokens() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "a"}, "x", {"text": "b"}]
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 40}
    reply = {"candidates": [{"content": {"parts": parts}}], "usageMetadata": usage}
    assert API.parse_reply(reply) == CompletionReply("ab", "stop", 5, 42)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        (None, "stop"),
        ("MAX_TOKENS", "length"),
        *((reason, "refusal") for reason in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "LANGUAGE", "IMAGE_SAFETY")),
    ],
)  # fmt: skip
def test_why_a_reply_ends(reason, finish: str) -> None:
    assert API.parse_reply({"candidates": [{"finishReason": reason}]}).finish == finish


def test_a_blocked_prompt_is_a_refusal_that_costs_its_tokens() -> None:
    reply = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}
    assert API.parse_reply(reply) == CompletionReply("", "refusal", 5, 0)


@pytest.mark.parametrize("reply", [{}, [], None, {"candidates": []}, {"candidates": ["a"]}])
def test_a_reply_without_a_candidate_is_malformed(reply) -> None:
    with pytest.raises(MalformedReply):
        API.parse_reply(reply)
