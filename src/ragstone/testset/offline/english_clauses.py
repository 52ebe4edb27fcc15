"""English sentences read as clauses: subject, verb group and rest, by closed word classes and verb forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ragstone.testset.offline.english_verbs import AUXILIARIES, BE, MODALS, forms
from ragstone.testset.offline.facts import Source
from ragstone.testset.spans import Span, Token, is_number, is_person, names, plural, typed
from ragstone.testset.vocabulary import (
    DETERMINERS,
    MONTHS_AND_DAYS,
    NUMBER_WORDS,
    PREPOSITIONS,
    UNCLEAR,
    word_set,
)

PREP, DET = PREPOSITIONS["en"], DETERMINERS["en"]
PRONOUNS = frozenset({"it", "they", "he", "she"})
RELATIVE = word_set(
    "which who whom whose that where when while because although though if unless whereas "
    "since so until"
)
_OPENERS = re.compile(
    r"(?:however|moreover|furthermore|therefore|thus|also|in addition|additionally|nevertheless|for example|for instance|"
    r"in particular|as a result|instead|similarly|likewise|finally|meanwhile|consequently|overall|indeed|in fact|by contrast|"
    r"subsequently|then|still|hence|of course|today|historically|since then|on the other hand|in turn|and|but),?\s+",
    re.IGNORECASE,
)
_SUBORDINATE = word_set(
    "if when while once unless although though because since as whereas whenever"
)
_ADVERBS = word_set(
    "also often only just still now then later always never sometimes long since not ever "
    "already again perhaps together alone first once soon thus therefore both even instead "
    "too well far almost rather"
)
AROUND = word_set(
    "just only about around approximately approximate nearly almost roughly some up to at "
    "most least more than over fewer less exactly under as many"
)
_PARTICLES = word_set("up out off down away back over")
_SIGNS = frozenset(";:—–―")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause as token numbers of its sentence."""

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
        if self.source.tokens[self.first].lower in PRONOUNS and self.close == self.first + 1:
            return self.source.subject
        return small(self.source, self.first, self.close)

    @property
    def words(self) -> list[str]:
        """The subject's own words, lower case."""
        return [one.lower for one in self.source.tokens[self.first : self.close]]

    @property
    def named(self) -> bool:
        """Whether the subject ends in a name."""
        return any(b == self.close and self._heads(a) for a, b in self.names())

    @property
    def person(self) -> bool:
        """Whether the subject is one person."""
        source = self.source
        for a, b in self.names():
            if b == self.close and self._heads(a):
                before = source.tokens[a - 1].lower if a > self.first else ""
                return is_person([one.text for one in source.tokens[a:b]], before, source.people)
        return False

    def _heads(self, name: int) -> bool:
        """Whether a name is what the subject is, not a part of it behind a preposition."""
        inner = self.words[: name - self.first]
        return (
            name >= self.first
            and len(inner) <= 4
            and not any(one in PREP or one in ("of", "and") for one in inner)
        )

    @property
    def many(self) -> bool:
        """Whether the verb agrees with a plural."""
        if self.auxiliary in ("are", "were", "have") or self.do == "do":
            return True
        if self.auxiliary in ("is", "was", "has") or self.do == "does":
            return False
        head = _head(self.source, self.first, self.close)
        return plural(head, "en") or head == "they" or "and" in self.words

    def names(self) -> list[tuple[int, int]]:
        """The names of the sentence."""
        return names(self.source.tokens, "en", self.source.names)


def clauses(source: Source) -> Iterator[Clause]:
    """The main clause, clauses joined to it, and relative clauses on names; most sentences have one or two."""
    tokens = source.tokens
    if len(tokens) < 5 or "?" in source.text:
        return
    first = 0
    skipped = _OPENERS.match(source.text)
    if skipped:
        first = next((n for n, one in enumerate(tokens) if one.start >= skipped.end()), 0)
    lead, lead_date, first = _lead(source, first)
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
    found = _verb(source, first)
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
    if tokens[start].lower in PRONOUNS:
        return None  # it may be the subject before or its object
    return _parsed(source, "", None, start, spans)


