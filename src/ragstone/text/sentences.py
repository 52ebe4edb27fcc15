"""Sentence boundaries, through sentencex."""

from __future__ import annotations

import re
from functools import lru_cache


def split_sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Return the start and end of each sentence in the text, surrounding white space excluded."""
    return list(_split_sentences(text, language))


# Cached because the Ask that sends a text and the parser of its reply both need the sentences.
@lru_cache(maxsize=256)
def _split_sentences(text: str, language: str | None) -> tuple[tuple[int, int], ...]:
    from sentencex import segment

    spans: list[tuple[int, int]] = []
    end = 0
    for segment_text in segment(language or "en", text):
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
    return tuple(spans)


_LINE_BREAKS = re.compile(r"\n+")
