"""Bare answers, which only name something: a text says one when it holds its words, in whatever writing. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.likeness import held
from ragstone.judges.offline.reading import NUMBER, STOP, Reading, read, unaccented
from ragstone.judges.offline.short import Short, short
from ragstone.judges.offline.slots import list_stems
from ragstone.judges.offline.statements import asks, items
from ragstone.text.answers import to_statement
from ragstone.text.clauses import has_clause

MAX_STOPPED_TOKENS = 4
"""Tokens up to which even a text with a full stop is no sentence."""
MAX_BARE_TOKENS = 8
"""Tokens of a text that can be a mere answer: a name, a date, a place."""
MAX_ANSWER_TOKENS = 40
"""Tokens of a text that can be an answer put in sentences; anything longer is a source to look words up in."""
WHOLE = 0.75
"""Share of a bare answer that a text must hold to state it."""
ALIKE = 0.7
"""What two bare answers to the same question must hold of each other (harmonic mean) to say the same."""
PART = 0.95
"""Share of a name from which it is held whole."""
OFF_TOPIC = 0.25
"""Share of the question up to which a sentence that holds it is about something else."""


class BareMatch(NamedTuple):
    """How far a claim agrees with its sources, one of them a bare answer."""

    chance: float
    """From 0.5 on the sources say the claim."""
    share: float | None = None
    """Weight of a claim that the sources hold in part; None for a claim that is no bare answer."""


def is_fragment(text: Reading) -> bool:
    """Whether the text only names something: few words, no verb, not put as a sentence."""
    stopped = text.raw.rstrip().endswith((".", "!"))
    most = MAX_STOPPED_TOKENS if stopped else MAX_BARE_TOKENS
    return 0 < len(text.ids) <= most and not has_clause(text.raw, text.language)


def is_title(claim: Reading, sources: Sequence[Reading]) -> bool:
    """Whether a short text that begins like a question is a name: Will Smith, what the source calls What's Up."""
    if claim.raw.rstrip("\"'”’ ").endswith("?"):
        return False
    return len(_CAPITAL.findall(claim.raw)) > 1 or _repeats(claim, sources)


_CAPITAL = re.compile(r"\b[A-ZÁÉÍÓÚÑ]\w")


def _repeats(claim: Reading, sources: Sequence[Reading]) -> bool:
    """Whether the claim is the one short source, word for word."""
    if len(sources) != 1 or len(claim.ids) > MAX_BARE_TOKENS:
        return False
    return _letters(claim.raw) == _letters(sources[0].raw) != "  "  # which is a text without words


def compare_bare(
    claim: Reading, sources: Sequence[Reading], question: str = ""
) -> BareMatch | None:
    """Compare a bare claim with its sources, or a claim with the one bare source; None when neither is bare.

    `question` is the one that claim and sources answer; without it a name counts wherever it stands."""
    if _repeats(claim, sources):
        return BareMatch(1.0, 1.0)
    if is_fragment(claim):
        match = max((_find_bare(claim, source, question) for source in sources), default=None)
        return (
            match if match is None or _is_bound(claim, sources, question) else BareMatch(0.0, 0.0)
        )
    if len(sources) == 1 and is_fragment(sources[0]):
        if _is_about_other(claim, sources[0], question):
            return BareMatch(0.0)
        return BareMatch(_rescale(held(_shorten(sources[0]), _shorten(claim)), WHOLE))
    return None


def bind_answer(answer: Reading, claim: Reading, sources: Sequence[Reading]) -> float | None:
    """How surely the sources say of a bare answer what its question asks, 0..1; None where the answer is yes or no."""
    match = compare_bare(answer, sources)
    if match is None or _shorten(answer).says_yes is not None:
        return None
    if not set(claim.ids.tolist()) & set(answer.ids.tolist()):
        return None
    return min(match.chance, _measure_binding(answer, claim, sources) or 0.0)


