"""Rules of contradiction: each compares a claim with one unit that speaks of the same, and says
nothing where it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragstone.judges.offline.alignment import Alignment, list_content
from ragstone.judges.offline.opposites import OPPOSITES
from ragstone.judges.offline.reading import (
    NEGATION,
    NUMBER,
    WORD,
    Reading,
    Unit,
    Word,
    read_words,
)
from ragstone.text.claim_checks import is_denied
from ragstone.text.clause_words import to_word_set
from ragstone.text.quantities import Quantity, differs, find_quantities, matches

MIN_COVER = 0.55
"""Share of the rest of a claim that a unit must have to speak of the same."""
MIN_SPEAKING = 0.25
"""Share below which no rule looks: with its words of difference left out, a claim may still be
near."""
MIN_COPY = 0.75
"""The same for rules that look at the order of words alone."""
NEAR_BEST = 0.85
"""Units with this share of what the best one holds may speak of the same, too: all must
contradict."""
MAX_UNITS = 3


class Conflict(NamedTuple):
    """What a rule sees against a claim."""

    rule: str
    claim_side: str
    source_side: str
    unit: int
    """Number of the unit that contradicts."""


class _Pair(NamedTuple):
    """A claim, and a unit that may contradict it."""

    claim: Reading
    unit: Unit
    is_fact: bool
    cover: float
    """Share of the claim's content words that the unit has."""

    def cover_without(self, without: Sequence[Word]) -> float:
        """The same with some words left out."""
        keys = {word.key for word in self.unit.words}
        words = [word for word in list_content(self.claim.words) if word not in without]
        return sum(word.key in keys for word in words) / max(len(words), 1)


def find_conflict(alignment: Alignment) -> Conflict | None:
    """The first rule that sees a contradiction in all units that speak of the claim."""
    near = [
        unit
        for unit in alignment.rank()[:MAX_UNITS]
        if alignment.held[unit] >= NEAR_BEST * alignment.held[alignment.best]
    ]
    pairs = []
    for number in near:
        source, unit = alignment.sources.units[number]
        is_fact = alignment.sources.readings[source].is_record
        cover = alignment.held[number] / len(alignment.words)
        if cover < MIN_SPEAKING:
            return None
        pairs.append(_Pair(alignment.claim, unit, is_fact, cover))
    for rule, check in RULES.items():
        found = [check(pair) for pair in pairs]
        against = [n for n, words in enumerate(found) if words is not None]
        # each fact of a record speaks for itself; of sentences another one may be meant
        if against and (pairs[against[0]].is_fact or len(against) == len(pairs)):
            words = found[against[0]]
            assert words is not None
            return Conflict(rule, *words, near[against[0]])
    return None


_Words = tuple[str, str] | None
"""The words of the claim and those of the unit that contradict; None where nothing does."""


def _check_figures(pair: _Pair) -> _Words:
    """Another number, date, time or amount where everything else agrees."""
    own = find_quantities(pair.claim.raw, pair.claim.language)[:20]
    numbers = [word for word in pair.claim.words if word.kind == NUMBER]
    if not own or pair.cover_without(numbers) < (0.4 if pair.is_fact else MIN_COVER):
        return None
    source_side = find_quantities(pair.unit.text, pair.claim.language)
    for quantity in own:
        same_kind = [other for other in source_side if other.kind == quantity.kind != "number"]
        if any(matches(quantity, other) for other in same_kind):
            continue  # the unit has it beside another one: "9:00 to 18:00, on Saturday until 14:00"
        beside = _list_beside(pair.claim.raw, quantity, pair.claim.language)
        of_same = [
            other
            for other in source_side
            if not beside.isdisjoint(_list_beside(pair.unit.text, other, pair.claim.language))
        ]
        # numbers of the same things are compared, or else what no number can be confused with:
        # dates, amounts
        others = of_same or [
            other
            for other in source_side
            if pair.is_fact or "number" not in (quantity.kind, other.kind)
        ]
        for other in others:
            if differs(quantity, other) and not any(matches(each, other) for each in own):
                return (
                    pair.claim.raw[quantity.start : quantity.end],
                    pair.unit.text[other.start : other.end],
                )
    return None


