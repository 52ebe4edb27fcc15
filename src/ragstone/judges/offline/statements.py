"""Texts cut into claims: clauses and predicates with their subjects, conditions, the items of lists, places and dates. Versioned by VERSION in judges/offline and PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ragstone.judges.offline.lexicon import MONTHS
from ragstone.text.appeals import is_appeal
from ragstone.text.clause_words import CLAUSE_WORDS, to_word_set
from ragstone.text.clauses import Span, cut_clauses, has_clause
from ragstone.text.content import is_small_talk
from ragstone.text.introductions import find_statement
from ragstone.text.language import detect_language
from ragstone.text.quantities import Quantity, find_quantities
from ragstone.text.refusals import declines
from ragstone.text.verbs import WORD, find_verb_form

Parts = tuple[Span, ...]
"""Where the words of a claim stand: those taken over from another claim, then its own."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of a sentence and the parts of that sentence it is made of."""

    text: str
    parts: Parts


@lru_cache(maxsize=256)  # several metrics ask for the claims of the same answer
def statements(
    sentence: str, language: str | None = None, before: str = ""
) -> tuple[Statement, ...]:
    """The claims of one sentence; none for questions, headings and refusals.

    `before` is an earlier part of the same sentence that a citation marker closed: its subject may be taken over."""
    text_language = detect_language(sentence, language)
    start, end = _trim(sentence)
    shift, stop = find_statement(sentence[start:end])
    if _says_nothing(sentence[start + shift : end]):
        return ()
    named = _SOURCE_LINE.match(sentence, start, end)
    if named and not has_clause(named["name"], text_language):
        return ()
    opening = f"{to_plain_text(before)} " if before else ""
    text = opening + sentence[start + shift : start + stop]
    found: list[Parts] = []
    for parts in cut_clauses(text, text_language):
        if parts[-1][1] > len(opening):
            found += _cut_finely(text, _keep_after(text, parts, len(opening)), text_language)
    offset = start + shift - len(opening)
    # one claim keeps its mark; of several, each gets that of the sentence
    stop_mark = sentence[end - 1] if len(found) > 1 and sentence[end - 1] in ".!" else ""
    return tuple(
        Statement(
            _compose(text, parts, stop_mark),
            tuple((a + offset, b + offset) for a, b in parts if a >= len(opening)),
        )
        for parts in found
    )


def _keep_after(text: str, parts: Parts, opening: int) -> Parts:
    """The parts of a claim, without the words before a citation marker that it was not cut from."""
    first, last = parts[-1]
    if first >= opening or not opening:
        return parts
    lead = _LEAD.match(text, opening)
    return ((lead.end() if lead else opening, last),)


def _cut_finely(text: str, parts: Parts, language: str) -> list[Parts]:
    """Conditions, items of a list, a place and a date as claims of their own."""
    pieces = _split_condition(text, parts, language)
    return [
        more
        for piece in pieces
        for more in _split_date(text, piece)
        or _split_figures(text, piece, language)
        or _split_list(text, piece, language)
        or [piece]
    ]


def items(text: str, language: str | None = None) -> tuple[Statement, ...]:
    """The items of an answer that is a mere list, each a claim (gold, copper and silver); none of any other text."""
    start, end = _trim(text)
    spans = _split_items(text, start, end)
    if text.endswith((".", "!", "?", ":")) or has_clause(text, detect_language(text, language)):
        return ()
    if len(spans) < 2 or any(not _is_item(text[a:b]) for a, b in spans):
        return ()
    return tuple(Statement(to_plain_text(text[a:b]), ((a, b),)) for a, b in spans)


def _split_items(text: str, start: int, end: int) -> list[Span]:
    """The things between the commas of a list that ends with `and`; none when it does not."""
    joints = list(_COMMA.finditer(text, start, end))
    if not joints or not _AND.search(joints[-1].group()):
        return []
    starts = [start, *(joint.end() for joint in joints)]
    return list(zip(starts, [*(joint.start() for joint in joints), end], strict=True))