def _relatives(source: Source, spans: tuple[Span, ...]) -> Iterator[Clause]:
    """`Kurt Coleman, who led the team …`: the name is the subject."""
    tokens = source.tokens
    known = names(tokens, "en", source.names)
    for n in range(2, len(tokens) - 3):
        if tokens[n].lower not in ("who", "which") or tokens[n - 1].text != ",":
            continue
        at = next(((a, b) for a, b in known if b == n - 1), None)
        if at is None:
            continue
        verb = n + 1
        while verb < len(tokens) - 1 and adverb(tokens[verb]):
            verb += 1
        low = tokens[verb].lower
        kinds = forms(low)
        if low in AUXILIARIES or "past" in kinds or "third" in kinds:
            clause = _clause(source, "", None, at[0], at[1], verb, spans)
            if clause is not None:
                yield replace(clause, relative=tokens[n].lower == "which")


def adverb(token: Token) -> bool:
    """Whether a word only colours a verb."""
    return token.lower in _ADVERBS or (
        token.lower.endswith("ly") and len(token.lower) > 4 and not token.capital
    )


def _lead(source: Source, first: int) -> tuple[str, tuple[int, int] | None, int]:
    """A phrase before the subject, set off by a comma or a bare date: `In 1187,`."""
    tokens = source.tokens
    if tokens[first].lower not in PREP and tokens[first].lower not in _SUBORDINATE:
        return "", None, first
    if (
        tokens[first].lower in ("over", "about", "around", "under")
        and tokens[first + 1].text[0].isdigit()
    ):
        return "", None, first
    if tokens[first].lower == "at" and tokens[first + 1].lower in ("most", "least"):
        return "", None, first
    spans = typed(source.text, tokens, "en")
    date = next((s for s in spans if s.sort == "date" and s.first <= first + 2), None)
    if (
        date is not None
        and date.first <= first + 1
        and tokens[first].lower in PREP
        and date.last < len(tokens)
    ):
        after = tokens[date.last].text
        if after != "," and after.lower() not in PREP | {"and", "to"} and date.last - first <= 6:
            return small(source, first, date.last), (first, date.last), date.last
    comma = next(
        (n for n in range(first, min(first + 16, len(tokens))) if tokens[n].text == ","), None
    )
    if comma is None:
        return ("", None, first) if tokens[first].lower not in PREP else ("?", None, len(tokens))
    if (
        tokens[comma - 1].lower in MONTHS_AND_DAYS
        and comma + 1 < len(tokens)
        and tokens[comma + 1].text.isdigit()
    ):
        comma = next(
            (n for n in range(comma + 1, min(first + 14, len(tokens))) if tokens[n].text == ","),
            comma,
        )
    inner = tokens[first:comma]
    if any(one.lower in UNCLEAR["en"] for one in inner) or len(inner) > 12:
        return "?", None, comma + 1
    dated = date is not None and date.last == comma and date.first <= first + 1
    return small(source, first, comma), ((first, comma) if dated else None), comma + 1


def _verb(source: Source, first: int) -> tuple[int, int] | None:
    """Where the subject ends and the finite verb stands: the first that nothing marks as a participle or a noun."""
    tokens = source.tokens
    n = first + 1
    inside = False
    while n < min(first + 18, len(tokens)):
        token = tokens[n]
        if token.lower in ("that", "which", "who") and n > first + 1 and not inside:
            # a relative clause inside the subject: its own verb is passed over
            inside = True
            n += 1
            while n < min(first + 14, len(tokens)) and not (
                tokens[n].lower in AUXILIARIES or _is_verb(source, n) or forms(tokens[n].lower)
            ):
                n += 1
            while (
                n + 1 < len(tokens)
                and (tokens[n].lower in AUXILIARIES or "participle" in forms(tokens[n].lower))
                and (
                    tokens[n + 1].lower in ("be", "been", "not")
                    or "participle" in forms(tokens[n + 1].lower)
                )
            ):
                n += 1
            n += 1
            continue
        if token.text == ",":
            after = _after_aside(source, n)
            return (n, after) if after is not None else None
        if (
            token.text in _SIGNS
            or (token.lower in RELATIVE and token.lower != "that")
            or token.lower == "that"
        ):
            return None
        if token.lower in AUXILIARIES:
            return n, n
        if _is_verb(source, n):
            close = n
            while close > first + 1 and adverb(tokens[close - 1]):
                close -= 1
            return close, n
        n += 1
    return None


