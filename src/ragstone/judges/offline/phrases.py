"""A sentence as rules compare it: content words and quantities, each with its clause, preposition and polarity. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.words import NAME, NUMBER, WORD, Meaning, describe_word, identify
from ragstone.text.quantities import Quantity, find_quantities
from ragstone.text.verbs import VerbForm, find_verb_form

LESS, NO_DEGREE, MORE, AS_MUCH, MOST = -1, 0, 1, 2, 3
"""Degrees of comparison."""
MAX_BOUND_GAP = 6
"""Letters between a word that makes a limit and its figure: longer than 40, the maximum is 40."""
FIGURE_WEIGHT, LETTER_WEIGHT, RELATION_WEIGHT = 4.0, 4.0, 2.0
"""What a figure, a capital letter that names something (drug A) and a function word with an opposite count."""


class SentenceItem(NamedTuple):
    """A content word or a quantity of a sentence."""

    id: int
    """Equal ids mean equal stems; a quantity has -1 and is compared by what it says."""
    kind: int
    """NAME, NUMBER or WORD of `ragstone.judges.offline.words`."""
    weight: float
    row: int
    """Row in the table of word vectors, -1 for none."""
    lower: str
    start: int
    end: int
    place: int
    """Which token of the sentence it is."""
    clause: int
    section: int
    """Like clauses, but commas do not part them."""
    preposition: str
    """What governs it, empty for a subject, a direct object or a verb."""
    preposition_place: int
    """Which token of the sentence the preposition is, -1 for none."""
    is_negated: bool
    is_excepted: bool
    """Whether it stands after "except"."""
    is_compared: bool
    """Whether it stands after "than"."""
    is_unreal: bool
    """Whether it is only planned, wished or supposed."""
    is_verb: bool
    degree: int
    """LESS, NO_DEGREE, MORE, AS_MUCH or MOST."""
    quantifier: str
    """`all`, `most`, `some`, `few`, `none`, `only` or `count` (a number) before it; empty for none of them."""
    quantity: Quantity | None


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """The items of one sentence, with its function words; known by its identity, as `parse_sentence` reads a text once."""

    text: str
    language: str
    items: tuple[SentenceItem, ...]
    words: tuple[str, ...]
    """Every token in small letters, function words included."""
    is_unclear: bool
    """Whether it is not clear what it denies: no other, not … without."""
    denies: bool
    """Whether it has any negation."""
    is_limited: bool
    """Whether it states a condition."""
    is_limitless: bool
    """Whether it says that something holds in any case."""

    def quote(self, item: SentenceItem) -> str:
        return self.text[item.start : item.end]


@lru_cache(maxsize=512)
def parse_sentence(text: str, language: str) -> Sentence:
    """Read one sentence; languages other than Spanish are read as English."""
    return _Parser(text, "es" if language == "es" else "en").parse()


_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d[\d.,:]*\d|\d|[;:)\]—–!?,]")
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_FORBIDDING = ("forbid", "prohib", "prohíb", "bann")
"""Beginnings of words from which an exception is an allowance."""
_RELATIONS = frozenset(["above", "below", "up", "down", "first", "last", "inside", "outside"])
"""Function words that have an opposite: they are compared like content words."""


@lru_cache(maxsize=8192)
def _describe_content(
    raw: str, lower: str, language: str, is_first: bool
) -> tuple[Meaning, int, VerbForm]:
    """What `describe_word` says of a word, its degree of comparison and the verb form that it may be."""
    degree, base = lexicon.GRADES.get(lower, (NO_DEGREE, raw))
    degrees = FUNCTION_WORDS[language].degrees
    identity, kind, weight, row = describe_word(base, language, is_first)
    if lower in _RELATIONS or lower in degrees:
        kind, weight = WORD, RELATION_WEIGHT
    degree = degrees.get(lower, degree) if degree else NO_DEGREE
    return (identity, kind, weight, row), degree, find_verb_form(lower, language)


class _Parser:
    """Reads a sentence from left to right; what holds for the words to come is state."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language = text, language
        self.function, self.stop = FUNCTION_WORDS[language], lexicon.STOP[language]
        self.words: list[str] = []
        self.items: list[SentenceItem] = []
        self.clause = self.section = -1
        self.negations = 0
        self.is_limited = self.is_limitless = False
        self.is_unclear = self.denies_clause = self.denies_phrase = self.is_excepted = (
            self.excepts_first
        ) = False
        self._end_clause()  # sets the rest of the state, and clause and section to 0

    def parse(self) -> Sentence:
        at = 0
        for quantity in find_quantities(self.text, self.language):
            self._read_words(at, quantity.start)
            at = quantity.end
            self.words.append("#")  # one token, however many words the quantity has
            if quantity.bound and self.words[-2:-1] and self.words[-2] in self.function.than:
                self._forget_comparison()
            if quantity.bound:
                self._forget_bound(quantity)
            lower = self.text[quantity.start : at].lower()
            meaning = (-1, NUMBER, FIGURE_WEIGHT, -1)
            self._add(meaning, lower, quantity.start, at, quantity)
            self._count(quantity)
        self._read_words(at, len(self.text))
        excepts = any(item.is_excepted for item in self.items)
        forbids = any(item.lower.startswith(_FORBIDDING) for item in self.items)
        unclear = (
            self.is_unclear or (self.denies_clause and self.denies_phrase) or (excepts and forbids)
        )
        words, items = tuple(self.words), tuple(self.items)
        denies = self.denies_clause or self.denies_phrase
        return Sentence(
            self.text,
            self.language,
            items,
            words,
            unclear,
            denies,
            self.is_limited,
            self.is_limitless,
        )

    def _count(self, quantity: Quantity) -> None:
        """What a figure says of how many: half of them, four of the five, three changes."""
        before = self.items[-2].quantity if len(self.items) > 1 else None
        is_part = before is not None and self.words[-3:-1] in (
            ["of", "the"],
            ["de", "los"],
            ["de", "las"],
        )
        if (quantity.kind == "share" and quantity.value < 1) or (
            is_part and before is not None and before.value < quantity.value
        ):
            self.quantifier = "some"
        elif quantity.kind == "number" and quantity.has_counted_noun and not self.quantifier:
            self.quantifier = "count"

    def _forget_comparison(self) -> None:
        """What is more than 40 compares nothing."""
        self.is_compared = False
        if self.items and self.items[-1].lower in self.function.degrees:
            self.items.pop()

    def _forget_bound(self, quantity: Quantity) -> None:
        """A word that only makes a limit of the figure after it says nothing by itself: exceed 40, a maximum of 40."""
        last = self.items[-1] if self.items else None
        if (
            last
            and last.end >= quantity.start - MAX_BOUND_GAP
            and last.lower in self.function.bounds
        ):
            self.items.pop()
        if quantity.is_denied and self.negations % 2:
            # what must not exceed 40 is at most 40, and denies nothing
            self.negations, self.denies_clause = 0, False
            self.items = [
                item._replace(is_negated=False) if item.clause == self.clause else item
                for item in self.items
            ]

    def _read_words(self, start: int, end: int) -> None:
        for match in _TOKEN.finditer(self.text, start, end):
            raw = match.group()
            if not raw[0].isalnum():
                self._end_clause(raw == ",")
                continue
            lower = raw.lower().replace("’", "'")
            self.words.append(lower)
            if len(raw) == 1 and self._is_letter_name(raw, match.start()):
                meaning = (identify(f"letter {raw}"), NAME, LETTER_WEIGHT, -1)
                self._add(meaning, raw, *match.span(), None)
            elif not self._read_function(lower, match.end()):
                self._read_content(raw, lower, *match.span())

    def _is_letter_name(self, raw: str, start: int) -> bool:
        """Whether a single letter is a capital that names what stands before it: drug A."""
        if not raw.isupper():
            return False
        before = self.text[max(start - 2, 0) : start]
        return before[-1:] == " " and before[:1].isalnum()

    def _end_clause(self, is_comma: bool = False) -> None:
        self.clause += 1
        self.negations, self.degree, self.quantifier = 0, NO_DEGREE, ""
        self.is_compared = self.is_unreal = False
        self._govern("")
        if not is_comma:
            self.section += 1
        if not is_comma or self.excepts_first:
            self.is_excepted = self.excepts_first = False

    def _govern(self, preposition: str) -> None:
        self.preposition = preposition
        self.preposition_place = len(self.words) - 1 if preposition else -1

    def _read_function(self, lower: str, end: int) -> bool:
        """Take note of a function word; False for a content word."""
        if lower not in self.function.special and not lower.endswith("n't"):
            if lower not in self.stop or lower in _RELATIONS:
                return False
            if lower not in self.function.determiners:
                self._govern("")
            return True
        self._note_conditions(lower, end)
        return (
            self._read_polarity(lower)
            or self._read_degree(lower, end)
            or self._read_break(lower, end)
            or self._read_preposition(lower)
            or self._read_mood(lower, end)
        )

    def _read_polarity(self, lower: str) -> bool:
        function, before = self.function, self.words[-2] if len(self.words) > 1 else ""
        if before in ("not", "no") and lower in function.only:
            self.negations = 0  # not only
        elif lower.endswith("n't") or lower in function.negations:
            self._negate(lower in function.none_words)
        elif lower in function.quantifiers:
            self._quantify(function.quantifiers[lower], before)
        else:
            return False
        return True

    def _read_degree(self, lower: str, end: int) -> bool:
        if lower in self.function.than and self._compares(lower):
            self.is_compared = True
            self._govern("than")
        elif lower in self.function.degrees and self._precedes_word(end):
            self.degree = self.function.degrees[lower]
            self._govern(lower if lower == "as" else "")
        else:
            return False
        return True

    def _read_break(self, lower: str, end: int) -> bool:
        """A word that begins a clause: except, and, but."""
        function = self.function
        if self._excepts(lower, end):
            self._end_clause()
            self.is_excepted, self.excepts_first = True, not self.items
        elif lower in function.boundaries:
            is_excepted = self.is_excepted and lower in function.list_joins
            negations = self.negations if lower in function.choices else 0
            self._end_clause()
            self.is_excepted, self.negations = is_excepted, negations
            if lower == "ni":
                self._negate(False)
        else:
            return False
        return True

    def _read_preposition(self, lower: str) -> bool:
        function = self.function
        if lower in function.before or lower in function.after or lower in function.then:
            self._govern(lower)
            return True
        if lower not in function.prepositions:
            return False
        if lower in function.phrase_negations:
            self.negations += 1
            self.denies_phrase = True
        elif lower == function.infinitive and function.excess in self.words[-4:]:
            self._negate(False)
        if self.is_compared and self.items[-1].is_compared:
            self.is_compared = False  # longer than the Tesk in the whole valley
        self._govern(function.prepositions[lower])
        return True

    def _read_mood(self, lower: str, end: int) -> bool:
        """A word that says what is only planned, about how much, or which other; some are content words as well."""
        function = self.function
        # not before a digit: "May 5" is a date
        if lower in function.unreal and not self.text[end : end + 2].strip().isdigit():
            self.is_unreal = True
            return lower in self.stop or lower in function.approximate
        if lower in function.approximate:
            return True
        if lower in function.others:
            self.is_unclear = self.is_unclear or self.negations > 0
            return lower in self.stop
        return False

    def _quantify(self, quantifier: str, before: str) -> None:
        if quantifier == "all" and before in ("not", "no"):
            quantifier, self.negations, self.is_unclear = "some", 0, True  # not all
        elif quantifier == "all" and before in self.function.almost:
            quantifier = "most"
        elif quantifier == "some" and self.quantifier == "only":
            quantifier = "few"
        self.quantifier = quantifier

    def _note_conditions(self, lower: str, end: int) -> None:
        """Take note that the sentence states a condition, or that none matters."""
        after = _NEXT_WORD.match(self.text, end)
        following = after[1].lower() if after else ""
        # the word that must follow, empty for any; "-" is no word and so never equal
        if self.function.limits.get(lower, "-") in ("", following):
            self.is_limited = True
        if self.function.limitless.get(lower, "-") in ("", following):
            self.is_limitless = True

    def _excepts(self, lower: str, end: int) -> bool:
        """Whether the word makes an exception of what follows; "menos" only after all."""
        needed = self.function.exceptions.get(lower)
        if needed is None or (
            lower == "menos" and not any(i.quantifier == "all" for i in self.items)
        ):
            return False
        after = _NEXT_WORD.match(self.text, end)
        return not needed or (after is not None and after[1].lower() == needed)

    def _precedes_word(self, end: int) -> bool:
        after = _NEXT_WORD.match(self.text, end)
        return after is not None and after[1].lower() not in self.stop

    def _compares(self, than: str) -> bool:
        """Whether the clause has a comparative before: más lento que, as long as."""
        degrees = {item.degree for item in self.items[-3:] if item.clause == self.clause}
        if than in ("as", "como"):
            return AS_MUCH in degrees
        return not degrees.isdisjoint((MORE, LESS))

    def _negate(self, is_none: bool) -> None:
        """A negation holds to the end of its clause; two in a Spanish clause are one."""
        self.denies_clause = True
        self.negations = 1 if self.language == "es" else self.negations + 1
        if is_none:
            self.quantifier = "none"

    def _read_content(self, raw: str, lower: str, start: int, end: int) -> None:
        meaning, degree, form = _describe_content(raw, lower, self.language, len(self.words) == 1)
        kind = meaning[1]
        if kind not in (WORD, NAME):
            return
        if degree and self.text[end : end + 4] == " de ":  # mayores de 70 años
            degree = NO_DEGREE
        is_verb = kind == WORD and form != "" and self._is_verb(form)
        self._begin_phrase(kind, is_verb and form == "finite")
        self.degree = self.degree or degree
        self._add(meaning, lower, start, end, None, is_verb)

    def _begin_phrase(self, kind: int, is_finite: bool) -> None:
        """What no longer holds from this word on: a preposition before a verb or a name of its own, a comparison."""
        if is_finite or (kind == NAME and self._follows_noun()):
            self._govern("")
        last = self.items[-1] if self.items else None
        if kind == WORD and self.is_compared and last and last.kind == NAME and last.is_compared:
            self.is_compared = False  # than Denby last season

    def _is_verb(self, form: VerbForm) -> bool:
        if form == "base" and self.words[-2:-1] == ["to"]:
            return True
        return form in ("finite", "past", "infinitive") and not self._follows_article()

    def _follows_article(self) -> bool:
        before = self.words[-2] if len(self.words) > 1 else ""
        return before in self.function.determiners or before in self.function.prepositions

    def _follows_noun(self) -> bool:
        """Whether a name begins a phrase of its own after the noun of the first one: in the final Olsen beat …, in 2006 Olsen beat …"""
        here = [item for item in self.items if item.clause == self.clause]
        if not here or not all(item.preposition for item in here):
            return False
        is_moment = here[-1].quantity is not None and here[-1].quantity.kind in ("date", "time")
        return (here[-1].kind == WORD or is_moment) and here[-1].place == len(self.words) - 2

    def _add(
        self,
        meaning: Meaning,
        lower: str,
        start: int,
        end: int,
        quantity: Quantity | None,
        is_verb: bool = False,
    ) -> None:
        """Append an item in the present state."""
        is_negated = self.negations % 2 == 1  # two negations cancel out
        # without names, in the order of the fields: names cost twice the time, and every content word is an item
        self.items.append(
            SentenceItem(
                *meaning, lower, start, end, len(self.words) - 1, self.clause, self.section, self.preposition,
                self.preposition_place, is_negated, self.is_excepted, self.is_compared, self.is_unreal, is_verb,
                self.degree, self.quantifier, quantity,
            )
        )  # fmt: skip
        # used up by a word; a figure leaves them to its noun: all 40 cars
        if quantity is None:
            self.degree, self.quantifier = NO_DEGREE, ""
