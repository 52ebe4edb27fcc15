"""Claims made of the words of a source: copies with a decisive edit, and words in no order at all. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.comparison import Conflict
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Reading
from ragstone.judges.offline.words import stem_id

MIN_COPIED = 0.75
"""Share of a claim's words other than names that must stand in the sentence in the same order."""
MIN_WORDS = 3
"""Words other than names that a claim must have to be a copy."""
MAX_EDIT_TOKENS = 2
"""Longer differences are other statements."""
REACH = 4
"""Words around a name among which a content word must be copied with it."""
MIN_JUMBLED_TOKENS = 16
MAX_JUMBLED_PAIRS = 0.2
"""Share of neighbouring words that are neighbours in a source; below it known words are in no order at all."""
_SLOT = -1
"""Stands for any name where two sentences are compared without their names."""


class _Token(NamedTuple):
    """A word, or a run of names."""

    id: int
    """_SLOT for names."""
    names: frozenset[int]
    first: int
    last: int
    kind: int


def find_edit(
    claim: Reading, sources: Sequence[Reading], index: int, sentence: int
) -> Conflict | None:
    """Find the edit that turns a copied sentence, or a part of it, into another statement.

    A denial put in or taken out, another number, or one of its names in the place of another. Names of one list (Ann,
    Bob and Eve) may change places."""
    source = sources[index]
    low, high = source.sentence.searchsorted((sentence, sentence + 1)).tolist()
    # whether the first word of a sentence is a name shows on the other side: Spain beat Italy
    named = {*claim.ids[claim.kinds == NAME].tolist()}
    named.update(source.ids[low:high][source.kinds[low:high] == NAME].tolist())
    known = {*source.ids[low:high].tolist()}
    others = [word for word in claim.ids.tolist() if word not in named]
    words = len(others)
    # in whatever order: most claims end here
    if words < MIN_WORDS or sum(map(known.__contains__, others)) < MIN_COPIED * words:
        return None
    mine, theirs = _collapse(claim, 0, len(claim.ids), named), _collapse(source, low, high, named)
    matcher = SequenceMatcher(None, [t.id for t in mine], [t.id for t in theirs], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size > 1]
    copied = sum(not mine[block.a + n].names for block in blocks for n in range(block.size))
    if copied < MIN_COPIED * words:
        return None
    span = source.sentences[sentence]
    moved = _find_moved_name(mine, theirs, blocks)
    if moved is not None:
        quotes = _quote(claim, [moved]), source.raw[slice(*span)].strip()
        return Conflict("roles", "name_moved", *quotes, index, span, certain=True)
    code, quotes = _find_changed_word(claim, source, mine, theirs, blocks)
    if code == "number_differs":
        return Conflict("figure", code, *quotes, index, span, certain=True)
    quotes = claim.raw.strip(), source.raw[slice(*span)].strip()
    return Conflict("negation", code, *quotes, index, span, certain=True) if code else None


def _find_changed_word(
    claim: Reading,
    source: Reading,
    mine: Sequence[_Token],
    theirs: Sequence[_Token],
    blocks: Sequence[Match],
) -> tuple[str, tuple[str, str]]:
    """The code of a denial or a number that differs, with the numbers; an empty code where there is none."""
    is_whole = _is_copied_whole(mine, theirs, blocks)
    for left, right in _list_gaps(mine, theirs, blocks):
        if _denies(left) != _denies(right):
            return ("claim_denies" if _denies(left) else "source_denies"), ("", "")
        numbers, others = _list_numbers(left), _list_numbers(right)
        is_other = {token.id for token in numbers}.isdisjoint(token.id for token in others)
        if is_whole and numbers and others and is_other:
            return "number_differs", (_quote(claim, numbers), _quote(source, others))
    return "", ("", "")


def _is_copied_whole(
    mine: Sequence[_Token], theirs: Sequence[_Token], blocks: Sequence[Match]
) -> bool:
    """Whether most of the sentence is copied and no other word is changed, which would be another statement."""
    copied = {at for block in blocks for at in range(block.a, block.a + block.size)}
    changed = [token.kind for at, token in enumerate(mine) if at not in copied]
    return len(copied) >= MIN_COPIED * len(theirs) and {STOP, NAME, NUMBER}.issuperset(changed)


def _list_numbers(tokens: Sequence[_Token]) -> list[_Token]:
    return [token for token in tokens if token.kind == NUMBER]