def _after_aside(source: Source, comma: int) -> int | None:
    """`Jared Allen, a pro bowler, was`: the verb right behind the second comma."""
    tokens = source.tokens
    for n in range(comma + 2, min(comma + 16, len(tokens) - 1)):
        if tokens[n].text in _SIGNS:
            return None
        if tokens[n].text == ",":
            verb = n + 1
            while verb < len(tokens) - 1 and adverb(tokens[verb]):
                verb += 1
            low = tokens[verb].lower
            if low in AUXILIARIES or (
                not tokens[verb].capital and {"past", "third"} & set(forms(low))
            ):
                return verb
            return None
    return None


def _is_verb(source: Source, n: int) -> bool:
    tokens = source.tokens
    token, before = tokens[n], tokens[n - 1]
    at = n - 1
    while at > 0 and adverb(tokens[at]):
        at -= 1
    before = tokens[at]
    if not token.word or token.capital or before.lower in DET or before.lower in PREP:
        return False
    if before.lower in ("and", "or", "of", "to", "not") or not (
        before.word or before.text.isdigit()
    ):
        return False
    kinds = forms(token.lower)
    after = tokens[n + 1] if n + 1 < len(tokens) else token
    if "past" in kinds:
        soft = "participle" in kinds and kinds["past"] == kinds["participle"]
        return not (after.lower == "by" or (soft and _finite_soon(source, n + 1)))
    numbered = before.text.isdigit() and at > 0 and tokens[at - 1].word and after.lower in DET
    if (
        "third" in kinds
        and (numbered or not is_number(before, "en"))
        and (before.capital or not plural(before.lower, "en"))
    ):
        if (
            after.lower in AUXILIARIES
            or "past" in forms(after.lower)
            or after.lower in ("and", "of", "or", "'")
        ):
            return False
        return not _finite_soon(source, n + 1, only_auxiliary=True)
    if "base" in kinds and plural(before.lower, "en") and not is_number(before, "en"):
        starts = (
            after.lower in DET
            or after.lower in PREP
            or after.capital
            or is_number(after, "en")
            or after.lower in ("home", "free", "no", "them", "back")
        )
        return starts or adverb(after) or plural(after.lower, "en") or after.lower == "to"
    return "base" in kinds and before.lower in ("you", "they", "we", "people")


def _finite_soon(source: Source, start: int, *, only_auxiliary: bool = False) -> bool:
    """Whether another finite verb of the same clause follows, so that the one before was a participle."""
    tokens = source.tokens
    phrase = False
    for n in range(start, min(start + 10, len(tokens))):
        token = tokens[n]
        # behind an article a word in -s is a noun: `restored the prior patents`
        phrase = token.lower in DET or (phrase and token.lower not in PREP)
        if token.text in ",;:." or token.lower in RELATIVE or token.lower in ("but", "to"):
            return False
        if token.lower == "and" and not (n + 1 < len(tokens) and is_number(tokens[n + 1], "en")):
            return False
        if token.lower in AUXILIARIES:
            return True
        if only_auxiliary or not token.word or token.capital or tokens[n - 1].lower in DET | PREP:
            continue
        kinds = forms(token.lower)
        clear = not is_number(tokens[n - 1], "en") and not adverb(tokens[n - 1])
        if (
            n > start
            and clear
            and not phrase
            and "third" in kinds
            and not plural(tokens[n - 1].lower, "en")
        ):
            return True
        if n > start and "past" in kinds and "participle" not in kinds:
            return True
    return False


