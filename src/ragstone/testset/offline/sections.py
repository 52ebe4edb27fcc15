"""Facts from what a document labels itself: headings with the short section below them, and the terms of a glossary.

The label is what is asked for, and the reference is all that stands under it, so that neither can lose its context."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.definitions import drop_references
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.frames import frame_home, name_home
from ragstone.testset.offline.page import Page
from ragstone.testset.offline.topics import (
    is_nominal,
    list_prefixes,
    name_task,
    name_topic,
)
from ragstone.testset.outline import clean_title
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
MIN_SECTION_WORDS, MIN_TERM_WORDS = 8, 5
"""Words of a section, and of what a glossary says of a term, that tell something."""
MAX_MENTIONS = (0, 1)
"""Other places of a page that may speak of a topic: of one word, which may well be told there too, and of several."""
MAX_FORMS = 40
"""Words with the same beginning that are looked at."""
MAX_FOOTER_WORDS = 12
MAX_CODE_LINES, MAX_CODE_CHARS = 3, 80
_JOINING = frozenset({"and", "or", "then", "y", "e", "o"})
_POINTER = re.compile(
    r"(?:Please )?(?:see|refer to|consult|read)\b|(?:Por favor,? )?(?:véase|vea|ver|consulte?|lea|lee)\b",
    re.IGNORECASE,
)
_POINTING_OBJECT = re.compile(r"(?:the|el|la|los|las) [a-zñáéíóú]+")
"""`activate the dialog`: which one, only the page tells."""
_PLAIN_TERM = re.compile(r"[^\W_][\w ’'/&.+-]{1,40}")
_WHAT_IS = re.compile(r"What (?:is|are)\b|¿Qué (?:es|son)\b")
_ANSWER_MARK = re.compile(r"(?:A|R|Answer|Respuesta)\s?[.:]{1,2}\s+(?=[A-ZÁÉÍÓÚÑ¿¡])")
"""How pages of questions mark an answer: `R.: Sí`."""
_LABEL = re.compile(
    r"(?:\*\*|__)(?P<label>[^*_\n`]{3,60}?)(?:[:.](?:\*\*|__)|(?:\*\*|__)\s?[:–—])\s+"
)
"""`**Late returns:** …`, `**Late returns** – …`"""


class _WordIndex:
    """Which blocks of a page have a word; built once, so that the search for each of many headings does not read the page again."""

    def __init__(self, page: Page) -> None:
        self._blocks: dict[str, set[int]] = {}
        for at, found in enumerate(page.sections):
            for word in set(re.findall(r"\w+", found.block.text.lower())):
                self._blocks.setdefault(word, set()).add(at)
        self._words = sorted(self._blocks)

    def find_blocks(self, prefixes: Sequence[str]) -> set[int]:
        """The numbers of the blocks that have a word with each of these beginnings."""
        found = [self._find_beginning(prefix) for prefix in prefixes]
        return set.intersection(*found) if found else set()

    def _find_beginning(self, prefix: str) -> set[int]:
        start = bisect_left(self._words, prefix)
        same = (word for word in self._words[start : start + MAX_FORMS] if word.startswith(prefix))
        return set().union(*(self._blocks[word] for word in same))


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
    words: _WordIndex
    """Of the whole page, shared by all its sections."""

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


def _list_labelled(page: Page) -> Iterator[_Section]:
    """The sections of a page that have text of their own."""
    words = _WordIndex(page)
    places = [at for at, found in enumerate(page.sections) if found.block.kind == "heading"]
    for at, end in zip(places, [*places[1:], len(page.sections)], strict=False):
        found, blocks = page.sections[at], [part.block for part in page.sections[at + 1 : end]]
        if blocks:
            parents = tuple(text for text in found.headings[1:] if text != page.title)
            has_parts = end < len(page.sections) and page.sections[end].block.level > found.block.level  # fmt: skip
            yield _Section(page, clean_title(found.block.text), parents, blocks, found.block.start, has_parts, words)  # fmt: skip


def _ask_heading(section: _Section) -> Fact | None:
    """The fact of a heading, by what it is: a question, a task or a topic; its span is set by the caller."""
    page, heading = section.page, section.heading
    reference = _read_text(_drop_footer(section))
    is_title = extract_content_stems(heading, page.grammar.language) == extract_content_stems(page.title, page.grammar.language)  # fmt: skip
    if not reference or section.has_parts or _explain_doubtful_section(section, reference):
        return None
    fact = _ask_question(page, heading, reference) if heading.endswith("?") else None
    fact = fact or _ask_task(section, reference)
    # a page that says all of its topic says more than its first section does
    is_done = fact or is_title or heading.endswith("?")
    return fact if is_done else _ask_topic(section, reference)


def _explain_doubtful_section(section: _Section, reference: str) -> str:
    """Why the text of a section is no reference; empty when it may pass."""
    grammar = section.page.grammar
    if grammar.leaning_start.match(reference) and not section.heading.endswith("?"):
        return "begins in the middle of a thought"
    if _POINTER.match(reference):
        return "only says where to look"
    return gate.explain_cut(reference, grammar)


def _ask_question(page: Page, heading: str, reference: str) -> Fact | None:
    """The fact of a heading that is a question itself."""
    bare = re.sub(r"\s+\?$", "?", heading)
    bare = bare if page.grammar.language != "es" else f"¿{bare.lstrip('¿')}"
    stems = extract_content_stems(bare, page.grammar.language)
    is_name = _WHAT_IS.match(bare) and bare.rstrip("?").split()[-1].lower() in page.names
    question = bare if is_name else frame_home(page, bare)
    kind = next((kind for kind, asks in _KINDS_ASKED if asks.match(bare)), "")
    doubt = gate.explain_doubtful_question(question, page.grammar)
    # `Can I book?`: what, only the page tells; of a house with a name it is clear, and so is `What is Ikiwiki?`
    is_short = len(stems) < MIN_QUESTION_STEMS and not page.owner and not _WHAT_IS.match(bare)  # fmt: skip
    if not kind or is_short or "?" in question[:-1] or doubt:
        return None
    return Fact(question, reference, kind, "question", 0, 0, question)


def _ask_task(section: _Section, reference: str) -> Fact | None:
    """How to do what a heading names, where it asks for that or its section has steps."""
    page, grammar = section.page, section.page.grammar
    is_asked = grammar.asked_task.match(section.heading) is not None
    # `Moving abroad` is a topic unless its section has steps, `Missing albums?` no task at all
    is_task = is_asked or (sum(block.level > 0 for block in section.blocks) > 1 and not section.heading.endswith("?"))  # fmt: skip
    task = name_task(page, section.heading) if is_task else ""
    if not task or (not is_asked and _POINTING_OBJECT.fullmatch(task.partition(" ")[2])):
        return None
    question = frame_home(page, grammar.fix_question(grammar.templates["task"].format(task=task)))
    doubt = not question or gate.explain_doubtful_question(question, grammar)
    return None if doubt else Fact(question, reference, "how_to", "task", 0, 0, task)


def _ask_topic(section: _Section, reference: str) -> Fact | None:
    """What a page says about the topic that a heading names, or below the heading where nothing tells its article."""
    page, grammar = section.page, section.page.grammar
    topic, home, language = (
        name_topic(page, section.heading),
        name_home(page),
        page.grammar.language,
    )
    is_named = bool(topic) or is_nominal(page, section.heading)
    if not is_named or not home or len(reference.split()) < MIN_SECTION_WORDS:
        return None
    # `What does “BMP” say about starting BMP?`
    is_circular = set(list_prefixes(page.title, language)) <= set(list_prefixes(section.heading, language))  # fmt: skip
    if is_circular or (topic and _is_told_elsewhere(section, topic)):
        return None
    quoted = grammar.templates["quote"].format(section.heading)
    name, subject = ("section", topic) if topic else ("heading", quoted)
    question = grammar.templates[name].format(home=home, topic=subject)
    if gate.explain_doubtful_question(question, grammar):
        return None
    return Fact(question, reference, "conceptual", name, 0, 0, subject, subject if topic else "", home, f"section:{home}" if topic else "")  # fmt: skip


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


def _list_entries(section: _Section) -> Iterator[tuple[Block, str, int]]:
    """Blocks behind a label, with the label and where their text starts: entries, and items with a label in bold."""
    text = section.page.document.text
    for block in section.blocks:
        if block.kind == "entry" and len(block.terms) == 1:
            yield block, block.terms[0].rstrip(".:"), block.start
        elif block.kind in ("item", "paragraph") and (label := _LABEL.match(text, block.start, block.end)):  # fmt: skip
            yield block, clean_title(label["label"]), label.end()


def _read_entry_text(page: Page, start: int, end: int) -> str:
    reference = drop_references(tidy_text(page.document.text[start:end]))
    return reference[:1].upper() + reference[1:]


def _is_told_elsewhere(section: _Section, topic: str) -> bool:
    """Whether another part of the page speaks of the topic too, so that the section does not tell all."""
    prefixes = list_prefixes(topic, section.page.grammar.language)
    most = len(section.heading.split()) + 2  # a line of a table of contents has no more words
    blocks = (section.page.sections[at].block for at in section.words.find_blocks(prefixes))
    times = sum(
        not section.start <= block.start <= section.end
        and (block.kind != "item" or len(block.text.split()) > most)
        for block in blocks
    )
    return times > MAX_MENTIONS[len(prefixes) > 1]


def _drop_footer(section: _Section) -> Sequence[Block]:
    """The blocks without a last line that is no sentence (`TW-12, issue 9`), and at the end of a page without its last short paragraph."""
    last = section.blocks[-1]
    is_last = last == section.page.sections[-1].block
    most = MAX_FOOTER_WORDS if is_last or last.text[-1:].isalnum() else 0
    is_footer = last.kind == "paragraph" and len(last.text.split()) <= most and len(section.blocks) > 1  # fmt: skip
    return section.blocks[:-1] if is_footer else section.blocks


def _read_text(blocks: Sequence[Block]) -> str:
    """The text of a section of paragraphs, lists and single lines of code; empty where it has anything else."""
    parts: list[str] = []
    steps = 0
    for at, block in enumerate(blocks):
        text = block.text.strip()
        is_next_item = at and blocks[at - 1].kind == "item"
        # `3.2. Can I …`: a line of a table of contents
        if block.kind == "paragraph" and not re.match(r"\d+\.\d+", text):
            parts.append(text)
        elif block.kind == "item" and block.level:
            steps += 1
            parts.append(f"{steps}. {_end_item(text)}")
        elif block.kind == "item":
            if is_next_item:
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
