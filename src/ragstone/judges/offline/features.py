"""What the model sees of a claim against its sources: six figures that mean the same for any text. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ragstone.judges.offline.alignment import Alignment, Bools, align
from ragstone.judges.offline.comparison import Conflict
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Floats, Ints, Reading
from ragstone.judges.offline.view import View, view_of
from ragstone.judges.offline.words import stem_id
from ragstone.text.quantities import Quantity, find_quantities, is_comparable, matches

FEATURES: tuple[tuple[str, int], ...] = (
    ("cover", 1),
    ("unknown_end", -1),
    ("unknown_names", -1),
    ("unknown_numbers", -1),
    ("speaker", -1),
    ("conflict", -1),
)
"""Each figure, and whether more of it speaks for support (1) or against it (-1); docs/judge-offline.md defines them."""
NAMES = tuple(name for name, _ in FEATURES)
MAX_COUNT = 3
"""Counts beyond this say no more."""

_Columns = dict[str, Floats]


def measure_claims(
    claims: Sequence[Reading], sources: Sequence[Reading], conflicts: Sequence[Conflict | None]
) -> tuple[Floats, Alignment]:
    """One row of FEATURES for each claim, and how the claims lie on the sources; `conflicts` are those of the rules."""
    laid = align(claims, sources)
    unmatched = _match_quantities(laid, claims, sources)
    _match_acronyms(laid, claims, sources)
    table = np.zeros((len(claims), len(NAMES)), np.float32)
    if len(laid.units) and len(laid.claims.ids):
        columns = dict(zip(NAMES, table.T, strict=True))
        view = view_of(laid, len(claims))
        _measure_cover(view, columns)
        _measure_unknown(view, unmatched, columns)
        columns["conflict"][:] = [conflict is not None for conflict in conflicts]
    return table, laid


def measure_known_share(laid: Alignment) -> float:
    """Plain containment: the share of the distinct content words of all claims that the sources have."""
    content = laid.claims.kinds != STOP
    words, first = np.unique(laid.claims.ids[content], return_index=True)
    return float(laid.found[content][first].mean()) if len(words) else 0.0


def _measure_cover(view: View, columns: _Columns) -> None:
    """What two neighbouring sentences hold of the claim, rare words counting more, and whether they lack its last word.

    The end of a sentence says what is new of what its beginning names: made by machine, of what was made by hand."""
    laid = view.laid
    pair = np.maximum(laid.soft[:, 1:], laid.soft[:, :-1]) if len(laid.units) > 1 else laid.soft
    columns["cover"][:] = np.maximum.reduce(view.weighted @ pair, axis=1) / view.total
    content = ((laid.claims.kinds != STOP) & (laid.claims.kinds != NEGATION)).nonzero()[0]
    owner = view.owner[content]
    last = content[np.append(owner[1:] != owner[:-1], True)] if len(content) else content
    columns["unknown_end"][view.owner[last]] = 1.0 - laid.most[last]


def _measure_unknown(view: View, unmatched: Bools, columns: _Columns) -> None:
    """Names and numbers that no source has, and talk of the speaker."""
    laid, unknown = view.laid, ~view.laid.found
    speaker = (laid.claims.ids == _speaker_ids()).any(axis=0) & unknown
    names, numbers, speaks, words = view.totals(
        (laid.claims.kinds == NAME) & unknown, unmatched, speaker, laid.claims.kinds != STOP
    )
    columns["unknown_names"][:] = names / np.maximum(words, 1)
    columns["unknown_numbers"][:] = np.minimum(numbers, MAX_COUNT)
    columns["speaker"][:] = speaks > 0


@lru_cache(maxsize=1)
def _speaker_ids() -> Ints:
    """In a column, to be compared with a row of ids."""
    words = {"en": ("i", "my", "me", "mine", "myself"), "es": ("yo", "mi", "mis", "mí", "conmigo")}
    ids = [stem_id(word, language) for language, group in words.items() for word in group]
    return np.array(ids, np.int32)[:, None]


def _match_quantities(
    laid: Alignment, claims: Sequence[Reading], sources: Sequence[Reading]
) -> Bools:
    """Mark numbers and dates as found that a source writes in another way: 11 June 2003, 2003-06-11.

    Returns the tokens of quantities that no source has. A number that is none ("passage 2") is not among them.
    Only claims with a number or a unit that no source has as written are looked at: reading quantities costs time."""
    is_number = laid.claims.kinds == NUMBER
    open_tokens = is_number & ~laid.found
    open_tokens[1:] |= is_number[:-1] & ~laid.found[1:] & (laid.claims.kinds[1:] != STOP)
    unmatched = np.zeros(len(open_tokens), np.bool_)
    if not open_tokens.any() or not len(laid.units):
        return unmatched
    theirs = [
        (quantity, _find_unit(laid, sources, number, quantity.start))
        for number, source in enumerate(sources)
        for quantity in find_quantities(source.raw, source.language)
    ]
    for number in dict.fromkeys(laid.claims.text[open_tokens].tolist()):
        claim = claims[number]
        first = int(laid.claims.text.searchsorted(number))
        for quantity in find_quantities(claim.raw, claim.language):
            inside = [
                first + token
                for token, (a, b) in enumerate(claim.places)
                if a < quantity.end and b > quantity.start
            ]
            units = [unit for other, unit in theirs if unit >= 0 and matches(quantity, other)]
            if units:
                laid.found[inside] = True
                laid.most[inside] = 1.0
                laid.hit[np.ix_(inside, units)] = True
                laid.soft[np.ix_(inside, units)] = 1.0
            else:
                # five weeks are not found where a source has five days
                is_other_unit = any(_differ_in_unit(quantity, other) for other, _ in theirs)
                unmatched[inside] = (is_number & (open_tokens | is_other_unit))[inside]
    return unmatched


def _differ_in_unit(claim: Quantity, source: Quantity) -> bool:
    """Whether two measures of one sort have the same number and another unit."""
    if claim.kind != "measure" or source.kind != "measure" or not is_comparable(claim, source):
        return False
    return claim.unit + str(claim.factor) != source.unit + str(source.factor) and math.isclose(
        claim.low / claim.factor, source.low / source.factor
    )


def _match_acronyms(laid: Alignment, claims: Sequence[Reading], sources: Sequence[Reading]) -> None:
    """Mark capitals as found that a source writes out: HR, Human Resources."""
    for token in ((laid.claims.kinds == NAME) & ~laid.found).nonzero()[0].tolist():
        number = int(laid.claims.text[token])
        raw = claims[number].surface(token - int(laid.claims.text.searchsorted(number)))
        if not raw.isupper() or not 2 <= len(raw) <= MAX_ACRONYM_LETTERS:
            continue
        pattern = re.compile(r"\b" + _SMALL_WORDS.join(rf"{letter}[^\W\d_]+" for letter in raw))
        for index, source in enumerate(sources):
            match = pattern.search(source.raw)
            unit = _find_unit(laid, sources, index, match.start()) if match else -1
            if unit >= 0:
                laid.found[token] = laid.hit[token, unit] = True
                laid.most[token] = laid.soft[token, unit] = 1.0


MAX_ACRONYM_LETTERS = 6
_SMALL_WORDS = r"\s+(?:(?:of|and|the|for|de|del|la|y)\s+){0,2}"


def _find_unit(laid: Alignment, sources: Sequence[Reading], source: int, offset: int) -> int:
    """The unit of the alignment in which an offset of a source lies, -1 for none."""
    before = sum(len(other.sentences) for other in sources[:source])
    for number, (a, b) in enumerate(sources[source].sentences):
        if a <= offset < b:
            unit = int(laid.units.searchsorted(before + number))
            is_there = unit < len(laid.units) and int(laid.units[unit]) == before + number
            return unit if is_there else -1
    return -1
