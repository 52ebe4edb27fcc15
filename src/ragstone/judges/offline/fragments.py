"""Short answers without a verb: two such texts agree when one holds the words of the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.likeness import held
from ragstone.judges.offline.reading import NUMBER, STOP, Reading, unaccented
from ragstone.judges.offline.short import Short, short
from ragstone.judges.offline.slots import list_stems
from ragstone.judges.offline.statements import MAX_ITEM_WORDS, asks
from ragstone.text.clauses import has_clause

SHORTEST = 4
"""Tokens up to which even a text with a full stop is no sentence."""
LONGEST = 8
"""Tokens of a text that can be a mere answer: a name, a date, a place."""
SENTENCE = 40
"""Tokens of a text that can be an answer put as a sentence; anything longer is a source to look words up in."""
CORE, WHOLE = 1 / 3, 0.75
"""Share of a wanted answer that a sentence must have to be said of it, and to have said all of it."""
HEAD = 2
"""Words that the two halves of a sentence at least have in common."""
APART, PART = 0.1, 0.95
"""What two short answers lose when each has a word that the other has not."""


def is_fragment(text: Reading) -> bool:
    """Whether the text only names something: few words, no verb, not put as a sentence."""
    most = SHORTEST if text.raw.rstrip().endswith((".", "!")) else LONGEST
    return 0 < len(text.ids) <= most and not has_clause(text.raw, text.language)


def names(claim: Reading, sources: Sequence[Reading]) -> bool:
    """Whether a short text that begins like a question is a name: Will Smith, what the source calls What's Up."""
    if claim.raw.rstrip("\"'”’ ").endswith("?"):
        return False
    return len(_CAPITAL.findall(claim.raw)) > 1 or _repeats(claim, sources)


_CAPITAL = re.compile(r"\b[A-ZÁÉÍÓÚÑ]\w")


def _repeats(claim: Reading, sources: Sequence[Reading]) -> bool:
    """Whether the claim is the one short source, word for word."""
    if len(sources) != 1 or len(claim.ids) > LONGEST:
        return False
    return _letters(claim.raw) == _letters(sources[0].raw) != "  "


def agreement(claims: Sequence[Reading], sources: Sequence[Reading]) -> list[float] | None:
    """How far each claim agrees with its sources, 0..1, where a fragment is among the two; else None.

    A wanted answer of two words says yes to every claim that holds them, which whole sentences never do, so a
    single fragment is read as an answer: in the source by what of it the claim has, in the claim the other way."""
    if len(claims) == 1 and _repeats(claims[0], sources):
        return [1.0]
    if len(sources) == 1 and is_fragment(sources[0]):
        wanted = _short(sources[0])
        found = [
            _alike(_short(claim), wanted)
            if is_fragment(claim)
            else _reached(held(wanted, _short(claim)), CORE)
            for claim in claims
        ]
        return _together(claims, found)
    if all(map(is_fragment, claims)) and (len(claims) == 1 or all(map(_is_item, claims))):
        return [max((_found(claim, source) for source in sources), default=0.0) for claim in claims]
    return None


def bind_answer(answer: Reading, claim: Reading, sources: Sequence[Reading]) -> float | None:
    """How surely the sources say of a bare answer what its question asks, 0..1; None where the answer is yes or no.

    A sentence that has the answer must have nearly as much of the question as any sentence has: the right figure of
    another question stands in the source too."""
    found = agreement([answer], sources)
    words = dict(zip(claim.ids.tolist(), claim.weights.tolist(), strict=True))
    told = frozenset(answer.ids[answer.kinds != STOP].tolist()) or frozenset(answer.ids.tolist())
    given = {word: weight for word, weight in words.items() if word in told}
    if found is None or not given or _short(answer).says_yes is not None:
        return None
    stop = frozenset(claim.ids[claim.kinds == STOP].tolist())
    asked = {
        word: weight for word, weight in words.items() if word not in told and word not in stop
    }
    most = bound = 0.0
    for source in sources:
        before: frozenset[int] = frozenset()
        for sentence in list_stems(source.raw, source.language):
            held = sum(weight for word, weight in asked.items() if word in sentence)
            near = sum(weight for word, weight in asked.items() if word in before - sentence)
            value = held + NEARBY * near
            most = max(most, value)
            if sum(given[word] for word in given.keys() & sentence) >= WHOLE * sum(given.values()):
                bound = max(bound, value)
            before = sentence
    if not most or not bound:
        return found[0] if not most else min(found[0], bound)
    return min(found[0], _reached(bound / most, BOUND))


