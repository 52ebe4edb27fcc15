"""Words as the offline judge takes them: stems, numbers, dates, names and negations, each with its id and weight.

Every distinct meaning is kept once, and a text is a list of indexes into that table: where a function here says "the
number of a meaning" it is that index. A number that a text writes has the kind NUMBER and is held in a `_Pending`
until the word after it is known. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.aliases import PEOPLES
from ragstone.judges.offline.cutting import WHOLE, looks_whole, pattern_of, pieces, raw_tokens
from ragstone.judges.offline.tables import frequencies, vector_row
from ragstone.text.stems import stem_word

STOP, WORD, NAME, NUMBER, NEGATION = range(5)
"""What a token is."""

Meaning = tuple[int, int, float, int]
"""Id, kind, weight and vector row."""
Row = tuple[int, int, int, int, float, int]
"""Start and end of a token, then its meaning."""


def numbers(text: str, start: int, end: int, language: str) -> list[int]:
    """What each token between two places is, by the number of its meaning."""
    found = _plain_sentence(text[start:end], language)
    return _joined(text, start, end, language) if found is None else found


@lru_cache(maxsize=2048)
def _plain_sentence(sentence: str, language: str) -> list[int] | None:
    """What `_plain` says of a sentence; chunks that overlap and answers that quote have sentences in common."""
    return _plain(raw_tokens(sentence), language)


class _Meanings:
    """Every meaning met so far, column by column: four look-ups read a whole text."""

    def __init__(self) -> None:
        self.numbers: dict[Meaning, int] = {}
        self.rows: list[Meaning] = []
        self.figures: set[int] = set()
        """Those of kind NUMBER."""
        self.ids = np.zeros(4096, np.int32)
        self.kinds = np.zeros(4096, np.int8)
        self.weights = np.zeros(4096, np.float32)
        self.vectors = np.zeros(4096, np.int32)

    def add(self, meaning: Meaning) -> int:
        number = len(self.rows)
        if number == len(self.ids):
            self.ids = np.concatenate([self.ids, np.zeros_like(self.ids)])
            self.kinds = np.concatenate([self.kinds, np.zeros_like(self.kinds)])
            self.weights = np.concatenate([self.weights, np.zeros_like(self.weights)])
            self.vectors = np.concatenate([self.vectors, np.zeros_like(self.vectors)])
        self.ids[number], self.kinds[number], self.weights[number], self.vectors[number] = meaning
        if meaning[1] == NUMBER:
            self.figures.add(number)
        self.rows.append(meaning)
        self.numbers[meaning] = number
        return number


_meanings = _Meanings()
_adding = threading.Lock()


def number_of(meaning: Meaning) -> int:
    """The number under which a meaning is kept."""
    found = _meanings.numbers.get(meaning)
    if found is None:
        with _adding:
            found = _meanings.numbers.get(meaning)
            if found is None:
                found = _meanings.add(meaning)
    return found


Columns = tuple[
    npt.NDArray[np.int32], npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.int32]
]


def columns(found: list[int]) -> Columns:
    """Ids, kinds, weights and vector rows of meanings by their numbers."""
    at = np.array(found, np.intp)
    known = _meanings
    return known.ids.take(at), known.kinds.take(at), known.weights.take(at), known.vectors.take(at)


def places(text: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    """Where each token between two places stands."""
    found = _plain_sentence(text[start:end], language)
    if found is not None:
        spans = [match.span() for match in pattern_of(text).finditer(text, start, end)]
        if len(spans) == len(found):  # no word was cut
            return spans
    return [(row[0], row[1]) for row in tokens(text, start, end, language)]


def written(text: str, start: int, end: int, language: str) -> list[str]:
    """Each token between two places as it is written."""
    found = _plain_sentence(text[start:end], language)
    if found is not None:
        words = raw_tokens(text[start:end])
        if len(words) == len(found):
            return words
    return [text[row[0] : row[1]] for row in tokens(text, start, end, language)]


_known: dict[str, dict[str, int]] = {}
"""Words of each language as they are read inside a sentence; most tokens of a text are among them."""
_MOST_KNOWN = 200_000


def _plain(words: list[str], language: str) -> list[int] | None:
    """One look-up a word, cut where it is several; None where a word joins the number before it."""
    if not words:
        return []
    found, words = _look_up_words(words, language)
    return None if _find_joined(found, words) else found


def _look_up_words(words: list[str], language: str) -> tuple[list[int], list[str]]:
    """What each word is by itself, and the words, those that are several cut."""
    known = _known.setdefault(language, {})
    found = list(map(known.get, words))
    if words[0][0].isupper() and words[0].lower() not in lexicon.NUMBER_WORDS:
        found[0] = _look_up_first(words[0], language)
    if None in found:
        found = [
            _learn_word(word, language) if number is None else number
            for number, word in zip(found, words, strict=True)
        ]
        if None in found:
            cut = [part for word in words for part, _, _ in pieces(word, 0, len(word))]
            return _look_up_words(cut, language)
    return found, words  # type: ignore[return-value]  # no None is left


def _find_joined(found: list[int], words: list[str]) -> list[int]:
    """The numbers that the word after them may change."""
    figures = _meanings.figures
    if figures.isdisjoint(found):
        return []
    return [
        at
        for at, (number, after) in enumerate(zip(found, words[1:], strict=False))
        if number in figures and after.lower() in _JOINS
    ]


def _joined(text: str, start: int, end: int, language: str) -> list[int]:
    """The same where words join numbers: from such a number on, one token after the other."""
    matches = list(pattern_of(text).finditer(text, start, end))
    found, words = _look_up_words([match.group() for match in matches], language)
    if len(words) > len(matches):
        return [number_of(row[2:]) for row in tokens(text, start, end, language)]
    out: list[int] = []
    at = 0
    for joined in _find_joined(found, words):
        if joined < at or _value(words[joined], language) is None:  # a month, a time of day
            continue
        out += found[at:joined]
        rows: list[Row] = []
        pending: _Pending | None = None
        at = joined
        while at == joined or (pending is not None and at < len(words)):
            pending = _add(words[at], *matches[at].span(), text, language, pending, rows)
            at += 1
        if pending is not None:
            rows.append(_make_number_row(*pending))
        out += [number_of(row[2:]) for row in rows]
    return out + found[at:]


@lru_cache(maxsize=65536)
def _look_up_first(raw: str, language: str) -> int | None:
    """A capitalised word at the start of a sentence; None when it is not read as it is written."""
    return number_of(describe_word(raw, language, True)) if _is_whole(raw) else None


def _learn_word(raw: str, language: str) -> int | None:
    """A word inside a sentence, from now on known; None when it is not read as it is written."""
    value = _value(raw, language)
    if value is not None:
        found = _make_number_row(0, 0, value)[2:]
    elif ":" in raw:
        found = _make_time_row(raw, 0, 0)[2:]
    elif _is_whole(raw):
        found = describe_word(raw, language, False)
    else:
        return None
    known = _known.setdefault(language, {})
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[raw] = number = number_of(found)
    return number


def _is_whole(raw: str) -> bool:
    """Whether a token is read as it is written."""
    return looks_whole(raw) or [part for part, _, _ in pieces(raw, 0, len(raw))] == [raw]


def tokens(text: str, start: int, end: int, language: str) -> list[Row]:
    """Every token between two places with its place, words that join a number put together."""
    out: list[Row] = []
    pending: _Pending | None = None
    known = _known.setdefault(language, {})
    for raw, a, b in pieces(text, start, end):
        word = None
        if pending is None and (out or not raw[0].isupper()):
            word = known.get(raw)
            word = _learn_word(raw, language) if word is None else word
        if word is not None and _meanings.rows[word][1] != NUMBER:
            out.append((a, b, *_meanings.rows[word]))
        else:
            pending = _add(raw, a, b, text, language, pending, out)
    if pending is not None:
        out.append(_make_number_row(*pending))
    return out


_Pending = tuple[int, int, float]
"""Start, end and value of a number that the next word may still change: 5 million, twenty-five, 8 PM."""


def _add(
    raw: str, a: int, b: int, text: str, language: str, pending: _Pending | None, out: list[Row]
) -> _Pending | None:
    """Add a token, or the number before it, which this one may have changed."""
    value = _value(raw, language)
    if value is not None:
        if pending is not None and raw.isalpha() and 0 < value < 10 <= pending[2] < 100:
            return pending[0], b, pending[2] + value
        if pending is not None:
            out.append(_make_number_row(*pending))
        return a, b, value
    lower = raw.lower()
    if pending is not None:
        if (factor := lexicon.MAGNITUDES.get(lower)) and a - pending[1] <= 1:
            return pending[0], b, pending[2] * factor
        clock = _clock(lower, text, b, pending, a)
        if clock is not None:
            out.append(clock)
            return None
        if lower in _ORDINAL and a == pending[1]:
            return pending[0], b, pending[2]
        out.append(_make_number_row(*pending))
    if ":" in raw:
        out.append(_make_time_row(raw, a, b))
        return None
    out.append((a, b, *describe_word(raw, language, not out)))
    return None


_ORDINAL = frozenset({"st", "nd", "rd", "th", "º", "ª", "o", "a"})
_JOINS = _ORDINAL.union(lexicon.NUMBER_WORDS, lexicon.MAGNITUDES, ("a", "p", "am", "pm"))
"""Words that may change the number before them."""


def _value(raw: str, language: str) -> float | None:
    if raw[0].isdecimal():  # not isdigit: that is true of ², which is no number to read
        return None if ":" in raw else _parse_number(raw, language)
    return lexicon.NUMBER_WORDS.get(raw.lower())


@lru_cache(maxsize=65536)
def _parse_number(raw: str, language: str) -> float | None:
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", raw):
        raw = raw.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(\.\d{3})+(,\d+)?", raw) and (
        language == "es" or raw.count(".") > 1
    ):
        raw = raw.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", raw):
        raw = raw.replace(",", ".")
    else:
        raw = re.match(r"\d+(?:\.\d+)?", raw.replace(",", "")).group()  # type: ignore[union-attr]
    return float(raw) if len(raw) < 300 else None


def _make_number_row(a: int, b: int, value: float) -> Row:
    return (a, b, identify(f"#{value:.12g}"), NUMBER, 6.0, -1)


def _make_time_row(raw: str, a: int, b: int) -> Row:
    hour, minute = re.findall(r"\d+", raw)
    late = "p" in raw.lower() and int(hour) < 12
    return (a, b, identify(f"@{int(hour) + 12 * late}:{int(minute):02d}"), NUMBER, 6.0, -1)


def _clock(lower: str, text: str, end: int, pending: tuple[int, int, float], at: int) -> Row | None:
    """`8 PM` as 20:00, so that it meets `20:0` in a record."""
    if at - pending[1] > 1 or pending[2] > 12 or pending[2] != int(pending[2]):
        return None
    if lower in ("a", "p") and text[end : end + 2].lower() == ".m":
        lower += "m"
    if lower not in ("am", "pm"):
        return None
    hour = int(pending[2]) % 12 + (12 if lower == "pm" else 0)
    return (pending[0], end, identify(f"@{hour}:00"), NUMBER, 6.0, -1)


_ids: dict[str, int] = {}


def count_ids() -> int:
    """How many numbers `identify` has given."""
    return len(_ids)


def identify(key: str) -> int:
    """The number of a stem, a number or a date, given in order of first use."""
    return _ids.setdefault(key, len(_ids))


@lru_cache(maxsize=8192)
def describe_word(raw: str, language: str, first: bool) -> tuple[int, int, float, int]:
    """Id, kind, weight and vector row of a word that is not a number."""
    lower = raw.lower().replace("’", "'")
    if lower in WHOLE:
        lower = lower.replace("-", "")
    capital = raw[0].isupper()
    if closed := _describe_closed(raw, lower, language):
        return closed
    lower = lower.removesuffix("'s")
    same = lexicon.SAME.get(lower, lower)
    if capital or language == "es":  # in English a small "polish" is no people
        same = PEOPLES.get(same, same)
    stem = unaccented(stem_word(same, language))
    stem = lexicon.SAME_STEMS.get(language, {}).get(stem, stem)
    weight = frequencies().rarity(stem)
    named = capital and (not first or raw.isupper() or frequencies().seen_small(lower) < 2)
    return identify(stem), NAME if named and len(raw) > 1 else WORD, weight, vector_row(lower)


def _describe_closed(raw: str, lower: str, language: str) -> Meaning | None:
    """The same of a word of a closed class: a month or day, a negation, a sign, a function word; None for any other."""
    if raw[0].isupper() or lower not in lexicon.ONLY_CAPITALISED:
        if month := lexicon.MONTHS.get(lower):
            return identify(f"@m{month}"), NUMBER, 5.0, vector_row(lower)
        if day := lexicon.WEEKDAYS.get(lower) or lexicon.WEEKDAYS.get(lower.removesuffix("s")):
            return identify(f"@d{day}"), NUMBER, 5.0, vector_row(lower)
    if lower.endswith("n't") or lower in lexicon.NEGATIONS:
        return identify("-not"), NEGATION, 1.5, -1
    lower = lower.removesuffix("'s")
    if lower in _SIGNS:
        return identify(_SIGNS[lower]), STOP, 1.0, -1
    if lower in lexicon.STOP.get(language, frozenset()) and (lower != "us" or raw != "US"):
        return identify(lower), STOP, 0.3, -1
    return None


_SIGNS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "½": "half"}


def unaccented(stem: str) -> str:
    """Without accents: names lose them when they are typed in another language."""
    if stem.isascii():
        return stem
    parts = unicodedata.normalize("NFD", stem)
    return "".join(part for part in parts if not unicodedata.combining(part))


def stem_id(word: str, language: str) -> int:
    """The id that `read` gives to a word inside a sentence."""
    return describe_word(word, language, False)[0]
