"""Facts of manual pages: the options of a command, and what the command is for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.definitions import drop_references
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page
from ragstone.testset.offline.quality import explain_poor_record
from ragstone.testset.outline import DocumentSection, find_name_line
from ragstone.text.clause_words import to_word_set

MAX_DESCRIPTION_CHARS = 420
"""A longer description tells several things; its first sentence alone would not be the whole answer."""
_OPTION = re.compile(r"(?<![\w-])(?:--[A-Za-z0-9][\w-]*|-[A-Za-z0-9](?![\w-]))")
"""A long option or one of a single letter; `-Olevel` may be either with its value."""
_CHOICE = re.compile(r"[<{\[(=][\w-]*\||(?:^|[\s,/])\+\w")
"""`<0|1>`, `-num +num`: an option that does one thing or its contrary."""
_ARGUMENT = re.compile(r"--?[\w-]+(?:[ =]|\[=)<?([a-zñáéíóú][\w-]+)")
"""The value of an option as its entry calls it: `--title=name`."""
_OUTCOMES = re.compile(r"ERR|RETURN|EXIT|VALOR|ESTADO|Errors|Exit|Return|Environment")
"""Sections of a manual page whose entries are no options, but what may come of a call."""
# options that are not worth a question
_TRIVIAL = to_word_set("help version usage h V quiet verbose q v")


def find_record_facts(page: Page) -> Iterator[Fact]:
    """Facts of every record of the page, but for keys that it has twice."""
    yield from _find_purpose(page)
    # a paragraph behind an entry goes on with it
    following = [*(section.block.kind for section in page.sections[1:]), "heading"]
    whole = [section for section, kind in zip(page.sections, following, strict=True) if kind in ("entry", "heading")]  # fmt: skip
    entries = [fact for section in whole if (fact := _find_option_fact(page, section))]
    # over the page, not per section: a key such as `-v` under two headings may mean two things
    terms = (" ".join(section.block.terms) for section in page.sections if section.block.kind == "entry")  # fmt: skip
    defined = Counter(option for term in terms for option in set(_OPTION.findall(term)))
    yield from (fact for fact in entries if defined[fact.key.strip("`")] < 2)


def _find_purpose(page: Page) -> Iterator[Fact]:
    """What the NAME section of a manual page says that its command is for."""
    name_line = find_name_line(page.sections)
    if name_line is None or page.manual not in (1, 2, 3, 8):
        return
    text, block = name_line
    command = f"`{page.command}`"
    reference = f"{text[:1].upper()}{text[1:].rstrip('.')}."
    question = page.grammar.templates["purpose"].format(key=command)
    # `fseeko, ftello - set or report …`: one does this, the other that
    is_shared = " - " in text or ("," in block.text[: block.text.find(text)] and re.search(r"\b(?:or|and|o|y|e)\b|[,/]", text))  # fmt: skip
    if not is_shared and not _explain_doubt(page, question, reference):
        span = block.start, block.end
        yield Fact(question, reference, "conceptual", "purpose_line", *span, command)


def _find_option_fact(page: Page, section: DocumentSection) -> Fact | None:
    """The fact of an option that stands where a manual page describes those of its command."""
    grammar, block = page.grammar, section.block
    heading = " ".join(section.headings[:1])
    is_described = block.kind == "entry" and grammar.manual_heading.search(heading)
    # a command that has commands of its own has options of theirs
    if not is_described or not page.command or page.has_commands or _OUTCOMES.match(heading):
        return None
    option, reference = _find_option(block.terms), _read_description(page, block)
    if not option or option.strip("-") in _TRIVIAL or not reference:
        return None
    key, owner = f"`{option}`", f"`{page.command}`"
    question = grammar.fix_question(grammar.templates["option"].format(key=key, owner=owner))
    if grammar.infinitive.match(reference):
        question = question.replace("¿Qué hace ", "¿Para qué sirve ")
    if _has_bare_argument(block.terms, reference, grammar) or _explain_doubt(page, question, reference):  # fmt: skip
        return None
    return Fact(question, reference, "detail", "option", block.term_start, block.end, key, key, owner, f"option:{owner}")  # fmt: skip


def _explain_doubt(page: Page, question: str, reference: str) -> str:
    return gate.explain_doubt(question, reference, page.grammar) or explain_poor_record(
        question, reference, page.grammar
    )


def _has_bare_argument(terms: Sequence[str], reference: str, grammar: Grammar) -> bool:
    """Whether a description uses its argument as a name: `Use name as the title`."""
    known = grammar.articles | {"del", "al", "each", "cada", "given", "specified"}
    arguments = _ARGUMENT.findall(" ".join(terms))
    befores = (re.search(rf"(\S+) {re.escape(one)}\b", reference) for one in arguments)
    return any(before is not None and before[1].lower() not in known for before in befores)


def _find_option(terms: Sequence[str]) -> str:
    """The name of an option that says most: of `-a, --all` the long one; empty where it is said of several."""
    if _CHOICE.search(" ".join(terms)):
        return ""
    options = [name for term in map(_strip_marks, terms) for name in _OPTION.findall(term)]
    # `--no-x` comes with `--x`, which is the one described
    long = {name for name in options if name.startswith("--") and not name.startswith("--no-")}
    return "" if len(long) > 1 else next(iter(long), options[0] if options else "")


def _strip_marks(term: str) -> str:
    """A term without marks and its default value (`timeout (10s)`); of several spans of code the first."""
    return re.sub(r" \(.*\)$|\s*\[\d+\]$", "", term.strip("`*“”«» ").split("`")[0].strip())


def _read_description(page: Page, block: Block) -> str:
    """All that an entry says; empty where that is too long, hardly anything, or not whole."""
    reference = drop_references(tidy_text(page.document.text[block.start : block.end]))
    # without `This option`, which whoever asks does not see
    reference = page.grammar.self_reference.sub("", reference, count=1)
    if not len(reference.split()) >= 3 or len(reference) > MAX_DESCRIPTION_CHARS:
        return ""
    reference = reference[:1].upper() + reference[1:].rstrip()
    return reference if reference[-1] in ".!?)" else f"{reference}."
