"""Text as the offline judge reads it: words with stems, numbers, names and negations, in sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import snowballstemmer

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.tables import frequencies, stems, vector_row
from ragstone.language import sentences

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

STOP, WORD, NAME, NUMBER, NEGATION = range(5)
"""What a token is."""


@dataclass(slots=True)
class Reading:
    """One text, token by token; token arrays run over its sentences in order."""

    raw: str
    language: str
    sentences: list[tuple[int, int]]
    """Where each sentence stands in the text."""
    ids: Ints
    """Equal ids mean equal stems, numbers or dates."""
    kinds: npt.NDArray[np.int8]
    weights: Floats
    """How rare the word is: inverse document frequency."""
    rows: Ints
    """Row in the table of word vectors, -1 for none."""
    sentence: Ints
    """Which sentence each token stands in."""
    structured: bool
    """Whether the text is a record (JSON) and not prose."""
    polarity: npt.NDArray[np.int8]
    """For each sentence of a record: 1 yes, -1 no, -2 unknown (null), 0 anything else."""

    @property
    def places(self) -> list[tuple[int, int]]:
        """Where each token starts and ends; found when first asked for, since few texts need it."""
        return _places(self.raw, self.language)

    def surface(self, token: int) -> str:
        """The token as it is written."""
        start, end = self.places[token]
        return self.raw[start:end]


def read(text: str, language: str | None = None) -> Reading:
    """The text with every token annotated; the language is guessed when not given."""
    return _read(text, (language or guess_language(text)).split("-")[0])


@lru_cache(maxsize=2048)
def _read(text: str, language: str) -> Reading:
    structured = _is_record(text)
    spans = list(_record_parts(text)) if structured else sentences(text, language)
    rows: list[_Meaning] = []
    sizes: list[int] = []
    if structured:
        for here in _record_tokens(text, spans, language):
            rows += [row[2:] for row in here]
            sizes.append(len(here))
    else:
        for start, end in spans:
            before = len(rows)
            rows += _quick(text, start, end, language)
            sizes.append(len(rows) - before)
    ids, kinds, weights, vectors = zip(*rows, strict=True) if rows else ((),) * 4
    return Reading(
        raw=text,
        language=language,
        sentences=spans,
        ids=np.array(ids, np.int32),
        kinds=np.array(kinds, np.int8),
        weights=np.array(weights, np.float32),
        rows=np.array(vectors, np.int32),
        sentence=np.repeat(np.arange(len(spans), dtype=np.int32), sizes),
        structured=structured,
        polarity=np.array([_polarity(text[a:b]) for a, b in spans], np.int8)
        if structured
        else np.zeros(len(spans), np.int8),
    )


def _record_tokens(text: str, spans: list[tuple[int, int]], language: str) -> Iterator[list[_Row]]:
    parents: list[tuple[int, list[_Row]]] = []
    for start, end in spans:
        yield _with_parents(text, start, end, _tokens(text, start, end, language), parents)


@lru_cache(maxsize=512)
def _places(text: str, language: str) -> list[tuple[int, int]]:
    if _is_record(text):
        spans = list(_record_parts(text))
        parts = [row for here in _record_tokens(text, spans, language) for row in here]
    else:
        spans = sentences(text, language)
        parts = [row for a, b in spans for row in _tokens(text, a, b, language)]
    return [(row[0], row[1]) for row in parts]


_YES_NO = re.compile(r':\s*"?(?:(true|yes|free)|(false|no|none)|(null|))"?\s*$', re.IGNORECASE)


def _polarity(part: str) -> int:
    match = _YES_NO.search(part)
    return 0 if not match else 1 if match[1] else -1 if match[2] else -2


@lru_cache(maxsize=4096)
def guess_language(text: str) -> str:
    """The language by its most frequent words or its script; "en" when nothing tells."""
    head = text[:2000]
    if not head.isascii():
        size = len(head.replace(" ", ""))
        for code, pattern in _SCRIPTS:
            if len(pattern.findall(head)) > 0.3 * size:
                return code
    words = set(_LETTERS.findall(head.lower()))
    counts = {code: len(words & markers) for code, markers in lexicon.MARKERS.items()}
    best = max(counts, key=lambda code: counts[code])
    if counts[best] > max(counts["en"], counts["es"]):
        return best
    if counts["en"] == counts["es"] == 0 and _SPANISH_SIGN.search(text):
        return "es"
    return "es" if counts["es"] > counts["en"] else "en"


_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
)
_LETTERS = re.compile(r"[^\W\d_]+")
_SPANISH_SIGN = re.compile("[áéíóúñ¿¡]")
_NUMBER = r"\d{1,2}:\d{1,2}(?:\s?[aApP]\.?[mM]\b\.?)?|\d+(?:[.,]\d+)*"
_TOKEN = re.compile(
    rf"{_NUMBER}|[\u3040-\u30ff\u4e00-\u9fff]|[Ww]i-?[Ff]i|[Tt]ake-?[Oo]ut"
    r"|[^\W\d_]+(?:['’][^\W\d_]+)?|%|[$€£½]"
)
_CAMEL = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")
_WHOLE = frozenset({"wifi", "wi-fi", "takeout", "take-out"})

_Row = tuple[int, int, int, int, float, int]


def _pieces(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Raw tokens with their places; `OutdoorSeating` is two words."""
    out: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(text, start, end):
        raw = match.group()
        if raw.islower() or raw[1:].islower() or len(raw) < 4 or not raw.isalpha() or raw.isupper():
            out.append((raw, match.start(), match.end()))
        elif raw.lower() in _WHOLE:
            out.append((raw.lower(), match.start(), match.end()))
        else:
            parts = _CAMEL.finditer(text, *match.span())
            out += [(part.group(), part.start(), part.end()) for part in parts]
    return out


