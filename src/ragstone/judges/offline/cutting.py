"""Text cut into raw tokens: words, numbers, times of day and signs, as they are written. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re

_NUMBER = r"\d{1,2}:\d{1,2}(?:\s?[aApP]\.?[mM]\b\.?)?|\d+(?:[.,]\d+)*"
_JOINED = r"[^\W\d_]*(?:['’][^\W\d_]+|)"
# the commonest first, told apart by their first letter: the order costs a factor of three; (?:x|) is tried sooner
# than (?:x)? and finds the same
TOKEN = re.compile(
    rf"[^\W\d_TtWw\u3040-\u30ff\u4e00-\u9fff]{_JOINED}|[Ww]i-?[Ff]i|[Tt]ake-?[Oo]ut|[TtWw]{_JOINED}"
    rf"|{_NUMBER}|[\u3040-\u30ff\u4e00-\u9fff]|[%$€£½]"
)
ASCII_TOKEN = re.compile(
    r"[A-SUVX-Za-suvx-z][A-Za-z]*(?:'[A-Za-z]+|)|[Ww]i-?[Ff]i|[Tt]ake-?[Oo]ut|[TtWw][A-Za-z]*(?:'[A-Za-z]+|)"
    rf"|{_NUMBER}|[%$]"
)
_CAMEL = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")
WHOLE = frozenset({"wifi", "wi-fi", "takeout", "take-out"})
"""One word each, however they are written."""


def raw_tokens(sentence: str) -> list[str]:
    """What `TOKEN` finds; where there are but letters and the marks between them, they are split far sooner."""
    if not sentence.isascii():
        return TOKEN.findall(sentence)
    letters = sentence.encode("ascii").translate(_LETTERS)
    if b"#" not in letters:
        low = sentence.lower()
        if not ("wifi" in low or "wi-fi" in low or "takeout" in low or "take-out" in low):
            return letters.decode("ascii").split()
    return ASCII_TOKEN.findall(sentence)


_LETTERS = bytes(
    code if chr(code).isalpha() else ord("#" if chr(code) in "0123456789'%$" else " ")
    for code in range(128)
).ljust(256)
"""For bytes.translate: letters as they are, what may be more than a mark between words made #, all else made space."""


def pattern_of(text: str) -> re.Pattern[str]:
    """The quicker pattern where it finds the same."""
    return ASCII_TOKEN if text.isascii() else TOKEN


def pieces(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Raw tokens with their places; `OutdoorSeating` is two words."""
    out: list[tuple[str, int, int]] = []
    for match in pattern_of(text).finditer(text, start, end):
        raw = match.group()
        if looks_whole(raw):
            out.append((raw, match.start(), match.end()))
        elif raw.lower() in WHOLE:
            out.append((raw.lower(), match.start(), match.end()))
        else:
            parts = _CAMEL.finditer(text, *match.span())
            out += [(part.group(), part.start(), part.end()) for part in parts]
    return out


def looks_whole(raw: str) -> bool:
    """Whether a glance at its capitals tells that a token is one word."""
    return raw.islower() or raw[1:].islower() or len(raw) < 4 or not raw.isalpha() or raw.isupper()
