"""Whether a quote stands in a text, and where: what makes a judge's verdict checkable."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


@lru_cache(maxsize=2048)
def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where the quote stands in the text, as offsets into the text itself; None when it does not.

    Compared after folding what copying changes: Unicode forms, case, white space, typographic quotation marks
    and dashes, invisible characters. A quote starts and ends at word borders: "1879" is not in "18790"."""
    even = _even(text)
    if even is not None and (short := _even(quote)) is not None:
        return _in_even(" ".join(short.split()).strip(_AROUND), even)
    wanted = _folded(quote)[0].strip(_AROUND)
    if not any(character.isalnum() for character in wanted):
        return None
    folded, starts, ends = _folded(text)
    at = folded.find(wanted)
    while at >= 0:
        last = at + len(wanted)
        if not _inside_word(folded, at) and not _inside_word(folded, last):
            return starts[at], ends[last - 1]
        at = folded.find(wanted, at + 1)
    return None


@lru_cache(maxsize=2048)
def _even(text: str) -> str | None:
    """The text folded except for its white space, when folding leaves every character in its place."""
    if text.isascii():
        return text.lower().replace("`", "'")
    if not unicodedata.is_normalized("NFKC", text) or _DROPPED.intersection(text):
        return None
    if any(map(unicodedata.combining, text)):
        return None
    folded = text.translate(_SAME).casefold()
    return folded if len(folded) == len(text) else None  # case folding never shortens


def _in_even(wanted: str, text: str) -> tuple[int, int] | None:
    """Where the wanted words stand in an evenly folded text, whatever white space is between them."""
    if not any(map(str.isalnum, wanted)):
        return None
    if not _oddly_spaced(text):
        at = text.find(wanted)
        while at >= 0:
            last = at + len(wanted)
            if not _inside_word(text, at) and not _inside_word(text, last):
                return at, last
            at = text.find(wanted, at + 1)
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, wanted.split())))
    found = pattern.search(text)
    while found is not None:
        start, end = found.span()
        if not _inside_word(text, start) and not _inside_word(text, end):
            return start, end
        found = pattern.search(text, start + 1)
    return None


@lru_cache(maxsize=512)
def _oddly_spaced(text: str) -> bool:
    return _ODD_SPACE.search(text) is not None


_ODD_SPACE = re.compile(r"\s\s|[^\S ]")
"""White space other than single blanks; compiling a pattern for each quote is worth it only then."""


_AROUND = " \"'….«»[]()"
"""What judges put around a quote that is not part of it."""

_SAME = {ord(c): "'" for c in "‘’‚‛′`´ʼ"}
_SAME |= {ord(c): '"' for c in "“”„‟″«»"}
_SAME |= {ord(c): "-" for c in "‐‑‒–—―−﹣-"}
_DROPPED = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f")
_SPACELESS_FROM = 0x2E80
"""From here on scripts mostly write no spaces between words, so a border says nothing."""


@lru_cache(maxsize=512)
def _folded(text: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The folded text, and for each of its characters where it starts and ends in the original."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    size, at = len(text), 0
    while at < size:
        end = at + 1
        while end < size and unicodedata.combining(text[end]):
            end += 1  # marks belong to their letter: "é" may be one character or two
        piece = text[at:end]
        if piece.isspace():
            if out and out[-1] != " ":
                out.append(" ")
                starts.append(at)
                ends.append(end)
        elif piece not in _DROPPED:
            for character in _fold_piece(piece):
                if character == " " and (not out or out[-1] == " "):
                    continue
                out.append(character)
                starts.append(at)
                ends.append(end)
        at = end
    return "".join(out), tuple(starts), tuple(ends)


def _fold_piece(piece: str) -> str:
    if piece.isascii():
        return "'" if piece == "`" else piece.lower()
    # one space for every kind: NFKC turns some signs into a space and a mark
    return unicodedata.normalize("NFKC", piece.translate(_SAME)).casefold().translate(_SAME)


def _inside_word(text: str, at: int) -> bool:
    """Whether a cut before this character would split a word."""
    if at <= 0 or at >= len(text):
        return False
    pair = text[at - 1], text[at]
    return all(c.isalnum() and ord(c) < _SPACELESS_FROM for c in pair)
