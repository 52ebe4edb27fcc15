"""Questions that a document asks itself, with the text below as the answer.

Read are headings, bold and `Q:` / `P:` questions, terms of definition lists, `<summary>` lines, rows of tables
and, where a
document has several of them, lines that stand by themselves. Every answer knows its offsets in the document's
text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.testset.items import Reason
from ragstone.testset.likeness import is_dangling
from ragstone.testset.question_terms import extract_question_stems
from ragstone.text.language import detect_language

Form = Literal["heading", "summary", "label", "bold", "term", "row", "line"]
MAX_QUESTION_WORDS = 45
MAX_REFERENCE_CHARS = 1500
"""Characters of an answer; a longer one ends with its last whole paragraph before."""
MIN_LINES = 2
"""Lines that ask by themselves from which a document is taken to be one of questions: a single one is a figure of
speech."""
_DEEPEST, _ITEM_LEVEL = 8, 9
"""Levels of what is no heading and no summary, and of an item of a list, which the next item ends."""

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.+?)[ \t#¶]*$")
_UNDERLINE = re.compile(r"[ \t]*(=+|-{3,})[ \t]*$")
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_TAG = re.compile(r"[ \t]*<(h[1-6]|summary|dt)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(
    r"[ \t>]*(?:\#+[ \t]*|[-*+][ \t]+)?(?:\*\*|__|\*)?(?:Q|P|Question|Pregunta)[ \t]*\d{0,3}[ \t]*(?:\*\*"
    r"|__)?[:.)](?:\*\*|__)?[ \t]*(?=\S)"
)
_ANSWER_LABEL = re.compile(
    r"[ \t>]*(?:[-*+][ \t]+)?(?:\*\*|__|\*)?(?:A|R|Answer|Respuesta)[ \t]*\d{0,3}[ \t]*(?:\*\*|__"
    r"|\*)?[:.)](?:\*\*|__|\*)?[ \t]*"
)
_BOLD = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:(\*\*\*?|__|\*|_)(?=\S)(?P<a>[^*]{3,400}?)\1|<(b"
    r"|strong)>(?P<b>.{3,400}?)</\3>)[ \t:]*",
    re.DOTALL | re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_DESCRIPTION = re.compile(r"[ \t]*:[ \t]+|[ \t]*<dd\b[^>]*>", re.IGNORECASE)
_ROW = re.compile(r"[ \t]*\|(.+)\|[ \t]*$")
_ROW_NUMBER = re.compile(r"\s*(?:\d+(?:\.\d+)*\.?|[QP][:.]?)?\s*")
_ANSWER_ROW = re.compile(r"[ \t]*\|\s*(?:[AR][:.]?)?\s*\|(.*)\|[ \t]*$")
_RHETORIC = re.compile(
    r"(?:did you\b|have you ever|ever wondered|want to|ready to|looking for|need help|¿?sab[ií]as\b|¿?quieres\b|¿?necesitas ayuda"
    r"|¿?quiere realmente\b|.*\bdesea\b|do you (?:really )?want\b)",
    re.IGNORECASE,
)
"""A question that a page or a dialogue puts to its reader."""
_EMPTY_STEMS = frozenset({"not", "use", "get", "work", "mean", "happen", "to"})
"""Stems of a question that names nothing: `How not to?`"""
_NAMES_ONE = re.compile(
    r"^(?i:what|who|¿?qué|¿?quién(?:es)?) (?:is|are|was|were|does|es|son|era|fue|significa)\b|.\b(?:[A-Z]\w*|\w*\d)|`",
)
"""A definition is asked for, or something has a name of its own."""
MAX_POINTER_WORDS = 14
"""Words of an answer that does no more than point elsewhere."""
_CLOSING = re.compile(r"</(?:details|dd|dl)>", re.IGNORECASE)
_NUMBERING = re.compile(
    r"^(?:\(\d{1,3}\)|[QP]?\d{1,3}(?:\.\d{1,3})*[.):]?|[a-z]\))\s+(?=\S)", re.IGNORECASE
)
_LINK = re.compile(
    r"!?\[([^\]\n]{0,300})\](?:\([^)\n]{0,300}\)|\[[^\]\n]{0,200}\])|<(https?:[^>\s]+)>"
)
_MARKS = re.compile(
    r"`[^`\n]+`|\*\*\*?"
    r"|(?<![\w`/])_(?=[^\W_][^_\n`]{0,80}_(?!\w))|(?<=[^\W_.?!])_(?![\w`(])|</?[a-zA-Z][^<>\n]{0,300}>|<!--.*?-->"
)
_EMPHASIS = re.compile(r"`[^`\n]+`|(?<![\w*])(\*|__)(?=[^\s*])([^*\n]{1,400}?)(?<=\S)\1(?![\w*])")
"""Marks in pairs: a single star multiplies, and a name may begin with two lines."""
_URL = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+")
_ASKS = re.compile(
    r"(?:how|why|when|where|who|which|what) (?:do|does|did|can|could|should|would|will|must|is|are|was"
    r"|were|has|have|if|happens)\b(?! new\b)"
    r"|(?:can|could|do|does|is|are|should|may|must|will) (?:i|we|you|my|it|there|the|this)\b",
    re.IGNORECASE,
)
"""How a heading begins that asks without a question mark."""
_QUESTION_WORD = re.compile(
    r"¿|\b(?:how|why|what|when|where|who|whom|whose|which|can|could|do|does|did|is|are|was|were|am|should"
    r"|would|will|shall|may|might|must|has|have|had)\b"
    r"|(?<!\w)\w+n['’]t\b",
    re.IGNORECASE,
)
"""What a question with its mark must have: `Python 3 support?` is a heading."""
_OWN_PAGE = re.compile(
    r"\bthis (?:\w+ )?(?:documents?|pages?|guide|manual|chapter|section|tutorial|faqs?|book|readme|article|list)\b"
    r"|\best[ea] (?:\w+ )?(?:documento|página|guía|manual|capítulo|sección|tutorial|libro|artículo|lista)\b"
    r"|\b(?:still|more|other|further|any|have) (?:\w+ )?questions\b|\b(?:más|alguna|otra) (?:pregunta|duda)s?\b"
    r"|\bwhat(?:['’]s| is) (?:next|new)\b|\bwhere to go\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^(?:(?:how|why|when|where|what) )?(?:is|isn['’]t|was|does|doesn['’]t|do|can|will|has|are|did) (?:it"
    r"|they|that|he|she)\b"
    r"(?! (?:possible|allowed|safe|necessary|ok|okay|true|legal|free|worth|better|best|compulsory"
    r"|mandatory|normal|cost|take|matter|too late)\b)"
    r"|^(?:but|and|or|pero|y|e|o)\b|\b(?:all|of) that\b"
    r"|\b(?:this|these)\b(?! (?:year|week|month|morning|evening|summer|winter)\b)|\b(?:esto|eso|aquello)\b"
    r"|\best[eao]s? \w+(?<!\baño)(?<!\bmes)(?<!semana)\b",
    re.IGNORECASE,
)
"""Words that point at something which only its page shows."""
_POINTS_ELSEWHERE = re.compile(
    r"(?:(?:this|it|that|esto)? ?(?:is|are|se) (?:explained|described|covered|documented|explica|describe) (?:in|en)\b"
    r"|(?:please |por favor,? |for (?:more|details)[^,]{0,40}, )?(?:see|refer to|read|check(?: out)?|take "
    r"a look|have a look|look at|consult|cf\.?|véase|vea|ver|consulte|consulta|lea|lee|mire|mira)\b)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:below|above|next section|section|chapter|page|docs?|documentation|faq|guide|abajo|arriba"
    r"|sección|capítulo|página|guía)\b",
    re.IGNORECASE,
)
_PENDING = re.compile(
    r"\W*(?:tbd|tbc|todo|fixme|n/?a|coming soon|to be (?:written|done|defined|announced)|work in progress"
    r"|pendiente|próximamente|por definir)\b.{0,40}$",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"^\W*(?:back to (?:the )?top|top|volver arriba|volver al índice|subir)\W*$"
    r"|^(?:next|previous|up|siguiente|anterior): ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundQuestion:
    """A question of a document and what stands below it."""

    question: str
    form: Form
    answer: str
    """The text below, without marks."""
    start: int
    end: int
    """Offsets of the answer in the document."""
    fault: Reason | None = None
    """Why it is no question to ask; None for one that is."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What begins at a place: a question, or (with an empty one) something that ends the answer before it."""

    start: int
    body: int
    """Where the text below begins."""
    level: int
    question: str = ""
    form: Form = "line"
    end: int | None = None
    """Where the answer ends by itself, in a row of a table."""


