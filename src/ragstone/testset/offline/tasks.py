"""Facts from headings: a question, a task with its steps or a topic, answered by the short section below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from ragstone.testset.blocks import Block
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import drop_references
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page
from ragstone.testset.offline.subjects import frame_home, is_phrase
from ragstone.testset.outline import DOCUMENT_WORDS, clean_title
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.clause_words import to_word_set
from ragstone.text.verbs import is_base_form

# the kind of a question by how it begins; all others ask what something is or why
_KINDS_ASKED = (
    ("how_to", re.compile(r"How (?:do|can|to|should)\b|What (?:should|must|can|do) I do\b|¿Cómo\b|¿Qué (?:hago|debo hacer|puedo hacer)\b")),
    ("factual", re.compile(r"When|Where|Who|How (?:many|much|long)|¿Cuándo|¿Dónde|¿Quién|¿Cuánt")),
    ("conceptual", re.compile(r"(?:What|Why|How|Which|Is|Are|Do|Does|Can|Should|Will|Must|May) |¿(?:Qué|Por qué|Cuál|Para qué|Se puede|Puedo|Es |Hay )")),
)  # fmt: skip
MAX_STEPS = 10
MIN_QUESTION_STEMS = 2
"""Words of meaning of a heading that asks."""
_ANSWER_MARK = re.compile(r"(?:A|R|Answer|Respuesta)\s?[.:]{1,2}\s+(?=[A-ZÁÉÍÓÚÑ¿¡])")
"""How pages of questions mark an answer: `R.: Sí`."""
MAX_TOPIC_WORDS, MIN_TOPIC_WORDS = 5, 8
"""Words of a heading that is a topic, and of a paragraph that tells something about it."""
GENERAL_HEADINGS = DOCUMENT_WORDS | to_word_set(
    "general background summary conclusion description example examples more other further details information contents purpose scope thanks acknowledgements credits license copyright "
    "antecedentes resumen conclusión descripción ejemplo ejemplos más otros otras detalles información contenido objeto alcance gracias agradecimientos créditos licencia"
)
"""First words of headings that any page could have."""


def find_heading_facts(page: Page) -> Iterator[Fact]:
    """A question for each heading that has its whole answer right below it."""
    for at, section in enumerate(page.sections):
        if section.block.kind != "heading":
            continue
        rest = page.sections[at + 1 :]
        below = takewhile(lambda following: following.block.kind != "heading", rest)
        blocks = [following.block for following in below]
        heading = clean_title(section.block.text)
        fact = _ask_heading(page, heading, blocks, section.block.level) if blocks else None
        if fact is not None:
            yield replace(fact, start=section.block.start, end=blocks[-1].end)


def _ask_heading(page: Page, heading: str, blocks: Sequence[Block], level: int) -> Fact | None:
    """The fact of a heading with the blocks below it; its span is set by the caller."""
    grammar, steps, paragraph = page.grammar, _read_steps(blocks), _read_paragraph(blocks)
    reference = steps or paragraph
    if not reference or gate.explain_cut(reference, grammar):
        return None
    if heading.endswith("?"):
        return _ask_question(page, heading, reference)
    if steps and (task := read_task(heading, grammar, page.small)):
        bare = grammar.fix_question(grammar.templates["task"].format(task=task))
        question = frame_home(page, bare)
        doubt = not question or gate.explain_doubtful_question(question, grammar)
        return None if doubt else Fact(question, steps, "how_to", "heading", 0, 0, task)
    return _ask_topic(page, heading, paragraph) if paragraph and level > 1 else None


def _ask_topic(page: Page, heading: str, paragraph: str) -> Fact | None:
    """What a page says about the topic that a heading names, where its section is one paragraph."""
    grammar = page.grammar
    is_topic = len(heading.split()) <= MAX_TOPIC_WORDS and is_phrase(heading, grammar)
    is_general = heading.split()[0].lower() in GENERAL_HEADINGS or heading.isupper()
    # the words of a manual belong to a program, and its headings to its other pages
    if not page.has_home or not is_topic or is_general or len(paragraph.split()) < MIN_TOPIC_WORDS:
        return None
    title = grammar.templates["quote"].format(page.title)
    # `Late Returns`: only names keep their capital inside a sentence
    is_name = [word.lower() in page.names or not word.istitle() for word in heading.split()]
    words = zip(heading.split(), is_name, strict=True)
    topic = grammar.add_article(" ".join(word if keep else word.lower() for word, keep in words))
    if not topic:
        return None
    question = grammar.templates["section"].format(title=title, heading=topic)
    if gate.explain_doubt(question, paragraph, grammar, owned=True):
        return None
    return Fact(question, paragraph, "conceptual", "section", 0, 0, topic)


def _read_paragraph(blocks: Sequence[Block]) -> str:
    """The whole of a section that is one paragraph; else empty, because no text sums a longer one up."""
    # `3.2. Can I …`: the next line of a table of contents
    is_listed = re.match(r"\d+\.\d+", blocks[0].text)
    is_whole = len(blocks) == 1 and blocks[0].kind == "paragraph" and not is_listed
    return drop_references(_ANSWER_MARK.sub("", blocks[0].text)) if is_whole else ""


def _read_steps(blocks: Sequence[Block]) -> str:
    """The numbered steps of a section that has one list of them, with paragraphs around it; else empty."""
    is_step = [block.kind == "item" and block.level > 0 for block in blocks]
    steps = [block.text for block, is_one in zip(blocks, is_step, strict=True) if is_one]
    others = {block.kind for block, is_one in zip(blocks, is_step, strict=True) if not is_one}
    first = is_step.index(True) if steps else 0
    is_together = all(is_step[first : first + len(steps)])
    if not 2 <= len(steps) <= MAX_STEPS or others - {"paragraph"} or not is_together:
        return ""
    return " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(steps, 1))


def _ask_question(page: Page, heading: str, reference: str) -> Fact | None:
    """The fact of a heading that is a question itself."""
    bare = heading if page.grammar.language != "es" else f"¿{heading.lstrip('¿')}"
    question = frame_home(page, bare)
    kind = next((kind for kind, asks in _KINDS_ASKED if asks.match(bare)), "")
    doubt = gate.explain_doubtful_question(question, page.grammar, is_written=True)
    # `Can I book?`: what, only the page tells; of a house with a name it is clear
    stems = extract_content_stems(bare, page.grammar.language)
    is_short = len(stems) < MIN_QUESTION_STEMS and not page.setting.name
    if not kind or is_short or "?" in question[:-1] or doubt:
        return None
    return Fact(question, reference, kind, "question", 0, 0, question)


def read_task(heading: str, grammar: Grammar, common: frozenset[str] = frozenset()) -> str:
    """The task that a heading names, from its plain verb on (`install packages`); empty when it names none.

    `common` are words that the document writes small."""
    match = grammar.task.fullmatch(grammar.to_own_words(heading.rstrip("?.: ")))
    if match is None:
        return ""
    verb, rest = match["verb"].lower(), match["rest"].split(" ")
    verb = verb if grammar.language == "es" or match["asked"] else _find_base(verb)
    words = (word.lower() if word.lower() in common else word for word in rest)
    is_cut = rest[-1].lower() in grammar.dangling_end
    return f"{verb} {' '.join(words)}" if verb and not is_cut else ""


def _find_base(verb: str) -> str:
    """The plain form of an English verb or gerund: `configuring`, `running`; empty for what is none."""
    stem = verb.removesuffix("ing")
    forms = (verb, stem, f"{stem}e", stem[:-1])
    return next((form for form in forms if is_base_form(form)), "")
