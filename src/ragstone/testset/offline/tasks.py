"""Facts from headings: a task (`Installing packages`) with the steps below it, or a topic with the paragraph below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import drop_references, frame_question
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.outline import DocumentSection, clean_title
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems

_ASKING = re.compile(r"(?:What|When|Where|Who|Why|How|Qué|Cuándo|Dónde|Quién|Por qué|Cómo|If|Si)\b")
# the kind of a question by its first word; all others ask what something is or why
_KINDS_ASKED = (
    ("how_to", re.compile(r"How (?:do|can|to|should)\b|¿Cómo\b")),
    ("factual", re.compile(r"When|Where|Who|How (?:many|much|long)|¿Cuándo|¿Dónde|¿Quién|¿Cuánt")),
)
_QUESTION = re.compile(
    r"(?:What|When|Where|Who|Why|How|Which|Is|Are|Do|Does|Can|Should|Will|Must|May) |¿(?:Qué|Cuándo|Dónde|Quién|Por qué|Cómo|Cuál|Cuánt|Para qué|Se puede|Puedo|Es |Hay )"
)
_SECOND_TASK = re.compile(r"\b(?:and|or) \w+ing\b|^\w+(?:ción|do|da) [yo] ", re.IGNORECASE)
"""`Installing and configuring`: the second verb cannot be brought into its plain form."""
_OBJECT_START = re.compile(r"(?:an?|the|your|to|with|from|up|on|in|for)\b", re.IGNORECASE)
"""What follows a verb rather than a noun: `Change the appearance`, not `Change log`."""
_INSTRUCTS = re.compile(
    r"(?:To|If you want to|Para|Si (?:desea|quiere)) [^.]{5,90}, (?:use|run|click|select|choose|press|go|open|type|enter|you|pulse|seleccione|elija|use|utilice|vaya|abra|ejecute|puede|debe|haga)\b|You can [a-z]+ |Puede [a-zñ]+r "
)
"""A first sentence that tells how something is done."""
MIN_STEPS = 2
MAX_STEPS = 10
MAX_STEP_CHARS = 260
MAX_PARAGRAPHS = 3
MIN_QUESTION_STEMS = 3
"""Words of meaning from which a question without a name says what it is about."""


def find_task_facts(page: Page) -> Iterator[Fact]:
    """A question for each heading that asks one itself, or names a task, and has its answer right below it."""
    for at, section in enumerate(page.sections):
        if section.block.kind != "heading":
            continue
        rest = page.sections[at + 1 :]
        below = list(takewhile(lambda following: following.block.kind != "heading", rest))
        heading = clean_title(section.block.text)
        find = _answer_question if heading.endswith("?") else _answer_task
        fact = find(page, heading, below)
        if fact is not None:
            yield replace(fact, start=section.block.start)


def _answer_question(page: Page, heading: str, below: Sequence[DocumentSection]) -> Fact | None:
    """The fact of a heading that is a question, answered by the whole section below it where that is short."""
    grammar = page.grammar
    question = heading if grammar.language != "es" else f"¿{heading.lstrip('¿')}"
    is_known = gate.is_specific(question.lstrip("¿")) or (
        len(extract_question_stems(question, grammar.language)) >= MIN_QUESTION_STEMS
    )
    if not (is_known and below and _QUESTION.match(question)):
        return None
    # a longer section, or one with a list or code, answers in parts that no sentence of it sums up
    if len(below) > MAX_PARAGRAPHS or any(one.block.kind != "paragraph" for one in below):
        return None
    start, end = below[0].block.start, below[-1].block.end
    reference = drop_references(tidy_text(page.document.text[start:end]))
    if gate.explain_doubtful_question(question, grammar) or gate.explain_cut(reference, grammar):
        return None
    kind = next((kind for kind, asks in _KINDS_ASKED if asks.match(question)), "conceptual")
    return Fact(question, reference, kind, "question", 0, end, question)


def _answer_task(page: Page, heading: str, below: Sequence[DocumentSection]) -> Fact | None:
    """The fact of a heading that names a task, answered by the numbered steps or the short instruction below it."""
    task = read_task(heading, page.grammar, page.small, page.verbs)
    if not task or not is_specific_task(task, page):
        return None
    answer = _read_steps(page, below) or _read_instruction(page, below)
    question = page.grammar.fix_question(page.grammar.templates["task"].format(task=task))
    question = frame_question(page, question, tool=True, product=True)
    if answer is None or gate.explain_doubtful_question(question, page.grammar):
        return None
    reference, end = answer
    doubt = gate.explain_cut(reference, page.grammar)
    return None if doubt else Fact(question, reference, "how_to", "heading", 0, end, task)


def _read_instruction(page: Page, below: Sequence[DocumentSection]) -> tuple[str, int] | None:
    """The paragraph of a section that has no other, where it tells its reader what to do from its first sentence on."""
    blocks = [section.block for section in below]
    if [block.kind for block in blocks] != ["paragraph"]:
        return None
    start, end = find_sentences(page, blocks[0])[0]
    first = tidy_text(page.document.text[start:end])
    tells = page.grammar.next_step.match(first) or _INSTRUCTS.match(first)
    is_whole = blocks[0].text[-1:] in ".)" and not gate.explain_doubtful_reference(
        blocks[0].text, page.grammar
    )
    return (blocks[0].text, blocks[0].end) if tells and is_whole else None


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


def read_task(
    heading: str,
    grammar: Grammar,
    common: frozenset[str] = frozenset(),
    verbs: frozenset[str] = frozenset(),
) -> str:
    """The task that a heading names, from its plain verb on (`install packages`); empty when it names none.

    `common` are words that the document writes small, `verbs` those that it writes behind `to`."""
    heading = heading.rstrip("?.: ")
    if ":" in heading or "," in heading or _SECOND_TASK.search(heading):
        return ""
    # the heading speaks to the reader, the question is the reader's own
    heading = grammar.to_own_words(heading)
    first, _, rest = heading.partition(" ")
    verb = grammar.task_verbs.get(first.lower(), "") or _find_verb(first.lower(), rest, verbs)
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


def _find_verb(first: str, rest: str, verbs: frozenset[str]) -> str:
    """The plain verb of a word that the document itself uses as one (`Override the …`); empty for nouns (`Control panel`)."""
    if not _OBJECT_START.match(rest):
        return ""
    stem = first.removesuffix("ing")
    forms = (first,) if stem == first else (stem, f"{stem}e", stem[:-1])
    return next((form for form in forms if form in verbs), "")


def _lower_common(text: str, common: frozenset[str]) -> str:
    """A heading's words as a sentence writes them: `Hard Disks` → `hard disks`, names as they are."""
    return " ".join(word.lower() if word.lower() in common else word for word in text.split(" "))


