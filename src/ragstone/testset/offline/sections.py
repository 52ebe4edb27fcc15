"""Facts from what a document labels itself: headings with the short section below them, and the terms of a glossary.

The label is what is asked for, and the reference is all that stands under it, so that neither can lose its context."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.definitions import drop_references
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.frames import frame_home, name_home
from ragstone.testset.offline.headings import is_telling, quote_label
from ragstone.testset.offline.page import Page
from ragstone.testset.outline import clean_heading
from ragstone.testset.question_terms import extract_content_stems

_VERB = r"\b.* (?:is|are|was|were|do|does|did|can|could|should|will|would|must|may|has|have)\b"
_NO_INFINITIVE = r" (?!\w+[aei]r(?:se|lo|la)? )"
"""What a whole question has and one cut short has not: `Why run Quassel?`, `¿Para qué ejecutar Quassel?`."""
# the kind of a question by how it begins; all others ask what something is or why
_KINDS_ASKED = (
    ("how_to", re.compile(r"How (?:do|can|should)\b|What (?:should|must|can|do) I do\b|¿Cómo (?!\w+[aei]r(?:se|lo|la)? )|¿Qué (?:hago|debo hacer|puedo hacer)\b")),
    ("factual", re.compile(rf"(?:When|Where|Who|How (?:many|much|long)){_VERB}|¿(?:Cuándo|Dónde|Quién|Cuánt\w+){_NO_INFINITIVE}")),
    ("conceptual", re.compile(rf"(?:What|Why|How|Which){_VERB}|(?:Is|Are|Do|Does|Can|Should|Will|Must|May) |¿(?:Qué|Por qué|Cuál(?:es)?|Para qué){_NO_INFINITIVE}|¿(?:Se puede|Puedo|Es|Hay) ")),
)  # fmt: skip
MAX_STEPS = 10
MIN_QUESTION_STEMS = 3
"""Words of meaning of a heading that asks."""
MIN_SECTION_WORDS, MIN_TERM_WORDS, MIN_ANSWER_WORDS = 8, 5, 4
"""Words of a section, of what a glossary says of a term, and of the answer to a question, that tell something."""
MAX_POINTER_WORDS = 25
"""Words of a section that does nothing but say where to look, wherever it says so."""
MIN_ITEMS = 3
"""Items of a section that is a list."""
MAX_FOOTER_WORDS = 12
MAX_CODE_LINES, MAX_CODE_CHARS = 3, 80
_SENTENCE_ENDS = tuple('.:;!?)”»"`…')
_JOINING = frozenset({"and", "or", "then", "y", "e", "o"})
_POINTER = re.compile(
    r"(?:Please )?(?:see|refer to|consult|read)\b|(?:Por favor,? )?(?:véase|vea|ver|consulte?|lea|lee)\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(r"How to |Cómo \w+[aei]r(?:se)? ", re.IGNORECASE)
_LINKED = re.compile(r"\[[^\]\n]*\]\([^)\s]*\)[.;,]?\s*")
_LAST_POINTER = re.compile(
    r"\b(?i:see|refer to|consult|véase|vea|consulte)(?: also| the| el| la)? [A-ZÁÉÍÓÚÑ“«\"'`][^.]*\.?$"
)
"""What a text ends with whose link is gone: `see Writing Commands`."""
_POINTED = re.compile(
    r"\b(?:see|refer to|consult|(?:described|discussed|documented|explained|covered|listed|found) (?:in|at|on|by|separately|elsewhere)|(?:separate|another|own|otra) (?:page|section|chapter|página|sección)|v(?:éase|ea)|consulte|(?:se )?(?:describen?|explican?|encuentran?|detallan?) en)\b",
    re.IGNORECASE,
)
_PLAIN_TERM = re.compile(r"[^\W_][\w ’'/&.+-]{1,40}")
_WHAT_IS = re.compile(r"What (?:is|are)\b|¿Qué (?:es|son)\b")
_ANSWER_MARK = re.compile(r"^(?:A|R|Answer|Respuesta)\s?[.:]{1,2}\s+(?=[A-ZÁÉÍÓÚÑ¿¡])")
"""How pages of questions mark an answer: `R.: Sí`."""
_LABEL = re.compile(
    r"(?:\*\*|__)(?P<label>[^*_\n`]{3,60}?)(?:[:.](?:\*\*|__)|(?:\*\*|__)\s?[:–—])\s+"
)
"""`**Late returns:** …`, `**Late returns** – …`"""


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with the blocks up to the next heading."""

    page: Page
    heading: str
    parents: tuple[str, ...]
    """Headings above it, nearest first, without the title."""
    blocks: Sequence[Block]
    start: int
    has_parts: bool
    """Whether sections of its own follow, which tell more of what it is about."""
    is_repeated: bool
    """Whether another section of the page has the same heading."""

    @property
    def end(self) -> int:
        return self.blocks[-1].end


