"""What the model sees of a claim against its sources: ten figures that mean the same for any text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.judges.offline.alignment import Alignment, Bools, align, opposites
from ragstone.judges.offline.order import neighbours
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Floats, Ints, Reading
from ragstone.judges.offline.view import View, view_of
from ragstone.judges.offline.words import stem_id
from ragstone.text.quantities import find_quantities, matches

FEATURES: tuple[tuple[str, int], ...] = (
    ("cover_three", 1),
    ("cover_pair", 1),
    ("nearness", 1),
    ("word_pairs", 1),
    ("unknown_names", -1),
    ("unknown_numbers", -1),
    ("other_numbers", -1),
    ("negation", -1),
    ("opposites", -1),
    ("speaker", -1),
)
"""Each figure, and whether more of it speaks for support (1) or against it (-1); docs/judge-offline.md defines them."""
NAMES = tuple(name for name, _ in FEATURES)
PAIR_REACH = 3
"""Content words that two neighbours of a claim may stand apart in the source and still count as neighbours."""
NEGATION_REACH = 3
"""Tokens after a negation that it denies."""
MAX_COUNT = 3
"""Counts beyond this say no more."""

_Columns = dict[str, Floats]


def measure_claims(
    claims: Sequence[Reading], sources: Sequence[Reading]
) -> tuple[Floats, Alignment]:
    """One row of FEATURES for each claim, and how the claims lie on the sources."""
    laid = align(claims, sources)
    unmatched = _match_quantities(laid, claims, sources)
    table = np.zeros((len(claims), len(NAMES)), np.float32)
    if len(laid.units) and len(laid.claims.ids):
        columns = dict(zip(NAMES, table.T, strict=True))
        view = view_of(laid, len(claims))
        _measure_cover(view, columns)
        _measure_unknown(view, unmatched, columns)
        _measure_denial(view, columns)
    return table, laid


def measure_known_share(laid: Alignment) -> float:
    """Plain containment: the share of the distinct content words of all claims that the sources have."""
    content = laid.claims.kinds != STOP
    words, first = np.unique(laid.claims.ids[content], return_index=True)
    return float(laid.found[content][first].mean()) if len(words) else 0.0


def _measure_cover(view: View, columns: _Columns) -> None:
    """What one, two or three sentences hold of the claim, rare words counting more."""
    laid, rows = view.laid, np.arange(len(view.owner))
    hit = laid.hit.astype(np.float32)
    pair = np.maximum(hit[:, 1:], hit[:, :-1]) if hit.shape[1] > 1 else hit
    columns["cover_pair"][:] = np.maximum.reduce(view.weighted @ pair, axis=1) / view.total
    covered = laid.soft[rows, view.best[view.owner]]
    for _ in range(2):  # a second and a third sentence, each the one that adds most
        gained = view.weighted @ np.maximum(laid.soft, covered[:, None])
        covered = np.maximum(covered, laid.soft[rows, gained.argmax(axis=1)[view.owner]])
    columns["cover_three"][:] = view.totals(covered * _token_weights(view))[0] / view.total
    content = laid.claims.kinds != STOP
    near, count = view.totals(laid.near * content, content)
    columns["nearness"][:] = near / np.maximum(count, 1)
    columns["word_pairs"][:] = neighbours(laid, view.owner, PAIR_REACH, view.count)


def _token_weights(view: View) -> Floats:
    """What each token counts for its own claim."""
    weights: Floats = view.weighted[view.owner, np.arange(len(view.owner))]
    return weights


def _measure_unknown(view: View, unmatched: Bools, columns: _Columns) -> None:
    """Names and numbers that no source has, numbers that the best sentence has instead, and talk of the speaker."""
    laid, kinds = view.laid, view.laid.claims.kinds
    number, unknown = kinds == NUMBER, ~laid.found
    speaker = np.isin(laid.claims.ids, _speaker_ids()) & unknown
    names, numbers, absent, speaks = view.totals(
        (kinds == NAME) & unknown, unmatched, number & ~view.inside, speaker
    )
    columns["unknown_names"][:] = np.minimum(names, MAX_COUNT)
    columns["unknown_numbers"][:] = np.minimum(numbers, MAX_COUNT)
    columns["speaker"][:] = speaks > 0
    for claim in absent.nonzero()[0].tolist():
        low, high = view.begins[claim], view.ends[claim]
        a, b = view.bounds[claim], view.bounds[claim + 1]
        shared = np.logical_or.reduce(laid.exact[a:b, low:high], axis=0)
        others = int((laid.sources.kinds[low:high][~shared] == NUMBER).sum())
        columns["other_numbers"][claim] = min(int(absent[claim]), others, MAX_COUNT)


def _speaker_ids() -> list[int]:
    words = {"en": ("i", "my", "me", "mine", "myself"), "es": ("yo", "mi", "mis", "mí", "conmigo")}
    return [stem_id(word, language) for language, group in words.items() for word in group]


def _measure_denial(view: View, columns: _Columns) -> None:
    """Words that one side denies and the other does not, and words whose opposite stands in the best sentence."""
    laid, left, right = view.laid, view.laid.claims, view.laid.sources
    matched = (laid.partner >= 0) & view.content
    ours = _find_denied(left.kinds == NEGATION, left.text)
    theirs = _find_denied(right.kinds == NEGATION, right.sentence)
    differs = matched & (ours != theirs[np.maximum(laid.partner, 0)])
    apart, together = view.totals(differs, matched)
    columns["negation"][:] = apart / np.maximum(together, 1)
    contrary, words = opposites(), left.ids.tolist()
    for token in [n for n, word in enumerate(words) if word in contrary and not view.inside[n]]:
        claim = int(view.owner[token])
        sentence = right.ids[view.begins[claim] : view.ends[claim]].tolist()
        columns["opposites"][claim] += not contrary[words[token]].isdisjoint(sentence)
    np.minimum(columns["opposites"], MAX_COUNT, out=columns["opposites"])


def _find_denied(negation: Bools, text: Ints) -> Bools:
    """Mark the tokens that stand closely after a negation in the same text."""
    denied = np.zeros(len(negation), np.bool_)
    reach = NEGATION_REACH + 1
    for at in negation.nonzero()[0].tolist():
        denied[at + 1 : at + reach] |= text[at + 1 : at + reach] == text[at]
    return denied


def _match_quantities(
    laid: Alignment, claims: Sequence[Reading], sources: Sequence[Reading]
) -> Bools:
    """Mark numbers and dates as found that a source writes in another way: 11 June 2003, 2003-06-11.

    Returns the tokens of quantities that no source has. A number that is none ("passage 2") is not among them.
    Only claims with a number that no source has as written are looked at: reading quantities costs time."""
    open_tokens = (laid.claims.kinds == NUMBER) & ~laid.found
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
                laid.near[inside] = laid.most[inside] = 1.0
                laid.hit[np.ix_(inside, units)] = True
                laid.soft[np.ix_(inside, units)] = 1.0
            else:
                unmatched[inside] = open_tokens[inside]
    return unmatched


def _find_unit(laid: Alignment, sources: Sequence[Reading], source: int, place: int) -> int:
    """The unit of the alignment in which a place of a source stands, -1 for none."""
    before = sum(len(other.sentences) for other in sources[:source])
    for number, (a, b) in enumerate(sources[source].sentences):
        if a <= place < b:
            unit = int(laid.units.searchsorted(before + number))
            is_there = unit < len(laid.units) and int(laid.units[unit]) == before + number
            return unit if is_there else -1
    return -1
