"""Facts from headings: a question, a task (`Installing packages`) or a topic, answered by the short section below it."""

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
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.offline.subjects import frame_question
from ragstone.testset.outline import clean_title
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems

# the kind of a question by its first word; all others ask what something is or why
_KINDS_ASKED = (
    (
        "how_to",
        re.compile(
            r"How (?:do|can|to|should)\b|What (?:should|must|can|do) I do\b|¿Cómo\b|¿Qué (?:hago|debo hacer|puedo hacer)\b"
        ),
    ),
    ("factual", re.compile(r"When|Where|Who|How (?:many|much|long)|¿Cuándo|¿Dónde|¿Quién|¿Cuánt")),
)
_QUESTION = re.compile(
    r"(?:What|When|Where|Who|Why|How|Which|Is|Are|Do|Does|Can|Should|Will|Must|May) |¿(?:Qué|Cuándo|Dónde|Quién|Por qué|Cómo|Cuál|Cuánt|Para qué|Se puede|Puedo|Es |Hay )"
)
_SECOND_TASK = re.compile(r"\b(?:and|or) \w+ing\b|^\w+(?:ción|do|da) [yo] ", re.IGNORECASE)
"""`Installing and configuring`: the second verb cannot be brought into its plain form."""
_INSTRUCTS = re.compile(
    r"(?:To|If you want to|Para|Si (?:desea|quiere)) [^.]{5,90}, (?:use|run|click|select|choose|press|go|open|type|enter|you|pulse|seleccione|elija|use|utilice|vaya|abra|ejecute|puede|debe|haga)\b|You can [a-z]+ |Puede [a-zñ]+r "
)
"""A sentence that tells how something is done."""
MAX_STEPS = 10
MIN_ANSWER_WORDS = 12
MIN_QUESTION_STEMS = 3
"""Words of meaning from which a question without a name says what it is about."""
MAX_TOPIC_WORDS = 5


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
    reference = _read_answer(blocks)
    if not reference or gate.explain_cut(reference, page.grammar):
        return None
    if heading.endswith("?"):
        return _ask_question(page, heading, reference)
    if task := read_task(heading, page.grammar, page.small):
        is_asked = page.grammar.task_prefix.fullmatch(heading) is not None
        return _ask_task(page, task, blocks, reference, is_asked)
    if not page.owner or level < 2 or len(heading.split()) > MAX_TOPIC_WORDS:
        return None
    templates = page.grammar.templates
    title, topic = map(templates["quote"].format, (page.title, heading))
    question = templates["section"].format(title=title, heading=topic)
    doubt = gate.explain_doubt(question, reference, page.grammar, owned=True)
    return None if doubt else Fact(question, reference, "conceptual", "section", 0, 0, topic)


def _read_answer(blocks: Sequence[Block]) -> str:
    """The whole of a section that is one paragraph, or its numbered steps with paragraphs around them; else empty, because
    code, tables and longer sections answer in parts that no text sums up."""
    is_step = [block.kind == "item" and block.level > 0 for block in blocks]
    steps = [block.text for block, is_one in zip(blocks, is_step, strict=True) if is_one]
    others = [block.kind for block, is_one in zip(blocks, is_step, strict=True) if not is_one]
    if not steps and others == ["paragraph"]:
        # `3.2. Can I …`: the next line of a table of contents
        is_listed = re.match(r"\d+\.\d+", blocks[0].text)
        return "" if is_listed else drop_references(blocks[0].text)
    first = is_step.index(True) if steps else 0
    is_together = all(is_step[first : first + len(steps)])
    if not 2 <= len(steps) <= MAX_STEPS or set(others) - {"paragraph"} or not is_together:
        return ""
    return " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(steps, 1))


