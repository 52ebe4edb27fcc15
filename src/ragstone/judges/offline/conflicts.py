"""What exactly disagrees between a claim and its best matching sentence: number, date, unit, name or negation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ragstone.judges.offline.alignment import Alignment, Bools, opposites
from ragstone.judges.offline.lexicon import CITED, HALF_DENIED, UNITS
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, WORD, Ints, Reading
from ragstone.locale.messages import compose

CLOSE = 0.5
"""Share of the other content words that must match before a difference counts as a contradiction."""


FEWEST = 3
"""Words that a claim must have for a denial or two names in another order to be sure."""
NEARBY = 0.2
"""The same for a number of the same thing: 30 days, 60 days."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One disagreement in words."""

    kind: str
    reason: str
    certain: bool
    """Whether it alone forbids support."""


@dataclass(slots=True)
class _Pair:
    """A claim's tokens and those of its best sentence."""

    claim: Reading
    source: Reading
    laid: Alignment
    a: int
    b: int
    low: int
    high: int
    unit: int
    kinds: list[int]
    """What each token of the claim is."""
    there: list[int]
    """What each token of the sentence is."""
    hit: list[bool]
    """Whether each token of the claim stands in the sentence."""

    def theirs(self, token: int) -> str:
        return self.source.surface(int(self.laid.sources.within[token]))


def conflict_of(
    claim: Reading, sources: Sequence[Reading], laid: Alignment, a: int, b: int, best: int
) -> Conflict | None:
    """The first disagreement found, the surest kinds first."""
    low, high = int(laid.unit_starts[best]), int(laid.unit_ends[best])
    pair = _Pair(
        claim=claim,
        source=sources[int(laid.unit_text[best])],
        laid=laid,
        a=a,
        b=b,
        low=low,
        high=high,
        unit=best,
        kinds=laid.claims.kinds[a:b].tolist(),
        there=laid.sources.kinds[low:high].tolist(),
        hit=laid.hit[a:b, best].tolist(),
    )
    for look in (_numbers, _units, _opposites, _negations, _names, _swaps):
        found = look(pair)
        if found:
            return found
    return None


def _close(pair: _Pair, *kinds: int, least: float = CLOSE) -> bool:
    """Whether the rest of the claim matches the sentence well enough to compare the two."""
    apart = (STOP, NEGATION, *kinds)
    rest = [kind not in apart for kind in pair.kinds]
    if True not in rest:
        return any(pair.hit)
    weight = pair.laid.claims.weights[pair.a : pair.b] * np.array(rest)
    best = pair.laid.soft[pair.a : pair.b, pair.unit]
    return bool(np.add.reduce(best * weight) >= least * np.add.reduce(weight))


def _numbers(pair: _Pair) -> Conflict | None:
    """A number or date of the claim that is nowhere, while the sentence has another one."""
    if NUMBER not in pair.kinds:
        return None
    figures = [
        n for n, kind in enumerate(pair.kinds) if kind == NUMBER and not _cites(pair.claim, n)
    ]
    lost = [n for n in figures if not pair.hit[n]]
    hidden = _hidden(pair, figures) if len(figures) - len(lost) > 1 else []
    if not (lost or hidden) or not _close(pair, NUMBER, least=NEARBY):
        return None
    theirs = _unmatched(pair, NUMBER)
    close = _close(pair, NUMBER)
    for token in (*lost, *hidden):
        anywhere = bool(pair.laid.found[pair.a + token]) and token not in hidden
        if anywhere and not theirs:
            continue
        mine = _phrase(pair.claim, token)
        other = _same_unit(pair, token, theirs, close and token not in hidden)
        if other is None:
            continue
        dated = pair.claim.surface(token).isalpha() or _is_year(pair.claim.surface(token))
        reason = compose(
            "date_differs" if dated else "number_differs",
            pair.claim.language,
            mine=mine,
            theirs=_phrase(pair.source, int(pair.laid.sources.within[other])),
        )
        return Conflict("date" if dated else "number", reason, not anywhere)
    return None


def _hidden(pair: _Pair, figures: list[int]) -> list[int]:
    """Numbers that the claim has more often than the sentence, and of something else: tool 9 is 9 years old."""
    mine = pair.laid.claims.ids[pair.a : pair.b]
    there = pair.laid.sources.ids[pair.low : pair.high]
    said = [int(mine[token]) for token in figures]
    found = []
    for token, number in zip(figures, said, strict=True):
        places = np.flatnonzero(there == number).tolist()
        if 0 < len(places) < said.count(number):
            after = {_following(there, place) for place in places}
            if _following(mine, token) not in after:
                found.append(token)
    return found


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdigit()