def find_questions(text: str, language: str | None = None) -> list[FoundQuestion]:
    """The questions of a document in their order, those that are refused with their reason."""
    marks = list(_list_marks(text))
    found = []
    for at, mark in enumerate(marks):
        if not mark.question:
            continue
        later = marks[at + 1 :]
        ends = (m.start for m in later if m.level <= mark.level or m.question)
        end = mark.end if mark.end is not None else next(ends, len(text))
        question = _read_answer(text, mark, end, language)
        # a line without an answer is one of a list of questions, or rhetoric
        if not (question.fault == "no_answer" and mark.form in ("line", "row")):
            found.append(question)
    # a table of contents has the questions that are asked again below it
    last = {one.question.casefold(): at for at, one in enumerate(found)}
    found = [
        one
        for at, one in enumerate(found)
        if one.form != "line" or last[one.question.casefold()] == at
    ]
    lines = sum(one.form == "line" for one in found)
    return [one for one in found if one.form != "line" or lines >= MIN_LINES]


def _list_marks(text: str) -> Iterator[_Mark]:
    lines = _split_lines(text)
    is_code = False
    for at, (start, line) in enumerate(lines):
        if _FENCE.match(line):
            is_code = not is_code
        if is_code or not line.strip() or _FENCE.match(line):
            continue
        following = lines[at + 1][1] if at + 1 < len(lines) else ""
        below = lines[at + 1][0] if at + 1 < len(lines) else len(text)
        before = lines[at - 1][1] if at else ""
        mark = _read_heading(line, start, below, following, lines, at) or _read_tag(
            text, start, line
        )
        mark = mark or _read_marked(text, start, line)
        if mark is None and _RULE.match(line):
            mark = _Mark(start, below, _DEEPEST)
        if mark is None:
            mark = _read_line(start, line, below, before, following)
        if mark is not None:
            yield mark


