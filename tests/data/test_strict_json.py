"""The fast parser takes, rejects and says the same as the careful one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ragstone.data import strict_json
from ragstone.data.strict_json import BadRow, parse_json, reparse_json, write_json

ATOMS = [
    "1", "-0", "01", "1.", "1e5", "1e-400", "1e400", "-1e999", "NaN", "Infinity", "true", "nul",
    '"a"', '"\\u0000"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\x"', '"\t"', '"é"', '"a\\":b"', '" :"',
    '"a:b"', '"\\u003a"', "123456789012345678901234567890", "-9223372036854775809", "0.1",
    "1.7976931348623157e308", "4.9e-324", "9007199254740993.0", "1" * 4301, '"\\u12"', "'a'",
]  # fmt: skip
KEYS = ['"a"', '"b"', '"\\u0061"', '"x:y"', '"x\\u003ay"', '""', "a"]


def make_document(dice: random.Random, depth: int = 0) -> str:
    def space() -> str:
        return dice.choice(["", "", "", " ", "\t"]) if depth else ""

    kind = dice.random()
    if depth > 3 or kind < 0.4:
        return space() + dice.choice(ATOMS) + space()
    if kind < 0.6:
        items = [make_document(dice, depth + 1) for _ in range(dice.randrange(3))]
        return f"{space()}[{','.join(items)}{dice.choice(['', '', ','])}]{space()}"
    members = [
        f"{dice.choice(KEYS)}{space()}:{make_document(dice, depth + 1)}"
        for _ in range(dice.randrange(4))
    ]
    return f"{space()}{{{','.join(members)}}}{space()}"


def outcome(parse: Any, text: str) -> str:
    try:
        return repr(parse(text))
    except BadRow as bad:
        return f"bad: {bad}"


def test_any_document_is_read_as_by_the_careful_parser() -> None:
    dice = random.Random(7)
    accepted = 0
    for _ in range(8000):
        text = make_document(dice)
        careful = outcome(strict_json._parse_carefully, text)
        assert outcome(parse_json, text) == careful, text
        if not careful.startswith("bad"):
            accepted += 1
            assert repr(reparse_json(text)) == careful
    assert 2000 < accepted < 6000


def test_the_fast_parser_is_used_for_usual_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(strict_json, "_parse_carefully")
    text = '{"id": "1", "contexts": [{"id": "d1", "text": "Note: at 10:30, \\"so\\": é"}], "n": {"a": 1}}'
    assert parse_json(text)["contexts"][0]["text"] == 'Note: at 10:30, "so": é'


def test_a_value_is_written_as_json_dumps_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"a": [1, 2.5, None, True, 'é\u2028\n"\\'], "b": {}, "c": 10**30}
    text = '{"a": [1, 2.5, null, true, "é\u2028\\n\\"\\\\"], "b": {}, "c": ' + str(10**30) + "}"
    assert write_json(value) == text
    monkeypatch.setattr(strict_json, "_decode_fast", None)  # as on a platform without msgspec
    assert write_json(value) == text
    assert parse_json(text) == reparse_json(text) == value


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize(("depth", "is_read"), [(101, True), (102, False)])
def test_a_row_has_at_most_a_hundred_levels_inside(depth, is_read, is_fast, monkeypatch) -> None:
    if not is_fast:
        monkeypatch.setattr(strict_json, "_decode_fast", None)
    text = "[" * depth + "1" + "]" * depth
    assert outcome(parse_json, text).startswith("bad") is not is_read
    assert outcome(parse_json, f"[{text[1:-1]},{'[],' * 120}1]").startswith("bad") is not is_read


def test_a_number_of_thousands_of_digits_says_what_to_do() -> None:
    assert (
        outcome(parse_json, "1" * 5000)
        == "bad: a number has thousands of digits; write it as a text"
    )


@pytest.mark.parametrize("value", [7, "plain", '{"a": 1}', "[1", '"x"'])
def test_only_a_text_that_is_json_is_decoded(value: object) -> None:
    wanted = {'{"a": 1}': {"a": 1}, '"x"': "x"}
    assert strict_json.decode_json_text(value) == wanted.get(str(value), value)
