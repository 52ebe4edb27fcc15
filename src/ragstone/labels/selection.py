"""Which units are worth labelling next: a random part, whose probabilities are known, and those the judge is unsure of.

The random part takes units in a fixed random order, made from their ids, so that any first stretch of it is a plain
random sample, wherever labelling stops. The unsure part takes units in the order of the judge's doubt, which no label
changes; as far as it got, every unit was taken (probability 1). The rest was drawn with probability m / (N − K): m random labels
among the N − K units that the unsure part did not reach. Two runs of the same samples, and two people, draw the same
units first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragstone.labels.label import Label, Origin, Target
from ragstone.labels.units import JudgedUnit

RANDOM_SHARE = 0.5
"""Share of a batch that is drawn at random."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class UnitChoice:
    """A unit to label, and why it was chosen."""

    unit: JudgedUnit
    origin: Origin


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """The orders in which the units of a run are taken."""

    shuffled: tuple[JudgedUnit, ...]
    """All units in their fixed random order."""
    doubted: tuple[JudgedUnit, ...]
    """The units of which there is doubt, the most first."""

    @classmethod
    def of(
        cls, units: Sequence[JudgedUnit], target: Target, other: Mapping[Key, float] | None = None
    ) -> LabelDraw:
        """The orders of some units; `other` is what a second judge predicts, where it differs there is doubt."""
        shuffled = sorted(units, key=lambda unit: _hash_key(target, unit.key))
        # stable: units in equal doubt, of a judge without probabilities, keep their random order
        unsure = [unit for unit in shuffled if measure_doubt(unit, other) > 0]
        doubted = sorted(unsure, key=lambda unit: -measure_doubt(unit, other))
        return cls(tuple(shuffled), tuple(doubted))

    def choose_next(
        self, count: int, labels: Iterable[Label], author: str, random_share: float = RANDOM_SHARE
    ) -> list[UnitChoice]:
        """The next units for a person, random and unsure ones in turn; fewer at the end of the run."""
        seen = {(label.sample, label.item) for label in labels if label.author == author}
        taken: set[Key] = set()
        unsure = [unit for unit in self.doubted if unit.key not in seen]
        unsure = unsure[: count - round(count * random_share)]
        taken.update(unit.key for unit in unsure)
        random = [unit for unit in self.shuffled if unit.key not in seen | taken]
        random = random[: count - len(unsure)]
        return _alternate(
            [UnitChoice(unit, "random") for unit in random],
            [UnitChoice(unit, "unsure") for unit in unsure],
        )

    def compute_sampling_probabilities(self, labels: Sequence[Label]) -> dict[Key, float]:
        """The probability with which each labelled unit was drawn; labels outside the draw have none."""
        answered = {(label.sample, label.item) for label in labels if label.value is not None}
        by_origin: dict[str, set[Key]] = {"random": set(), "unsure": set()}
        for label in labels:
            if label.origin in by_origin:
                by_origin[label.origin].add((label.sample, label.item))
        certain = _take_until_last(self.doubted, by_origin["unsure"])
        rest = [unit for unit in self.shuffled if unit.key not in certain]
        drawn = _take_until_last(rest, by_origin["random"])
        probabilities = dict.fromkeys(certain & answered, 1.0)
        if drawn & answered:
            probabilities |= dict.fromkeys(drawn & answered, len(drawn & answered) / len(rest))
        return probabilities


def measure_doubt(unit: JudgedUnit, other: Mapping[Key, float] | None = None) -> float:
    """How worth labelling a unit is: the judge's own doubt, or how far a second judge is away, whichever is more."""
    apart = abs(unit.prediction - other.get(unit.key, unit.prediction)) if other else 0.0
    return max(unit.doubt, apart)


def _take_until_last(units: Sequence[JudgedUnit], keys: set[Key]) -> set[Key]:
    """The keys of the units up to the last that is one of the keys."""
    last = max((index for index, unit in enumerate(units) if unit.key in keys), default=-1)
    return {unit.key for unit in units[: last + 1]}


def _alternate(first: list[UnitChoice], second: list[UnitChoice]) -> list[UnitChoice]:
    """The choices of both lists in turn, each list in its order and spread evenly over the whole."""
    places = [((index + 0.5) / len(first), 0, choice) for index, choice in enumerate(first)]
    places += [((index + 0.5) / len(second), 1, choice) for index, choice in enumerate(second)]
    return [choice for _, _, choice in sorted(places, key=lambda place: place[:2])]


def _hash_key(target: Target, key: Key) -> bytes:
    return hashlib.sha256("\0".join((target, *key)).encode("utf-8", "surrogatepass")).digest()