def _split_lines(text: str) -> list[tuple[int, str]]:
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append((start, line.rstrip("\r")))
        start += len(line) + 1
    return lines


def _read_heading(
    line: str, start: int, below: int, following: str, lines: Sequence[tuple[int, str]], at: int
) -> _Mark | None:
    if heading := _HEADING.match(line):
        label = _LABEL.match(line)
        words = line[label.end() :] if label else heading[2]
        return _Mark(start, below, len(heading[1]), _to_question(words, asks=True), "heading")
    underline = _UNDERLINE.match(following)
    is_alone = not at or not lines[at - 1][1].strip()
    if underline and is_alone and not _ITEM.match(line) and not _ROW.match(line):
        body = lines[at + 2][0] if at + 2 < len(lines) else below + len(following)
        level = 1 if underline[1][0] == "=" else 2
        return _Mark(start, body, level, _to_question(line, asks=True), "heading")
    return None


def _read_tag(text: str, start: int, line: str) -> _Mark | None:
    """A heading, summary or term in raw HTML."""
    if "<" not in line:
        return None
    tag = _TAG.match(text, start, start + 600)
    if tag is None:
        opening = line.lower().find("<summary")
        tag = _TAG.match(text, start + opening, start + opening + 600) if opening > 0 else None
    if tag is None:
        closed = _CLOSING.search(line)
        return _Mark(start + closed.start(), start + closed.end(), 7) if closed else None
    name = tag[1].lower()
    level = int(name[1]) if name[0] == "h" else 7 if name == "summary" else _DEEPEST
    form: Form = "heading" if name[0] == "h" else "summary" if name == "summary" else "term"
    return _Mark(start, tag.end(), level, _to_question(tag[2], asks=form != "term"), form)


