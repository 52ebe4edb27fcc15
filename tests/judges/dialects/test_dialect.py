"""What all dialects share: where a key goes, how errors are read, and which parameter a server refuses."""

from __future__ import annotations

import pytest

from ragstone.judges.dialects.dialect import Dialect, read_count
from ragstone.judges.dialects.gemini import Gemini
from ragstone.judges.dialects.openai import OpenAI
from ragstone.judges.http import RequestRejected


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "no", "param": "seed"}}', ("no", "seed")),
        (b'{"error": {"detail": "no"}}', ("no", "")),
        (b'{"error": "no"}', ("no", "")),
        (b'[{"error": {"message": "no"}}]', ("no", "")),
        (b'{"message": "no"}', ("no", "")),
        (b'{"error": {"code": 7}}', ('{"code": 7}', "")),
        (b"<html>no</html>", ("<html>no</html>", "")),
        (b"\xff", ("�", "")),
    ],
)
def test_the_message_of_an_error_is_found_in_every_form(body: bytes, said) -> None:
    assert Dialect.parse_error(body) == said


def test_azure_takes_the_key_in_a_header_of_its_own() -> None:
    assert OpenAI("x.azure.com").headers("k") == {"api-key": "k"}
    assert OpenAI("azure.com.example").headers("k") == {"Authorization": "Bearer k"}
    assert OpenAI("localhost").headers(None) == {}


@pytest.mark.parametrize(
    ("message", "parameter", "rejected"),
    [
        ("unsupported: max_completion_tokens", "", "max_completion_tokens"),
        ("top_logprobs is not supported", "", "top_logprobs"),
        ("bad value", "seed", "seed"),
        ("Temperature must be 1", "", "temperature"),
        ("something else", "", None),
    ],
)
def test_the_rejected_parameter_is_the_longest_that_is_named(message, parameter, rejected) -> None:
    parameters = {"max_tokens": 1, "max_completion_tokens": 1, "seed": 1, "temperature": 0}
    parameters |= {"logprobs": True, "top_logprobs": 20}
    rejection = RequestRejected(400, message, parameter)
    assert OpenAI("localhost").find_rejected_parameter(rejection, parameters) == rejected


def test_a_parameter_is_recognised_in_either_spelling() -> None:
    rejection = RequestRejected(400, "max_output_tokens is too large", "")
    assert Gemini("g").find_rejected_parameter(rejection, {"maxOutputTokens": 1}) == "maxOutputTokens"  # fmt: skip


@pytest.mark.parametrize(
    ("message", "is_rejected"),
    [("response_format is not supported", True), ("no JSON mode here", True), ("seed is unknown", False)],
)  # fmt: skip
def test_a_refused_output_mode_is_told_from_other_errors(message: str, is_rejected: bool) -> None:
    assert OpenAI("localhost").rejects_output_mode(RequestRejected(400, message, "")) is is_rejected


@pytest.mark.parametrize(("count", "read"), [(5, 5), (None, 0), (-1, 0), ("5", 0), (True, 0)])
def test_a_token_count_that_is_none_is_zero(count, read: int) -> None:
    assert read_count({"n": count}, "n") == read