def _is_item(text: str) -> bool:
    """Whether the text can be a thing in a list: few words, and no mere figure, which could belong to a date."""
    return 1 <= len(WORD.findall(text)) <= MAX_ITEM_WORDS and not text.strip().isdecimal()


MAX_ITEM_WORDS = 3
"""Words of a thing in a list."""
_COMMA = re.compile(r"\s*,\s+(?:(?:and|y|e)\s+)?|\s+(?:and|y|e|&)\s+")
_AND = re.compile(r"\b(?:and|y|e)\b|&")
_LEAD = re.compile(r"[\s,;]*(?:(?:and|but|y|e|pero)\s+)?")


@lru_cache(maxsize=512)
def states_nothing(claim: str) -> bool:
    """Whether a claim asks, or only appeals to its sources, so that there is nothing to look up."""
    return asks(claim) or is_appeal(claim)


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


def _says_nothing(body: str) -> bool:
    if not WORD.search(body) or body.rstrip("*_\"”' ").endswith("?") or body.startswith("¿"):
        return True
    if body.rstrip("*_ ").endswith(":") and len(WORD.findall(body)) < MAX_HEADING_WORDS:
        return True
    return declines(body) or is_small_talk(body)


_SOURCE_LINE = re.compile(
    r"(?:sources?|references?|fuentes?|referencias?)\s*:\s*(?P<name>.+)", re.IGNORECASE
)
"""A line that names where it stands: Source: opening-hours.md."""
MAX_HEADING_WORDS = 25
"""Words before a colon at the end that only announce what follows."""


def _split_condition(text: str, parts: Parts, language: str) -> list[Parts]:
    """What holds, and what is required for it: `as long as you have the receipt`."""
    first, last = parts[-1]
    joint = re.compile(CLAUSE_WORDS[language].condition_pattern).search(text, first, last)
    if joint is None or not has_clause(text[joint.end() : last], language):
        return [parts]
    start = joint.start() + len(joint.group()) - len(joint.group().lstrip(", "))
    return [(*parts[:-1], (first, joint.start())), ((start, last),)]


def _split_list(text: str, parts: Parts, language: str) -> list[Parts]:
    """One claim for each of three or more things that a verb has: the box holds apples, pears and plums."""
    first, last = parts[-1]
    end = first + len(text[first:last].rstrip(".! "))
    spans = _split_items(text, first, end)
    if len(spans) < MIN_LIST_ITEMS:
        return []
    head = _find_list_start(text, *spans[0], language)
    if head is None:
        return []
    spans[0] = (head, spans[0][1])
    things = [text[a:b] for a, b in spans]
    if not all(_is_thing(thing) for thing in things) or not _is_parallel(things, language):
        return []
    return [(*parts[:-1], (first, head), span) for span in spans]


MIN_LIST_ITEMS = 3
MAX_THING_WORDS = 4


def _find_list_start(text: str, start: int, end: int, language: str) -> int | None:
    """Where the first item starts: after the last verb of the words before the first comma, or its preposition."""
    words = list(WORD.finditer(text, start, end))
    grammar = CLAUSE_WORDS[language]
    for index in range(len(words) - 2, 0, -1):
        word = words[index].group()
        form = find_verb_form(word, language)
        if form in ("finite", "past"):
            is_linking = word in grammar.auxiliaries - _HAVE or word in _LINKING
            return None if is_linking else words[index + 1].start()
        before = find_verb_form(words[index - 1].group(), language)
        if word in _LIST_PREPOSITIONS and before in ("finite", "past", "participle"):
            return words[index + 1].start()
        if word.lower() in grammar.prepositions or form:
            return None
    return None


_HAVE = frozenset(["has", "have", "had"])
_LINKING = to_word_set("appears seems looks remains became becomes feels parece parecía resulta")
"""Verbs that adjectives follow, which belong together: it looks old, dirty and cheap."""
_LIST_PREPOSITIONS = frozenset(["of", "with", "by", "de", "con", "por"])