def _read_marked(text: str, start: int, line: str) -> _Mark | None:
    """A question behind `Q:`, in bold or italics, or in a cell of a table."""
    if row := _ROW.match(line):
        cells = row[1].split("|")
        if len(cells) != 2:
            return None
        end = start + row.end(1)
        # a set of questions in DocBook: `| 1.2. | Question? |`, and the answer in the row below
        if _ROW_NUMBER.fullmatch(cells[0]):
            question = _to_question(cells[1])
            return _Mark(start, start + len(line), _DEEPEST, question, "bold") if question else None
        question = _to_question(cells[0])
        body = start + row.start(1) + len(cells[0]) + 1
        return _Mark(start, body, _DEEPEST, question, "row", end) if question else None
    if label := _LABEL.match(line):
        rest = text[start + label.end() : start + label.end() + 600]
        end = _find_question_end(rest)
        question = _to_question(rest[:end]) if end else ""
        if question:
            return _Mark(start, start + label.end() + end, _DEEPEST, question, "label")
    if bold := _BOLD.match(text, start, start + 600):
        words = bold["a"] or bold["b"] or ""
        question = _to_question(words) if "\n\n" not in words else ""
        is_whole_line = "\n" not in bold[0].strip() and start + len(
            bold[0].rstrip()
        ) >= start + len(line.rstrip())
        if question:
            level = _ITEM_LEVEL if _ITEM.match(line) else _DEEPEST
            return _Mark(start, bold.end(), level, question, "bold")
        # a line in bold that asks nothing is a heading of its own
        if is_whole_line and not _ITEM.match(line):
            return _Mark(start, bold.end(), _DEEPEST)
    return None


def _find_question_end(rest: str) -> int:
    """Where a question ends that begins here: before its answer's label, or behind its mark at the end of a line."""
    lines = rest.split("\n")[:4]
    at = 0
    for number, line in enumerate(lines):
        if number and (not line.strip() or _ANSWER_LABEL.match(line)):
            return 0
        mark = line.find("?")
        if mark >= 0:
            tail = line[mark + 1 :]
            return at + mark + 1 + (len(tail) - len(tail.lstrip("*_ ")))
        at += len(line) + 1
    return 0


def _read_line(start: int, line: str, below: int, before: str, following: str) -> _Mark | None:
    """A term of a definition list that asks, or a line by itself that does."""
    item = _ITEM.match(line)
    if _DESCRIPTION.match(line):
        return None
    question = _to_question(line[item.end() :] if item else line)
    if not question:
        return (
            _Mark(start, below, _ITEM_LEVEL)
            if item and len(line) - len(line.lstrip()) < 2
            else None
        )
    if _DESCRIPTION.match(following):
        return _Mark(start, below, _DEEPEST, question, "term")
    # a sentence at the end of a paragraph is no question of the page
    is_alone = bool(item) or not before.strip() or _ITEM.match(before) is not None
    is_single = not re.search(r"[.!;:] \S", question)
    return _Mark(start, below, _DEEPEST, question, "line") if is_alone and is_single else None


def _to_question(raw: str, *, asks: bool = False) -> str:
    """The words as a question; empty where they are none. With `asks`, a heading may do without its mark."""
    words = " ".join(plain_text(raw).replace("\n", " ").split()).strip("¶ ")
    words = _NUMBERING.sub("", words).strip()
    if not 2 <= len(words.split()) <= MAX_QUESTION_WORDS or "|" in words:
        return ""
    ending = words.rstrip("\"'”’»)] ")
    if ending.endswith("?"):
        opener = re.search(r"[\w¿]", words)
        if not _QUESTION_WORD.search(words) or _RHETORIC.match(words):
            return ""
        is_begun = opener is not None and (
            opener[0] in "¿`" or not opener[0].islower() or words[0] in "\"'“«"
        )
        return words if is_begun else ""
    return words if asks and _ASKS.match(words) and not words.endswith((":", "…")) else ""


