"""What the strict parser takes, rejects and says."""

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


def test_a_row_that_was_accepted_is_read_again_as_the_same_value() -> None:
    dice = random.Random(7)
    accepted = 0
    for _ in range(8000):
        text = make_document(dice)
        first = outcome(parse_json, text)
        if not first.startswith("bad"):
            accepted += 1
            assert repr(reparse_json(text)) == first, text
    assert 2000 < accepted < 6000


def test_a_value_is_written_as_json_dumps_writes_it() -> None:
    value = {"a": [1, 2.5, None, True, 'é\u2028\n"\\'], "b": {}, "c": 10**30}
    text = '{"a": [1, 2.5, null, true, "é\u2028\\n\\"\\\\"], "b": {}, "c": ' + str(10**30) + "}"
    assert write_json(value) == text
    assert parse_json(text) == reparse_json(text) == value


@pytest.mark.parametrize(("depth", "is_read"), [(101, True), (102, False)])
def test_a_row_has_at_most_a_hundred_levels_inside(depth: int, is_read: bool) -> None:
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