def _good_subject(source: Source, first: int, close: int) -> bool:
    tokens = source.tokens[first:close]
    if not 1 <= len(tokens) <= 14:
        return False
    words = [one.lower for one in tokens]
    if words[0] in PRONOUNS:
        return len(words) == 1 and bool(source.subject)
    if words in (["you"], ["we"]):
        return True
    if (
        len(words) > 1
        and words[0] in ("over", "about", "around", "under")
        and words[1][0].isdigit()
    ):
        words = words[1:]
    if words[:2] in (["at", "most"], ["at", "least"]):
        words = words[2:] or words
    if words[0] in PREP | _SUBORDINATE | {
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
    return not any(
        word in UNCLEAR["en"] or word in ("you", "your", "however", "thus", "therefore")
        for word in words
    )


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
        _auxiliary_group(source, verb)
        if tokens[verb].lower in AUXILIARIES
        else _plain_group(source, first, close, verb)
    )
    if group is None:
        return None
    auxiliary, do, tail, base, negated, n = group
    if (
        n < len(tokens) - 1
        and tokens[n].lower in _PARTICLES
        and tokens[n + 1].lower in DET | AROUND
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


def _auxiliary_group(source: Source, verb: int) -> tuple[str, str, str, str, bool, int] | None:
    tokens = source.tokens
    word = tokens[verb].lower
    auxiliary, negated = ("can", True) if word == "cannot" else (word, False)
    n = verb + 1
    said: list[str] = []
    base = "be" if word in BE else ""
    while n < len(tokens) and (tokens[n].word and not tokens[n].capital):
        low = tokens[n].lower
        if low in ("not", "never"):
            negated = True
        elif adverb(tokens[n]) and n + 1 < len(tokens):
            nxt = tokens[n + 1].lower
            if (
                "participle" not in forms(nxt)
                and nxt not in ("be", "been")
                and "base" not in forms(nxt)
            ):
                break
            said.append(low)
        elif low in ("be", "been", "being"):
            said.append(low)
            base = "be"
        elif low == "have" and word in MODALS:
            said.append(low)
        elif _belongs(low, word, said):
            said.append(low)
            base = next(iter(forms(low).values()))
            n += 1
            break
        else:
            break
        n += 1
    while said and adverb(tokens[n - 1]):
        said.pop()
        n -= 1
    if said and all(one not in ("be", "been", "being", "have") and not forms(one) for one in said):
        return None
    if word in ("has", "have", "had") and not said:
        do = {"has": "does", "have": "do", "had": "did"}[word]
        return "", do, "have", "have", negated, n
    if not said and word not in BE:
        return None
    return auxiliary, "", " ".join(said), base, negated, n


def _belongs(low: str, auxiliary: str, said: list[str]) -> bool:
    """Whether a verb form can follow this auxiliary and what came since."""
    kinds = forms(low)
    modal = auxiliary in MODALS or auxiliary in ("do", "does", "did")
    if modal and not any(one in ("be", "been", "have") for one in said):
        return "base" in kinds
    return "participle" in kinds


def _plain_group(
    source: Source, first: int, close: int, verb: int
) -> tuple[str, str, str, str, bool, int] | None:
    kinds = forms(source.tokens[verb].lower)
    head = _head(source, first, close)
    if "past" in kinds and not (kinds.get("base") == kinds["past"] and plural(head, "en")):
        do, base = "did", kinds["past"]
    elif "third" in kinds:
        do, base = "does", kinds["third"]
    elif "base" in kinds:
        do, base = "do", kinds["base"]
    else:
        return None
    return "", do, base, base, False, verb + 1


def _head(source: Source, first: int, close: int) -> str:
    """The noun that a subject is about: the last word before its first preposition."""
    end = next(
        (n for n in range(first + 1, close) if source.tokens[n].lower in PREP | {"of"} | RELATIVE),
        close,
    )
    return source.tokens[end - 1].lower


def end_of(source: Source, start: int, *, relatives: bool = False) -> int:
    """Where a clause ends: at a sign, at a further clause, or where the verb is coordinated."""
    tokens = source.tokens
    for n in range(start, len(tokens)):
        token = tokens[n]
        if token.text in _SIGNS or (
            token.text in '.!”"-' and token.text != '"' and n >= len(tokens) - 2
        ):
            return n
        if token.text == "," and not _list_goes_on(source, n):
            return n
        if token.lower in ("and", "or", "but") and n > start and _clause_follows(source, n + 1):
            return n
        if token.lower in ("while", "whereas", "although", "though", "but") and n > start:
            return n
        if not relatives and (token.lower == "because" or (token.lower == "so" and n > start)):
            return n
    return len(tokens)


def _list_goes_on(source: Source, comma: int) -> bool:
    """Whether a comma only divides the members of a list that ends in `and` or `or`, or parts a number of a date."""
    tokens = source.tokens
    if (
        comma + 1 < len(tokens)
        and tokens[comma - 1].lower in MONTHS_AND_DAYS
        and tokens[comma + 1].text.isdigit()
    ):
        return True
    for n in range(comma + 1, min(comma + 9, len(tokens))):
        token = tokens[n]
        if (
            token.text in ".;:—"
            or token.lower in RELATIVE
            or token.lower in AUXILIARIES
            or token.lower in PREP - {"of"}
        ):
            return False
        if n == comma + 1 and (
            token.lower.endswith("ing")
            or (token.lower in ("a", "an") and _is_definite(tokens[comma - 1]))
        ):
            return False
        if n == comma + 1 and "participle" in forms(token.lower):
            return False
        if token.lower in ("and", "or"):
            return n > comma + 1 and not _clause_follows(source, n + 1)
    return False


def _is_definite(token: Token) -> bool:
    return token.capital


def _clause_follows(source: Source, start: int) -> bool:
    tokens = source.tokens
    for n in range(start, min(start + 10, len(tokens))):
        token = tokens[n]
        if token.text in ",.;:" or token.lower in RELATIVE or token.lower in ("and", "or"):
            return False
        if token.lower in AUXILIARIES:
            return True
        kinds = forms(token.lower) if token.word and not token.capital else {}
        if n == start and kinds and token.lower not in DET and not plural(token.lower, "en"):
            return True
        if (
            n == start
            and "third" in kinds
            and n + 1 < len(tokens)
            and (tokens[n + 1].lower in DET | PREP or is_number(tokens[n + 1], "en"))
        ):
            return True
        if n == start + 1 and adverb(tokens[start]) and kinds:
            return True
        if (
            n > start
            and ("past" in kinds or ("third" in kinds and not plural(tokens[n - 1].lower, "en")))
            and (
                tokens[n - 1].lower not in DET | PREP
                and n + 1 < len(tokens)
                and tokens[n + 1].lower != "by"
            )
        ):
            return True
    return False


_NOUNISH = re.compile(r"(?:tion|ment|ness|ing|ists?|ers|ity|ism|ence|ance|ies)$")


def small(source: Source, first: int, last: int) -> str:
    """The words with the capital of a sentence's start taken away, where it is no name."""
    text = source.say(first, last)
    token = source.tokens[first]
    if (
        token.text in ("The", "A", "An")
        and first + 1 < last
        and not source.tokens[first + 1].capital
    ):
        return text[:1].lower() + text[1:]
    if first > 0 and not (first == 1 and source.tokens[0].text in '"“'):
        return text
    owner = token.text.removesuffix("'s").removesuffix("’s")
    if (
        owner in source.names
        or owner != token.text
        or (len(token.text) > 1 and token.text.isupper())
        or not token.word
    ):
        return text
    low = token.lower
    common = (
        low in DET | PREP | _SUBORDINATE | NUMBER_WORDS["en"] | UNCLEAR["en"] | _ADVERBS | AROUND
        or low in source.common
    )
    following = source.tokens[first + 1] if first + 1 < len(source.tokens) else token
    if common and low in DET | PREP:
        return text[:1].lower() + text[1:]
    if following.word and following.capital:
        return text
    proper = low.endswith(("ese", "ish", "an", "ch", "ic", "’s", "'s"))
    described = (
        last - first > 1
        and following.word
        and following.lower not in ("of", "and", "or")
        and not proper
    )
    if described or (low.endswith("ing") and len(low) > 5):
        return text[:1].lower() + text[1:]
    if common or (len(low) > 7 and _NOUNISH.search(low)) or plural(low, "en") or forms(low):
        return text[:1].lower() + text[1:]
    return text
