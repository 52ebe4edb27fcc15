"""Long texts kept within bounds: an answer ends at a sentence, sources keep the stretches that speak of what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragstone.text.content import find_content_words
from ragstone.text.sentences import MAX_TEXT_CHARS, cut_text
from ragstone.types import Ranked, Sample

MAX_SOURCE_CHARS = 48_000
"""Characters of all sources together that the embedded judge reads for one question."""
WINDOW_CHARS = 800
_STRETCH = re.compile(
    rf"\S.{{0,{WINDOW_CHARS - 1}}}(?=\s|$)|\S.{{0,{WINDOW_CHARS - 1}}}", re.DOTALL
)


def cut_fields(sample: Sample) -> dict[str, Any]:
    """Return those of the question, answer and reference that are too long, cut."""
    texts = {name: getattr(sample, name) or "" for name in JUDGED_FIELDS}
    return {name: cut_text(text) for name, text in texts.items() if len(text) > MAX_TEXT_CHARS}


def cut_sample(sample: Sample) -> Sample:
    """Return the sample with its long fields cut, and its chunks down to the stretches that speak of them."""
    changes = cut_fields(sample)
    sample = replace(sample, **changes) if changes else sample
    if sample.contexts is None or sum(map(len, sample.contexts.texts)) <= MAX_SOURCE_CHARS:
        return sample
    wanted = [getattr(sample, name) or "" for name in JUDGED_FIELDS]
    windows = zip(sample.contexts, select_windows(sample.contexts.texts, wanted), strict=True)
    return replace(sample, contexts=Ranked(replace(chunk, text=text) for chunk, text in windows))


JUDGED_FIELDS = ("question", "answer", "reference")


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
