"""Where failures gather: samples sliced by language, document, any field of meta, and by traits that nobody tagged."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragstone.analysis.significance import ALPHA, adjust_p_values
from ragstone.analysis.stats import wilson_interval
from ragstone.analysis.traits import (
    CUTS,
    count_traits,
    find_bin,
    list_topics,
    name_languages,
)
from ragstone.types import Sample

MAX_VALUES = 200
"""A field with more different values than this is no way to slice."""
MAX_TOPICS = 5000
"""Different words of questions that are counted; later ones are passed over."""
MIN_TOPIC_SHARE = 0.04
"""Share of the questions that must have a word for it to be a topic: rarer words would make many tests of little power."""
MIN_SLICE_SAMPLES = 5
"""Samples a slice needs to be worth a test."""
MAX_VALUE_CHARS = 80
"""Characters of a value; longer ones are texts, not categories."""
MEASURED_FIELDS = frozenset({"latency", "first_token", "tokens", "cost"})
TAGGED, TRAIT, TOPIC = 0, 1, 2
"""How a slice was found; of slices that explain equally much the one found first is named."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Samples that share a value of a field, and how they fare against the rest."""

    field: str
    value: str
    """The value; for a counted trait `<= 12` or `> 12`."""
    samples: int
    failures: int
    rate: float
    low: float
    high: float
    rest_rate: float
    """The share of failures among all other samples that have the field."""
    p: float
    adjusted: float
    """p corrected for every slice that was tested."""
    worse: bool
    """Whether it fails significantly more often than the rest."""
    classes: dict[str, int]
    is_tagged: bool = True
    """Whether the field is one of the data, not a trait that was counted here."""


Kinds = tuple[str, ...]
"""The classes of one sample, the one that it counts as first; empty for a sample without a failure."""

Candidate = tuple[int, str, str, Counter[Kinds], Counter[Kinds]]
"""Origin, field, value, the classes inside and those of the rest."""


