"""Long texts kept within bounds: an answer ends at a sentence, sources keep the stretches that speak of what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.text.content import find_content_words

MAX_TEXT_CHARS = 16_000
"""Characters of a question, an answer or a reference that are judged: about 2,500 words."""
MAX_SOURCE_CHARS = 48_000
"""Characters of all sources together that the embedded judge reads for one question."""
WINDOW_CHARS = 800
_STRETCH = re.compile(
    rf"\S.{{0,{WINDOW_CHARS - 1}}}(?=\s|$)|\S.{{0,{WINDOW_CHARS - 1}}}", re.DOTALL
)
_SENTENCE_END = re.compile(r"[.!?]\s")


def cut_text(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Return the text up to the last sentence or word that ends within the limit."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    ends = [match.start() + 1 for match in _SENTENCE_END.finditer(head, limit // 2)]
    end = ends[-1] if ends else head.rfind(" ", limit // 2)
    return head[:end] if end > 0 else head


def select_windows(
    texts: Sequence[str], wanted: Sequence[str], limit: int = MAX_SOURCE_CHARS
) -> list[str]:
    """Return the texts, cut down to their stretches that share most words with the wanted texts; the order stays."""
    if sum(map(len, texts)) <= limit:
        return list(texts)
    words = frozenset().union(*map(find_content_words, wanted))
    windows = [
        (number, match.start(), match.group().rstrip())
        for number, text in enumerate(texts)
        for match in _STRETCH.finditer(text)
    ]
    # sorting is stable: of stretches that share as much, the earlier one is kept
    ranked = sorted(windows, key=lambda window: -len(words & find_content_words(window[2])))
    kept, size = [], 0
    for window in ranked:
        size += len(window[2])
        if size > limit:
            break
        kept.append(window)
    parts: list[list[str]] = [[] for _ in texts]
    for number, _, stretch in sorted(kept):
        parts[number].append(stretch)
    return ["\n".join(stretches) for stretches in parts]
