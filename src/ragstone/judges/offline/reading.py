"""Text as the offline judge reads it: words with stems, numbers, names and negations, in sentences. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.words import (
    NAME,
    NEGATION,
    NUMBER,
    STOP,
    WORD,
    Row,
    columns,
    number_of,
    numbers,
    places,
    stem_id,
    tokens,
    unaccented,
    written,
)
from ragstone.text.language import detect_language
from ragstone.text.sentences import split_sentences

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
__all__ = [
    "NAME", "NEGATION", "NUMBER", "STOP", "WORD", "Floats", "Ints", "Reading", "read",
    "stem_id", "unaccented",
]  # fmt: skip


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
        return _written(self.raw, self.language)[token]


def read(text: str, language: str | None = None) -> Reading:
    """The text with every token annotated; the language is guessed when not given."""
    return _read(text, (language or _detect(text)).split("-")[0])


@lru_cache(maxsize=1024)
def _detect(text: str) -> str:
    return detect_language(text[:2000])


@lru_cache(maxsize=1024)
def _read(text: str, language: str) -> Reading:
    structured = _is_record(text)
    spans = list(_record_parts(text)) if structured else split_sentences(text, language)
    found: list[int] = []
    sizes: list[int] = []
    if structured:
        for here in _record_tokens(text, spans, language):
            found += [number_of(row[2:]) for row in here]
            sizes.append(len(here))
    else:
        for start, end in spans:
            before = len(found)
            found += numbers(text, start, end, language)
            sizes.append(len(found) - before)
    ids, kinds, weights, vectors = columns(found)
    return Reading(
        raw=text,
        language=language,
        sentences=spans,
        ids=ids,
        kinds=kinds,
        weights=weights,
        rows=vectors,
        sentence=np.arange(len(spans), dtype=np.int32).repeat(sizes),
        structured=structured,
        polarity=np.array([_polarity(text[a:b]) for a, b in spans], np.int8)
        if structured
        else np.zeros(len(spans), np.int8),
    )


def _record_tokens(text: str, spans: list[tuple[int, int]], language: str) -> Iterator[list[Row]]:
    parents: list[tuple[int, list[Row]]] = []
    for start, end in spans:
        yield _with_parents(text, start, end, tokens(text, start, end, language), parents)


@lru_cache(maxsize=128)
def _places(text: str, language: str) -> list[tuple[int, int]]:
    if _is_record(text):
        spans = list(_record_parts(text))
        parts = [row for here in _record_tokens(text, spans, language) for row in here]
        return [(row[0], row[1]) for row in parts]
    return [
        place for a, b in split_sentences(text, language) for place in places(text, a, b, language)
    ]


@lru_cache(maxsize=128)
def _written(text: str, language: str) -> list[str]:
    if _is_record(text):
        return [text[a:b] for a, b in _places(text, language)]
    return [
        word for a, b in split_sentences(text, language) for word in written(text, a, b, language)
    ]


_YES_NO = re.compile(r':\s*"?(?:(true|yes|free)|(false|no|none)|(null|))"?\s*$', re.IGNORECASE)


def _polarity(part: str) -> int:
    match = _YES_NO.search(part)
    return 0 if not match else 1 if match[1] else -1 if match[2] else -2


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
        for a, b in split_sentences(text[start:end], "en"):
            yield start + a, start + b


def _with_parents(
    text: str,
    start: int,
    end: int,
    here: list[Row],
    parents: list[tuple[int, list[Row]]],
) -> list[Row]:
    """Put the words of the enclosing key before those of a nested pair: parking, garage, true."""
    depth = text.count("{", 0, start) - text.count("}", 0, start)
    while parents and parents[-1][0] >= depth:
        parents.pop()
    joined = [row for _, rows in parents for row in rows] + here
    if text[end : end + 2].lstrip()[:1] == "{":
        parents.append((depth, here))
    return joined