class SliceCounter:
    """Counts classes by every value of every field and trait; memory does not grow with the samples."""

    def __init__(self, by: Sequence[str] | None = None) -> None:
        self._by = by
        self._all: Counter[Kinds] = Counter()
        self._tagged: dict[str, dict[str, Counter[Kinds]]] = defaultdict(dict)
        self._counted: dict[str, list[Counter[Kinds]]] = {}
        self._topics: dict[str, Counter[Kinds]] = {}
        self._topic_words: dict[str, str] = {}
        self._dropped: set[str] = set()

    def add(self, sample: Sample, *kinds: str) -> None:
        """Count one sample under each of its values; `kinds` are its classes, the one that it counts as first."""
        self._all[kinds] += 1
        for name, value in self._iter_values(sample):
            self._add_tagged(name, value, kinds)
        for trait, number in count_traits(sample):
            if self._wants(trait):
                bins = self._counted.setdefault(
                    trait, [Counter() for _ in range(len(CUTS[trait]) + 1)]
                )
                bins[find_bin(trait, number)][kinds] += 1
        if self._wants("word"):
            for key, word in list_topics(sample).items():
                if key in self._topics or len(self._topics) < MAX_TOPICS:
                    self._topics.setdefault(key, Counter())[kinds] += 1
                    self._topic_words.setdefault(key, word)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Fields with too many values."""
        return tuple(sorted(self._dropped))

    def list_missing(self) -> list[str]:
        """Fields asked for that no sample has."""
        known = {*self._tagged, *self._dropped, *self._counted, "word"}
        return [name for name in self._by or () if self._all and name not in known]

    def build_slices(
        self, kinds: Collection[str], skipped: Collection[str] = (), *, every: bool = False
    ) -> tuple[Slice, ...]:
        """Each slice against the rest by Fisher's exact test, corrected by Holm; the worst first.

        `kinds` are the classes that count as failures: of a sample the first, or `every` one that fits it, so that a class
        which hides another does not make a slice of it. `skipped` fields are not tested."""
        candidates = [
            _turn_to_failures(candidate, kinds, every)
            for candidate in self._list_candidates()
            if candidate[1] not in skipped
            and min(candidate[3].total(), candidate[4].total()) >= MIN_SLICE_SAMPLES
        ]
        tables = [
            (_count(inside, kinds, every), inside.total(), _count(rest, kinds, every), rest.total())
            for _, _, _, inside, rest in candidates
        ]
        # f of n samples in the slice fail, g of m in the rest
        ps = [fisher_test(f, n - f, g, m - g) for f, n, g, m in tables]
        slices = []
        for (origin, name, value, inside, _), (f, n, g, m), p, corrected in zip(
            candidates, tables, ps, adjust_p_values(ps, "holm"), strict=True
        ):
            worse = corrected <= ALPHA and f / n > g / m
            classes = Counter[str]()
            for (kind, *_), count in ((some, n) for some, n in inside.items() if some):
                classes[kind] += count
            slices.append(
                Slice(
                    name, value, n, f, f / n, *wilson_interval(f, n), g / m, p, corrected, worse,
                    dict(classes.most_common()), origin == TAGGED,
                )
            )  # fmt: skip
        slices.sort(
            key=lambda part: (
                not part.worse,
                part.p if part.worse else 0.0,
                part.rest_rate - part.rate,
            )
        )
        return tuple(_drop_repeats(slices))

    def _list_candidates(self) -> Iterator[Candidate]:
        for name, values in self._tagged.items():
            total = sum(values.values(), Counter[Kinds]())
            if len(values) > 1:
                for value, inside in values.items():
                    yield TAGGED, name, value, inside, total - inside
        for trait, bins in self._counted.items():
            yield from _cut_bins(trait, bins)
        for key, inside in self._topics.items():
            if inside.total() >= MIN_TOPIC_SHARE * self._all.total():
                yield TOPIC, "word", self._topic_words[key], inside, self._all - inside

    def _add_tagged(self, name: str, value: str, kinds: Kinds) -> None:
        if name in self._dropped:
            return
        values = self._tagged[name]
        if value not in values:
            if len(values) >= MAX_VALUES:
                self._dropped.add(name)
                # an id or a text: counting on would take memory for every sample
                del self._tagged[name]
                return
            values[value] = Counter()
        values[value][kinds] += 1

    def _iter_values(self, sample: Sample) -> Iterator[tuple[str, str]]:
        fields: dict[str, object] = {
            "language_pair": name_languages(sample),
            "language": sample.language,
            "group": sample.group,
            **sample.meta,
        }
        for name, value in fields.items():
            # numbers that hardly repeat, unless the user asks for them
            if not self._wants(name) or (self._by is None and name in MEASURED_FIELDS):
                continue
            if isinstance(value, str | bool | int) and len(str(value)) <= MAX_VALUE_CHARS:
                yield name, str(value)

    def _wants(self, field: str) -> bool:
        return self._by is None or field in self._by


def _drop_repeats(slices: Iterable[Slice]) -> Iterator[Slice]:
    """Leave out a slice with as many samples and failures as an earlier one that is worse too: the same under another name."""
    seen: set[tuple[int, int]] = set()
    for part in slices:
        key = part.samples, part.failures
        if not part.worse or key not in seen:
            yield part
        if part.worse:
            seen.add(key)


def _cut_bins(trait: str, bins: Sequence[Counter[Kinds]]) -> Iterator[Candidate]:
    """The samples up to each cut of a counted trait; cuts between which there is no sample make one slice."""
    seen: set[int] = {0}
    total = sum(bins, Counter[Kinds]())
    below: Counter[Kinds] = Counter()
    # there is one bin more than cuts: above the last one is nothing to cut off
    for cut, counts in zip(CUTS[trait], bins, strict=False):
        below = below + counts
        if below.total() in seen:
            continue
        seen.add(below.total())
        yield TRAIT, trait, f"<= {cut}", below, total - below


def _turn_to_failures(candidate: Candidate, kinds: Collection[str], every: bool) -> Candidate:
    """Name a cut by the side that fails more: one test, whichever side that is."""
    origin, name, value, inside, rest = candidate
    if origin != TRAIT or not rest.total():
        return candidate
    if _count(inside, kinds, every) * rest.total() >= _count(rest, kinds, every) * inside.total():
        return candidate
    return origin, name, value.replace("<=", ">"), rest, inside


def fisher_test(a: int, b: int, c: int, d: int) -> float:
    """Fisher's exact test, two-sided: how often a table with these margins is no likelier than this one."""
    row, column, total = a + b, a + c, a + b + c + d
    low, high = max(0, row + column - total), min(row, column)

    def log_probability(k: int) -> float:
        return (
            _log_binomial(column, k)
            + _log_binomial(total - column, row - k)
            - _log_binomial(total, row)
        )

    # tables that are equally likely on paper differ in the last digits
    here = log_probability(a) + 1e-7
    return min(
        1.0,
        math.fsum(math.exp(p) for k in range(low, high + 1) if (p := log_probability(k)) <= here),
    )


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _count(counts: Counter[Kinds], kinds: Collection[str], every: bool) -> int:
    return sum(
        n
        for some, n in counts.items()
        if any(kind in kinds for kind in some[: None if every else 1])
    )
