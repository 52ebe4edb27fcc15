"""A claim laid on its sources: which units have which of its words, by stems, numbers and
quantities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.judges.offline.reading import NEGATION, NUMBER, STOP, Reading, Unit, Word, read_words
from ragstone.text.quantities import Quantity, find_quantities, matches

MAX_FIGURES = 50
"""Quantities of a claim that are looked up: one with more is a table."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The units of all sources in order, and where each word stands."""

    readings: tuple[Reading, ...]
    units: tuple[tuple[int, Unit], ...]
    """Index of the source, and the unit."""
    places: Mapping[str, tuple[int, ...]]
    """Key of a word → the units that have it."""

    def quote(self, first: int, last: int) -> tuple[int, str]:
        """The source, and its text from one unit to another."""
        source = self.units[first][0]
        start, end = self.units[first][1].start, self.units[last][1].end
        return source, self.readings[source].raw[start:end]


@lru_cache(maxsize=128)
def index_sources(readings: tuple[Reading, ...]) -> Sources:
    """The sources with an index of their words; cached, since many claims have the same sources."""
    units = tuple((n, unit) for n, reading in enumerate(readings) for unit in reading.units)
    places: dict[str, list[int]] = {}
    for number, (_, unit) in enumerate(units):
        for key in {word.key for word in unit.words}:
            places.setdefault(key, []).append(number)
    return Sources(readings, units, {key: tuple(found) for key, found in places.items()})


@lru_cache(maxsize=128)
def _find_source_quantities(readings: tuple[Reading, ...]) -> list[tuple[Quantity, int]]:
    """Every quantity of the sources with its unit."""
    found = []
    number = 0
    for reading in readings:
        for unit in reading.units:
            found += [(each, number) for each in find_quantities(unit.text, reading.language)]
            number += 1
    return found


def list_content(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words that say something: no function words, no negations."""
    return tuple(word for word in words if word.kind not in (STOP, NEGATION))


@dataclass(frozen=True, slots=True)
class Alignment:
    """The content words of a claim on its sources."""

    claim: Reading
    sources: Sources
    words: tuple[Word, ...]
    places: tuple[frozenset[int], ...]
    """For each word the units that have it."""
    held: Mapping[int, int]
    """Unit → how many of the words it has; units without any are left out."""
    unmatched: int
    """Quantities of the claim that no source has in any writing."""

    best: int
    """The unit with most of the words, the first of several; -1 for none."""

    def rank(self) -> list[int]:
        """The units that have a word of the claim, those with most first."""
        return sorted(self.held, key=lambda unit: (-self.held[unit], unit))

    def cover(self) -> float:
        """The largest share of the words that two neighbouring units hold together."""
        pairs: Counter[int] = Counter()
        units = self.sources.units
        for places in self.places:
            firsts = set(places)
            firsts.update(u - 1 for u in places if u and units[u - 1][0] == units[u][0])
            pairs.update(firsts)
        return max(pairs.values(), default=0) / max(len(self.words), 1)


def align(claim: Reading, sources: Sources) -> Alignment:
    """Look every content word of a claim up in the sources."""
    words = list_content(claim.words)
    # one set for all repetitions of a word: a long text that repeats itself would take hundreds of MB
    units_of = {key: frozenset(sources.places.get(key, ())) for key in {w.key for w in words}}
    places = [units_of[word.key] for word in words]
    unmatched = 0
    if any(word.kind == NUMBER and not units for word, units in zip(words, places, strict=True)):
        unmatched = _match_quantities(claim, sources, words, places)
    held = Counter(unit for units in places for unit in units)
    most = max(held.values(), default=0)
    best = min((unit for unit, count in held.items() if count == most), default=-1)
    return Alignment(claim, sources, words, tuple(places), held, unmatched, best)


def _match_quantities(
    claim: Reading, sources: Sources, words: Sequence[Word], places: list[frozenset[int]]
) -> int:
    """Fill in the units that have a quantity of the claim in another writing (60 days, sixty days;
    3 pm, 15:00).

    Returns how many quantities no source has."""
    unmatched = 0
    others = _find_source_quantities(sources.readings)
    for quantity in find_quantities(claim.raw, claim.language)[:MAX_FIGURES]:
        inside = list_content(read_words(claim.raw[quantity.start : quantity.end], claim.language))
        numbers = [word for word in inside if word.kind == NUMBER]
        if all(word.key in sources.places for word in numbers):
            continue
        units = frozenset(unit for other, unit in others if matches(quantity, other))
        unmatched += not units
        for index, word in enumerate(words):
            if word in inside:
                places[index] |= units
    return unmatched