def _list_beside(text: str, quantity: Quantity, language: str) -> frozenset[str]:
    """The words of a quantity, and the one before and after it."""
    before = list_content(read_words(text[: quantity.start], language))[-1:]
    after = list_content(read_words(text[quantity.end :], language))[:1]
    inside = list_content(read_words(text[quantity.start : quantity.end], language))
    return frozenset(word.key for word in (*before, *after, *inside) if word.kind != NUMBER)


def _check_negation(pair: _Pair) -> _Words:
    """One of both denies what the other says."""
    if pair.is_fact and ": " in pair.unit.text:
        return _check_fact(pair)
    if pair.cover < MIN_COVER or len(list_content(pair.claim.words)) < 2:
        return None
    if not any(word.kind == NEGATION for word in (*pair.claim.words, *pair.unit.words)):
        return None
    denied = is_denied(pair.claim.raw, [pair.unit.text])
    return (pair.claim.raw, pair.unit.text) if denied else None


def _check_fact(pair: _Pair) -> _Words:
    """A claim that denies nothing, and a fact that says no: the claim must name the last word of its
    key, and another if it has more.

    The other way round, where a fact says yes, the rule was right in one case of seven: claims deny
    one thing and grant another."""
    key, _, value = pair.unit.text.rpartition(": ")
    if value != "no" or ";" in key or any(w.kind == NEGATION for w in pair.claim.words):
        return None
    names = [word.key for word in list_content(pair.unit.words)]
    own = {word.key for word in pair.claim.words}
    is_named = (
        bool(names) and names[-1] in own and (len(names) == 1 or not own.isdisjoint(names[:-1]))
    )
    return (pair.claim.raw, pair.unit.text) if is_named else None


QUANTIFIERS: Mapping[str, str] = {
    word: name
    for name, words in {
        "all": "all every each everyone everybody always todos todas cada siempre both ambos ambas cualquier",
        "most": "most mostly usually majority mayoría normalmente generally",
        "half": "half mitad",
        "some": "some several sometimes algunos algunas varios varias algún alguna",
        "few": "few rarely seldom pocos pocas raramente",
        "none": "none nobody never ninguno ninguna ningún nadie nunca",
        "must": "must shall will required mandatory debe deben deberá deberán obligatorio obligatoria",
        "may": "may might could puede pueden podrá podrán podría podrían optional opcional",
    }.items()
    for word in words.split()
}
_EXCLUDED = {
    "all": ("some", "most", "half", "few", "none"),
    "most": ("some", "half", "few", "none"),
    "half": ("all", "most", "few", "none"),
    "some": ("none",),
    "few": ("all", "most", "half"),
    "none": ("all", "most", "half", "some", "few"),
    "must": ("may",),
}
"""What a claim says → what its source then cannot say of the same."""


def _check_quantifiers(pair: _Pair) -> _Words:
    """All, most, some, none, must, may: another one before the same word."""
    if pair.cover < MIN_COVER:
        return None
    source_side = dict(_list_quantified(pair.unit.words))
    for key, word in _list_quantified(pair.claim.words):
        other = source_side.get(key)
        names = [QUANTIFIERS[each.written.lower()] for each in (word, other) if each]
        if other and names[1] in _EXCLUDED.get(names[0], ()):
            return word.written, other.written
    return None


