"""OpenAI's dialect: which key goes to which host, what a request asks for, and how every form of reply is read."""

from __future__ import annotations

import pytest

from ragstone.judges.completion import CompletionRequest, Deadline
from ragstone.judges.dialects.dialect import CompletionReply
from ragstone.judges.dialects.ollama import Ollama
from ragstone.judges.dialects.openai import OpenAI
from ragstone.judges.http import MalformedReply

REQUEST = CompletionRequest("Be strict.", "Is it so?", {"type": "object"}, "verdict", Deadline(60))
LOCAL = OpenAI("localhost")


def build_reply(*, finish="stop", logprobs=None, usage=None, **message) -> dict:
    choice = {"message": message, "finish_reason": finish, "logprobs": logprobs}
    return {"choices": [choice], "usage": usage}


@pytest.mark.parametrize(
    ("host", "variable"),
    [
        ("api.openai.com", "OPENAI_API_KEY"),
        ("openrouter.ai", "OPENROUTER_API_KEY"),
        ("api.mistral.ai", "MISTRAL_API_KEY"),
        ("api.deepseek.com", "DEEPSEEK_API_KEY"),
        ("api.groq.com", "GROQ_API_KEY"),
        ("api.together.xyz", "TOGETHER_API_KEY"),
        ("api.x.ai", "XAI_API_KEY"),
    ],
)
def test_each_host_has_its_key(host: str, variable: str) -> None:
    assert OpenAI.key_variables[host] == (variable,)
    assert not Ollama.key_variables
    assert OpenAI(host).headers("k") == {"Authorization": "Bearer k"}


@pytest.mark.parametrize(
    ("host", "parameter"),
    [("api.openai.com", "max_completion_tokens"), ("localhost", "max_tokens"), ("api.groq.com", "max_tokens")],
)  # fmt: skip
def test_the_length_is_limited_by_the_name_that_the_server_knows(host: str, parameter: str) -> None:
    dialect = OpenAI(host)
    assert dialect.defaults == {"temperature": 0, parameter: 4096}
    assert dialect.choice_parameters == {parameter: 1, "logprobs": True, "top_logprobs": 20}
    assert dialect.to_parameters({"max_tokens": 9, "seed": 1}) == {parameter: 9, "seed": 1}


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        ("schema", {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {"type": "object"}}}),
        ("json", {"type": "json_object"}),
        ("text", None),
    ],
)  # fmt: skip
def test_a_request_carries_prompt_parameters_and_form(mode, form) -> None:
    body = LOCAL.body("m", REQUEST, {"seed": 3}, mode)
    assert body.pop("response_format", None) == form
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be strict."},
            {"role": "user", "content": "Is it so?"},
        ],
        "seed": 3,
    }


@pytest.mark.parametrize(
    ("content", "text"),
    [("yes", "yes"), ([{"text": "a"}, {"text": None}, "x", {"text": "b"}], "ab"), (None, ""), (7, "")],
)  # fmt: skip
def test_the_text_of_a_reply(content, text: str) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    reply = LOCAL.parse_reply(build_reply(content=content, usage=usage))
    assert reply == CompletionReply(text, "stop", 7, 2)


@pytest.mark.parametrize(
    ("finish", "message", "said"),
    [
        ("stop", {"content": "a"}, "stop"),
        ("length", {"content": "a"}, "length"),
        ("content_filter", {"content": "a"}, "refusal"),
        ("stop", {"content": None, "refusal": "I cannot."}, "refusal"),
    ],
)
def test_why_a_reply_ends(finish: str, message: dict, said: str) -> None:
    assert LOCAL.parse_reply(build_reply(finish=finish, **message)).finish == said


TOP = [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": -2}]


@pytest.mark.parametrize(
    ("entries", "tokens"),
    [
        ([{"token": "Yes", "logprob": -0.1, "top_logprobs": TOP}], (("Yes", -0.1), ("No", -2.0))),
        ([{"token": " \n", "logprob": -1}, {"token": "No", "logprob": -0.5}], (("No", -0.5),)),
        ([{"token": "a", "logprob": -0.5, "top_logprobs": []}], (("a", -0.5),)),
        ([{"token": "a", "logprob": True}], ()),
        ([{"token": "a", "logprob": None}], ()),
        ([{"token": "a", "logprob": -1, "top_logprobs": [*TOP, {"token": 3, "logprob": -1}]}], ()),
        (["a"], ()),
        (None, ()),
    ],
)
def test_the_first_token_that_is_not_blank_has_its_alternatives(entries, tokens) -> None:
    reply = LOCAL.parse_reply(build_reply(content="a", logprobs={"content": entries}))
    assert reply.first_tokens == tokens


@pytest.mark.parametrize(
    "reply", [{}, [], None, {"choices": []}, {"choices": ["a"]}, {"choices": [{"message": "a"}]}]
)
def test_a_reply_without_a_message_is_malformed(reply) -> None:
    with pytest.raises(MalformedReply):
        LOCAL.parse_reply(reply)
