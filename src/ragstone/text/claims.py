"""Claims of a text: a claim is a sentence as it stands, cut further only where that is sure.
Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ragstone.text.answers import is_bare_answer, join_answer
from ragstone.text.appeals import is_appeal
from ragstone.text.clause_words import to_word_set
from ragstone.text.content import is_small_talk
from ragstone.text.language import detect_language
from ragstone.text.quantities import find_quantities
from ragstone.text.refusals import declines
from ragstone.text.sentences import MARKER
from ragstone.text.verbs import WORD, find_verb_form, has_clause


def answer_claims(values: Mapping[str, Any], language: str | None) -> Any:
    """The claims of each text, with the index of the sentence that they were made of."""
    rows: list[dict[str, Any]] = []
    for text in values["texts"]:
        for number, claim in _list_claims(text, language):
            rows.append({"text_id": text["id"], "sentence": number, "claim": claim})
    return {"claims": rows}


def _list_claims(text: Mapping[str, Any], language: str | None) -> list[tuple[int, str]]:
    if "question" in text:  # a bare answer
        parts = split_items(text["text"], language) or [to_plain_text(text["text"])]
        return [(0, join_answer(text["question"], part)) for part in parts]
    claims: list[tuple[int, str]] = []
    sentences = text["sentences"]
    for number, sentence in enumerate(sentences):
        if number == 0 and "asked" in text:
            claims.append((0, join_answer(text["asked"], to_plain_text(sentence))))
        elif not _is_table_heading(sentences, number, language):
            claims += [(number, claim) for claim in split_claims(sentence, language)]
    if len(claims) == len(sentences) == 1 and (parts := split_items(sentences[0], language)):
        return [(0, part) for part in parts]
    # a text of questions or headings alone still has to be judged; a refusal claims nothing
    if not claims and not all(map(declines, sentences)):
        return list(enumerate(sentences))
    return claims


def _is_table_heading(sentences: list[str], number: int, language: str | None) -> bool:
    """Whether a sentence has the names of a table's columns, or is the line under them; never one
    that states something."""
    line = sentences[number]
    if _TABLE_RULE.fullmatch(line):
        return True
    following = sentences[number + 1 : number + 2]
    is_above = "|" in line and bool(following) and _TABLE_RULE.fullmatch(following[0])
    return bool(is_above) and not has_clause(line, detect_language(line, language))


_TABLE_RULE = re.compile(r"\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?")


@lru_cache(maxsize=256)  # several metrics ask for the claims of the same answer
def split_claims(sentence: str, language: str | None = None) -> tuple[str, ...]:
    """The claims of a sentence, without markers and list marks; none of questions, headings,
    refusals and small talk."""
    text = to_plain_text(sentence)
    if says_nothing(text):
        return ()
    language = detect_language(text, language)
    return tuple(
        part for clause in _split_clauses(text, language) for part in _split_date(clause, language)
    )


def to_plain_text(text: str) -> str:
    """A text without citation markers, emphasis, list marks and an opening yes or no."""
    text = _EMPHASIS.sub("", _MARKERS.sub("", text)).strip()
    text = _LIST_MARK.sub("", text)
    opened = _YES_NO.match(text)
    return text[opened.end() - 1 :] if opened else text


_MARKERS = re.compile(rf"\s*(?:{MARKER})")
_EMPHASIS = re.compile(r"\*\*|__")
_LIST_MARK = re.compile(r"^(?:(?:[-*•·–]|#{1,6}|\(?\d{1,2}[.)])\s+)+")
_YES_NO = re.compile(r"(?:yes|no|sí)[,:]\s+\S", re.IGNORECASE)


def says_nothing(text: str) -> bool:
    """Whether a text states nothing: a question, a heading, a refusal, small talk, or words that
    only appeal to sources."""
    words = WORD.findall(text)
    if not words or asks(text) or is_appeal(text):
        return True
    if text.rstrip("*_ ").endswith(":") and len(words) < MAX_HEADING_WORDS:
        return True
    named = _SOURCE_LINE.fullmatch(text)
    if named and not has_clause(named["name"], detect_language(text)):
        return True
    return declines(text) or is_small_talk(text)


MAX_HEADING_WORDS = 25
"""Words before a colon at the end that only announce what follows."""
_SOURCE_LINE = re.compile(
    r"(?:sources?|references?|fuentes?|referencias?)\s*:\s*(?P<name>.+)", re.IGNORECASE
)
"""A line that names where it stands: Source: opening-hours.md."""


def asks(sentence: str) -> bool:
    """Whether a sentence is a question."""
    text = sentence.rstrip("\"'”’*_ ")
    if text.endswith("?") or sentence.lstrip().startswith("¿"):
        return True
    return bool(_ASKS.match(sentence)) and not text.endswith((".", "!", ":"))


_ASKS = re.compile(
    r"^\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|will|would|should|"
    r"quién|quiénes|qué|cuándo|dónde|cuál|cuáles|por qué|cómo|cuánto|cuánta|cuántos|cuántas)\b",
    re.IGNORECASE,
)


def split_items(text: str, language: str | None = None) -> list[str]:
    """The items of an answer that is a mere list (gold, copper and silver); none of any other
    text."""
    text = to_plain_text(text)
    if not is_bare_answer(text, language) or text.endswith(".") or not _AND.search(text):
        return []
    parts = [part.strip() for part in _COMMA.split(text) if part.strip()]
    are_items = all(
        len(WORD.findall(part)) <= MAX_ITEM_WORDS and not part.isdecimal() for part in parts
    )
    return parts if len(parts) > 1 and are_items else []


MAX_ITEM_WORDS = 3
_COMMA = re.compile(r"\s*,\s+(?:(?:and|y|e)\s+)?|\s+(?:and|y|e|&)\s+")
_AND = re.compile(r"\s(?:and|y|e|&)\s")


def _split_clauses(text: str, language: str) -> list[str]:
    """Clauses with a subject and a verb each: Paris is in France, and Rome is in Italy."""
    parts: list[str] = []
    start = 0
    for joint in _JOINT.finditer(text):
        left, right = text[start : joint.start()], text[joint.end() :]
        is_sure = ";" in joint.group() and _has_subject(right)
        is_sure |= bool(_PRONOUN_CLAUSE.match(right)) and _has_subject(left)
        if is_sure or (_is_independent(left, language) and _is_independent(right, language)):
            parts.append(left.strip(" ,;") + ".")
            start = joint.end()
    rest = text[start:].strip()
    return [*parts, rest[:1].upper() + rest[1:] if parts else rest]


_PRONOUN_CLAUSE = re.compile(
    r"(?:it|he|she|they|we|there)\s+(?:is|are|was|were|has|have|had|can|will|does|did)\b"
    r"|(?:ella|ellos|ellas)\s+(?:es|son|era|fue|tiene|tienen|está|están)\b"
)
_JOINT = re.compile(r";\s+|,?\s+(?:and|but|while|whereas|y|pero|mientras que)\s+(?=\S+\s+\S+)")


def _has_subject(text: str) -> bool:
    """Whether a text begins as a clause of its own does."""
    words = WORD.findall(text)[:3]
    if len(words) < 3 or words[0].lower() in _SUBORDINATES:
        return False
    return words[0][0].isupper() or words[0].lower() in _SUBJECTS


def _is_independent(text: str, language: str) -> bool:
    """Whether a text begins with a subject and has its verb within a few words."""
    words = WORD.findall(text)[:MAX_SUBJECT_WORDS]
    return _has_subject(text) and any(
        find_verb_form(word.lower(), language) == "finite" for word in words[1:]
    )


MAX_SUBJECT_WORDS = 6
_SUBJECTS = to_word_set(
    "he she it they we you i there the a an this these those its their his her our your el la los las un una ella ellos"
    " ellas este esta estos estas su sus"
)
_SUBORDINATES = to_word_set(
    "if when while although though because since unless as after before that which who whether according"
    " si cuando aunque porque como según mientras que"
)


def _split_date(text: str, language: str) -> list[str]:
    """A place and a date behind the same few words are two claims: born in Ulm on 14 March 1879."""
    match = _PLACE_AND_TIME.fullmatch(text)
    if match is None or len(WORD.findall(match["head"])) > MAX_DATED_WORDS:
        return [text]
    quantities = find_quantities(match["time"], language)
    if not any(
        quantity.kind == "date" or 1000 <= quantity.value <= 2100 for quantity in quantities
    ):
        return [text]
    return [f"{match['head']} {match[part]}." for part in ("place", "time")]


MAX_DATED_WORDS = 10
"""Words before a place and a date that both belong to; of longer ones they say something else."""
_PLACE_AND_TIME = re.compile(
    r"(?P<head>\S+ .*?\w)\s+(?P<place>(?:in|at|en)\s+(?:(?:the|el|la)\s+)?[A-ZÁÉÍÓÚÑ][\w'’.-]*(?:,?\s+(?:(?:de|of)\s+)?[A-ZÁÉÍÓÚÑ][\w'’-]*)*)"
    r",?\s+(?P<time>(?:on|in|el|en)\s+[^,;]*\d[^,;]*?)\.?",
)
