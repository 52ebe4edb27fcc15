"""Spanish sentences read as clauses: subject, verb group and rest, by closed word classes and verb forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ragstone.testset.offline.facts import Source
from ragstone.testset.offline.spanish.groups import end_of, group_at
from ragstone.testset.offline.spanish.verbs import infinitive, participle
from ragstone.testset.offline.spanish.words import DET, PREP, RELATIVE, SIGNS, adverb, owned, small
from ragstone.testset.offline.subject import Subject
from ragstone.testset.spans import Span, is_person, names, typed
from ragstone.testset.vocabulary import UNCLEAR

_OPENERS = re.compile(
    r"(?:sin embargo|además|por tanto|por lo tanto|también|asimismo|no obstante|por ejemplo|en particular|como resultado|"
    r"en cambio|finalmente|mientras tanto|en consecuencia|de hecho|posteriormente|entonces|por otro lado|por otra parte|"
    r"en general|actualmente|hoy en día|históricamente|y|pero|por último),?\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause(Subject):
    """One clause as token numbers of its sentence."""

    language: ClassVar[str] = "es"
    inner: ClassVar[frozenset[str]] = PREP | frozenset(["y", "e"])

    source: Source
    lead: str
    lead_date: tuple[int, int] | None
    first: int
    """Subject: first ≤ i < close; first == close when the sentence leaves it out."""
    close: int
    verb: int
    """First word of the verb group: `no`, a pronoun or the verb."""
    finite: int
    rest: int
    end: int
    negated: bool
    spans: tuple[Span, ...]
    relative: bool = False

    @property
    def subject(self) -> str:
        """The subject as a question says it."""
        if self.first == self.close:
            return self.source.subject
        if self.words[0] in ("su", "sus") and self.source.subject:
            return owned(self.source.say(self.first + 1, self.close), self.source.subject)
        return small(self.source, self.first, self.close)

    @property
    def told(self) -> bool:
        """Whether it is clear what the subject is: it is said, or it is a name; else it may stand behind the verb."""
        return self.first < self.close or self.source.subject[:1].isupper()

    @property
    def group(self) -> str:
        """The verb group as written."""
        text = self.source.say(self.verb, self.rest)
        return text[:1].lower() + text[1:]

    @property
    def main(self) -> str:
        """The finite verb."""
        return self.source.tokens[self.finite].lower

    @property
    def last_verb(self) -> str:
        """The last word of the verb group: what happens."""
        return self.source.tokens[self.rest - 1].lower

    @property
    def many(self) -> bool:
        """Whether the verb is plural."""
        return self.main.endswith("n")

    @property
    def reflexive(self) -> bool:
        """Whether the verb group has `se`."""
        return any(one.lower == "se" for one in self.source.tokens[self.verb : self.finite])


def clauses(source: Source) -> Iterator[Clause]:
    """The main clause, clauses joined to it, and relative clauses on names."""
    tokens = source.tokens
    if len(tokens) < 5 or "?" in source.text or "¿" in source.text:
        return
    first = 0
    skipped = _OPENERS.match(source.text)
    if skipped:
        first = next((n for n, one in enumerate(tokens) if one.start >= skipped.end()), 0)
    spans = tuple(typed(source.text, tokens, "es"))
    lead, lead_date, first = _lead(source, first, spans)
    here = _parsed(source, lead, lead_date, first, spans)
    if here is not None:
        yield here
    yield from _relatives(source, spans)
    for _ in range(3):
        if here is None or here.end >= len(tokens) - 3:
            return
        here = _next(source, here, spans)
        if here is not None:
            yield here


def _lead(
    source: Source, first: int, spans: tuple[Span, ...]
) -> tuple[str, tuple[int, int] | None, int]:
    tokens = source.tokens
    low = tokens[first].lower
    if low == "mientras" and tokens[first + 1].lower == "que":
        return "?", None, len(tokens)
    date = next((s for s in spans if s.sort == "date" and s.first <= first + 2), None)
    if low == "el" and date is not None and date.first == first + 1 and date.last < len(tokens):
        past = int(tokens[date.last].text == ",")
        return small(source, first, date.last), (first, date.last), date.last + past
    if low not in PREP and low not in ("si", "cuando", "mientras", "aunque", "como", "al"):
        return "", None, first
    if date is not None and date.first <= first + 1 and low in ("en", "desde", "hasta"):
        last = date.last
        if (
            last < len(tokens)
            and tokens[last].text != ","
            and tokens[last].lower not in PREP | {"y", "a"}
        ):
            return small(source, first, last), (first, last), last
    comma = next(
        (n for n in range(first, min(first + 16, len(tokens))) if tokens[n].text == ","), None
    )
    if comma is None:
        short = _short_lead(source, first)
        return (small(source, first, short), None, short) if short else ("?", None, len(tokens))
    inner = tokens[first:comma]
    if (
        any(one.lower in UNCLEAR["es"] - {"su", "sus", "lo"} for one in inner)
        or not 2 <= len(inner) <= 12
        or inner[-1].lower == "que"
    ):
        return "?", None, comma + 1
    dated = date is not None and date.last == comma and date.first <= first + 1
    return small(source, first, comma), ((first, comma) if dated else None), comma + 1


def _short_lead(source: Source, first: int) -> int:
    """`En rebajas el plazo baja …`: a phrase of two or three words before an article."""
    tokens = source.tokens
    for n in range(first + 2, min(first + 5, len(tokens) - 2)):
        if (
            tokens[n].lower in ("el", "la", "los", "las")
            and tokens[n - 1].word
            and tokens[n - 1].lower not in PREP | DET | {"y"}
            and not infinitive(tokens[n - 1].lower)
        ):
            return n
    return 0


def _parsed(
    source: Source, lead: str, dated: tuple[int, int] | None, first: int, spans: tuple[Span, ...]
) -> Clause | None:
    tokens = source.tokens
    n = first
    while n < min(first + 18, len(tokens)):
        token = tokens[n]
        if token.text == "," and n > first:
            after = _after_aside(source, n)
            if after is not None:
                return _made(source, lead, dated, first, n, after, spans)
            listed = _list_end(source, n, first)
            if listed is None:
                return None
            n = listed
            continue
        if token.text in SIGNS or token.lower in RELATIVE:
            return None
        article = n == first and token.lower in ("la", "las", "lo", "los")
        if not article and group_at(source, n) is not None:
            return _made(source, lead, dated, first, n, n, spans)
        n += 1
    return None


def _after_aside(source: Source, comma: int) -> int | None:
    tokens = source.tokens
    for n in range(comma + 2, min(comma + 18, len(tokens) - 1)):
        if tokens[n].text in SIGNS:
            return None
        if tokens[n].text == ",":
            return n + 1 if group_at(source, n + 1) is not None else None
    return None


def _made(
    source: Source, lead: str, dated: tuple[int, int] | None, first: int, close: int, verb: int, spans: tuple[Span, ...],
    *, relative: bool = False,
) -> Clause | None:  # fmt: skip
    group = group_at(source, verb)
    if group is None:
        return None
    at, rest, negated = group
    while close > first + 1 and adverb(source.tokens[close - 1]):
        close -= 1
    if close > first + 2 and source.say(close - 2, close) in ("a menudo", "a veces", "sin embargo"):
        close -= 2
    found = Clause(
        source,
        lead,
        dated,
        first,
        close,
        verb,
        at,
        rest,
        end_of(source, rest),
        negated,
        spans,
        relative,
    )
    return found if relative or _good_subject(found) else None


def _list_end(source: Source, comma: int, first: int) -> int | None:
    """`Annam, Birmania y Champa reconocieron`: behind the last `y` of a list that is the subject."""
    tokens = source.tokens
    for n in range(comma + 1, min(comma + 10, first + 15, len(tokens) - 2)):
        low = tokens[n].lower
        if low in RELATIVE | PREP - {"de", "del"} or tokens[n].text in SIGNS:
            return None
        if low in ("y", "e"):
            return n + 1
        if group_at(source, n) is not None:
            return None
    return None


def _good_subject(clause: Clause) -> bool:
    source, words = clause.source, clause.words
    if words[:1] in (["su"], ["sus"]) and 0 < len(source.subject.split()) <= 4:
        words = words[1:] or ["su"]
    if not words:
        told = clause.main not in ("hay", "hace", "hacen", "había", "hubo", "son", "ha", "han")
        return (
            bool(source.subject) and told and not clause.reflexive and clause.many == source.plural
        )
    if len(words) > 14 or words[0] in PREP | RELATIVE | {
        "no",
        "lo",
        "hay",
        "se",
        "quien",
        "esto",
        "ello",
        "él",
        "ella",
        "ellos",
        "ellas",
        "ningún",
        "ninguna",
        "nadie",
        "todo",
    }:
        return False
    if not any(word[0].isalpha() and len(word) > 1 for word in words):
        return False  # a bare number
    if participle(words[0]) and words[1:2] and words[1] in PREP:
        return False  # `Publicada en un momento …`
    if words[0] in ("el", "la", "los", "las") and words[1:2] in (["de"], ["del"], ["que"]):
        return False  # `el de Ursynów`: the noun is left out
    if words[-1] in PREP | DET or words[-1] in ("y", "o", "e", "que") or clause.main == "hay":
        return False
    if any(span.sort == "day" and span.first == clause.first for span in clause.spans):
        return False
    if any(one.text in ';:()"“”«»' for one in source.tokens[clause.first : clause.close]):
        return False
    return not any(word in UNCLEAR["es"] for word in words)


def _next(source: Source, before: Clause, spans: tuple[Span, ...]) -> Clause | None:
    tokens = source.tokens
    n = before.end
    joined = set()
    while n < len(tokens) and (
        tokens[n].text in ",;" or tokens[n].lower in ("y", "e", "pero", "mientras", "que", "o")
    ):
        joined.add(tokens[n].lower)
        n += 1
    if n == before.end or n >= len(tokens) - 2 or not joined & {"y", "e", "pero", ";", "mientras"}:
        return None
    if group_at(source, n) is not None and ";" not in joined:
        return (
            _made(source, before.lead, None, before.first, before.close, n, spans)
            if before.words
            else None
        )
    return _parsed(source, "", None, n, spans)


def _relatives(source: Source, spans: tuple[Span, ...]) -> Iterator[Clause]:
    """`Kurt Coleman, que asumió las riendas …`: the name is the subject."""
    tokens = source.tokens
    known = names(tokens, "es", source.names)
    for n in range(2, len(tokens) - 3):
        if tokens[n].lower not in ("que", "quien") or tokens[n - 1].text != ",":
            continue
        at = next(((a, b) for a, b in known if b == n - 1), None)
        if at is None or group_at(source, n + 1) is None:
            continue
        found = [one.text for one in tokens[at[0] : at[1]]]
        if is_person(found, tokens[at[0] - 1].lower if at[0] else "", source.people):
            clause = _made(source, "", None, at[0], at[1], n + 1, spans, relative=True)
            if clause is not None:
                yield clause
