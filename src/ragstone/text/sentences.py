"""Sentence boundaries, through sentencex, and the parts of a sentence that citation markers close. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ragstone.text.appeals import is_appeal
from ragstone.text.language import detect_language
from ragstone.text.verbs import WORD, has_clause

MAX_TEXT_CHARS = 16_000
"""Characters of a question, an answer or a reference that are judged: about 2,500 words."""


def split_sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Return the start and end of each sentence in the text, surrounding white space excluded."""
    return list(_split_sentences(text, language))


def split_cited_parts(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Return the start and end of each sentence, one with several citations cut after each of them.

    `within 30 days [1] as long as you have the receipt [2]` is two parts. What stands before the first marker must be
    a clause: `Insulin [1] and metformin [2] lower blood sugar` stays whole."""
    sentences = _split_sentences(text, language)
    if "[" not in text:
        return list(sentences)
    text_language = detect_language(text, language)
    return [part for a, b in sentences for part in _cut_after_markers(text, a, b, text_language)]


def cut_text(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Return the text up to the last sentence or word that ends within the limit."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    ends = [match.start() + 1 for match in _SENTENCE_END.finditer(head, limit // 2)]
    end = ends[-1] if ends else head.rfind(" ", limit // 2)
    return head[:end] if end > 0 else head


def _iter_pieces(text: str) -> Iterator[str]:
    """Yield the text in pieces of bounded length, each up to the end of a sentence or word."""
    start = 0
    while start < len(text):
        piece = cut_text(text[start : start + MAX_TEXT_CHARS + 1])
        yield piece
        start += len(piece)


_SENTENCE_END = re.compile(r"[.!?]\s")


# Cached because the Ask that sends a text and the parser of its reply both need the sentences; a judge behind a URL
# answers for 128 and more samples at once.
@lru_cache(maxsize=1024)
def _split_sentences(text: str, language: str | None) -> tuple[tuple[int, int], ...]:
    from sentencex import segment

    spans: list[tuple[int, int]] = []
    end = 0
    # in pieces: the segmenter takes the square of the length of a text full of quotation marks
    pieces = _iter_pieces(text)
    for segment_text in (part for piece in pieces for part in segment(language or "en", piece)):
        lines = _LINE_BREAKS.split(segment_text) if "\n" in segment_text else (segment_text,)
        for line in lines:
            sentence = line.strip()
            if not sentence:
                continue
            start = text.find(sentence, end)
            if start < 0:
                continue
            end = start + len(sentence)
            spans.append((start, end))
    if spans and (no := _NO_AS_ANSWER.match(text, *spans[0])):
        spans[:1] = [(spans[0][0], no.end(1)), (no.end(), spans[0][1])]
    return tuple(spans)


_LINE_BREAKS = re.compile(r"\n+")
_NO_AS_ANSWER = re.compile(r"(No\.)\s+(?=[^\W\d_a-z])")
"""A text that opens with the answer no; elsewhere `No.` is short for number."""


def _cut_after_markers(text: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    for markers in _MARKERS.finditer(text, start, end):
        before = text[start : markers.start()]
        is_clause = has_clause(before, language) and not is_appeal(before)
        if not (is_clause or (parts and WORD.search(before))):
            continue
        if not WORD.search(text, markers.end(), end):
            break
        parts.append((start, markers.end()))
        start = markers.end()
        while text[start] in " \t,;":
            start += 1
    return [*parts, (start, end)]


MARKER = r"\[(?=[^\[\]\s]*[-\d_.:/#])[^\[\]\n]{1,60}\]"
"""A citation marker that no list of ids is needed to tell from an editor's bracket: [1], [1, 2], [^3], [faq-7]."""
_MARKERS = re.compile(rf"{MARKER}(?:[\s,;]*{MARKER})*")
