"""English sentences read as clauses: subject, verb group and rest, by closed word classes and verb forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from ragstone.testset.offline.english.ends import end_of
from ragstone.testset.offline.english.groups import auxiliary_group, plain_group, verb_of
from ragstone.testset.offline.english.leads import OPENERS, lead_of
from ragstone.testset.offline.english.verbs import AUXILIARIES, forms
from ragstone.testset.offline.english.words import (
    AROUND,
    DET,
    PREP,
    PRONOUNS,
    SUBORDINATE,
    adverb,
    head,
    small,
)
from ragstone.testset.offline.facts import Source
from ragstone.testset.offline.subject import Subject
from ragstone.testset.spans import Span, names, plural, typed
from ragstone.testset.vocabulary import MONTHS_AND_DAYS, UNCLEAR, word_set

OWNERS = frozenset(["its", "his", "her", "their"])

_PARTICLES = word_set("up out off down away back over")


@dataclass(frozen=True, slots=True)
class Clause(Subject):
    """One clause as token numbers of its sentence."""

    language: ClassVar[str] = "en"
    inner: ClassVar[frozenset[str]] = PREP | frozenset(["of", "and"])

    source: Source
    lead: str
    """What stands before the subject: `in 1187`; `?` when it cannot be said on its own."""
    lead_date: tuple[int, int] | None
    first: int
    """Subject: first ≤ i < close."""
    close: int
    verb: int
    rest: int
    """Where what follows the verb group starts."""
    end: int
    auxiliary: str
    """`was`, `may`; empty when the verb needs do, does or did."""
    do: str
    tail: str
    """The verb group behind the subject in a question: `be borrowed`, `give up`."""
    base: str
    negated: bool
    spans: tuple[Span, ...]
    relative: bool = False
    """Whether the subject is told by a relative pronoun: only the subject can be asked for."""

    @property
    def subject(self) -> str:
        """The subject as a question says it."""
        first = self.source.tokens[self.first].lower
        if first in PRONOUNS and self.close == self.first + 1:
            return self.source.subject
        if first in OWNERS and self.source.subject:
            owner = self.source.subject
            ending = "'" if owner.endswith("s") else "'s"
            return f"{owner}{ending} {self.source.say(self.first + 1, self.close)}"
        return small(self.source, self.first, self.close)

    @property
    def many(self) -> bool:
        """Whether the verb agrees with a plural."""
        if self.auxiliary in ("are", "were", "have") or self.do == "do":
            return True
        if self.auxiliary in ("is", "was", "has") or self.do == "does":
            return False
        noun = head(self.source, self.first, self.close)
        return plural(noun, "en") or noun == "they" or "and" in self.words


def clauses(source: Source) -> Iterator[Clause]:
    """The main clause, clauses joined to it, and relative clauses on names; most sentences have one or two."""
    tokens = source.tokens
    if len(tokens) < 5 or "?" in source.text:
        return
    first = 0
    skipped = OPENERS.match(source.text)
    if skipped:
        first = next((n for n, one in enumerate(tokens) if one.start >= skipped.end()), 0)
    lead, lead_date, first = lead_of(source, first)
    spans = tuple(typed(source.text, tokens, "en"))
    main = _parsed(source, lead, lead_date, first, spans)
    if main is not None:
        yield main
    yield from _relatives(source, spans)
    here = main
    for _ in range(3):
        if here is None or here.end >= len(tokens) - 3:
            return
        here = _next(source, here, spans)
        if here is not None:
            yield here


def _parsed(
    source: Source, lead: str, dated: tuple[int, int] | None, first: int, spans: tuple[Span, ...]
) -> Clause | None:
    found = verb_of(source, first)
    if found is None:
        return None
    close, verb = found
    if not _good_subject(source, first, close) or (
        first
        and source.tokens[first].text[0].isdigit()
        and source.tokens[first + 1].lower in MONTHS_AND_DAYS
    ):
        return None
    return _clause(source, lead, dated, first, close, verb, spans)


def _next(source: Source, before: Clause, spans: tuple[Span, ...]) -> Clause | None:
    """What follows a clause: a further verb of the same subject, or a clause of its own."""
    tokens = source.tokens
    n = before.end
    while n < len(tokens) and (
        tokens[n].text in ",;" or tokens[n].lower in ("and", "but", "while", "whereas", "or")
    ):
        n += 1
    if n == before.end or n >= len(tokens) - 2:
        return None
    start = n
    while n < len(tokens) and adverb(tokens[n]):
        n += 1
    low = tokens[n].lower
    kinds = forms(low) if not tokens[n].capital else {}
    after = tokens[n + 1] if n + 1 < len(tokens) else tokens[n]
    noun = plural(after.lower, "en") and after.lower not in DET and not after.capital
    if after.lower == "by" or (noun and "participle" in kinds):
        kinds = {}  # `followed by` and `sustained periods` go with what stands before
    same = (
        low in AUXILIARIES
        or ("past" in kinds and before.do == "did")
        or ("third" in kinds and before.do == "does")
    )
    if ("third" in kinds and before.auxiliary in ("is", "has")) or (
        "past" in kinds and before.auxiliary == "was" and not before.tail
    ):
        same = True
    if same:
        return _clause(source, before.lead, None, before.first, before.close, n, spans)
    joined = {tokens[k].lower for k in range(before.end, start)}
    if not joined & {";", "and", "but", "while", "whereas"}:
        return None
    if tokens[start].lower in PRONOUNS or tokens[start].lower.endswith("ing"):
        return None  # it may be the subject before or its object
    return _parsed(source, "", None, start, spans)


def _relatives(source: Source, spans: tuple[Span, ...]) -> Iterator[Clause]:
    """`Kurt Coleman, who led the team …`, `a condenser that provides …`: what stands before is the subject."""
    tokens = source.tokens
    known = names(tokens, "en", source.names)
    for n in range(2, len(tokens) - 3):
        low = tokens[n].lower
        if low not in ("who", "which", "that"):
            continue
        last = n - 1 if tokens[n - 1].text == "," else n
        at = next(((a, b) for a, b in known if b == last), None) if last < n else None
        named = at is not None
        if at is None:
            at = _noun_before(source, last)
        if at is None or (low == "that" and last < n):
            continue
        verb = n + 1
        while verb < len(tokens) - 1 and adverb(tokens[verb]):
            verb += 1
        kinds = forms(tokens[verb].lower)
        if tokens[verb].lower in AUXILIARIES or "past" in kinds or "third" in kinds:
            clause = _clause(source, "", None, at[0], at[1], verb, spans)
            if clause is None or (not named and _goes_on(source, clause)):
                continue
            yield replace(clause, relative=not named or low == "which")


def _goes_on(source: Source, clause: Clause) -> bool:
    """Whether the verb of the sentence around it follows: `a condenser that provides a vacuum was built`."""
    return any(one.lower in AUXILIARIES for one in source.tokens[clause.rest : clause.end])


def _noun_before(source: Source, last: int) -> tuple[int, int] | None:
    """`a surface condenser` that ends here: an article and up to four words, none of them a preposition."""
    tokens = source.tokens
    for first in range(last - 2, max(last - 6, -1), -1):
        word = tokens[first]
        if word.lower in ("a", "an", "the"):
            behind = tokens[first - 1].lower if first else ""
            inner = tokens[first + 1 : last]
            plain = all(one.word and one.lower not in UNCLEAR["en"] for one in inner)
            return (first, last) if plain and behind != "of" and len(inner) > 1 else None
        if not word.word or word.lower in PREP | DET | {"of", "and", "or"} | AUXILIARIES:
            return None
    return None


def _good_subject(source: Source, first: int, close: int) -> bool:
    tokens = source.tokens[first:close]
    if not 1 <= len(tokens) <= 14:
        return False
    words = [one.lower for one in tokens]
    if words[0] in PRONOUNS:
        return len(words) == 1 and bool(source.subject)
    if words in (["you"], ["we"]):
        return True
    short = 0 < len(source.subject.split()) <= 4 and "'" not in source.subject
    if words[0] in OWNERS and short:
        words = words[1:]
        if not words:
            return False
    words = [
        word for n, word in enumerate(words) if word != "such" or words[n + 1 : n + 2] != ["as"]
    ]
    if (
        len(words) > 1
        and words[0] in ("over", "about", "around", "under")
        and words[1][0].isdigit()
    ):
        words = words[1:]
    if words[:2] in (["at", "most"], ["at", "least"]):
        words = words[2:] or words
    if len(words) > 1 and words[0].endswith("ed") and words[1] in PREP and words[0] not in ("red",):
        return False  # `Based on principles`
    if words[0] in PREP | SUBORDINATE | {
        "of",
        "where",
        "only",
        "there",
        "what",
        "here",
        "who",
        "how",
        "not",
        "see",
        "i",
        "that",
        "to",
        "no",
        "which",
        "whoever",
        "anyone",
        "everything",
    }:
        return False
    if words[-1] in PREP | DET or words[-1] in ("and", "or") or tokens[0].text in "\"'(-“":
        return False
    if any(one.text in ';:()"“”' for one in tokens):
        return False
    if not _one_phrase(source, first, close):
        return False
    return not any(
        word in UNCLEAR["en"] or word in ("you", "your", "however", "thus", "therefore")
        for word in words
    )


_ASKING = frozenset(["what", "whether", "how", "why", "than"])


def _one_phrase(source: Source, first: int, close: int) -> bool:
    """Whether the words are one noun phrase: no question in it, and no article that nothing leads up to."""
    tokens = source.tokens[first:close]
    if any(one.lower in _ASKING for one in tokens):
        return False
    if any(one.lower in PREP and two.lower in ("which", "whom") for one, two in pairwise(tokens)):
        return False
    if not any(one.word and len(one.text) > 1 for one in tokens if one.lower not in ("and", "or")):
        return False
    for before, token in pairwise(tokens):
        leads = before.lower in PREP | {"of", "and", "or", "all", "both", "such", "that", "which"}
        if (
            token.lower in ("the", "a", "an")
            and not leads
            and not before.capital
            and before.text != ","
        ):
            return False
    return True


def _clause(
    source: Source,
    lead: str,
    dated: tuple[int, int] | None,
    first: int,
    close: int,
    verb: int,
    spans: tuple[Span, ...],
) -> Clause | None:
    tokens = source.tokens
    group = (
        auxiliary_group(source, verb)
        if tokens[verb].lower in AUXILIARIES
        else plain_group(source, first, close, verb)
    )
    if group is None:
        return None
    auxiliary, do, tail, base, negated, n = group
    if (
        n < len(tokens) - 1
        and tokens[n].lower in _PARTICLES
        and tokens[n + 1].lower in DET | AROUND
        and tokens[n + 1].lower != "to"  # `up to 12` goes with its number
    ):
        tail = f"{tail} {tokens[n].lower}".strip()
        n += 1
    return Clause(
        source,
        lead,
        dated,
        first,
        close,
        verb,
        n,
        end_of(source, n),
        auxiliary,
        do,
        tail,
        base,
        negated,
        spans,
    )
