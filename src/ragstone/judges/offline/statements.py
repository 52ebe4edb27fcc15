"""Texts cut into claims: sentences, clauses that stand on their own, and dates told apart from places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.judges.offline.lexicon import MONTHS
from ragstone.text.refusals import declines


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of a sentence and the parts of that sentence it is made of."""

    text: str
    parts: tuple[tuple[int, int], ...]


@lru_cache(maxsize=2048)  # several metrics ask for the claims of the same answer
def statements(sentence: str) -> tuple[Statement, ...]:
    """The claims of one sentence; none for questions, headings and refusals."""
    start, end = _trim(sentence)
    body = sentence[start:end]
    if _says_nothing(body):
        return ()
    found: list[Statement] = []
    for a, b in _clauses(body):
        found.extend(_date_apart(body, a, b, start))
    return tuple(found)


def items(text: str) -> tuple[Statement, ...]:
    """The items of an answer that is a mere list, each a claim (gold, copper and silver); none of any other text."""
    start, end = _trim(text)
    joints = list(_COMMA.finditer(text, start, end))
    if not joints or not _AND.search(joints[-1].group()) or text.endswith((".", "!", "?", ":")):
        return ()
    starts = [start, *(joint.end() for joint in joints)]
    spans = list(zip(starts, [*(joint.start() for joint in joints), end], strict=True))
    if has_verb(text) or any(not _is_item(text[a:b]) for a, b in spans):
        return ()
    return tuple(Statement(_plain(text[a:b]), ((a, b),)) for a, b in spans)


def _is_item(text: str) -> bool:
    """Whether the text can be a thing in a list: few words, and no mere figure, which could belong to a date."""
    return 1 <= len(_WORD.findall(text)) <= LONGEST_ITEM and not text.strip().isdecimal()


LONGEST_ITEM = 3
"""Words of a thing in a list."""
_COMMA = re.compile(r"\s*,\s+(?:(?:and|y|e)\s+)?|\s+(?:and|y|e|&)\s+")
_AND = re.compile(r"\b(?:and|y|e)\b|&")


@lru_cache(maxsize=2048)
def states_nothing(claim: str) -> bool:
    """Whether a claim asks, or only appeals to its sources, so that there is nothing to look up."""
    return asks(claim) or all(word[0].lower() in _APPEAL for word in _WORD.finditer(claim))


def asks(sentence: str) -> bool:
    """Whether the sentence is a question."""
    text = sentence.rstrip("\"'”’*_ ")
    if text.endswith("?") or sentence.lstrip().startswith("¿"):
        return True
    return bool(_ASKS.match(sentence)) and not text.endswith((".", "!", ":"))


_ASKS = re.compile(
    r"^\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|will|would|should|"
    r"quién|quiénes|qué|cuándo|dónde|cuál|cuáles|por qué|cómo|cuánto|cuánta|cuántos|cuántas)\b",
    re.IGNORECASE,
)
_APPEAL = frozenset(
    [
        "as",
        "the",
        "this",
        "that",
        "these",
        "is",
        "are",
        "it",
        "to",
        "of",
        "in",
        "by",
        "and",
        "so",
        "clearly",
        "fully",
        "correct",
        "supported",
        "answer",
        "answers",
        "question",
        "context",
        "contexts",
        "state",
        "states",
        "stated",
        "says",
        "said",
        "source",
        "sources",
        "document",
        "documents",
        "passage",
        "passages",
        "text",
        "given",
        "provided",
        "according",
        "above",
        "mentioned",
        "described",
        "como",
        "el",
        "la",
        "los",
        "las",
        "esta",
        "este",
        "es",
        "son",
        "según",
        "lo",
        "que",
        "se",
        "y",
        "en",
        "por",
        "de",
        "del",
        "dice",
        "indica",
        "afirma",
        "respuesta",
        "pregunta",
        "contexto",
        "fuente",
        "fuentes",
        "documento",
        "texto",
        "pasaje",
        "correcta",
        "correcto",
        "claramente",
    ]
)


def _trim(sentence: str) -> tuple[int, int]:
    """Where the sentence starts and ends without list marks, emphasis and citation marks."""
    head = _LIST_MARK.match(sentence)
    start = head.end() if head else 0
    end = len(sentence)
    if not sentence.endswith("]") and sentence == sentence.rstrip():
        return start, end  # the pattern below tries every letter
    while tail := _TAIL.search(sentence, start, end):
        if tail.start() == end:
            break
        end = tail.start()
    return start, end