def _is_thing(text: str) -> bool:
    words = WORD.findall(text)
    if not 0 < len(words) <= MAX_THING_WORDS or words[0].lower() in _EXAMPLES:
        return False
    if words[0].endswith(("ing", "ando", "iendo")):
        return False
    return not any(letter.isdigit() for letter in text)


_EXAMPLES = to_word_set(
    "including such like especially incluyendo incluidos como especialmente entre or o"
)
"""Words that start examples of what stands before them."""


def _is_parallel(things: list[str], language: str) -> bool:
    """Whether all things start alike: with an article, a capital, or neither."""
    determiners = CLAUSE_WORDS[language].determiners
    kinds = {
        "name" if thing[0].isupper() else thing.split()[0].lower() in determiners
        for thing in things
    }
    return len(kinds) == 1


def _split_figures(text: str, parts: Parts, language: str) -> list[Parts]:
    """One claim for each of two figures of a verb with what they belong to: at 9 on weekdays and at 11 on Saturdays."""
    first, last = parts[-1]
    joints = list(_FIGURE_JOINT.finditer(text, first, last))
    if len(joints) != 1:
        return []
    joint = joints[0]
    figures = _find_figure_pair(text, first, joint.start(), last, language)
    if figures is None:
        return []
    left, right = figures
    link = text[joint.end() : right.start]
    head = left.start - len(link)
    tails = text[left.end : joint.start()].split(), text[right.end : last].strip(" .!").split()
    # both figures stand after the same words, and the same word or a preposition follows both
    follow = {tail[0] for tail in tails if tail}
    is_alike = len(follow) == 1 or follow <= CLAUSE_WORDS[language].prepositions
    is_parallel = text[head : left.start] == link and all(tails) and is_alike
    if not is_parallel or not has_clause(text[first : joint.start()], language):
        return []
    lead = (*parts[:-1], (first, head))
    return [(*lead, (head, joint.start())), (*lead, (joint.end(), last))]


def _find_figure_pair(
    text: str, first: int, joint: int, last: int, language: str
) -> tuple[Quantity, Quantity] | None:
    """The only hours or measures before and after a conjunction, where they are of one kind."""
    figures = [
        figure for figure in find_quantities(text[:last], language)
        if figure.start >= first and figure.kind in ("time", "measure")
    ]  # fmt: skip
    if len(figures) != 2 or not figures[0].end <= joint < figures[1].start:
        return None
    is_same = figures[0].kind == figures[1].kind and figures[0].unit == figures[1].unit
    return (figures[0], figures[1]) if is_same else None


_FIGURE_JOINT = re.compile(r",?\s+(?:and|y)\s+")
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


MAX_DATED_WORDS = 10
"""Words before a place and a date that both belong to; of longer ones they say something else."""


def _split_date(text: str, parts: Parts) -> list[Parts]:
    """`born in Ulm on 14 March 1879` says two things."""
    first, last = parts[-1]
    piece = text[first:last]
    if not _DATE_WORD.search(piece):
        return []
    for pattern in (_PLACE_DATE, _DATE_PLACE):
        match = pattern.fullmatch(piece)
        size = len(WORD.findall(match["head"])) if match else 0
        # a head of one word needs a subject taken over
        if match and size + len(parts) > 2 and size <= MAX_DATED_WORDS:
            head = (first, first + match.end("head"))
            return [
                (*parts[:-1], head, (first + match.start(name), first + match.end(name)))
                for name in ("one", "two")
            ]
    return []


def _compose(text: str, parts: Parts, stop_mark: str) -> str:
    """The words of a claim; each of several ends like their sentence."""
    words = " ".join(piece for a, b in parts if (piece := text[a:b].strip()))
    words = to_plain_text(words.rstrip(",; "))
    return words if words.endswith(stop_mark) else words + stop_mark


def to_plain_text(piece: str) -> str:
    """Return the piece without citation marks and emphasis, which are no part of the claim."""
    marked = "[" in piece or "**" in piece or "__" in piece
    return _MARKS.sub("", piece) if marked else piece


_MARKS = re.compile(r"\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|\*\*|__")