BOUND, NEARBY = 0.6, 0.5
"""Share of the most that a sentence has of the question which the answer's sentence must have, and what a word of the
sentence before counts. On questions of xquad 94 % of right answers reach it and 45 % of other answers in the same
paragraph, in English as in Spanish."""


def _together(claims: Sequence[Reading], found: list[float]) -> list[float]:
    """The most of a sentence that was cut into place and date, for both: it answers when either is the answer."""
    for n, (one, other) in enumerate(pairwise(claims)):
        if _halves(one.raw.split(), other.raw.split()):
            found[n] = found[n + 1] = max(found[n], found[n + 1])
    return found


def _halves(one: list[str], other: list[str]) -> bool:
    """Whether two claims are the same up to `in Ulm` and `on 14 March 1879`."""
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    while same and one[same - 1] in _WHERE_WHEN:  # in Ulm, in 1879
        same -= 1
    return same >= HEAD and all(
        len(text) > same and text[same] in _WHERE_WHEN for text in (one, other)
    )


_WHERE_WHEN = frozenset(["in", "on", "at", "en", "el"])


def _is_item(claim: Reading) -> bool:
    """Whether the claim can come from an answer that is a list; several sentences without a verb do not."""
    return len(claim.ids) <= MAX_ITEM_WORDS and not claim.raw.rstrip().endswith((".", "!"))


def _found(claim: Reading, source: Reading) -> float:
    """How much of a short answer stands in a text: all of it wanted from a sentence, half of it from a whole source."""
    if asks(source.raw):  # a question says nothing of what it names
        return 0.0
    if len(source.ids) <= SENTENCE:
        return _reached(held(_short(claim), _short(source)), WHOLE)
    words = _letters(claim.raw)
    return 1.0 if words.strip() and words in _letters(source.raw) else _share(claim, source)


@lru_cache(maxsize=256)
def _letters(text: str) -> str:
    """The words of a text in small letters without accents, a space around each."""
    return f" {' '.join(_WORD.findall(unaccented(text.lower())))} "


_WORD = re.compile(r"[^\W_]+")


def _share(claim: Reading, source: Reading) -> float:
    """Weighted share of the claim's words that the source has; 0 when all its numbers differ."""
    laid = align([claim], [source], around=False)
    kinds = laid.claims.kinds
    if not len(laid.units) or not len(kinds):
        return 0.0
    weight = np.where(kinds == STOP, 0.0, laid.claims.weights)
    if not weight.sum():
        weight = np.ones(len(kinds))
    numbers = kinds == NUMBER
    if numbers.any() and not laid.most[numbers].any() and (source.kinds == NUMBER).any():
        return 0.0
    return float((laid.most * weight).sum() / weight.sum())


def _short(text: Reading) -> Short:
    return short(text.raw, text.language)


def _alike(claim: Short, source: Short) -> float:
    """What the source has of the claim, counted twice, and what the claim has of the source."""
    forth, back = held(claim, source), held(source, claim)
    apart = max(forth, back) < PART
    return max((2 * forth + back) / 3 - APART * apart, 0.0)


def _reached(share: float, bar: float) -> float:
    """The share so that the bar lies at a half."""
    return share / bar / 2 if share < bar else 1 - (1 - share) / (1 - bar) / 2