def is_specific_task(task: str, page: Page) -> bool:
    """Whether the object of a task is named: by a name, or by two words of meaning."""
    words = task.lower().split()[1:]
    # An article may begin the object of a task, though not a sentence that stands alone.
    bad_starts = page.grammar.bad_starts - page.grammar.articles - page.grammar.links
    if not words or words[0] in bad_starts - {"to", "from", "a"}:
        return False
    meaning = extract_content_stems(task, page.grammar.language)
    return bool(page.owner) or len(meaning) > 1 or gate.is_specific(task.partition(" ")[2])


def _read_steps(page: Page, below: Sequence[DocumentSection]) -> tuple[str, int] | None:
    """The numbered steps of a section, when it has one list of them and nothing but text before it."""
    blocks = [section.block for section in below]
    steps = [block for block in blocks if block.kind == "item" and block.level]
    is_plain = all(block in steps or block.kind == "paragraph" for block in blocks)
    if not is_plain or not MIN_STEPS <= len(steps) <= MAX_STEPS or not _is_procedure(page, steps):
        return None
    text = " ".join(f"{n}. {step.text.rstrip('.')}." for n, step in enumerate(steps, 1))
    return text, steps[-1].end


def _is_procedure(page: Page, steps: Sequence[Block]) -> bool:
    """Whether numbered items are one list of short steps; a numbered list may also be of reasons or cases."""
    if not _is_one_list(page, steps):
        return False
    if any(len(step.text) > MAX_STEP_CHARS or step.text.endswith(":") for step in steps):
        return False
    return sum(_is_instruction(page, step.text) for step in steps) * 2 >= len(steps)


def _is_one_list(page: Page, steps: Sequence[Block]) -> bool:
    """Whether steps are numbered from 1 on: a second list is another way, and code or bullets between steps are part of them."""
    text = page.document.text
    numbers = [
        int((re.findall(r"\d+", text[max(0, step.start - 6) : step.start]) or "0")[-1])
        for step in steps
    ]
    return numbers == list(range(1, len(steps) + 1))


def _is_instruction(page: Page, step: str) -> bool:
    return page.grammar.infinitive.match(step) is not None or (
        page.grammar.language == "en" and step.split()[0].lower() in page.verbs
    )
