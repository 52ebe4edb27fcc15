"""Errors at the terminal in the user's language: English sentences are the keys of `locale/<language>/errors.toml`.

An error is raised in English, often put together from the sentences of several places, and programs read that text. Only
the terminal says it in another language: it recognises each line by the sentences of the catalogue, outside and inside,
that cover most of it. What no sentence covers, such as the words of another program, stays as it is."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from string import Formatter
from typing import NamedTuple

from ragstone.locale.catalogue import LANGUAGES, fill_phrase, load_phrases

MIN_MESSAGE_WORDS = 2
"""A message of the reports is recognised inside an error from so many words on; fewer may be a user's own."""

MAX_DEPTH = 6
"""Sentences inside sentences that are recognised: a location, a problem, its parts and their hint are four."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\{.*\}|\[.*\]")
"""A value, which is never translated."""


class ErrorSentence(NamedTuple):
    """An English sentence as a pattern, and what it is in another language."""

    pattern: str
    """A regular expression; few of the catalogue are ever compiled."""
    translation: str
    words: tuple[str, ...]
    """The texts between the placeholders: a quick test before the pattern."""


def translate_error(text: str, language: str) -> str:
    """An error, line by line; its indentation stays."""
    if language == LANGUAGES[0]:
        return text
    lines = []
    for line in text.split("\n"):
        words = line.lstrip()
        lines.append(line[: len(line) - len(words)] + recognise(words, language)[1])
    return "\n".join(lines)


@lru_cache(maxsize=1024)
def recognise(text: str, language: str, depth: int = MAX_DEPTH) -> tuple[int, str]:
    """How many characters of a text are words of the catalogue, and the text in that language."""
    best = (0, text)
    if depth == 0 or _QUOTED.fullmatch(text):
        return best
    is_whole = _has_pairs(text)
    for sentence in load_sentences(language):
        if not all(word in text for word in sentence.words):
            continue
        match = _compile(sentence.pattern).fullmatch(text)
        # a part that ends inside brackets would be cut out of a value
        if match is None or (is_whole and not all(map(_has_pairs, match.groups()))):
            continue
        parts = {
            name: recognise(part, language, depth - 1) for name, part in match.groupdict().items()
        }
        covered = sum(map(len, sentence.words)) + sum(count for count, _ in parts.values())
        if covered > best[0]:
            words = {name: part for name, (_, part) in parts.items()}
            best = (covered, fill_phrase(sentence.translation, words))
    return best


def _has_pairs(text: str) -> bool:
    return all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))


@cache  # the module `re` keeps no more than 512
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache
def load_sentences(language: str) -> tuple[ErrorSentence, ...]:
    """The sentences of errors, and those of the reports, which errors quote."""
    sentences = dict(load_phrases(language, "errors"))
    messages = load_phrases(language, "messages")
    for code, english in load_phrases(LANGUAGES[0], "messages").items():
        if len(re.sub(r"\{.*?\}", "", english).split()) >= MIN_MESSAGE_WORDS:
            sentences.setdefault(english, messages[code])
    return tuple(_parse_sentence(english, text) for english, text in sentences.items())


def _parse_sentence(english: str, translation: str) -> ErrorSentence:
    pattern, words, after_name = "", [], False
    for literal, name, spec, _ in Formatter().parse(english):
        pattern += re.escape(literal)
        words.append(literal)
        if name and "|" in (spec or ""):  # a word that goes with a count
            pattern += f"(?:{'|'.join(map(re.escape, (spec or '').split('|')))})"
        elif name and f"(?P<{name}>" in pattern:
            pattern += f"(?P={name})"
        elif name:
            # the second of two placeholders side by side is a hint (`; did you mean …`), or nothing
            pattern += f"(?P<{name}>{'(?:; .*)?' if after_name and not literal else '.*?'})"
        after_name = bool(name)
    plain = "".join(
        literal.replace("{", "{{").replace("}", "}}") + _plain_placeholder(name, spec)
        for literal, name, spec, _ in Formatter().parse(translation)
    )
    return ErrorSentence(pattern, plain, tuple(filter(None, words)))


def _plain_placeholder(name: str | None, spec: str | None) -> str:
    """A placeholder for a text: the formats of numbers and lists (`{share:.0%}`) go, words that go with a count stay."""
    if not name:
        return ""
    return f"{{{name}:{spec}}}" if "|" in (spec or "") else f"{{{name}}}"