_LIST_MARK = re.compile(r"\s*(?:(?:[-*•·–]|#{1,6}|\(?\d{1,2}[.)])\s+)*(?:\*\*|__|\"(?=[^\"]*$))?")
_TAIL = re.compile(r"(?:\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\])+\s*$|\s+$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def _says_nothing(body: str) -> bool:
    if not _WORD.search(body) or body.rstrip("*_\"”' ").endswith("?") or body.startswith("¿"):
        return True
    if body.rstrip("*_ ").endswith(":") and len(_WORD.findall(body)) < 25:
        return True
    return declines(body)


def _clauses(body: str) -> list[tuple[int, int]]:
    cuts = [0]
    for joint in _JOINT.finditer(body):
        left = _WORD.findall(body[cuts[-1] : joint.start()])
        right = body[joint.end() :]
        if len(left) < 4 or len(_WORD.findall(right)) < 3:
            continue
        if ";" in joint.group() or _starts_clause(right):
            cuts.append(joint.end())
    pieces = []
    for a, b in zip(cuts, [*cuts[1:], len(body)], strict=True):
        piece = body[a:b]
        if b < len(body):
            piece = _JOINT_END.sub("", piece)
        shift = len(piece) - len(piece.lstrip())
        pieces.append((a + shift, a + shift + len(piece.strip())))
    return pieces


_JOINT = re.compile(
    r";\s+(?:(?:and|but|y|pero)\s+)?"
    r"|,?\s+(?:and|but|y|pero|e)\s+(?=(?:(?:s?he|it|they|there|the|this|these|its|their|his|her|él|ella|ellos|"
    r"la|el|los|las|su|sus|se|you|we|no)\b|[A-Z]))"
    r"|,\s+(?:while|whereas|mientras que)\s+"
)
_JOINT_END = re.compile(r"(?:;|,)?\s*(?:\b(?:and|but|y|pero|e|while|whereas|mientras que))?\s*$")
_VERB = re.compile(
    r"(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|does|do|did|should|"
    r"es|son|era|eran|fue|fueron|está|están|estaba|ha|han|había|tiene|tienen|puede|pueden|debe|deben|será|hay|"
    r"\w{3,}(?:aron|ieron|aba|aban|ían|ará|arán|ó))",
)


def has_verb(text: str) -> bool:
    """Whether a common verb form stands in the text after its first word."""
    return any(_VERB.fullmatch(word.lower()) for word in _WORD.findall(text)[1:])


def _starts_clause(right: str) -> bool:
    """Whether what follows a joint has a verb of its own near its start."""
    words = [word.lower() for word in _WORD.findall(right)[:7]]
    if words[:1] == ["se"]:
        return True
    return any(_VERB.fullmatch(word) for word in words[1:6])


_MONTH = "(?i:" + "|".join(sorted((m for m in MONTHS if len(m) > 2), key=len, reverse=True)) + ")"
_DATE = (
    rf"(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+|de\s+)?{_MONTH}(?:,?\s+(?:de\s+|del\s+)?\d{{4}})?"
    rf"|{_MONTH}\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{4}}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?|\d{{4}}"
)
_DATE_WORD = re.compile(r"\d(?:\d{3}|\s*(?:st|nd|rd|th|de|of)?\s+\w{3,})")
_PLACE = r"(?:in|at|en)\s+(?:the\s+|el\s+|la\s+|los\s+)?[A-ZÁÉÍÓÚÑ][\w'’.-]*(?:,?\s+(?:de\s+|of\s+)?[A-ZÁÉÍÓÚÑ][\w'’-]*)*"
_PLACE_DATE = re.compile(
    rf"(?P<head>.*?\w)\s+(?P<one>{_PLACE})\s*,?\s+(?P<two>(?:on|in|el|en)\s+(?:{_DATE}))(?P<end>[.!]?)$",
    re.DOTALL,
)
_DATE_PLACE = re.compile(
    rf"(?P<head>.*?\w)\s+(?P<one>(?:on|in|el|en)\s+(?:{_DATE}))\s*,?\s+(?P<two>{_PLACE})(?P<end>[.!]?)$",
    re.DOTALL,
)


def _date_apart(body: str, a: int, b: int, shift: int) -> list[Statement]:
    """`born in Ulm on 14 March 1879` says two things."""
    piece = body[a:b]
    if not _DATE_WORD.search(piece):
        return [Statement(_plain(piece), ((a + shift, b + shift),))]
    for pattern in (_PLACE_DATE, _DATE_PLACE):
        match = pattern.fullmatch(piece)
        if match and len(_WORD.findall(match["head"])) >= 2:
            base = a + shift
            head = (base, base + match.end("head"))
            return [
                Statement(
                    _plain(f"{match['head']} {match[name]}{match['end']}"),
                    (head, (base + match.start(name), base + match.end(name))),
                )
                for name in ("one", "two")
            ]
    return [Statement(_plain(piece), ((a + shift, b + shift),))]


def _plain(piece: str) -> str:
    """Without citation marks and emphasis, which are not part of what is said."""
    marked = "[" in piece or "**" in piece or "__" in piece
    return _MARKS.sub("", piece) if marked else piece


_MARKS = re.compile(r"\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|\*\*|__")


def claims_of(sentences: Sequence[str]) -> list[tuple[int, Statement]]:
    """Every claim with the index of its sentence."""
    return [(n, found) for n, sentence in enumerate(sentences) for found in statements(sentence)]