def _ask_task(
    page: Page, task: str, blocks: Sequence[Block], reference: str, is_asked: bool
) -> Fact | None:
    """The fact of a heading that names a task; steps below one that asks how to (`is_asked`) tell it in any words."""
    has_steps = is_asked and any(block.kind == "item" for block in blocks)
    if not _is_specific_task(task, page) or not (has_steps or _is_instruction(page, blocks)):
        return None
    question = page.grammar.fix_question(page.grammar.templates["task"].format(task=task))
    question = frame_question(page, question, tool=True, product=True)
    doubt = gate.explain_doubtful_question(question, page.grammar)
    return None if doubt else Fact(question, reference, "how_to", "heading", 0, 0, task)


def _ask_question(page: Page, heading: str, reference: str) -> Fact | None:
    """The fact of a heading that is a question itself."""
    question = heading = heading if page.grammar.language != "es" else f"¿{heading.lstrip('¿')}"
    stems = extract_question_stems(question, page.grammar.language)
    is_known = gate.is_specific(question.lstrip("¿"))
    if page.setting.frame and not is_known:
        question = frame_question(page, question)
    is_known = is_known or page.has_home or len(stems) >= MIN_QUESTION_STEMS
    doubt = gate.explain_doubtful_question(question, page.grammar, is_written=True)
    is_doubtful = "?" in question[:-1] or doubt
    if not is_known or is_doubtful or not _QUESTION.match(heading):
        return None
    kind = next((kind for kind, asks in _KINDS_ASKED if asks.match(heading)), "conceptual")
    return Fact(question, reference, kind, "question", 0, 0, question)


def _is_instruction(page: Page, blocks: Sequence[Block]) -> bool:
    """Whether a section tells its reader what to do: numbered steps that begin with a verb, or its first sentence does."""
    steps = [block.text for block in blocks if block.kind == "item"]
    if steps:
        return sum(map(bool, map(page.grammar.next_step.match, steps))) * 2 >= len(steps)
    start, end = (find_sentences(page, blocks[0]) or [(0, 0)])[0]
    first = page.document.text[start:end]
    tells = page.grammar.next_step.match(first) or _INSTRUCTS.match(first)
    is_whole = not gate.explain_doubtful_reference(blocks[0].text, page.grammar)
    return bool(tells) and is_whole and len(blocks[0].text.split()) >= MIN_ANSWER_WORDS


def read_task(heading: str, grammar: Grammar, common: frozenset[str] = frozenset()) -> str:
    """The task that a heading names, from its plain verb on (`install packages`); empty when it names none.

    `common` are words that the document writes small."""
    heading = heading.rstrip("?.: ")
    if re.search(r"[:,(]", heading) or _SECOND_TASK.search(heading):
        return ""
    # the heading speaks to the reader, the question is the reader's own
    heading = grammar.to_own_words(heading)
    first, _, rest = heading.partition(" ")
    verb = grammar.task_verbs.get(first.lower(), "")
    # `Instalación del servidor` → `instalar el servidor`: the object of a Spanish verbal noun comes
    # with `de`.
    of = re.match(r"de(l?) (.+)", rest) if grammar.language == "es" else None
    if verb and of:
        return f"{verb} {'el ' if of[1] else ''}{_lower_common(of[2], common)}"
    if match := grammar.task_prefix.fullmatch(heading):
        task = match["task"]
        return _lower_common(task[:1].lower() + task[1:], common)
    is_object = bool(rest) and grammar.language != "es"
    return f"{verb} {_lower_common(rest, common)}" if verb and is_object else ""


def _lower_common(text: str, common: frozenset[str]) -> str:
    """A heading's words as a sentence writes them: `Hard Disks` → `hard disks`, names as they are."""
    return " ".join(word.lower() if word.lower() in common else word for word in text.split(" "))


def _is_specific_task(task: str, page: Page) -> bool:
    """Whether the object of a task is named: by a name, or by two words of meaning."""
    words = task.lower().split()[1:]
    # An article may begin the object of a task, though not a sentence that stands alone.
    bad_starts = page.grammar.bad_starts - page.grammar.articles - page.grammar.links
    if not words or words[0] in bad_starts - {"to", "from", "a"}:
        return False
    meaning = extract_content_stems(task, page.grammar.language)
    return page.has_home or len(meaning) > 1 or gate.is_specific(task.partition(" ")[2])