def _unmatched(pair: _Pair, kind: int) -> list[int]:
    """Source tokens of a kind in the sentence that the claim does not have."""
    if kind not in pair.there:
        return []
    shared: Bools = np.logical_or.reduce(
        pair.laid.exact[pair.a : pair.b, pair.low : pair.high], axis=0
    )
    return [
        at
        for at, (other, known) in enumerate(zip(pair.there, shared.tolist(), strict=True), pair.low)
        if other == kind and not known and not (at == pair.low and _numbers_the_line(pair, at))
    ]


def _numbers_the_line(pair: _Pair, token: int) -> bool:
    """Whether a sentence begins with the number of its place in a list: 4 From the menu choose …"""
    text, at = pair.source, int(pair.laid.sources.within[token])
    start, end = text.places[at]
    following = text.raw[end:].lstrip(".) ")[:1]
    return text.raw[start:end].isdigit() and end - start <= 2 and following.isupper()


def _cites(claim: Reading, token: int) -> bool:
    """Whether a number says which source is meant: as passage 3 says."""
    return token > 0 and claim.surface(token - 1).lower() in CITED


def _same_unit(pair: _Pair, token: int, theirs: list[int], close: bool) -> int | None:
    """The unmatched number that is followed by the same word; in a close sentence any of the same sort."""
    surface = pair.claim.surface(token)
    after = _following(pair.laid.claims.ids[pair.a : pair.b], token)
    for other in theirs:
        if after is not None and after == _following(pair.laid.sources.ids, other, pair.high):
            return other
    if not close:
        return None
    alike = [o for o in theirs if pair.theirs(o).isalpha() == surface.isalpha()]
    if _is_year(surface):
        alike = [o for o in alike if _is_year(pair.theirs(o))]
    return alike[0] if alike else None


def _following(ids: Ints, token: int, end: int | None = None) -> int | None:
    at = token + 1
    return int(ids[at]) if at < (len(ids) if end is None else end) else None


def _phrase(text: Reading, token: int) -> str:
    """A number with the word after it, or a date as a whole."""
    first = _reach(text, token, -1)
    last = _reach(text, token, 1)
    start = text.places[first][0]
    if start and text.raw[start - 1] in "$€£":
        start -= 1
    after = last + 1
    beside = after < len(text.ids) and text.places[after][0] - text.places[last][1] <= 1
    if first == last and beside and (text.kinds[after] == WORD or text.surface(after) == "%"):
        last = after
    return text.raw[start : text.places[last][1]]


def _reach(text: Reading, token: int, step: int) -> int:
    """The last token on one side that belongs to the same date."""
    at = token
    while True:
        other = at + step
        while 0 <= other < len(text.ids) and text.surface(other).lower() in ("de", "del", "of"):
            other += step
        if not 0 <= other < len(text.ids) or text.kinds[other] != NUMBER:
            return at
        low, high = min(at, other), max(at, other)
        between = text.raw[text.places[low][1] : text.places[high][0]].strip().lower()
        if between not in ("", ",", "de", "del", "of"):
            return at
        if not (text.surface(low).isalpha() or text.surface(high).isalpha()):
            return at
        at = other


def _units(pair: _Pair) -> Conflict | None:
    """The same number of something else: 5 days, 5 weeks."""
    if NUMBER not in pair.kinds:
        return None
    for token, kind in enumerate(pair.kinds[:-1]):
        if kind != NUMBER or not pair.hit[token]:
            continue
        mine = UNITS.get(pair.claim.surface(token + 1).lower())
        if mine is None:
            continue
        places = np.flatnonzero(pair.laid.exact[pair.a + token, pair.low : pair.high]) + pair.low
        others = [
            (place, UNITS.get(pair.theirs(place + 1).lower()))
            for place in places.tolist()
            if place + 1 < pair.high
        ]
        named = [(place, unit) for place, unit in others if unit is not None]
        if named and all(unit != mine for _, unit in named) and _close(pair, NUMBER):
            theirs = _phrase(pair.source, int(pair.laid.sources.within[named[0][0]]))
            reason = compose(
                "unit_differs", pair.claim.language, mine=_phrase(pair.claim, token), theirs=theirs
            )
            return Conflict("unit", reason, True)
    return None


def _opposites(pair: _Pair) -> Conflict | None:
    """A word whose contrary stands in the sentence instead of it."""
    ids = pair.laid.claims.ids[pair.a : pair.b].tolist()
    contrary = opposites()
    if contrary.keys().isdisjoint(ids):
        return None
    there = pair.laid.sources.ids[pair.low : pair.high].tolist()
    for token, word in [(n, word) for n, word in enumerate(ids) if word in contrary]:
        against = contrary[word].intersection(there)
        if not against or pair.hit[token]:
            continue
        if pair.laid.claims.kinds[pair.a + token] != WORD or not _close(pair):
            continue
        other = min(against)
        place = pair.high - 1 - there[::-1].index(other)  # where it stands last
        if not against.isdisjoint(ids):
            continue
        reason = compose(
            "word_opposite",
            pair.claim.language,
            mine=pair.claim.surface(token),
            theirs=pair.theirs(place),
        )
        return Conflict("opposite", reason, False)
    return None


