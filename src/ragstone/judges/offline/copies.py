"""Claims that copy a sentence of the source but for a decisive edit: a denial, another number, two names swapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.comparison import Conflict
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Reading
from ragstone.judges.offline.view import find_unit_span

MIN_COPIED = 0.75
"""Share of the words of claim and sentence, in their order, that makes one a copy of the other."""
MIN_TOKENS = 6
MAX_EDIT_TOKENS = 2
"""Longer differences are other statements."""
MAX_JUMBLED_PAIRS = 0.2
"""Share of neighbouring words that are neighbours in a source; below it known words are in no order at all."""


def find_edit(
    claim: Reading, sources: Sequence[Reading], laid: Alignment, a: int, b: int, unit: int
) -> Conflict | None:
    """The edit that turns a copied sentence into another statement; `a` to `b` are the claim's tokens."""
    low, high = int(laid.unit_starts[unit]), int(laid.unit_ends[unit])
    mine, theirs = laid.claims.ids[a:b].tolist(), laid.sources.ids[low:high].tolist()
    if len(mine) < MIN_TOKENS or mine == theirs:
        return None
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    copied = sum(block.size for block in matcher.get_matching_blocks())
    # both ways: what a longer sentence says beside the copied part is no edit of it
    if copied < MIN_COPIED * max(len(mine), len(theirs)):
        return None
    my_kinds, their_kinds = laid.claims.kinds[a:b].tolist(), laid.sources.kinds[low:high].tolist()
    source, start, end = find_unit_span(sources, laid, unit)
    for edit, i1, i2, j1, j2 in matcher.get_opcodes():
        if edit == "equal" or max(i2 - i1, j2 - j1) > MAX_EDIT_TOKENS:
            continue
        denied = _denies(my_kinds[i1:i2]), _denies(their_kinds[j1:j2])
        if denied[0] != denied[1]:
            code = "claim_denies" if denied[0] else "source_denies"
            said = claim.raw.strip(), sources[source].raw[start:end].strip()
            return _to_conflict("negation", code, *said, source, (start, end))
        if edit == "replace" and NUMBER in my_kinds[i1:i2] and NUMBER in their_kinds[j1:j2]:
            ours = " ".join(claim.surface(token) for token in range(i1, i2))
            other = " ".join(_surface(sources, laid, low + token) for token in range(j1, j2))
            if Counter(mine[i1:i2]) != Counter(theirs[j1:j2]):
                return _to_conflict("figure", "number_differs", ours, other, source, (start, end))
    moved = _find_moved_name(matcher, mine, theirs, my_kinds)
    if moved is None:
        return None
    name, sentence = claim.surface(moved), sources[source].raw[start:end].strip()
    return _to_conflict("role", "name_moved", name, sentence, source, (start, end))


def is_jumbled(laid: Alignment, a: int, b: int) -> bool:
    """Whether the words of a claim are those of the sources in no order at all."""
    known = laid.found[a:b]
    if b - a < 2 * MIN_TOKENS or known.mean() < 0.9:
        return False
    return float((laid.tail[a:b] > 1).mean()) < MAX_JUMBLED_PAIRS


def _find_moved_name(
    matcher: SequenceMatcher[int], mine: list[int], theirs: list[int], kinds: list[int]
) -> int | None:
    """A name that stands in another place of the sentence while all other words keep theirs, or None.

    Names of one list ("Ann, Bob and Eve") may change places: nothing but names and small words is between them."""
    if Counter(mine) != Counter(theirs):
        return None
    moved = [
        at
        for edit, i1, i2, _, _ in matcher.get_opcodes()
        if edit != "equal"
        for at in range(i1, i2)
        if kinds[at] != STOP
    ]
    if any(kinds[at] != NAME for at in moved):
        return None
    for at in moved:
        low, high = sorted((at, theirs.index(mine[at])))
        if any(kind not in (NAME, STOP) for kind in kinds[low + 1 : high]):
            return at
    return None


def _denies(kinds: list[int]) -> bool:
    """Whether there is a negation; in "No. 1" there is none."""
    return NEGATION in kinds and NUMBER not in kinds


def _surface(sources: Sequence[Reading], laid: Alignment, token: int) -> str:
    source = sources[int(laid.sources.text[token])]
    return source.surface(int(laid.sources.within[token]))


def _to_conflict(
    kind: str, code: str, mine: str, theirs: str, source: int, place: tuple[int, int]
) -> Conflict:
    return Conflict(kind, code, mine, theirs, source, place, certain=True)