def find_section_facts(page: Page) -> Iterator[Fact]:
    """A question for each heading that has its whole answer right below it, and for each term of a glossary."""
    for section in _list_labelled(page):
        fact = _ask_heading(section)
        if fact is not None:
            yield replace(fact, start=section.start, end=section.end)
        yield from _ask_terms(section)
        yield from _ask_entries(section)


def _list_labelled(page: Page) -> Iterator[_Section]:
    """The sections of a page that have text of their own."""
    places = [at for at, found in enumerate(page.sections) if found.block.kind == "heading"]
    times = Counter(clean_heading(page.sections[at].block.text).lower() for at in places)
    for at, end in zip(places, [*places[1:], len(page.sections)], strict=False):
        found, blocks = page.sections[at], [part.block for part in page.sections[at + 1 : end]]
        if blocks:
            parents = tuple(text for text in found.headings[1:] if text != page.title)
            has_parts = end < len(page.sections) and page.sections[end].block.level > found.block.level  # fmt: skip
            heading = clean_heading(found.block.text)
            yield _Section(page, heading, parents, blocks, found.block.start, has_parts, times[heading.lower()] > 1)  # fmt: skip


def _ask_heading(section: _Section) -> Fact | None:
    """The fact of a heading, by what it is: a question or a label; its span is set by the caller."""
    page, heading = section.page, section.heading
    reference = _read_text(_drop_footer(section))
    is_whole = reference and not section.has_parts and not section.is_repeated
    if not is_whole or _explain_doubtful_section(section, reference):
        return None
    fact = _ask_question(page, heading, reference) if heading.endswith("?") else None
    return fact or _ask_label(section, reference)


def _explain_doubtful_section(section: _Section, reference: str) -> str:
    """Why the text of a section is no reference; empty when it may pass."""
    grammar = section.page.grammar
    if grammar.leaning_start.match(reference) and not section.heading.endswith("?"):
        return "begins in the middle of a thought"
    items = [block for block in section.blocks if block.kind == "item"]
    if items and all(_LINKED.fullmatch(section.page.document.text, item.start, item.end) for item in items):  # fmt: skip
        return "a list of links"
    is_brief = len(reference.split()) < MAX_POINTER_WORDS
    is_pointing = _POINTER.match(reference) or _LAST_POINTER.search(reference)
    if is_pointing or (is_brief and _POINTED.search(reference)):
        return "only says where to look"
    return gate.explain_cut(reference, grammar)


def _ask_question(page: Page, heading: str, reference: str) -> Fact | None:
    """The fact of a heading that is a question itself."""
    bare = re.sub(r"\s+\?$", "?", heading)
    bare = bare if page.grammar.language != "es" else f"¿{bare.lstrip('¿')}"
    # `What is Ikiwiki?` is clear; whose register it is only its owner tells
    is_name = not page.owner and _WHAT_IS.match(bare) and bare.rstrip("?").split()[-1].lower() in page.names  # fmt: skip
    question = bare if is_name else frame_home(page, bare)
    kind = next((kind for kind, asks in _KINDS_ASKED if asks.match(bare)), "")
    is_told = len(reference.split()) >= MIN_ANSWER_WORDS
    if not kind or not is_told or not _is_clear(page, bare, question):
        return None
    return Fact(question, reference, kind, "question", 0, 0, question)


def _is_clear(page: Page, bare: str, question: str) -> bool:
    """Whether a heading that asks can be understood in its frame, and has no capitals of a title."""
    # `Which Rate is used When?`
    is_titled = any(word.istitle() and word.lower() in page.small - page.names for word in bare.split()[1:])  # fmt: skip
    # `Can I book?`: what, only the name of the page tells
    least = MIN_QUESTION_STEMS - (question != bare)
    is_short = len(extract_content_stems(bare, page.grammar.language)) < least and not _WHAT_IS.match(bare)  # fmt: skip
    is_one = "?" not in question[:-1] and not gate.explain_doubtful_question(question, page.grammar)
    return is_one and not is_titled and not is_short


def _ask_label(section: _Section, reference: str) -> Fact | None:
    """What a page says or lists under a heading, which is quoted: so nothing of it has to fit into a sentence."""
    page, grammar, home = section.page, section.page.grammar, name_home(section.page)
    # a page says more of its title than its first section does
    is_title = extract_content_stems(section.heading, grammar.language) == extract_content_stems(page.title, grammar.language)  # fmt: skip
    is_short = len(gate.drop_code(reference).split()) < MIN_SECTION_WORDS
    is_asked = section.heading.endswith("?")
    if not home or is_title or is_short or is_asked or not is_telling(section.heading, grammar.language):  # fmt: skip
        return None
    label = quote_label(section.heading, grammar)
    name, kind = ("list", "aggregation") if _is_list(section.blocks) else ("heading", "conceptual")
    kind = "how_to" if _HOW_TO.match(section.heading) else kind
    question = grammar.fix_question(grammar.templates[name].format(home=home, label=label))
    if gate.explain_doubtful_question(question, grammar):
        return None
    return Fact(question, reference, kind, name, 0, 0, label, label, home, f"{name}:{home}")


