"""A name in a place that the source gives to another: France reported it, where Germany reported it and France followed. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ragstone.judges.offline.reading import NEGATION, NUMBER, STOP, Reading, read
from ragstone.text.clause_words import CLAUSE_WORDS
from ragstone.text.verbs import find_verb_form

MAX_NAME_WORDS = 4
MIN_OTHER_WORDS = 2
"""Words of a claim beside the name that must stand in the sentence: what is said of it, and of what."""
MAX_SHARE_BESIDE = 0.5
"""Share of those words that may stand in a sentence with the name; with more of them the sentence speaks of the claim."""


@dataclass(frozen=True, slots=True)
class OtherName:
    """A sentence of a source that says of another name what a claim says of its own."""

    source: int
    sentence: int
    mine: str
    theirs: str


def find_other_name(claim: Reading, sources: Sequence[Reading]) -> OtherName | None:
    """The sentence that has all of a claim but its name, and another name in its place; None where there is none.

    None also where any sentence has the name with most of the rest, since that one may say the same."""
    content = [n for n, kind in enumerate(claim.kinds.tolist()) if kind not in (STOP, NEGATION)]
    ids = claim.ids[content].tolist()
    wanted = frozenset(ids)
    if len(wanted) <= MIN_OTHER_WORDS:
        return None
    words: list[_Word] = []
    for index, sentence, missing in _list_near(wanted, sources):
        first = next(n for n, stem in enumerate(ids) if stem in missing)
        if frozenset(ids[first : first + len(missing)]) != missing:
            continue
        words = words or _list_words(claim, 0, len(claim.ids))
        name = [words[n] for n in content[first : first + len(missing)]]
        if not all(word.is_capital for word in name):
            continue
        theirs = _read_sentence(sources[index], sentence)
        other = _read_place(words, name, theirs, claim.language)
        if other is not None and not _has_beside(wanted, missing, sources):
            return OtherName(index, sentence, claim.raw[name[0].start : name[-1].end], other)
    return None


def _list_near(
    wanted: frozenset[int], sources: Sequence[Reading]
) -> list[tuple[int, int, frozenset[int]]]:
    """Source, number and missing words of each sentence of prose that lacks a name's words; none where one lacks nothing."""
    near = []
    most = min(MAX_NAME_WORDS, len(wanted) - MIN_OTHER_WORDS)
    for index, source in enumerate(sources):
        stems = [] if source.structured else list_stems(source.raw, source.language)
        for sentence, theirs in enumerate(stems):
            missing = wanted - theirs
            if not missing:
                return []
            if len(missing) <= most:
                near.append((index, sentence, missing))
    return near


class _Word(NamedTuple):
    id: int
    lower: str
    start: int
    end: int
    is_content: bool
    is_capital: bool


def _list_words(text: Reading, first: int, last: int) -> list[_Word]:
    ids, kinds = text.ids[first:last].tolist(), text.kinds[first:last].tolist()
    return [
        _Word(
            word,
            text.raw[start:end].lower(),
            start,
            end,
            kind not in (STOP, NEGATION),
            text.raw[start].isupper() and kind != NUMBER,
        )
        for word, kind, (start, end) in zip(ids, kinds, text.places[first:last], strict=True)
    ]


def _read_sentence(source: Reading, sentence: int) -> list[_Word]:
    first, last = source.sentence.searchsorted([sentence, sentence + 1]).tolist()
    return _list_words(source, first, last)


@lru_cache(maxsize=128)
def list_stems(text: str, language: str) -> list[frozenset[int]]:
    """The stems of each sentence of a source."""
    source = read(text, language)
    bounds = source.sentence.searchsorted(range(len(source.sentences) + 1)).tolist()
    ids = source.ids.tolist()
    return [frozenset(ids[a:b]) for a, b in pairwise(bounds)]


def _read_place(
    claim: Sequence[_Word], missing: Sequence[_Word], theirs: Sequence[_Word], language: str
) -> str | None:
    """The other name in the place that the missing one has in the claim: as its subject, or after its preposition."""
    claim_ids = {word.id for word in claim}
    grammar = CLAUSE_WORDS["es" if language == "es" else "en"]
    first = claim.index(missing[0])
    is_opener = missing[0].lower in grammar.openers
    if is_opener or find_verb_form(missing[0].lower, language) == "finite":
        return None
    verb = next((word for word in claim if _is_verb(word, language)), None)
    if verb is None or missing[-1].end <= verb.start:
        return _read_subject(claim, verb, theirs, claim_ids, language)
    if claim[first - 1].is_content:  # la tradujo al francés Claude Renard
        ids = [word.id for word in theirs]
        after = ids.index(claim[first - 1].id) + 1 if claim[first - 1].id in ids else len(ids)
        return _read_name(theirs[after:], claim_ids, grammar.starters | grammar.openers)
    if claim[first - 1].lower not in grammar.prepositions or first < 2:
        return None
    return _read_object(claim[first - 2], claim[first - 1], theirs, claim_ids)


