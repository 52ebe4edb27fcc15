"""Messages: English sentences that can be said in every language, and the way to the store and back."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping

import pytest

from ragstone.errors import JudgeFailed, MissingField, NotApplicable
from ragstone.locale.messages import (
    Message,
    clip,
    compose,
    message_from_json,
    message_to_json,
    render,
)
from ragstone.metrics.scoring import to_outcome
from ragstone.store.rows import NewRow, build_finding, build_score, prepare_rows
from ragstone.store.score_json import decode_score, decode_scores, encode_score, encode_scores
from ragstone.types import Finding, Score


def test_a_code_is_an_english_sentence_that_can_be_said_in_spanish() -> None:
    raised = NotApplicable("no_claims", field="answer")
    assert str(raised) == raised.reason == "the answer makes no claim"
    score = to_outcome(raised)
    assert (score.code, dict(score.arguments)) == ("no_claims", {"field": "answer"})
    assert score.reason == "the answer makes no claim"
    assert render(score.reason, "es") == "la respuesta no afirma nada"


def test_the_words_of_a_user_are_shown_as_they_are() -> None:
    score = to_outcome(NotApplicable("my own words"))
    assert (score.code, dict(score.arguments)) == ("custom", {"text": "my own words"})
    assert render(score.reason, "es") == "my own words"
    assert (Score(1.0).code, dict(Score(1.0).arguments)) == ("", {})


def test_a_message_inside_a_message_is_said_in_the_same_language() -> None:
    inner = compose("component_without_score", name="overall", outcome="judge_error", reason="HTTP")
    outer = compose("no_component_score", missing=(inner, inner))
    assert outer == "no score for overall (judge_error: HTTP), overall (judge_error: HTTP)"
    assert render(outer, "es") == (
        "no hay puntuación de overall (error del juez: HTTP), overall (error del juez: HTTP)"
    )


def test_a_judge_that_speaks_spanish_is_translated_into_english() -> None:
    said = compose("found_in_source", "es", p=0.5)
    assert said == "está en la fuente (probabilidad 0.50)"
    assert render(said, "en") == "found in the source (probability 0.50)"
    whole = compose("cites_marker_because", marker="[1]", reason=said)
    assert whole == "cites [1]; está en la fuente (probabilidad 0.50)"
    assert render(whole, "en") == "cites [1]; found in the source (probability 0.50)"


MESSAGES = [
    compose("nothing_retrieved"),
    compose("empty_field", field="question"),
    compose("found_in_source", "es", p=0.25),
    compose("after_tries", problem=compose("http_status", status=503), n=6),
    compose("missing_fields", field=("answer", "contexts")),
    compose("rubric_faults", faults=(compose("no_words"), "own words")),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_survives_storing_copying_and_pickling(message: Message) -> None:
    for other in (
        message_from_json(json.loads(json.dumps(message_to_json(message)))),
        pickle.loads(pickle.dumps(message)),
        copy.deepcopy(message),
    ):
        assert isinstance(other, Message)
        assert other == message
        assert (other.code, other.language) == (message.code, message.language)
        assert render(other, "es") == render(message, "es")


def store(scores: Mapping[str, Score]) -> dict[str, Score]:
    """The scores as they come back from a store."""
    rows = prepare_rows([NewRow(1, "a", None, "", scores)])
    findings = [build_finding(row[3:]) for row in rows.findings]
    plain = {name: Score(value) for name, _, value in rows.values}
    return plain | {
        name: build_score(tuple(columns), [f for f in findings if name == "m"])
        for name, _, *columns in rows.scores
    }


@pytest.mark.parametrize("message", MESSAGES)
def test_scores_keep_their_messages_in_the_store(message: Message) -> None:
    score = Score(
        outcome="judge_error",
        kind="transport",
        reason=message,
        warnings=(message, "plain"),
        findings=(Finding("a", "supported", message),),
    )
    bare = Score(outcome="not_applicable", reason=message)
    whole = decode_score(encode_score(score))
    assert whole == score
    stored = store({"m": score, "n": bare, "o": Score(0.5)})
    assert stored == {"m": score, "n": bare, "o": Score(0.5)}
    for text in (
        whole.reason, whole.warnings[0], whole.findings[0].reason, stored["n"].reason,
    ):  # fmt: skip
        assert isinstance(text, Message)
        assert render(text, "es") == render(message, "es")
    assert type(whole.warnings[1]) is str


def test_rows_of_the_version_before_are_read() -> None:
    text = (
        '{"a":0.5,"b":{"outcome":"not_applicable","reason":"the answer makes no claim"},'
        '"c":{"outcome":"judge_error","reason":"no","kind":"refusal"},'
        '"d":{"value":0.0,"warnings":["nothing was retrieved"],'
        '"findings":[{"text":"x","verdict":"not_found","reason":"there is no text","span":[0,1]}]}}'
    )
    scores = decode_scores(text)
    assert scores["b"].reason == "the answer makes no claim"
    assert scores["b"].code == "custom"
    assert scores["c"] == Score(outcome="judge_error", kind="refusal", reason="no")
    assert scores["d"].warnings == ("nothing was retrieved",)
    assert scores["d"].findings[0].reason == "there is no text"
    assert json.loads(encode_scores(scores)) == json.loads(text)


def test_a_plain_text_is_not_taken_for_the_message_of_the_same_words() -> None:
    message = compose("no_claims", field="answer")
    plain = Score(outcome="not_applicable", reason=str(message))
    coded = Score(outcome="not_applicable", reason=message)
    for score in (plain, coded, plain):
        assert store({"m": score})["m"].code == score.code


def test_a_code_of_a_later_version_is_shown_with_its_arguments() -> None:
    message = message_from_json({"code": "not_known_yet", "n": 3})
    assert message == "not_known_yet n=3"
    assert message_to_json(message) == {"code": "not_known_yet", "n": 3}


def test_a_clipped_message_keeps_its_code() -> None:
    message = clip(compose("evidence_malformed", evidence="x" * 900), 100)
    assert isinstance(message, Message)
    assert len(message) == 100
    assert clip("y" * 900, 10) == "y" * 10
    short = compose("no_marker")
    assert clip(short, 100) is short
    assert render(message, "es").startswith("la prueba que da el juez es xxx")


def test_a_judge_fault_has_a_kind_and_a_code() -> None:
    raised = JudgeFailed("transport", "http_status_said", status=503, text="busy")
    assert (raised.kind, raised.reason) == ("transport", "HTTP 503: busy")
    missing = to_outcome(MissingField("missing_field", field="answer"))
    assert (missing.outcome, missing.code) == ("missing_field", "missing_field")