def _is_list(blocks: Sequence[Block]) -> bool:
    """Whether a section is a list, with no more than the line that leads to it."""
    items = sum(block.kind == "item" for block in blocks)
    return items >= MIN_ITEMS and [block.kind for block in blocks[-items:]] == ["item"] * items and len(blocks) <= items + 1  # fmt: skip


def _ask_terms(section: _Section) -> Iterator[Fact]:
    """What each entry of a glossary means."""
    page, home = section.page, name_home(section.page)
    named = f"{page.title} {section.heading} {' '.join(section.parents)}"
    if not home or not page.grammar.glossary.search(named):
        return
    for block, label, start in _list_entries(section):
        reference = _read_entry_text(page, start, block.end)
        term = page.grammar.templates["quote"].format(label)
        question = page.grammar.templates["glossary"].format(term=term, home=home)
        is_told = len(reference.split()) >= MIN_TERM_WORDS and _PLAIN_TERM.fullmatch(label)
        if is_told and not gate.explain_doubt(question, reference, page.grammar, owned=True):
            yield Fact(question, reference, "conceptual", "term", block.term_start or block.start, block.end, term, term, home, f"term:{home}")  # fmt: skip


def _ask_entries(section: _Section) -> Iterator[Fact]:
    """What each entry of a list answers whose terms are questions."""
    following = [*(block.kind for block in section.blocks[1:]), "entry"]
    for block, kind in zip(section.blocks, following, strict=True):
        # what stands behind an entry may go on with it
        if block.kind == "entry" and kind == "entry" and block.terms[0].endswith("?"):
            reference = _read_entry_text(section.page, block.start, block.end)
            fact = _ask_question(section.page, block.terms[0], reference)
            if fact is not None and not gate.explain_cut(reference, section.page.grammar):
                yield replace(fact, start=block.term_start or block.start, end=block.end)


def _list_entries(section: _Section) -> Iterator[tuple[Block, str, int]]:
    """Blocks behind a label, with the label and where their text starts: entries, and items with a label in bold."""
    text = section.page.document.text
    for block in section.blocks:
        if block.kind == "entry" and len(block.terms) == 1:
            yield block, block.terms[0].rstrip(".:"), block.start
        elif block.kind in ("item", "paragraph") and (label := _LABEL.match(text, block.start, block.end)):  # fmt: skip
            yield block, clean_heading(label["label"]), label.end()


def _read_entry_text(page: Page, start: int, end: int) -> str:
    reference = drop_references(tidy_text(page.document.text[start:end]))
    return reference[:1].upper() + reference[1:]


def _drop_footer(section: _Section) -> Sequence[Block]:
    """The blocks without a last line that is no sentence (`TW-12, issue 9`), at the end of a page also one with a date or an address."""
    last = section.blocks[-1]
    is_last = last == section.page.sections[-1].block and re.search(r"[\d@©]", last.text)
    is_short = len(last.text.split()) <= MAX_FOOTER_WORDS and len(section.blocks) > 1
    is_footer = last.kind == "paragraph" and is_short and (is_last or last.text[-1:].isalnum())
    return section.blocks[:-1] if is_footer else section.blocks


def _read_text(blocks: Sequence[Block]) -> str:
    """The text of a section of paragraphs, lists and single lines of code; empty where it has anything else."""
    parts: list[str] = []
    steps = 0
    for at, block in enumerate(blocks):
        text = block.text.strip()
        is_next_item = at and blocks[at - 1].kind == "item"
        # `3.2. Can I …`: a line of a table of contents; what ends without a sign is a caption or a row of links
        if block.kind == "paragraph" and text.endswith(_SENTENCE_ENDS) and not re.match(r"\d+\.\d+", text):  # fmt: skip
            parts.append(text)
        elif block.kind == "item" and block.level:
            steps += 1
            parts.append(f"{steps}. {_end_item(text)}")
        elif block.kind == "item":
            if is_next_item and not parts[-1].endswith(":"):
                parts[-1] = parts[-1].rstrip(".;,") + ";"
            parts.append(_end_item(text))
        elif block.kind == "code" and (lines := _read_code(text)):
            parts.append(lines)
        else:
            return ""
    whole = drop_references(_ANSWER_MARK.sub("", " ".join(parts))).strip()
    return whole if steps <= MAX_STEPS else ""


def _end_item(text: str) -> str:
    """An item of a list with its full stop, where it is a sentence of its own or the last words of one."""
    return text if text[-1] in ".:;,!?" or text.split()[-1] in _JOINING else f"{text}."


def _read_code(text: str) -> str:
    """A few short lines of code, each marked as such; empty for more."""
    lines = [
        " ".join(re.sub(r"^[$#%>] ", "", line.strip()).split())
        for line in text.split("\n")
        if line.strip()
    ]
    is_short = len(lines) <= MAX_CODE_LINES and all(len(line) <= MAX_CODE_CHARS and re.search(r"\w", line) for line in lines)  # fmt: skip
    return " ".join(f"`{line}`" for line in lines) if is_short and "`" not in text else ""
