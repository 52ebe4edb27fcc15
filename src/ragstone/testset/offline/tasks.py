"""Facts from headings: a task (`Installing packages`) with the steps below it, or a topic with the paragraph below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from ragstone.testset.blocks import tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import FIRST_STEP, drop_references, frame_question
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.outline import DocumentSection, clean_title
from ragstone.testset.question_terms import extract_content_stems

_ASKING = re.compile(r"(?:What|When|Where|Who|Why|How|Qué|Cuándo|Dónde|Quién|Por qué|Cómo|If|Si)\b")
MAX_STEPS = 8
MAX_SENTENCES = 3


def find_task_facts(page: Page) -> Iterator[Fact]:
    """A how-to question for each heading that names a task and has its answer right below it."""
    for at, section in enumerate(page.sections):
        if section.block.kind != "heading":
            continue
        task = read_task(clean_title(section.block.text), page.grammar, page.common)
        if not task or not _is_specific_task(task, page):
            continue
        question = frame_question(
            page, page.grammar.fix_question(page.grammar.templates["task"].format(task=task))
        )
        if gate.explain_doubtful_question(question, page.grammar):
            continue
        rest = page.sections[at + 1 :]
        below = list(takewhile(lambda following: following.block.kind != "heading", rest))
        answer = _read_steps(below) or _read_instructions(page, below, task)
        if answer is None:
            continue
        reference, end = answer
        if not gate.explain_doubtful_reference(reference, page.grammar):
            yield Fact(question, reference, "how_to", "heading", section.block.start, end, task)


def find_section_facts(page: Page) -> Iterator[Fact]:
    """What a document with an owner says under a heading: the whole section, where it is one paragraph."""
    for at, section in enumerate(page.sections):
        if section.block.kind != "heading" or not page.owner or section.block.level < 2:
            continue
        below = [following.block for following in page.sections[at + 1 : at + 4]]
        kinds = [block.kind for block in below]
        heading = clean_title(section.block.text)
        is_topic = len(heading.split()) <= 5 and not _ASKING.match(heading)
        if kinds[:1] != ["paragraph"] or kinds[1:2] not in ([], ["heading"]) or not is_topic:
            continue
        title, heading = map(page.grammar.templates["quote"].format, (page.title, heading))
        question = page.grammar.templates["section"].format(title=title, heading=heading)
        span = section.block.start, below[0].end
        if not gate.explain_doubt(question, below[0].text, page.grammar, owned=True):
            yield Fact(question, below[0].text, "conceptual", "section", *span, heading)


def read_task(heading: str, grammar: Grammar, common: frozenset[str] = frozenset()) -> str:
    """The task that a heading names, from its plain verb on (`install packages`); empty when it names none."""
    heading = heading.rstrip("?.: ")
    if ":" in heading or "," in heading:
        return ""
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
    return f"{verb} {_lower_common(rest, common)}" if verb and rest and not of else ""


def _lower_common(text: str, common: frozenset[str]) -> str:
    """A heading's words as a sentence writes them: `Hard Disks` → `hard disks`, names as they are."""
    return " ".join(word.lower() if word.lower() in common else word for word in text.split(" "))


def _is_specific_task(task: str, page: Page) -> bool:
    """Whether the object of a task is named: by a name, or by three words of meaning and more."""
    words = task.lower().split()[1:]
    # An article may begin the object of a task, though not a sentence that stands alone.
    bad_starts = page.grammar.bad_starts - page.grammar.articles
    if not words or words[0] in bad_starts or {"and", "or", "y", "o", "e", "u"} & set(words):
        return False
    meaning = extract_content_stems(task, page.grammar.language)
    return bool(page.owner) or len(meaning) >= 3 or gate.is_specific(task.partition(" ")[2])


def _read_steps(below: Sequence[DocumentSection]) -> tuple[str, int] | None:
    """Numbered steps, when the section begins with them."""
    blocks = [section.block for section in below]
    while blocks and blocks[0].kind == "paragraph" and blocks[0].text.endswith(":"):
        blocks = blocks[1:]
    steps = list(takewhile(lambda block: block.kind == "item" and block.level, blocks))  # numbered
    then = blocks[len(steps)].kind if len(steps) < len(blocks) else ""
    # Steps that a block of code follows are not whole without it.
    if not 2 <= len(steps) <= MAX_STEPS or then == "code":
        return None
    if any(len(step.text) > 160 or step.text.endswith(":") for step in steps):
        return None
    text = " ".join(f"{n}. {step.text.rstrip('.')}." for n, step in enumerate(steps, 1))
    return text, steps[-1].end


def _read_instructions(
    page: Page, below: Sequence[DocumentSection], task: str
) -> tuple[str, int] | None:
    """The first sentences of the section that say what to do and speak of the task's object."""
    wanted = set(extract_content_stems(task, page.grammar.language))
    for section in below[:2]:
        if section.block.kind != "paragraph":
            return None
        spans = find_sentences(page, section.block)
        for at, (start, end) in enumerate(spans):
            sentence = tidy_text(page.document.text[start:end])
            shared = wanted & set(extract_content_stems(sentence, page.grammar.language))
            if not page.grammar.instructions.match(sentence) or len(shared) < min(2, len(wanted)):
                continue
            if FIRST_STEP.search(sentence):
                return None
            # The longest passage that reads whole wins; the first sentence alone passes as it is,
            # since it was checked above to be an instruction.
            for _, last in reversed(spans[at : at + MAX_SENTENCES]):
                reference = drop_references(tidy_text(page.document.text[start:last]))
                if last == end or not gate.explain_doubtful_reference(reference, page.grammar):
                    return reference, last
    return None
