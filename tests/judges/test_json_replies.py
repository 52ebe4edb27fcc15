"""One document out of a model's text, or a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.asks.json_replies import ReplyFault, extract_json, fit_value, format_example

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
        {"level": 3}, {"level": -1}, {"level": 1.5}, {"level": True}, {"level": "one"}, {"level": None},
        {"level": "3"}, {"level": "1 or 2"}, {"level": [1]}, {"level": 1e400}, {"on": 1}, {"on": "yes"},
        {"on": None}, {"words": 1}, {"words": [["a"]]}, {"words": {"a": 1}}, {"words": [1.5]},
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


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"level": "1"}, {"level": 1}),
        ({"level": " 2 "}, {"level": 2}),
        ({"on": "True"}, {"on": True}),
        ({"words": "a"}, {"words": ["a"]}),
        ({"words": None}, {"words": []}),
        ({"words": [7]}, {"words": ["7"]}),
    ],
)
def test_what_is_off_in_form_alone_is_read(
    given: dict[str, object], read: dict[str, object]
) -> None:
    assert fit_value(GOOD | given, SCHEMA) == GOOD | read


IDS = {"type": "string", "enum": [f"c{n}" for n in range(1, 13)]}
VERDICTS = {"type": "string", "enum": ["supported", "contradicted", "not_found"]}


@pytest.mark.parametrize(
    ("value", "choice"),
    [("c1", "c1"), ("C1", "c1"), ("claim c1", "c1"), ("[c1]", "c1"), ("c12:", "c12"), (" c2 ", "c2"),
     (1, "c1"), ("12", "c12"), ("claim 3", "c3"), ("text c3", "c3")],
)  # fmt: skip
def test_an_id_is_read_in_any_form_that_can_mean_one_only(value: object, choice: str) -> None:
    assert fit_value(value, IDS) == choice


@pytest.mark.parametrize(
    "value",
    ["c13", "c1, c2", "c1 c2", "c", "", 13, 1.5, True, None, "c1 or c2", "k1", "claims c1 and c2", ["c1"]],
)  # fmt: skip
def test_an_id_that_can_mean_several_or_none_is_a_fault(value: object) -> None:
    with pytest.raises(ReplyFault):
        fit_value(value, IDS)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [("Supported", "supported"), ("NOT FOUND", "not_found"), ("not-found", "not_found")],
)
def test_a_verdict_is_read_whatever_its_case(value: str, verdict: str) -> None:
    assert fit_value(value, VERDICTS) == verdict


@pytest.mark.parametrize(
    "value", ["not supported", "unsupported", "supported?", "yes", "", "found"]
)
def test_a_verdict_in_other_words_is_a_fault(value: str) -> None:
    with pytest.raises(ReplyFault):
        fit_value(value, VERDICTS)


def test_a_missing_reason_is_no_fault_and_a_missing_level_is() -> None:
    text = {"type": "string"}
    row = {
        "type": "object",
        "properties": {"id": IDS, "reason": text},
        "required": ["id", "reason"],
    }
    assert fit_value({"id": "c1"}, row) == {"id": "c1", "reason": ""}
    with pytest.raises(ReplyFault):
        fit_value({"reason": "x"}, row)


def test_the_shape_shows_choices() -> None:
    assert format_example(SCHEMA) == '{"level": 0|1|2, "on": true|false, "words": ["…"]}'


ROW = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
KEYED = {
    "type": "object",
    "properties": dict.fromkeys(("c1", "c2", "c3"), ROW),
    "required": ["c1", "c2", "c3"],
}


@pytest.mark.parametrize(
    "value",
    [
        {"c1": {"level": 1}, "c2": {"level": "2"}},
        {"claim c1:": {"level": 1}, "2": {"level": 2, "more": "x"}},
        [{"id": "c1", "level": 1}, {"id": "c2", "level": 2}],
    ],
)
def test_an_object_by_id_is_read_as_rows_whichever_of_them_it_has(value: Any) -> None:
    assert fit_value(value, KEYED) == [{"id": "c1", "level": 1}, {"id": "c2", "level": 2}]


@pytest.mark.parametrize("value", ["c1", 7, None, {"c1": 2}, [{"level": 1}], ["c1"], {"c1": {}}])
def test_rows_by_id_that_are_none_are_a_fault(value: Any) -> None:
    with pytest.raises(ReplyFault):
        fit_value(value, KEYED)


def test_ids_that_were_not_given_are_left_for_the_reader_to_refuse() -> None:
    rows = fit_value({"c1": {"level": 1}, "c9": {"level": 2}, "c1 or c2": {"level": 0}}, KEYED)
    assert [row["id"] for row in rows] == ["c1", "c9", "c1 or c2"]


def test_the_shape_shows_the_first_and_the_last_id() -> None:
    assert format_example(KEYED) == '{"c1": {"level": 0}, …, "c3": {"level": 0}}'
