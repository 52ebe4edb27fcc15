"""A claim and its passages as the input of a classifier: in one piece, or in windows when they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ragstone.errors import JudgeFailed

OVERLAP = 0.25
"""Share of a window that the next one repeats where a single passage is cut, so that a sentence is seen whole."""
MAX_CLAIM_SHARE = 0.75
"""Largest share of a window that a claim may take."""


class TokenWindow(NamedTuple):
    """The tokens of one input."""

    ids: list[int]
    type_ids: list[int]
    """Which tokens belong to the passage (0) and which to the claim (1), for models that know."""


def build_windows(
    tokenizer: Any, passages: Sequence[str], claim: str, max_tokens: int
) -> list[TokenWindow]:
    """Return the inputs for a claim: as many passages in each as fit, a longer passage cut with an overlap.

    The tokenizer is one of the package tokenizers. Raises JudgeFailed when the claim leaves no room for a passage."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    claim_tokens = _count(tokenizer, claim)
    room = max_tokens - tokenizer.num_special_tokens_to_add(is_pair=True) - claim_tokens
    if room < (1 - MAX_CLAIM_SHARE) * max_tokens:
        raise JudgeFailed(
            "transport", "claim_exceeds_window", tokens=claim_tokens, window=max_tokens
        )
    texts = _pack(passages, [_count(tokenizer, passage) for passage in passages], room)
    tokenizer.enable_truncation(max_tokens, stride=int(OVERLAP * room), strategy="only_first")
    windows = []
    for text in texts:
        encoding = tokenizer.encode(text, claim)
        windows += [
            TokenWindow(part.ids, part.type_ids) for part in (encoding, *encoding.overflowing)
        ]
    return windows


def _count(tokenizer: Any, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def _pack(passages: Sequence[str], sizes: Sequence[int], room: int) -> list[str]:
    """Return passages joined in their order, as many in each text as there is room for."""
    groups: list[list[str]] = [[]]
    free = room
    for passage, size in zip(passages, sizes, strict=True):
        size += 1  # the line break before it
        if groups[-1] and size > free:
            groups.append([])
            free = room
        groups[-1].append(passage)
        free -= size
    return ["\n".join(group) for group in groups]
