"""Facts from single sentences: what the thing is that a page or a section is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ragstone.testset.blocks import tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.frames import frame_home
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.headings import is_named
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.offline.quality import MIN_NEWS, count_news, is_unclean
from ragstone.testset.outline import DocumentSection

MAX_SENTENCE_CHARS = 420
"""Longer sentences are not read: they say too many things for one question."""
MIN_WORDS = 8
_SECOND_CLAUSE = re.compile(r", (?:and |y )?\S+ (?:is|are|es|son) ")
"""`X is this, Y is that`: half of it defines something else."""
_DEFINED = re.compile(
    r"(?:(?!, (?:and|but|so|y|pero|aunque)\b).)*? (?:that|which|who|where|of|for|to|from|with|by|in|on|between|used|based|que|donde|de|del|para|con|por|en|entre)\b"
)
"""What tells a definition from praise (`a time consuming operation`): the noun is told from others of its sort."""


def find_definitions(page: Page) -> Iterator[Fact]:
    """The definitions of a page."""
    before = "heading"  # the beginning of a page is one of a section
    headings = 0
    for section in page.sections:
        kind, before = before, section.block.kind
        headings += before == "heading"
        # a thing is defined where a section begins; later sentences tell something else of it
        if kind == "heading" and section.block.kind == "paragraph":
            for start, end in find_sentences(page, section.block)[:1]:
                fact = _define(page, section, start, end, is_opening=headings < 2)
                if fact is not None:
                    yield replace(fact, start=start, end=end)


def _define(
    page: Page, section: DocumentSection, start: int, end: int, *, is_opening: bool
) -> Fact | None:
    """The fact of a sentence that says what the thing is which its page or section is about; its span is set by the caller."""
    grammar = page.grammar
    sentence = tidy_text(page.document.text[start:end]) if end - start <= MAX_SENTENCE_CHARS else ""
    # most sentences fail here
    match = grammar.definition.fullmatch(sentence) if gate.is_sentence(sentence, grammar) else None
    if match is None:
        return None
    subject, reference = match["subject"], drop_references(match[0])
    is_page = is_named(subject, (page.title, page.command, page.product), grammar.language)
    # further down a page says something else of its product: `Poetry is a project that needs contributors`
    is_topic = (is_page and is_opening) or is_named(subject, section.headings[:1], grammar.language)
    if not is_topic or not _is_definition(match, reference, grammar):
        return None
    asked = grammar.templates["what_is"].format(key=page.lower_start(subject), verb=match["verb"])
    question = grammar.fix_question(asked)
    # the page is about it: its title would say the same again, but a common noun of a manual needs its program
    is_own = is_page and gate.is_specific(page.lower_start(subject))
    question = question if is_own else frame_home(page, question)
    doubt = not question or gate.explain_doubt(question, reference, grammar, owned=page.has_home)
    if doubt or is_unclean(reference) or count_news(question, reference, grammar.language) < MIN_NEWS:  # fmt: skip
        return None
    claim = match[0][: match.start("rest")].strip()
    return Fact(question, reference, "conceptual", "definition", 0, 0, subject, framed=question != asked, claim=claim)  # fmt: skip


def _is_definition(match: re.Match[str], reference: str, grammar: Grammar) -> bool:
    """Whether a sentence tells its subject from others of its sort, and nothing else."""
    subject = match["subject"]
    is_told = _DEFINED.match(match["rest"]) and not _SECOND_CLAUSE.search(reference)
    is_phrase = gate.is_noun_phrase(subject, grammar) and not re.match(r"`|The [a-z]+$", subject)
    return bool(is_told) and is_phrase and len(reference.split()) >= MIN_WORDS


_SEE = re.compile(
    r",? (?i:see|véase) [\w.-]+\(\d\)|\s*\((?i:see|cf\.|véase|vea|ver|consulte)\b[^()]*(?:\([^()]*\)[^()]*)*\)|(?<=[.!?)])\s(?:(?:More|Further|Additional) (?:information|details)|Se puede encontrar más información|(?:Hay )?[Mm]ás (?:información|detalles)) [^.]*\.?$|(?<=[.!?)])\s(?:(?:[Ff]or|[Pp]ara)(?: more| further| más| obtener más)? (?:information|details|información|detalles)[^.]{0,40}, )?(?i:(?:please |por favor,? )?(?:see|refer to|véase|vea|ver|consulte))[:,]? [^.]*\.?$"
)


def drop_references(text: str) -> str:
    """The text without `(see section 3)`."""
    return _SEE.sub("", text)
