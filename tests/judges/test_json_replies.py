"""One document out of a model's text, or a fault."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.json_replies import ReplyFault, extract_json, fit_value, format_example

SCHEMA = {
    "type": "object",
    "properties": {
        "level": {"type": "integer", "enum": [0, 1, 2]},
        "on": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["level", "on", "words"],
    "additionalProperties": False,
}
GOOD = {"level": 1, "on": True, "words": ["a"]}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' \n{"a": 1}\n',
        '```json\n{"a": 1}\n```',
        'Sure {thing}! {"a": 1} Bye :-}',
        '<think>maybe {"a": 2}?</think>{"a": 1}',
        '{"a": 1}\n\n{"a": 1}',
    ],
)
def test_one_document_is_found(text: str) -> None:
    assert extract_json(text) == {"a": 1}


def test_braces_in_strings_are_text() -> None:
    assert extract_json('x {"a": "}{\\"}", "b": {"c": "}"}} y') == {"a": '}{"}', "b": {"c": "}"}}


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "no json", "[1]", '{"a": 1', '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -Infinity}',
        '{"a": 1} {"a": 2}', "{'a': 1}", '{"a": 1,}', "{" * 5000, '{"a":' * 100_000, "<think>{}",
    ],
)  # fmt: skip
def test_anything_else_is_a_fault(text: str) -> None:
    with pytest.raises(ReplyFault):
        fit_value(extract_json(text), SCHEMA)


def test_unknown_fields_are_dropped_and_whole_floats_are_integers() -> None:
    assert fit_value({**GOOD, "level": 2.0, "more": 1}, SCHEMA) == {**GOOD, "level": 2}


@pytest.mark.parametrize(
    "change",
    [
        {"level": 3}, {"level": -1}, {"level": 1.5}, {"level": True}, {"level": "1"}, {"level": None},
        {"level": 1e400}, {"on": 1}, {"on": "true"}, {"words": "a"}, {"words": [1]}, {"words": None},
    ],
)  # fmt: skip
def test_values_outside_the_schema_are_faults(change: dict[str, object]) -> None:
    with pytest.raises(ReplyFault):
        fit_value(GOOD | change, SCHEMA)


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8))  # fmt: skip
def test_any_value_fits_or_is_a_fault(value: object) -> None:
    try:
        fit = fit_value(value, SCHEMA)
    except ReplyFault:
        return
    assert set(fit) == {"level", "on", "words"}


@given(
    st.dictionaries(st.text(max_size=5), st.text(max_size=20), min_size=1, max_size=3),
    st.text(alphabet="ab .:-\n", max_size=30),
)
def test_a_document_in_prose_is_read_as_it_is(value: dict[str, str], prose: str) -> None:
    assert extract_json(f"{prose}{json.dumps(value)}{prose}") == value


def test_the_shape_shows_choices() -> None:
    assert format_example(SCHEMA) == '{"level": 0|1|2, "on": true|false, "words": ["…"]}'
