"""A claim and its passages as the input of a classifier: in one piece, or in windows when they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ragstone.errors import JudgeFailed

OVERLAP = 0.25
"""Share of a window that the next one repeats where a single passage is cut, so that a sentence is seen whole."""
MAX_CLAIM_SHARE = 0.75
"""Largest share of a window that a claim may take."""
MARK_TOKENS = 4
"""Left free for each passage of a form: line break, mark and number."""


class TokenWindow(NamedTuple):
    """The tokens of one input."""

    ids: list[int]
    type_ids: list[int]
    """Which tokens belong to the passage (0) and which to the claim (1), for models that know."""
    claim_tokens: tuple[tuple[int, int, int], ...] = ()
    """Of a pair in a form: index of each token of the claim, and where it starts and ends in the claim."""


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


def build_form_windows(
    tokenizer: Any,
    passages: Sequence[str],
    claim: str,
    max_tokens: int,
    write: Callable[[Sequence[str], str], tuple[str, ...]],
) -> list[TokenWindow]:
    """Return the inputs of a model with a form of its own: each window is written in full, with as many passages as fit."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    around = len(tokenizer.encode(*write([""], claim)).ids)
    room = max_tokens - around
    if room < (1 - MAX_CLAIM_SHARE) * max_tokens:
        raise JudgeFailed("transport", "claim_exceeds_window", tokens=around, window=max_tokens)
    pieces = [piece for passage in passages for piece in _split(tokenizer, passage, room)]
    # each passage may be written with a mark and a number of its own
    sizes = [len(tokenizer.encode(*write([piece], claim)).ids) - around for piece in pieces]
    windows, group, free = [], list[str](), room
    for piece, size in zip(pieces, sizes, strict=True):
        if group and size + MARK_TOKENS > free:
            windows.append(_encode_form(tokenizer, write(group, claim)))
            group, free = [], room
        group.append(piece)
        free -= size + MARK_TOKENS
    if group:
        windows.append(_encode_form(tokenizer, write(group, claim)))
    return windows


def _split(tokenizer: Any, passage: str, room: int) -> list[str]:
    """Return a passage in parts that have room, each beginning with the end of the one before."""
    encoding = tokenizer.encode(passage, add_special_tokens=False)
    if len(encoding.ids) + MARK_TOKENS <= room:
        return [passage]
    size = max(1, room - MARK_TOKENS)
    step = max(1, size - int(OVERLAP * size))
    parts = []
    for start in range(0, len(encoding.ids), step):
        offsets = encoding.offsets[start : start + size]
        parts.append(passage[offsets[0][0] : offsets[-1][1]])
        if start + size >= len(encoding.ids):
            break
    return parts


def _encode_form(tokenizer: Any, texts: tuple[str, ...]) -> TokenWindow:
    encoding = tokenizer.encode(*texts)
    claim_tokens = tuple(
        (index, *offsets)
        for index, (owner, offsets) in enumerate(
            zip(encoding.sequence_ids, encoding.offsets, strict=True)
        )
        if owner == 1 and offsets[0] < offsets[1]
    )
    return TokenWindow(encoding.ids, encoding.type_ids, claim_tokens)


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
