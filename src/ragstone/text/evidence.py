"""Quote verification: whether a judge's quote stands in a text, and where. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from operator import itemgetter

Span = tuple[int, int]


# A judge's quote is verified when its reply is read and again by the metric: meanwhile come those of all open samples.
@lru_cache(maxsize=1024)
def find_quote(quote: str, text: str) -> Span | None:
    """Return start and end of the quote in the original text; None when it does not stand there.

    Compared after folding what copying changes: Unicode forms, case, white space, typographic quotation marks
    and dashes, invisible characters. A quote starts and ends at word borders: "1879" is not in "18790"."""
    aligned = _fold_aligned(text)
    if aligned is not None and (aligned_quote := _fold_aligned(quote)) is not None:
        return _find_aligned(" ".join(aligned_quote.split()).strip(_AROUND_QUOTE), aligned)
    wanted = _fold(quote)[0].strip(_AROUND_QUOTE)
    if not any(map(str.isalnum, wanted)):
        return None
    folded, starts, ends = _fold(text)
    span = _find_whole_words(wanted, folded)
    return (starts[span[0]], ends[span[1] - 1]) if span else None


@lru_cache(maxsize=256)
def _fold_aligned(text: str) -> str | None:
    """Fold the text except for its white space, if folding leaves every character at its offset; else None."""
    if text.isascii():
        return text.lower().replace("`", "'")
    # marks first: normalising a long run of them takes time quadratic in its length
    if any(map(unicodedata.combining, text)) or _INVISIBLE.intersection(text):
        return None
    if not unicodedata.is_normalized("NFKC", text):
        return None
    folded = text.translate(_TYPOGRAPHY).casefold()
    return folded if len(folded) == len(text) else None  # case folding never shortens


def _find_aligned(wanted: str, text: str) -> Span | None:
    """Find the wanted words in an aligned text, whatever white space is between them."""
    if not any(map(str.isalnum, wanted)):
        return None
    spaced, runs = _collapse_space(text)
    span = _find_whole_words(wanted, spaced)
    if span is None or not runs:
        return span
    start, end = span
    # the last word ends before the blanks that follow it
    return start + _count_removed(runs, start), end + _count_removed(runs, end - 1)


def _find_whole_words(wanted: str, text: str) -> Span | None:
    """Return the first match that starts and ends at word borders."""
    at = -1
    for _ in range(MATCHES_TRIED):
        at = text.find(wanted, at + 1)
        if at < 0:
            return None
        if not _splits_word(text, at) and not _splits_word(text, at + len(wanted)):
            return at, at + len(wanted)
    return _find_marked(wanted, text)


MATCHES_TRIED = 16
"""Matches inside words after which borders become part of the search: each further one might cost the quote's whole length."""


def _find_marked(wanted: str, text: str) -> Span | None:
    """Find words at borders by one search, which takes time linear in the text: every border is written as a character."""
    marked = _mark_borders(text)
    at = marked.find(_mark_borders(wanted))
    if at < 0:
        return None
    start = at - marked.count(_BORDER_MARK, 0, at)
    return start, start + len(wanted)


@lru_cache(maxsize=128)
def _mark_borders(text: str) -> str:
    return _compile_border().sub(_BORDER_MARK, text.replace(_BORDER_MARK, "\ufffd"))


_BORDER_MARK = "\0"


@lru_cache(maxsize=1)
def _compile_border() -> re.Pattern[str]:
    """Where `_splits_word` is false: beside anything but a letter or digit of a script with spaces."""
    return re.compile(r"(?<![^\W_\u2e80-\U0010ffff])|(?![^\W_\u2e80-\U0010ffff])")


@lru_cache(maxsize=128)
def _collapse_space(text: str) -> tuple[str, list[Span]]:
    """Write every run of white space as one blank; also where each shortened run ends now, and what is gone by then."""
    # the comparison first: it is three times as fast, and true of most texts
    if " ".join(text.split()) == text or _IRREGULAR_SPACE.search(text) is None:
        return text, []
    runs: list[Span] = []
    removed = 0
    for match in _LONG_SPACE.finditer(text):
        removed += match.end() - match.start() - 1
        runs.append((match.end() - removed, removed))
    return _SPACE.sub(" ", text), runs


def _count_removed(runs: list[Span], at: int) -> int:
    """Count the characters that were removed before a place of the collapsed text."""
    index = bisect_right(runs, at, key=itemgetter(0))
    return runs[index - 1][1] if index else 0


_SPACE = re.compile(r"\s+")
_LONG_SPACE = re.compile(r"\s{2,}")
_IRREGULAR_SPACE = re.compile(r"\s\s|[^\S ]")
"""White space other than single blanks."""

_AROUND_QUOTE = " \"'….«»[]()"
"""Characters that judges put around a quote and that are not part of it."""

_TYPOGRAPHY = {ord(c): "'" for c in "‘’‚‛′`´ʼ"}
_TYPOGRAPHY |= {ord(c): '"' for c in "“”„‟″«»"}
_TYPOGRAPHY |= {ord(c): "-" for c in "‐‑‒–—―−﹣-"}
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f")
_SPACELESS_FROM = 0x2E80
"""Code point from which on scripts mostly write no spaces between words, so that a border says nothing."""
MAX_MARKS = 30
"""Combining marks that belong to one letter at most, as in Unicode's stream-safe text."""


@lru_cache(maxsize=128)
def _fold(text: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Return the folded text, and for each of its characters the start and end in the original."""
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    size, at = len(text), 0
    while at < size:
        end = at + 1
        while end < size and end - at <= MAX_MARKS and unicodedata.combining(text[end]):
            end += 1  # marks belong to their letter: "é" may be one character or two
        letter = text[at:end]
        characters = (
            "" if letter in _INVISIBLE else " " if letter.isspace() else _fold_letter(letter)
        )
        for character in characters:
            if character == " " and (not folded or folded[-1] == " "):
                continue
            folded.append(character)
            starts.append(at)
            ends.append(end)
        at = end
    return "".join(folded), tuple(starts), tuple(ends)


def _fold_letter(letter: str) -> str:
    if letter.isascii():
        return "'" if letter == "`" else letter.lower()
    # translated twice: NFKC turns some signs into others that need it
    return (
        unicodedata.normalize("NFKC", letter.translate(_TYPOGRAPHY))
        .casefold()
        .translate(_TYPOGRAPHY)
    )


def _splits_word(text: str, at: int) -> bool:
    """Return whether a cut before this character would split a word."""
    if at <= 0 or at >= len(text):
        return False
    pair = text[at - 1], text[at]
    return all(c.isalnum() and ord(c) < _SPACELESS_FROM for c in pair)