def _negations(pair: _Pair) -> Conflict | None:
    """One side denies a word that the other asserts."""
    mine, theirs = pair.kinds.count(NEGATION), pair.there.count(NEGATION)
    if mine % 2 == theirs % 2 or not _close(pair):
        return None
    # where both deny something, which of it is the same is not known
    sure = not (mine and theirs) and len(pair.kinds) >= FEWEST and _dense(pair)
    if mine > theirs:
        token = pair.kinds.index(NEGATION)
        if _counts(pair.claim, token):
            return None
        text = _around(pair.claim, token)
        sure = sure and pair.claim.surface(token).lower() not in HALF_DENIED
        return Conflict("negation", compose("claim_denies", pair.claim.language, mine=text), sure)
    place = pair.low + pair.there.index(NEGATION)
    token = int(pair.laid.sources.within[place])
    if _counts(pair.source, token) or not _tied_near(pair, place, 3):
        return None
    denied = pair.source.surface(token).lower() not in HALF_DENIED and _tied_near(pair, place, 1)
    reason = compose("source_denies", pair.claim.language, theirs=_around(pair.source, token))
    return Conflict("negation", reason, sure and denied)


def _counts(text: Reading, token: int) -> bool:
    """Whether the negation is the abbreviation of number: No. 1."""
    after = token + 1
    return (
        text.surface(token).lower() == "no"
        and after < len(text.ids)
        and bool(text.kinds[after] == NUMBER)
    )


def _tied_near(pair: _Pair, place: int, words: int) -> bool:
    """Whether one of the first content words after the negation, and at most three words away, is in the claim."""
    right = pair.laid.sources
    near = range(place + 1, min(place + 4, pair.high))
    told = [at for at in near if right.kinds[at] != STOP][:words]
    return any(pair.laid.exact[pair.a : pair.b, at].any() for at in told)


def _dense(pair: _Pair) -> bool:
    """Whether the claim is all but word for word in the sentence."""
    rest = pair.hit
    if NEGATION in pair.kinds:
        rest = [hit for hit, kind in zip(pair.hit, pair.kinds, strict=True) if kind != NEGATION]
    return bool(rest) and sum(rest) / len(rest) >= 0.9


def _around(text: Reading, token: int) -> str:
    last = min(token + 3, len(text.ids) - 1)
    return text.raw[text.places[token][0] : text.places[last][1]]


def _names(pair: _Pair) -> Conflict | None:
    """A name that no source has, where the sentence has another."""
    if NAME not in pair.kinds or NAME not in pair.there:
        return None
    found, near = pair.laid.found[pair.a : pair.b], pair.laid.near[pair.a : pair.b]
    alone = (~found & (near < 0.8)).tolist()
    lost = [n for n, kind in enumerate(pair.kinds) if kind == NAME and alone[n]]
    theirs = _unmatched(pair, NAME) if lost else []
    if not theirs or not _close(pair, NAME):
        return None
    reason = compose(
        "name_differs",
        pair.claim.language,
        mine=pair.claim.surface(lost[0]),
        theirs=pair.theirs(theirs[0]),
    )
    return Conflict("name", reason, False)


def _swaps(pair: _Pair) -> Conflict | None:
    """Two names that have changed places in an otherwise equal sentence."""
    if len(pair.kinds) <= FEWEST or not _dense(pair) or not _close(pair):
        return None
    places = []
    ids = pair.laid.claims.ids[pair.a : pair.b].tolist()
    for token in range(len(pair.kinds)):
        if not _named(pair, token) or ids.count(ids[token]) > 1:
            continue
        at = np.flatnonzero(pair.laid.exact[pair.a + token, pair.low : pair.high])
        if len(at) == 1:
            places.append((token, int(at[0]) + pair.low))
    for (one, first), (other, then) in pairwise(places):
        if then < first and _rest_in_order(pair, one, other):
            reason = compose(
                "names_swapped",
                pair.claim.language,
                mine=pair.claim.surface(one),
                theirs=pair.claim.surface(other),
            )
            return Conflict("name", reason, True)
    return None


def _named(pair: _Pair, token: int) -> bool:
    """Whether the word is a name or number here or there: at the start of a sentence names look like words."""
    if pair.laid.claims.kinds[pair.a + token] in (NAME, NUMBER):
        return True
    there = pair.laid.sources.kinds[pair.low : pair.high]
    return bool((there[pair.laid.exact[pair.a + token, pair.low : pair.high]] == NAME).any())


def _rest_in_order(pair: _Pair, *without: int) -> bool:
    """Whether all other words of the claim stand in the sentence in the same order."""
    last = -1
    for token in range(pair.b - pair.a):
        if token in without or _named(pair, token):
            continue
        at = np.flatnonzero(pair.laid.exact[pair.a + token, pair.low : pair.high])
        later = at[at > last].tolist()
        if not later:
            return False
        last = later[0]
    return True