def _read_answer(text: str, mark: _Mark, end: int, language: str | None) -> FoundQuestion:
    """The question with what stands below, cut after its last whole paragraph, or why it cannot be asked."""
    start = mark.body
    head = _DESCRIPTION.match(text, start) or _ANSWER_LABEL.match(text, _skip_blank(text, start))
    start = _skip_blank(text, head.end() if head and head.end() <= end else start)
    end = _find_end(text, start, max(start, end))
    raw = text[start:end]
    answer = to_reference(raw)
    fault, detail = _find_fault(mark.question, raw, answer, language)
    return FoundQuestion(mark.question, mark.form, answer, start, end, fault, detail)


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _find_end(text: str, start: int, end: int) -> int:
    """The end of an answer, without what only leads back or closes, and not much longer than a person would read."""
    lines = [(start + at, line) for at, line in _split_lines(text[start:end])]
    while lines and (
        not (last := plain_text(lines[-1][1]).strip()) or _BACK.match(last) or _RULE.match(last)
    ):
        lines.pop()
    while len(lines) > 2 and lines[-1][1].rstrip(" *_").endswith(":") and not lines[-2][1].strip():
        lines = lines[:-2]  # what leads to something else
        while lines and not lines[-1][1].strip():
            lines.pop()
    end = lines[-1][0] + len(lines[-1][1].rstrip()) if lines else start
    if end - start <= MAX_REFERENCE_CHARS:
        return end
    breaks = [
        at
        for at, line in lines
        if 0 < at - start <= MAX_REFERENCE_CHARS and (not line.strip() or _ITEM.match(line))
    ]
    # not within a block of code
    whole = [at for at in breaks if text.count("```", start, at) % 2 == 0]
    return start + len(text[start : whole[-1]].rstrip()) if whole else end


def _find_fault(
    question: str, raw: str, answer: str, language: str | None
) -> tuple[Reason | None, str]:
    words = _URL.sub(" ", _LINK.sub(" ", raw))
    if not re.search(r"\w", answer):
        return "no_answer", "nothing stands below it"
    if not re.search(r"\w", plain_text(words)):
        return "no_answer", f"only a link stands below it: {answer[:80]!r}"
    if _PENDING.match(answer):
        return "no_answer", f"{answer[:80]!r} is no answer"
    is_short = len(answer.split()) <= 25 and not re.search(r"[.!?] +\w.*[.!?]$", answer)
    is_linked = bool(_LINK.search(raw) or _URL.search(raw) or _PLACE.search(answer))
    is_bare = len(answer.split()) <= MAX_POINTER_WORDS and not _LINK.sub("", raw).count(",")
    if is_short and (is_linked or is_bare) and _POINTS_ELSEWHERE.match(answer):
        return "no_answer", f"it only points elsewhere: {answer[:80]!r}"
    lines = answer.split("\n")
    if 2 * sum(line.endswith("?") for line in lines) >= len(lines):
        return "no_answer", "only questions stand below it"
    if answer.endswith(":"):
        return "no_answer", f"{answer[-80:]!r} breaks off"
    tongue = detect_language(question, language)
    stems = {*extract_question_stems(question, tongue)} - _EMPTY_STEMS
    # one word names a thing only where the question asks what that is
    if not stems or (len(stems) == 1 and not _NAMES_ONE.search(question)):
        return "not_self_contained", "it does not name what it is about"
    if _OWN_PAGE.search(question):
        return "not_self_contained", "it speaks of its own page"
    is_single = not re.search(r"[.!] \S", question)
    is_pointing = is_single and _POINTING.search(question)
    if is_pointing or is_dangling(question, tongue):
        return "not_self_contained", "it does not name what it is about"
    return None, ""


def to_reference(raw: str) -> str:
    """Text of a document as an answer: without marks, a paragraph or an item of a list on each line, code as it
    is."""
    parts: list[str] = []
    is_code = is_open = False
    for line in raw.split("\n"):
        if _FENCE.match(line):
            is_code, is_open = not is_code, False
            continue
        if is_code:
            parts.append(line.rstrip())
            continue
        item = _ITEM.match(line)
        if cell := _ANSWER_ROW.match(line):
            line = cell[1]
        told = " ".join(plain_text(_HEADING.sub(r"\2", line)).split()).lstrip("> ")
        told = re.sub(r"\s+([,.;:)])(?=\s|$)", r"\1", told)
        if not told or _RULE.match(line):
            is_open = False
        elif is_open and not item and not _ROW.match(line):
            parts[-1] = f"{parts[-1]} {told}"
        else:
            parts.append(told)
            is_open = not _HEADING.match(line)
    return "\n".join(part for part in parts if part.strip()).strip()


def plain_text(raw: str) -> str:
    """The text without links, emphasis and tags; code stays, without its marks."""
    text = _LINK.sub(lambda link: link[1] or link[2] or "", raw)
    text = _EMPHASIS.sub(lambda pair: pair[2] or pair[0], text)
    return _MARKS.sub(lambda mark: mark[0] if mark[0][0] == "`" else "", text)