def _list_quantified(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """Each quantifier with the word that it is about; a denied one (not all) says something
    else."""
    for index, word in enumerate(words):
        is_month = word.written == "May" and index > 0
        is_denied_one = index > 0 and words[index - 1].kind == NEGATION
        if word.written.lower() in QUANTIFIERS and not is_month and not is_denied_one:
            for after in list_content(words[index + 1 : index + 5])[:1]:
                yield after.key, word


def _check_opposites(pair: _Pair) -> _Words:
    """A word in the place of its opposite: opens, closes."""
    keys = {word.key for word in pair.unit.words}
    own = {word.key for word in pair.claim.words}
    words = (*pair.claim.words, *pair.unit.words)
    if any(word.kind == NEGATION or word.written.lower() in _EXCEPT for word in words):
        return None
    if any(_list_relations(pair.claim.words)):  # what is longer is shorter from the other end
        return None
    opposites = _load_opposites(pair.claim.language)
    for word in pair.claim.words:
        others = opposites.get(word.key, frozenset()) & keys - own
        if others and word.key not in keys and pair.cover_without([word]) >= MIN_COVER:
            return word.written, next(w.written for w in pair.unit.words if w.key in others)
    return None


_EXCEPT = frozenset(["except", "excepting", "excluding", "excepto", "salvo", "menos"])


@lru_cache(maxsize=4)
def _load_opposites(language: str) -> Mapping[str, frozenset[str]]:
    """Key of a word → keys of its opposites."""
    opposites: dict[str, set[str]] = {}
    for pair in OPPOSITES.get(language, "").split():
        one, other = (read_words(f"x {word}", language)[1].key for word in pair.split("/"))
        if one != other:
            opposites.setdefault(one, set()).add(other)
            opposites.setdefault(other, set()).add(one)
    return {key: frozenset(found) for key, found in opposites.items()}


class _Relation(NamedTuple):
    """What stands on both sides of "than" or of a word of time."""

    left: frozenset[str]
    right: frozenset[str]
    sign: int
    """1 where the left is more or earlier, -1 where it is less or later."""
    kind: str
    """"time", or what is compared."""
    word: str


_TIMES = {
    "before": 1, "antes": 1, "after": -1, "once": -1, "después": -1, "tras": -1,
}  # fmt: skip
_SCALES = {
    word: (pair.split("/")[0], sign)
    for pair in to_word_set(
        "more/less more/fewer larger/smaller bigger/smaller greater/smaller higher/lower longer/shorter taller/shorter"
        " older/younger older/newer faster/slower better/worse earlier/later más/menos mayor/menor mejor/peor"
        " superior/inferior"
    )
    for word, sign in zip(pair.split("/"), (1, -1), strict=True)
}
"""Comparative → its scale, and 1 for more of it, -1 for less."""
_THAN = frozenset(["than", "que"])


def _check_relations(pair: _Pair) -> _Words:
    """A comparison or an order in time the other way round: A is longer than B, B before A."""
    if pair.cover < MIN_COPY:
        return None
    for claim_side in _list_relations(pair.claim.words):
        for source_side in _list_relations(pair.unit.words):
            straight = (
                len(claim_side.left & source_side.left),
                len(claim_side.right & source_side.right),
            )
            crossed = (
                len(claim_side.left & source_side.right),
                len(claim_side.right & source_side.left),
            )
            is_straight = all(straight) and not any(crossed)
            is_crossed = all(crossed) and not any(straight)
            if claim_side.kind != source_side.kind or not (is_straight or is_crossed):
                continue
            if claim_side.sign * source_side.sign * (1 if is_straight else -1) < 0:
                return claim_side.word, source_side.word
    return None


def _list_relations(words: Sequence[Word]) -> Iterator[_Relation]:
    for index, word in enumerate(words):
        lower = word.written.lower()
        if lower not in _TIMES and lower not in _THAN:
            continue
        left = frozenset(each.key for each in list_content(words[:index]))
        right = frozenset(each.key for each in list_content(words[index + 1 :]))
        if not left - right or not right - left:
            continue
        if lower in _TIMES:
            yield _Relation(left - right, right - left, _TIMES[lower], "time", lower)
            continue
        for compared in reversed(words[max(0, index - 5) : index]):
            scale = _find_scale(compared)
            if scale is not None:
                things = left - right - {compared.key}
                yield _Relation(things, right - left, scale[1], scale[0], compared.written)
                break


def _find_scale(word: Word) -> tuple[str, int] | None:
    """The scale of a comparative; of one that no table has, itself."""
    lower = word.written.lower()
    is_other = lower.endswith("er") and len(lower) > 4 and word.kind == WORD
    return _SCALES.get(lower) or ((lower, 1) if is_other else None)


RULES: Mapping[str, Callable[[_Pair], _Words]] = {
    "figures": _check_figures,
    "negation": _check_negation,
    "quantifiers": _check_quantifiers,
    "relations": _check_relations,
    "opposites": _check_opposites,
}
"""Name → rule, in the order in which they are asked. docs/judge-offline.md has what each catches,
and how often it is right."""