def _read_object(
    before: _Word, link: _Word, theirs: Sequence[_Word], claim_ids: set[int]
) -> str | None:
    """The name after the same word and preposition."""
    pairs = [(word.id, other.lower) for word, other in pairwise(theirs)]
    if link.lower in ("by", "por") and before.id in {word.id for word in theirs}:
        # founded in 2003 by Ann
        agents = [n + 1 for n, word in enumerate(theirs[:-1]) if word.lower == link.lower]
        return _read_name(theirs[agents[-1] :], claim_ids, frozenset()) if agents else None
    if (before.id, link.lower) not in pairs:
        return None
    return _read_name(theirs[pairs.index((before.id, link.lower)) + 2 :], claim_ids, frozenset())


def _read_subject(
    claim: Sequence[_Word],
    verb: _Word | None,
    theirs: Sequence[_Word],
    claim_ids: set[int],
    language: str,
) -> str | None:
    """The name that a sentence has for the subject of a claim: before the verb, after `by`, or after `is`."""
    grammar = CLAUSE_WORDS["es" if language == "es" else "en"]
    no_names = grammar.starters | grammar.openers
    if verb is None:
        is_copular = any(word.lower in grammar.auxiliaries for word in claim)
        return _read_copular(theirs, claim_ids, language) if is_copular else None
    anchor = next((n for n, word in enumerate(theirs) if word.id == verb.id), None)
    if anchor is None:
        return None
    after = theirs[anchor + 1 :]
    if after and after[0].lower in ("by", "por"):
        return _read_name(after[1:], claim_ids, no_names)
    return _read_name_before(theirs[:anchor], claim_ids, language)


def _read_copular(theirs: Sequence[_Word], claim_ids: set[int], language: str) -> str | None:
    """The name after a copula, or before it where only one can be that: of several planets each is one."""
    grammar = CLAUSE_WORDS["es" if language == "es" else "en"]
    copula = next((n for n, word in enumerate(theirs) if word.lower in grammar.auxiliaries), None)
    if copula is None:
        return None
    after = theirs[copula + 1 :]
    is_unique = bool(after) and after[0].lower in ("the", "el", "la")
    before = theirs[:copula] if is_unique else ()
    name = _read_name(after, claim_ids, grammar.starters | grammar.openers)
    return name or _read_name_before(before, claim_ids, language)


def _read_name_before(words: Sequence[_Word], claim_ids: set[int], language: str) -> str | None:
    """The name that the words end with, unless a preposition governs it: Nokia, but not the Elector of Brandenburg."""
    grammar = CLAUSE_WORDS["es" if language == "es" else "en"]
    start = len(words)
    while start and words[start - 1].is_capital:
        start -= 1
    if start and words[start - 1].lower in grammar.prepositions:
        return None
    return _read_name(
        words[start:], claim_ids, grammar.starters | grammar.openers | grammar.adverbs
    )


def _is_verb(word: _Word, language: str) -> bool:
    form = find_verb_form(word.lower, "es" if language == "es" else "en")
    return word.is_content and not word.is_capital and form in ("finite", "past", "participle")


def _read_name(words: Sequence[_Word], claim_ids: set[int], starters: frozenset[str]) -> str | None:
    """The name that the words begin with, unless the claim has it or they may stand for any: he, the firm."""
    name = []
    for word in words:
        if not word.is_capital:
            break
        name.append(word)
    if not name or name[0].lower in starters or any(word.id in claim_ids for word in name):
        return None
    return " ".join(word.lower.capitalize() for word in name)


def _has_beside(wanted: frozenset[int], name: frozenset[int], sources: Sequence[Reading]) -> bool:
    """Whether a sentence has the name with much of what the claim says of it."""
    rest = wanted - name
    return any(
        name & theirs and len(rest & theirs) > MAX_SHARE_BESIDE * len(rest)
        for source in sources
        for theirs in list_stems(source.raw, source.language)
    )
