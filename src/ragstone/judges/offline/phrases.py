"""A sentence as rules compare it: content words and quantities, each with its clause, preposition and polarity."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.words import NAME, NUMBER, WORD, describe_word, identify
from ragstone.text.quantities import Quantity, find_quantities


@dataclass(frozen=True, slots=True)
class Item:
    """A content word or a quantity of a sentence."""

    id: int
    """Equal ids mean equal stems; a quantity is compared by what it says."""
    kind: int
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
    """Parts between stronger breaks than a comma."""
    preposition: str
    """What governs it, empty for a subject, a direct object or a verb."""
    preposition_place: int
    is_negated: bool
    is_excepted: bool
    """Whether it stands after "except"."""
    quantifier: str
    """`all`, `most`, `some`, `few`, `none` or `only`, of the word that follows it."""
    quantity: Quantity | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """The items of one sentence, and the places of the function words that rules look at."""

    text: str
    language: str
    items: tuple[Item, ...]
    words: tuple[str, ...]
    """Every token in small letters, function words included."""
    is_unclear: bool
    """Whether what it denies cannot be told: no other, not … without, only if."""

    def quote(self, item: Item) -> str:
        return self.text[item.start : item.end]


@lru_cache(maxsize=8192)
def parse_sentence(text: str, language: str) -> Sentence:
    """Read one sentence; languages other than Spanish are read as English."""
    language = "es" if language == "es" else "en"
    return _Parser(text, language).parse()


_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d[\d.,:]*\d|\d|[;:()\[\]—–!?]|,|[^\W\d_]*-")


_RELATIONS = frozenset(
    "more less above below up down first last inside outside más menos".split()
)
"""Function words that have an opposite: they are compared like content words."""
RELATION_WEIGHT = 2.0
LETTER_WEIGHT = 4.0
"""A capital letter that names something: drug A."""


class _Parser:
    """Reads a sentence from left to right; what holds for the words to come is state."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language = text, language
        self.words: list[str] = []
        self.items: list[Item] = []
        self.clause = self.section = 0
        self.is_unclear = self.denies_clause = self.denies_phrase = False
        self.preposition, self.preposition_place = "", -1
        self.negations = 0
        self.flips_next = False
        self.is_excepted = False
        self.quantifier = ""
        self.function = FUNCTION_WORDS[language]

    def parse(self) -> Sentence:
        quantities = find_quantities(self.text, self.language)
        at = 0
        for quantity in quantities:
            self._read_words(at, quantity.start)
            self._add_quantity(quantity)
            at = quantity.end
        self._read_words(at, len(self.text))
        unclear = self.is_unclear or self.denies_clause and self.denies_phrase
        return Sentence(self.text, self.language, tuple(self.items), tuple(self.words), unclear)

    def _read_words(self, start: int, end: int) -> None:
        for match in _TOKEN.finditer(self.text, start, end):
            raw = match.group()
            lower = raw.lower().replace("’", "'")
            if lower[0].isalnum():
                self.words.append(lower)
                self._read_word(raw, lower, *match.span())
            elif lower != "-":
                self._end_clause(lower == ",")

    def _end_clause(self, is_comma: bool = False) -> None:
        self.clause += 1
        self.negations = 0
        self.flips_next = False
        self.quantifier = ""
        self.preposition, self.preposition_place = "", -1
        if not is_comma:
            self.section += 1
            self.is_excepted = False

    def _read_word(self, raw: str, lower: str, start: int, end: int) -> None:
        function = self.function
        if len(raw) == 1 and raw.isupper() and len(self.words) > 1 and start and self.text[start - 1] == " ":
            self._add((identify(f"letter {raw}"), NAME, LETTER_WEIGHT, -1), raw, start, end, None)
            return
        if lower in function.only and self.words[-2:-1] and self.words[-2] in ("not", "no"):
            self.negations = 0  # not only
            return
        if lower.endswith("n't") or lower in function.negations:
            self._negate(lower)
            return
        if lower in function.comparing and self._compares():
            self.preposition, self.preposition_place = "than", len(self.words) - 1
            return
        if lower in function.others and self.negations:
            self.is_unclear = True
        if lower == function.infinitive and function.excess in self.words[-4:]:
            self._negate(lower)
        if lower in function.boundaries:
            excepted = self.is_excepted
            self._end_clause()
            self.is_excepted = excepted and lower in function.list_joins
        if lower in function.exceptions:
            self._end_clause()
            self.is_excepted = True
        elif lower in function.quantifiers:
            self.quantifier = function.quantifiers[lower]
            if self.quantifier == "all" and self.words[-2:-1] and self.words[-2] in ("not", "no"):
                self.quantifier, self.negations = "some", 0  # not all
            return
        if lower in function.prepositions:
            self.preposition = function.prepositions[lower]
            self.preposition_place = len(self.words) - 1
            if lower in function.phrase_negations:
                self.negations += 1
                self.denies_phrase = True
        elif lower in function.less:
            self.flips_next = True
        elif lower in lexicon.STOP[self.language] and lower not in _RELATIONS:
            if lower not in function.determiners:
                self.preposition, self.preposition_place = "", -1
            return
        identity, kind, weight, row = describe_word(raw, self.language, len(self.words) == 1)
        if kind == NAME and self._follows_noun():
            self.preposition, self.preposition_place = "", -1
        if lower in _RELATIONS:
            self._add((identity, WORD, RELATION_WEIGHT, row), lower, start, end, None)
        elif kind in (WORD, NAME) and lower not in function.prepositions:
            self._add((identity, kind, weight, row), lower, start, end, None)

    def _follows_noun(self) -> bool:
        """Whether the word before is a common noun: a name after it begins a phrase of its own."""
        last = self.items[-1] if self.items else None
        return last is not None and last.kind == WORD and last.place == len(self.words) - 2

    def _compares(self) -> bool:
        """Whether a comparative stands shortly before: más lento que."""
        return not self.function.comparatives.isdisjoint(self.words[-6:-1])

    def _negate(self, lower: str) -> None:
        """A negation holds to the end of its clause; two in a Spanish clause are one."""
        self.denies_clause = True
        if self.language == "es":
            self.negations = 1
        else:
            self.negations += 1
        if lower in self.function.none_words:
            self.quantifier = "none"

    def _add_quantity(self, quantity: Quantity) -> None:
        self.words.append("#")
        lower = self.text[quantity.start : quantity.end].lower()
        self._add((-1, NUMBER, 4.0, -1), lower, quantity.start, quantity.end, quantity)

    def _add(
        self,
        meaning: tuple[int, int, float, int],
        lower: str,
        start: int,
        end: int,
        quantity: Quantity | None,
    ) -> None:
        identity, kind, weight, row = meaning
        self.items.append(
            Item(
                id=identity, kind=kind, weight=weight, row=row, lower=lower, start=start, end=end,
                place=len(self.words) - 1, clause=self.clause, section=self.section, preposition=self.preposition,
                preposition_place=self.preposition_place,
                is_negated=bool((self.negations + self.flips_next) % 2), is_excepted=self.is_excepted,
                quantifier=self.quantifier, quantity=quantity,
            )  # fmt: skip
        )
        self.flips_next = False
        if quantity is None:
            self.quantifier = ""
