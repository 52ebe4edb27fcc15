"""Texts as the embedded judge reads them: sentences or facts, each a row of words with stem, kind
and weight."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ragstone.judges.offline.facts import Fact, find_facts
from ragstone.text.clause_words import to_word_set
from ragstone.text.language import detect_language
from ragstone.text.sentences import split_sentences
from ragstone.text.stems import stem_word
from ragstone.text.stopwords import STOPWORDS
from ragstone.text.terms import strip_accents

STOP, WORD, NAME, NUMBER, NEGATION = range(5)
"""Kinds of words."""


class Word(NamedTuple):
    """A word as it is written, and what it counts as."""

    written: str
    key: str
    """Its stem, or a number in digits: equal keys are the same word."""
    kind: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or a fact of a record."""

    start: int
    end: int
    """Where it stands in its text."""
    text: str
    """The sentence as written; of a fact "key: value"."""
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A text, read."""

    raw: str
    language: str
    units: tuple[Unit, ...]
    is_record: bool
    """Whether it holds facts, each of them a unit, and not prose."""
    words: tuple[Word, ...]
    """Those of all units, in order."""


def read(text: str, language: str | None = None) -> Reading:
    """Read a text; the language is guessed when not given."""
    return _read(text, (language or detect_language(text[:2000])).split("-")[0])


@lru_cache(maxsize=1024)
def _read(text: str, language: str) -> Reading:
    facts = find_facts(text)
    spans = facts or [Fact(a, b, text[a:b]) for a, b in split_sentences(text, language)]
    units = tuple(Unit(a, b, said, read_words(said, language)) for a, b, said in spans)
    words = tuple(word for unit in units for word in unit.words)
    return Reading(text, language, units, bool(facts), words)


@lru_cache(maxsize=4096)
def read_words(sentence: str, language: str) -> tuple[Word, ...]:
    """The words of a sentence in order."""
    written = _WORD.findall(sentence)
    words = [_read_word(word, language) for word in written]
    # a capital at the beginning says nothing
    if words and words[0].kind == NAME:
        first = words[0].written
        if len(first) == 1:
            words[0] = _read_word(first.lower(), language)
        elif not first.isupper():
            words[0] = words[0]._replace(kind=WORD)
    return tuple(words)


_WORD = re.compile(
    r"\d+(?:[.,:]\d+)*|[^\W\d_\u3040-\u30ff\u4e00-\u9fff]+(?:['’][^\W\d_]+)?|[\u3040-\u30ff\u4e00-\u9fff]|[%$€£]"
)


ROOT_CHARS = 6
"""Letters of a stem that are compared: Germany, German."""


@lru_cache(maxsize=50_000)
def _read_word(written: str, language: str) -> Word:
    lower = written.lower().replace("’", "'")
    if written[0].isdigit():
        return Word(written, _plain_figure(written, language), NUMBER)
    if lower in _NUMBER_WORDS:
        return Word(written, _NUMBER_WORDS[lower], NUMBER)
    if lower in NEGATIONS or lower.endswith("n't"):
        return Word(written, "not", NEGATION)
    lower = lower.removesuffix("'s")
    if lower in _SIGNS:
        return Word(written, _SIGNS[lower], STOP)
    is_stop = lower in STOPWORDS.get(language, ()) or "'" in lower or len(lower) == 1
    # capitals are names: US, and the letter of drug B
    if is_stop and (not written.isupper() or written == "I"):
        return Word(written, lower, STOP)
    stem = strip_accents(stem_word(lower, language))
    kind = NAME if written[0].isupper() else WORD
    return Word(written, stem[:ROOT_CHARS], kind)


def _plain_figure(written: str, language: str) -> str:
    """15,000 and 15.000 as 15000, 2,50 as 2.5; times as they are."""
    if ":" in written:
        return written.lstrip("0")
    groups = re.fullmatch(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d+)?", written)
    if groups and (groups[1] == ("." if language == "es" else ",")):
        written = written.replace(groups[1], "")
    whole = re.fullmatch(r"(\d+)[.,](\d+)", written)
    if whole:
        return f"{whole[1].lstrip('0') or '0'}.{whole[2].rstrip('0')}".rstrip(".")
    return written.lstrip("0") or "0"


NEGATIONS = to_word_set(
    "no not never none nobody nothing neither nor cannot without unable lack lacks false nunca jamás nadie nada ninguno"
    " ninguna ningún tampoco sin ni falso carece carecen fails failed refuses refused unlikely hardly barely apenas negó negaron"
)
_SIGNS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound"}
_NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(
        [
            "zero|cero",
            "-",
            "two|dos",
            "three|tres",
            "four|cuatro",
            "five|cinco",
            "six|seis",
            "seven|siete",
            "eight|ocho",
            "nine|nueve",
            "ten|diez",
            "eleven|once",
            "twelve|doce",
            "thirteen|trece",
            "fourteen|catorce",
            "fifteen|quince",
            "sixteen|dieciséis",
            "seventeen|diecisiete",
            "eighteen|dieciocho",
            "nineteen|diecinueve",
            "twenty|veinte",
        ]
    )
    for word in words.split("|")
}
"""One is a pronoun as often as a number; larger ones are met as quantities."""
