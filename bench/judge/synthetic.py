"""Sentences of the sources, true and falsified: a digit, a name, a negation, an order changed."""

from __future__ import annotations

import random
import re
import zlib
from typing import Any

from ragstone.judges.offline.lexicon import ANTONYMS
from ragstone.text.sentences import split_sentences

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁÉÍÓÚÑ][a-záéíóúñ]{2,}(?: [A-ZÁÉÍÓÚÑ][a-záéíóúñ]+)*")
_NUMBER = re.compile(r"\d+")
_BE = re.compile(
    r"\b(is|are|was|were|has|have|had|will|can|could|would|does|did|es|son|fue|fueron|era|eran|está|están|ha|han|"
    r"puede|pueden|tiene|tienen|había)\b"
)
_NOT = re.compile(r"\b(?:not|never|no|nunca) ")
_OPPOSITE = dict(ANTONYMS) | {b: a for a, b in ANTONYMS}
_SPANISH = frozenset(
    [
        "es",
        "son",
        "fue",
        "fueron",
        "era",
        "eran",
        "está",
        "están",
        "ha",
        "han",
        "puede",
        "pueden",
        "tiene",
        "tienen",
        "había",
    ]
)
PER_CONTEXT = 1
"""Source sentences used of each context."""
SHARE = 0.6
"""Share of the contexts that are used: more teaches nothing new and costs time."""


def synthetic(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the shape of labelled ones, for contexts with prose; the same every time."""
    made: list[dict[str, Any]] = []
    seen = set()
    for row in rows:
        key = (row["set"], row["context"])
        if key in seen or row["context"].lstrip().startswith("{"):
            continue
        seen.add(key)
        luck = random.Random(zlib.crc32(row["context"].encode()))
        if luck.random() > SHARE:
            continue
        language = "es" if row["set"] == "inferes" else "en"
        parts = [row["context"][a:b] for a, b in split_sentences(row["context"][:8000], language)]
        fit = [p for p in parts if 8 <= len(p.split()) <= 45 and p[:1].isupper() and "\n" not in p]
        if not fit:
            continue
        for true in luck.sample(fit, min(PER_CONTEXT, len(fit))):
            made.append(_row(row, true, 1, []))
            for claim, spans in _falsified(true, parts, luck):
                made.append(_row(row, claim, 0, spans))
    return made


def _row(
    row: dict[str, Any], claim: str, label: int, spans: list[tuple[int, int]]
) -> dict[str, Any]:
    return {
        "set": row["set"],
        "dataset": "synthetic",
        "group": row["group"],
        "question": "",
        "context": row["context"],
        "claim": claim,
        "label": label,
        "spans": [{"start": a, "end": b} for a, b in spans],
        "synthetic": True,
        "level": "claim",
    }


def _falsified(
    true: str, parts: list[str], luck: random.Random
) -> list[tuple[str, list[tuple[int, int]]]]:
    found = [
        make(true, parts, luck)
        for make in (
            _digit,
            _negated,
            _names_swapped,
            _name_replaced,
            _contrary,
            _word_replaced,
            _shuffled,
            _spliced,
        )
    ]
    kept = [one for one in found if one is not None and one[0] != true]
    return luck.sample(kept, min(3, len(kept)))


_Made = tuple[str, list[tuple[int, int]]] | None


def _replace(text: str, start: int, end: int, new: str) -> _Made:
    return text[:start] + new + text[end:], [(start, start + len(new))]


def _digit(true: str, parts: list[str], luck: random.Random) -> _Made:
    numbers = list(_NUMBER.finditer(true))
    if not numbers:
        return None
    match = luck.choice(numbers)
    digits = list(match.group())
    at = luck.randrange(len(digits))
    digits[at] = luck.choice([d for d in "123456789" if d != digits[at]])
    return _replace(true, *match.span(), "".join(digits))


def _negated(true: str, parts: list[str], luck: random.Random) -> _Made:
    gone = _NOT.search(true)
    if gone:
        text = true[: gone.start()] + true[gone.end() :]
        end = text.find(" ", gone.start())
        return text, [(gone.start(), end if end > 0 else len(text))]
    verb = _BE.search(true)
    if not verb:
        return None
    if verb.group() in _SPANISH:
        return _replace(true, verb.start(), verb.end(), f"no {verb.group()}")
    return _replace(true, verb.start(), verb.end(), f"{verb.group()} not")


def _names_swapped(true: str, parts: list[str], luck: random.Random) -> _Made:
    names = list(_NAME.finditer(true))
    if len(names) < 2:
        return None
    one, other = sorted(luck.sample(names, 2), key=lambda match: match.start())
    if one.group() == other.group():
        return None
    text = (
        true[: one.start()]
        + other.group()
        + true[one.end() : other.start()]
        + one.group()
        + true[other.end() :]
    )
    shift = len(other.group()) - len(one.group())
    return text, [
        (one.start(), one.start() + len(other.group())),
        (other.start() + shift, other.start() + shift + len(one.group())),
    ]


def _name_replaced(true: str, parts: list[str], luck: random.Random) -> _Made:
    names = list(_NAME.finditer(true))
    others = [n for part in parts for n in _NAME.findall(part) if n not in true]
    if not names or not others:
        return None
    match = luck.choice(names)
    return _replace(true, *match.span(), luck.choice(others))


def _contrary(true: str, parts: list[str], luck: random.Random) -> _Made:
    words = [m for m in _WORD.finditer(true) if m.group().lower() in _OPPOSITE]
    if not words:
        return None
    match = luck.choice(words)
    return _replace(true, *match.span(), _OPPOSITE[match.group().lower()])


def _word_replaced(true: str, parts: list[str], luck: random.Random) -> _Made:
    """A long word gives way to another of the same source: every word is there, the statement is not."""
    mine = [m for m in _WORD.finditer(true) if len(m.group()) > 5 and m.group().islower()]
    others = [
        w
        for part in parts
        for w in _WORD.findall(part)
        if len(w) > 5 and w.islower() and w not in true
    ]
    if not mine or not others:
        return None
    match = luck.choice(mine)
    return _replace(true, *match.span(), luck.choice(others))


def _shuffled(true: str, parts: list[str], luck: random.Random) -> _Made:
    words = [w for part in luck.sample(parts, min(3, len(parts))) for w in part.split()]
    luck.shuffle(words)
    text = " ".join(words[:40])
    return text, [(0, len(text))]


def _spliced(true: str, parts: list[str], luck: random.Random) -> _Made:
    """The start of one sentence with the end of another."""
    others = [p for p in parts if p != true and len(p.split()) >= 8]
    if not others:
        return None
    head, tail = true.split(), luck.choice(others).split()
    start = " ".join(head[: len(head) // 2])
    end = " ".join(tail[len(tail) // 2 :])
    return f"{start} {end}", [(len(start) + 1, len(start) + 1 + len(end))]