def _list_gaps(
    mine: Sequence[_Token], theirs: Sequence[_Token], blocks: Sequence[Match]
) -> Iterator[tuple[Sequence[_Token], Sequence[_Token]]]:
    """What stands between two copied parts on either side, where it is short."""
    for one, other in pairwise(blocks):
        left = mine[one.a + one.size : other.a]
        right = theirs[one.b + one.size : other.b]
        if max(len(left), len(right)) <= MAX_EDIT_TOKENS:
            yield left, right


def _denies(tokens: Sequence[_Token]) -> bool:
    """Whether there is a negation; in "No. 1" there is none."""
    kinds = {token.kind for token in tokens}
    return NEGATION in kinds and NUMBER not in kinds


def _quote(text: Reading, tokens: Sequence[_Token]) -> str:
    return text.raw[text.places[tokens[0].first][0] : text.places[tokens[-1].last][1]]


def _find_moved_name(
    mine: Sequence[_Token], theirs: Sequence[_Token], blocks: Sequence[Match]
) -> _Token | None:
    for block in blocks:
        for at in range(block.a, block.a + block.size):
            there = block.b + at - block.a
            if (
                mine[at].names.isdisjoint(theirs[there].names)
                and _is_fixed(mine, at, block.a, block.a + block.size)
                and _is_taken(mine[at], there, theirs)
                and not _moves_along(mine, at, blocks, theirs)
            ):
                return mine[at]
    return None


def _collapse(text: Reading, low: int, high: int, named: set[int]) -> list[_Token]:
    """The tokens of a sentence, names that stand together as one."""
    ids, kinds = text.ids[low:high].tolist(), text.kinds[low:high].tolist()
    tokens: list[_Token] = []
    for n, (word, kind) in enumerate(zip(ids, kinds, strict=True)):
        at = low + n
        if word not in named:
            tokens.append(_Token(word, frozenset(), at, at, kind))
        elif tokens and tokens[-1].names and tokens[-1].last == at - 1:
            tokens[-1] = tokens[-1]._replace(names=tokens[-1].names | {word}, last=at)
        else:
            tokens.append(_Token(_SLOT, frozenset({word}), at, at, NAME))
    return tokens


def _is_fixed(mine: Sequence[_Token], at: int, start: int, end: int) -> bool:
    """Whether what stands on both sides of a name is copied too, a content word near by among it."""
    sides = [n for n in (at - 1, at + 1) if 0 <= n < len(mine)]
    near = mine[max(at - REACH, start) : min(at + REACH + 1, end)]
    return all(start <= n < end for n in sides) and any(
        token.kind not in (STOP, NAME) for token in near
    )


def _is_taken(name: _Token, there: int, theirs: Sequence[_Token]) -> bool:
    """Whether the sentence has the name in another place, which no list joins with this one."""
    places = [n for n, token in enumerate(theirs) if name.names & token.names]
    joins = _list_joins()
    return bool(places) and not any(
        all(token.names or token.id in joins for token in theirs[min(n, there) : max(n, there) + 1])
        for n in places
    )


def _moves_along(
    mine: Sequence[_Token], at: int, blocks: Sequence[Match], theirs: Sequence[_Token]
) -> bool:
    """Whether another word of the claim, not copied either, stands beside the name in the sentence too."""
    copied = {n for block in blocks for n in range(block.a, block.a + block.size)}
    changed = {
        t.id for n, t in enumerate(mine) if n not in copied and t.kind not in (STOP, NAME, NEGATION)
    }
    places = [n for n, token in enumerate(theirs) if mine[at].names & token.names]
    return any(
        token.id in changed for n in places for token in theirs[max(n - REACH, 0) : n + REACH]
    )


@lru_cache(maxsize=1)
def _list_joins() -> frozenset[int]:
    return frozenset(
        stem_id(word, language)
        for language, words in (("en", "and or the &"), ("es", "y e o u el la los las"))
        for word in words.split()
    )


def is_jumbled(laid: Alignment, a: int, b: int) -> bool:
    """Whether the words of a claim are those of the sources in no order at all."""
    if b - a < MIN_JUMBLED_TOKENS or laid.found[a:b].mean() < 0.9:
        return False
    exact = laid.exact[a:b]
    neighbours = (exact[:-1, :-1] & exact[1:, 1:]).any(axis=1)
    return int(neighbours.sum()) < MAX_JUMBLED_PAIRS * (b - a - 1)
