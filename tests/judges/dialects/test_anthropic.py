"""Anthropic's dialect: what a request carries, and how every form of reply is read."""

from __future__ import annotations

import pytest

from ragstone.judges.completion import CompletionRequest, Deadline
from ragstone.judges.dialects.anthropic import Anthropic
from ragstone.judges.dialects.dialect import CompletionReply
from ragstone.judges.http import MalformedReply

REQUEST = CompletionRequest("Be strict.", "Is it so?", {"type": "object"}, "verdict", Deadline(60))
API = Anthropic("api.anthropic.com")


def test_the_key_goes_to_its_host_with_the_version_of_the_api() -> None:
    assert Anthropic.key_variables == {"api.anthropic.com": ("ANTHROPIC_API_KEY",)}
    assert API.headers("k") == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert API.headers(None) == {"anthropic-version": "2023-06-01"}
    assert API.path("m") == "/messages"
    assert API.defaults == {"temperature": 0, "max_tokens": 8192}
    assert API.modes == ("schema", "text")


def test_a_request_carries_prompt_parameters_and_schema() -> None:
    plain = {
        "model": "m", "system": "Be strict.", "seed": 3,
        "messages": [{"role": "user", "content": "Is it so?"}],
    }  # fmt: skip
    assert API.body("m", REQUEST, {"seed": 3}, "text") == plain
    form = {"type": "json_schema", "schema": {"type": "object"}}
    effort = {"seed": 3, "output_config": {"effort": "low"}}
    body = API.body("m", REQUEST, effort, "schema")
    assert body == plain | {"output_config": {"effort": "low", "format": form}}


def test_texts_are_joined_and_thoughts_left_out() -> None:
    blocks = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "a"}, "x", {"type": "text", "text": "b"}]  # fmt: skip
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 2}  # fmt: skip
    reply = API.parse_reply({"content": blocks, "stop_reason": "end_turn", "usage": usage})
    assert reply == CompletionReply("ab", "stop", 325, 2)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("refusal", "refusal"), ("max_tokens", "length"), ("model_context_window_exceeded", "length"), (None, "stop")],
)  # fmt: skip
def test_why_a_reply_ends(reason, finish: str) -> None:
    assert API.parse_reply({"content": [], "stop_reason": reason}).finish == finish


@pytest.mark.parametrize("reply", [{}, [], None, {"content": "a"}])
def test_a_reply_without_content_is_malformed(reply) -> None:
    with pytest.raises(MalformedReply):
        API.parse_reply(reply)
