"""Facts of structured sources: JSON, lines of "key: value" and tables, one for each leaf or row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragstone.text.sentences import split_sentences

MAX_FACT_CHARS = 240
"""Longer values are prose, and cut into sentences; longer rows are read leaf by leaf."""


class Fact(NamedTuple):
    """A stretch of a source, and what it says in words: `Parking garage: yes`."""

    start: int
    end: int
    text: str


def find_facts(text: str) -> list[Fact]:
    """The facts of a text, in order, with the sentences between them; empty for a text that is all
    prose."""
    if _JSON_START.match(text) and text.count(":") >= 2:
        return _read_json(text)
    return _read_lines(text) if "\n" in text else []


# ── JSON, also cut off or in Python's writing ──────────────────────────────────────────────

_Leaf = tuple[int, int, tuple[str, ...], str]
"""Start, end, keys from the outermost, value."""
_JSON_START = re.compile(r"\s*[\[{]\s*[\[{\"']")
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"?|(?<=[{\[:,\s])\'(?:[^\'\\]|\\.)*\'(?=\s*[,:\]}])|[{}\[\]:,]|[^\s{}\[\]:,"]+',
    re.DOTALL,
)


def _read_json(text: str) -> list[Fact]:
    facts: list[Fact] = []
    tokens = [(match.group(), *match.span()) for match in _TOKEN.finditer(text)]
    _read_container(tokens, 0, (), facts)
    return facts


def _read_container(
    tokens: Sequence[tuple[str, int, int]], index: int, path: tuple[str, ...], facts: list[Fact]
) -> int:
    """Read from an opening bracket to its end; returns the index behind it."""
    in_list = tokens[index][0] == "["
    leaves: list[_Leaf] = []
    key: tuple[str, ...] = ()
    begin, index = -1, index + 1
    while index < len(tokens):
        sign, start, end = tokens[index]
        if sign in "{[":
            _add_leaves(leaves, facts, is_row=False)
            leaves = []
            index = _read_container(tokens, index, path + key, facts)
            key, begin = (), -1
            continue
        index += 1
        if sign in "}]":
            break
        if sign == ",":
            key, begin = (), -1
        elif not in_list and not key and index < len(tokens) and tokens[index][0] == ":":
            key, begin, index = (sign.strip("\"'"),), start, index + 1
        else:
            leaves.append((begin if begin >= 0 else start, end, path + key, sign.strip("\"'")))
    _add_leaves(leaves, facts, is_row=not in_list and bool(path))
    return index


def _add_leaves(leaves: Sequence[_Leaf], facts: list[Fact], *, is_row: bool) -> None:
    """Short objects are one fact, unless they hold a yes or no, which would be of one key alone."""
    is_row = is_row and len(leaves) > 1 and leaves[-1][1] - leaves[0][0] <= MAX_FACT_CHARS
    if is_row and not any(value.lower() in _PLAIN_VALUES for *_, value in leaves):
        row = "; ".join(_say(path[-1:], value) for _, _, path, value in leaves)
        facts.append(Fact(leaves[0][0], leaves[-1][1], _say(leaves[0][2][:-1], row)))
        return
    for start, end, path, value in leaves:
        facts.extend(_say_leaf(start, end, path, value))


def _say_leaf(start: int, end: int, path: tuple[str, ...], value: str) -> Iterator[Fact]:
    if len(value) <= MAX_FACT_CHARS:
        yield Fact(start, end, _say(path, value))
        return
    # a quoted value is prose at the end of its stretch; line breaks are written as \n there
    offset = end - len(value) - 1
    for a, b in split_sentences(value):
        said = value[a:b].replace("\\n", " ").replace('\\"', '"')
        yield Fact(offset + a, offset + b, said)


_PLAIN_VALUES = {
    "true": "yes", "yes": "yes", "false": "no", "no": "no", "none": "no", "null": "unknown", "": "unknown",
}  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")


def _say(keys: Sequence[str], value: str) -> str:
    names = " ".join(_CAMEL.sub(" ", key) for key in keys)
    value = _PLAIN_VALUES.get(value.lower(), value)
    return f"{names}: {value}" if names else value


# ── lines: tables, and keys with values ────────────────────────────────────────────────────

_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_KEYED = re.compile(
    r"(?P<indent>\s*)(?:[-*]\s+)?(?P<key>[^\s:|#][^:|]{0,40}):(?:\s+(?P<value>\S.*))?"
)
MAX_VALUE_CHARS = 80
"""Longer ones are what somebody says: a dialogue."""
MIN_ROWS = 3
"""Lines from which something is a table or a list of values."""


def _read_lines(text: str) -> list[Fact]:
    lines = [(m.start(), m.end(), m.group()) for m in re.finditer(r"[^\n]*\S[^\n]*", text)]
    facts = _read_table(lines) or _read_keyed(lines)
    if not facts:
        return []
    # what stands around a table is prose
    first, last = facts[0].start, facts[-1].end
    prose = [Fact(a, b, text[a:b]) for a, b in split_sentences(text) if b <= first - 1 or a >= last]
    return sorted(facts + [part for part in prose if not _is_heading_of(part, facts)])


def _is_heading_of(part: Fact, facts: Sequence[Fact]) -> bool:
    return (
        part.end <= facts[0].start
        and len(re.findall(r"[|\t;,]", part.text)) > 0
        and part.end >= facts[0].start - 80
    )


def _read_table(lines: Sequence[tuple[int, int, str]]) -> list[Fact]:
    for n, (_, _, line) in enumerate(lines[1:], 1):
        if "|" in line and _RULE.fullmatch(line):
            rows = [row for row in lines[n + 1 :] if "|" in row[2]]
            return _say_rows(_split_cells(lines[n - 1][2], "|"), rows, "|")
    for sign in ("|", "\t", ";", ","):
        counts = {line.strip().strip("|").count(sign) for _, _, line in lines}
        if len(counts) == 1 and 0 not in counts and len(lines) >= MIN_ROWS:
            heading = _split_cells(lines[0][2], sign)
            longest = max(len(cell) for _, _, line in lines for cell in line.split(sign))
            if longest <= 60:
                return _say_rows(heading, lines[1:], sign)
    return []


def _split_cells(line: str, sign: str) -> list[str]:
    line = line.strip()
    return [cell.strip() for cell in (line.strip("|") if sign == "|" else line).split(sign)]


def _say_rows(
    heading: Sequence[str], rows: Sequence[tuple[int, int, str]], sign: str
) -> list[Fact]:
    facts = []
    for start, end, line in rows:
        cells = _split_cells(line, sign)
        said = [_say((name,), cell) for name, cell in zip(heading, cells, strict=False) if cell]
        facts.append(Fact(start, end, "; ".join(said)))
    return facts


def _read_keyed(lines: Sequence[tuple[int, int, str]]) -> list[Fact]:
    """Lines of `key: value`, nested by their indentation as in YAML."""
    matches = [_KEYED.fullmatch(line.rstrip()) for _, _, line in lines]
    if len(lines) < MIN_ROWS or any(
        match is None or len(match["value"] or "") > MAX_VALUE_CHARS for match in matches
    ):
        return []
    facts: list[Fact] = []
    above: list[tuple[int, str]] = []  # indentation and key of the lines that this one stands under
    for (start, end, line), match in zip(lines, matches, strict=True):
        assert match is not None
        indent = len(match["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        if match["value"] is None:
            above.append((indent, match["key"]))
            continue
        begin = start + len(line) - len(line.lstrip())
        keys = (*(key for _, key in above), match["key"])
        facts.extend(_say_leaf(begin, end, keys, match["value"].strip("\"' ")))
    return facts