_Meaning = tuple[int, int, float, int]
"""Id, kind, weight and vector row."""
_plain: dict[str, dict[str, _Meaning]] = {}
"""Words of each language that are read alike wherever they stand; most tokens of a text are among them."""
_MOST_PLAIN = 200_000


def _quick(text: str, start: int, end: int, language: str) -> list[_Meaning]:
    """Tokens without their places: one look-up a word when all words are plain and met before."""
    words = _TOKEN.findall(text, start, end)
    known = _plain.setdefault(language, {})
    rows = [known.get(word) for word in words]
    if words and words[0][:1].isupper():
        rows[0] = None if words[0].lower() in lexicon.NUMBER_WORDS else _first(words[0], language)
    if None in rows:
        return [row[2:] for row in _tokens(text, start, end, language)]
    return rows  # type: ignore[return-value]  # no None is left


@lru_cache(maxsize=65536)
def _first(raw: str, language: str) -> _Meaning | None:
    """A capitalised word at the start of a sentence; None when it is not read as it is written."""
    parts = [part for part, _, _ in _pieces(raw, 0, len(raw))]
    return _word(raw, language, True) if parts == [raw] else None


def _tokens(text: str, start: int, end: int, language: str) -> list[_Row]:
    out: list[_Row] = []
    number: _Pending | None = None
    known = _plain.setdefault(language, {})
    for raw, a, b in _pieces(text, start, end):
        word = known.get(raw) if number is None and (out or not raw[0].isupper()) else None
        if word is not None:
            out.append((a, b, *word))
        else:
            number = _add(raw, a, b, text, language, number, out)
    if number is not None:
        out.append(_number(*number))
    return out


_Pending = tuple[int, int, float]
"""Start, end and value of a number that the next word may still change: 5 million, twenty-five, 8 PM."""


def _add(
    raw: str, a: int, b: int, text: str, language: str, number: _Pending | None, out: list[_Row]
) -> _Pending | None:
    """Add a token, or the number before it, which this one may have changed."""
    value = _value(raw, language)
    if value is not None:
        if number is not None and raw.isalpha() and 0 < value < 10 <= number[2] < 100:
            return number[0], b, number[2] + value
        if number is not None:
            out.append(_number(*number))
        return a, b, value
    lower = raw.lower()
    if number is not None:
        if (factor := lexicon.MAGNITUDES.get(lower)) and a - number[1] <= 1:
            return number[0], b, number[2] * factor
        clock = _clock(lower, text, b, number, a)
        if clock is not None:
            out.append(clock)
            return None
        if lower in _ORDINAL and a == number[1]:
            return number[0], b, number[2]
        out.append(_number(*number))
    if ":" in raw:
        out.append(_time(raw, a, b))
        return None
    first = not out
    word = _word(raw, language, first)
    out.append((a, b, *word))
    if (not first or not raw[0].isupper()) and text[a:b] == raw and _TOKEN.fullmatch(raw):
        known = _plain.setdefault(language, {})
        if len(known) > _MOST_PLAIN:
            known.clear()
        known[raw] = word
    return None


_ORDINAL = frozenset({"st", "nd", "rd", "th", "º", "ª", "o", "a"})


def _value(raw: str, language: str) -> float | None:
    if raw[0].isdigit():
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


def _number(a: int, b: int, value: float) -> _Row:
    return (a, b, _id(f"#{value:.12g}"), NUMBER, 6.0, -1)


def _time(raw: str, a: int, b: int) -> _Row:
    hour, minute = re.findall(r"\d+", raw)
    late = "p" in raw.lower() and int(hour) < 12
    return (a, b, _id(f"@{int(hour) + 12 * late}:{int(minute):02d}"), NUMBER, 6.0, -1)