def _measure_binding(answer: Reading, claim: Reading, sources: Sequence[Reading]) -> float | None:
    """Measure whether a sentence that has the answer has nearly as much of the question as any sentence has.

    The right figure of another question stands in the source too. None when no sentence has the answer."""
    words = dict(zip(claim.ids.tolist(), claim.weights.tolist(), strict=True))
    answer_ids = frozenset(answer.ids[answer.kinds != STOP].tolist()) or frozenset(
        answer.ids.tolist()
    )
    left_out = answer_ids.union(claim.ids[claim.kinds == STOP].tolist())
    given = {word: weight for word, weight in words.items() if word in answer_ids}
    asked = {word: weight for word, weight in words.items() if word not in left_out}
    most, bound = 0.0, -1.0
    for source in sources:
        before: frozenset[int] = frozenset()
        for sentence in list_stems(source.raw, source.language):
            value = _weigh(asked, sentence) + NEARBY * _weigh(asked, before - sentence)
            most = max(most, value)
            if _weigh(given, sentence) >= WHOLE * sum(given.values()):
                bound = max(bound, value)
            before = sentence
    if bound < 0 or not given:
        return None
    return _rescale(bound / most, BOUND) if most else 1.0


def _weigh(words: dict[int, float], sentence: frozenset[int]) -> float:
    """What the words that stand in a sentence weigh together."""
    return sum(weight for word, weight in words.items() if word in sentence)


BOUND, NEARBY = 0.6, 0.5
"""Share of the most that a sentence has of the question which the answer's sentence must have, and what a word of the
sentence before counts. On questions of xquad 94 % of right answers reach it and 45 % of other answers in the same
paragraph, in English as in Spanish."""


def _find_bare(claim: Reading, source: Reading, question: str) -> BareMatch:
    """Find a bare claim in one source."""
    if asks(source.raw):  # a question says nothing of what it names
        return BareMatch(0.0, 0.0)
    if len(source.ids) > MAX_ANSWER_TOKENS:
        words = _letters(claim.raw)
        share = 1.0 if words.strip() and words in _letters(source.raw) else _share(claim, source)
        return BareMatch(share, share**3)
    wanted, given = _shorten(claim), _shorten(source)
    forth = held(wanted, given)
    if question and is_fragment(source):
        listed = (short(item.text, source.language) for item in items(source.raw, source.language))
        alike = max(_compare(wanted, other) for other in (given, *listed))
        return BareMatch(_rescale(alike, ALIKE), forth**3)
    return BareMatch(
        _rescale(forth, WHOLE), forth**3
    )  # cubed: a few words in common are worth little


def _is_bound(claim: Reading, sources: Sequence[Reading], question: str) -> bool:
    """Whether a bare claim may be found in these sources as the answer to the question, or as whatever without one."""
    if not question or _shorten(claim).says_yes is not None:
        return True
    statement = read(to_statement(question, claim.raw, claim.language), claim.language)
    binding = _measure_binding(claim, statement, sources)
    return binding is None or binding >= 0.5


def _is_about_other(claim: Reading, source: Reading, question: str) -> bool:
    """Whether a sentence names the bare source but says something else of it than was asked: France followed later."""
    if not question.strip() or _share(read(question, claim.language), claim) > OFF_TOPIC:
        return False
    known = set(source.ids.tolist())
    pairs = zip(claim.ids.tolist(), claim.kinds.tolist(), strict=True)
    return sum(bool(kind != STOP) and word not in known for word, kind in pairs) > 1


def _compare(claim: Short, source: Short) -> float:
    """Harmonic mean of what two bare answers hold of each other."""
    forth, back = held(claim, source), held(source, claim)
    brief = claim if forth >= back else source
    if max(forth, back) >= PART and all(word.capital for word in brief.words):
        return max(forth, back)  # part of a name is the name: Nixon, of Richard Nixon
    return 2 * forth * back / ((forth + back) or 1)


@lru_cache(maxsize=256)
def _letters(text: str) -> str:
    """The words of a text in small letters without accents, a space around each."""
    return f" {' '.join(_WORD.findall(unaccented(text.lower())))} "


_WORD = re.compile(r"[^\W_]+")


def _share(claim: Reading, source: Reading) -> float:
    """Weighted share of the claim's words that the source has; 0 when all its numbers differ."""
    laid = align([claim], [source])
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


def _shorten(text: Reading) -> Short:
    return short(text.raw, text.language)


def _rescale(share: float, bar: float) -> float:
    """Move the bar to a half."""
    return share / bar / 2 if share < bar else 1 - (1 - share) / (1 - bar) / 2
