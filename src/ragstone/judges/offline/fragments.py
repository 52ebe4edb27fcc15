"""Short answers without a verb: two such texts agree when one holds the words of the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.reading import NUMBER, STOP, Reading, unaccented
from ragstone.judges.offline.statements import has_verb

SHORTEST = 4
"""Tokens up to which even a text with a full stop is no sentence."""
LONGEST = 8
"""Tokens of a text that can be a mere answer: a name, a date, a place."""
SENTENCE = 40
"""Tokens of a text that can be an answer put as a sentence; anything longer is a source to look words up in."""
LENIENT = 0.2
"""What a whole sentence that answers is spared against a wanted answer of few words."""
CLASH = 0.4
"""What two answers lose when each has a number that the other has not."""
_REST = re.compile(r"[\W_]+")


def is_fragment(text: Reading) -> bool:
    """Whether the text only names something: few words, no verb, not put as a sentence."""
    most = SHORTEST if text.raw.rstrip().endswith((".", "!")) else LONGEST
    return 0 < len(text.ids) <= most and not has_verb(text.raw)


def agreement(claims: Sequence[Reading], sources: Sequence[Reading]) -> list[float] | None:
    """How far each claim agrees with its sources, 0..1, where a fragment is among the two; else None.

    A wanted answer of two words says yes to every claim that holds them, which whole sentences never do, so a
    single fragment is read as an answer: in the source by what of it the claim has, in the claim the other way."""
    if len(sources) == 1 and is_fragment(sources[0]):
        wanted = sources[0]
        return [
            max(_alike(wanted, claim), _alike(claim, wanted))
            if is_fragment(claim)
            else _alike(wanted, claim) + LENIENT
            for claim in claims
        ]
    if len(claims) == 1 and is_fragment(claims[0]):
        if len(sources) == 1 and len(sources[0].ids) <= SENTENCE:
            return [_alike(claims[0], sources[0])]
        return [max((_held(claims[0], source) for source in sources), default=0.0)]
    return None


def _alike(part: Reading, whole: Reading) -> float:
    """How much of the part stands in the whole, by words and by spelling; less when their numbers clash."""
    held = 0.4 * _held(part, whole) + 0.2 * _held(whole, part) + 0.4 * _spelt(part.raw, whole.raw)
    mine, theirs = _numbers(part), _numbers(whole)
    clash = bool(mine - theirs and theirs - mine)
    return max(held - CLASH * clash, 0.0)


def _numbers(text: Reading) -> set[int]:
    return set(text.ids[text.kinds == NUMBER].tolist())


def _spelt(part: str, whole: str) -> float:
    """Share of the part's letter triples that the whole has: Abidali is Abid Ali."""
    mine = _triples(part)
    return len(mine & _triples(whole)) / len(mine)


def _triples(text: str) -> set[str]:
    letters = _REST.sub("", unaccented(text.casefold()))
    return {letters[at : at + 3] for at in range(max(len(letters) - 2, 1))}


def _held(part: Reading, whole: Reading) -> float:
    """Weighted share of the part's words that the whole has; 0 when all its numbers differ."""
    laid = align([part], [whole], around=False)
    if not len(laid.units) or not len(laid.claims.ids):
        return 0.0
    kinds = laid.claims.kinds
    weight = np.where(kinds == STOP, 0.0, laid.claims.weights)
    if not weight.sum():
        weight = np.ones(len(kinds))
    found = laid.most
    numbers = kinds == NUMBER
    if numbers.any() and not found[numbers].any() and (whole.kinds == NUMBER).any():
        return 0.0
    return float((found * weight).sum() / weight.sum())