def _clock(
    lower: str, text: str, end: int, pending: tuple[int, int, float], at: int
) -> _Row | None:
    """`8 PM` as 20:00, so that it meets `20:0` in a record."""
    if at - pending[1] > 1 or pending[2] > 12 or pending[2] != int(pending[2]):
        return None
    if lower in ("a", "p") and text[end : end + 2].lower() == ".m":
        lower += "m"
    if lower not in ("am", "pm"):
        return None
    hour = int(pending[2]) % 12 + (12 if lower == "pm" else 0)
    return (pending[0], end, _id(f"@{hour}:00"), NUMBER, 6.0, -1)


_ids: dict[str, int] = {}


def _id(key: str) -> int:
    return _ids.setdefault(key, len(_ids))


@lru_cache(maxsize=131072)
def _word(raw: str, language: str, first: bool) -> tuple[int, int, float, int]:
    """Id, kind, weight and vector row of a word that is not a number."""
    lower = raw.lower().replace("’", "'")
    if lower in _WHOLE:
        lower = lower.replace("-", "")
    capital = raw[0].isupper()
    if capital or lower not in lexicon.ONLY_CAPITALISED:
        if month := lexicon.MONTHS.get(lower):
            return _id(f"@m{month}"), NUMBER, 5.0, vector_row(lower)
        if day := lexicon.WEEKDAYS.get(lower):
            return _id(f"@d{day}"), NUMBER, 5.0, vector_row(lower)
    if lower.endswith("n't") or lower in lexicon.NEGATIONS:
        return _id("-not"), NEGATION, 1.5, -1
    if lower.endswith("'s"):
        lower = lower[:-2]
    if lower in _SIGNS:
        return _id(_SIGNS[lower]), STOP, 1.0, -1
    if lower in lexicon.STOP.get(language, frozenset()) and (lower != "us" or raw != "US"):
        return _id(lower), STOP, 0.3, -1
    stem = unaccented(_stem(lexicon.SAME.get(lower, lower), language))
    weight = frequencies().rarity(stem)
    named = capital and (not first or raw.isupper() or frequencies().seen_small(lower) < 2)
    return _id(stem), NAME if named and len(raw) > 1 else WORD, weight, vector_row(lower)


_SIGNS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "½": "half"}


def unaccented(stem: str) -> str:
    """Without accents: names lose them when they are typed in another language."""
    if stem.isascii():
        return stem
    parts = unicodedata.normalize("NFD", stem)
    return "".join(part for part in parts if not unicodedata.combining(part))


@lru_cache(maxsize=131072)
def _stem(word: str, language: str) -> str:
    known = stems(language).get(word)
    if known is not None:
        return known
    stemmer = _stemmer(language)
    return stemmer(word) if stemmer else word


@lru_cache(maxsize=32)
def _stemmer(language: str) -> Callable[[str], str] | None:
    names = {
        "en": "english", "es": "spanish", "fr": "french", "de": "german", "it": "italian",
        "pt": "portuguese", "nl": "dutch", "ru": "russian", "ar": "arabic",
    }  # fmt: skip
    if language not in names:
        return None
    made: Any = snowballstemmer.stemmer(names[language])
    stem: Callable[[str], str] = made.stemWord
    return stem


def stem_id(word: str, language: str) -> int:
    """The id that `read` gives to a word inside a sentence."""
    return _word(word, language, False)[0]


def _is_record(text: str) -> bool:
    head = text.lstrip()[:1]
    return head in ("{", "[") and text.count('":') >= 3


_PART = re.compile(r'"[^"\\]{1,60}"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[^\s",{}\[\]][^,{}\[\]]*|(?=[{\[]))')


def _record_parts(text: str) -> Iterator[tuple[int, int]]:
    """`"key": value` pairs; a long value is cut into sentences."""
    for match in _PART.finditer(text):
        start, end = match.span()
        if end - start < 160:
            yield start, end
            continue
        for a, b in sentences(text[start:end], "en"):
            yield start + a, start + b


def _with_parents(
    text: str,
    start: int,
    end: int,
    here: list[_Row],
    parents: list[tuple[int, list[_Row]]],
) -> list[_Row]:
    """Put the words of the enclosing key before those of a nested pair: parking, garage, true."""
    depth = text.count("{", 0, start) - text.count("}", 0, start)
    while parents and parents[-1][0] >= depth:
        parents.pop()
    joined = [row for _, rows in parents for row in rows] + here
    if text[end : end + 2].lstrip()[:1] == "{":
        parents.append((depth, here))
    return joined
