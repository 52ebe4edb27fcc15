"""Facts from records, a key with what is said of it: options of a command, functions and settings, purposes of commands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import drop_references
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.offline.quality import explain_poor_record, is_unclean
from ragstone.testset.outline import DocumentSection, find_name_line
from ragstone.text.clause_words import to_word_set

MAX_DESCRIPTION_CHARS = 260
"""A longer description is cut behind its first sentence."""
_OPTION = re.compile(r"(?<![\w-])(?:--[A-Za-z0-9][\w-]*|-[A-Za-z0-9](?![\w-]))")
"""A long option or one of a single letter; `-Olevel` may be either with its value."""
_CODE_TERM = re.compile(
    r"(?=.*[a-zA-Z]{3})(?=.*(?:[\w)][_(]|\w-\w|[a-z][A-Z]))\w[\w.:-]*(?<![.:_-])(?:\(.*\))?"
)
"""A name that no prose would write: `send_robust()`, `aarp-tick-time`; not letters alone, a value or an acronym."""
_LEAD = re.compile(r"(?P<key>`[^`]+`|\*\*[^*]+\*\*|“[^”]+”|«[^»]+»)\s*(?::|–|—|-)\s+")
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
    entries = [fact for section in page.sections for fact in _find_section_facts(page, section)]
    # over the page, not per section: a key such as `-v` under two headings may mean two things
    terms = (" ".join(section.block.terms) for section in page.sections if section.block.kind == "entry")  # fmt: skip
    defined = Counter(option for term in terms for option in set(_OPTION.findall(term)))
    times = Counter(fact.key for fact in entries)
    yield from (
        fact for fact in entries if times[fact.key] == 1 and defined[fact.key.strip("`")] < 2
    )


def _find_section_facts(page: Page, section: DocumentSection) -> Iterator[Fact]:
    block = section.block
    if block.kind == "entry":
        yield from _find_entry_facts(page, section, block.terms, block.start, block.term_start)
    elif block.kind == "item":
        # `**Term**: description`
        lead = _LEAD.match(page.document.text[block.start : block.end])
        terms = [tidy_text(lead["key"].replace("**", ""))] if lead else []
        if lead:
            at = block.start
            yield from _find_entry_facts(page, section, terms, at + lead.end(), at)


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


def _find_entry_facts(
    page: Page, section: DocumentSection, terms: Sequence[str], start: int, term_start: int
) -> Iterator[Fact]:
    """The fact of an entry; `start` is where its description starts, `term_start` where its first term does."""
    grammar = page.grammar
    described = _read_description(page, section.block, start)
    if described is None or _OUTCOMES.match(" ".join(section.headings[:1])):
        return
    reference, end = described
    key, owner, template = _choose_key(page, section, terms)
    if not key or _has_bare_argument(terms, reference, grammar):
        return
    question = grammar.fix_question(grammar.templates[template].format(key=key, owner=owner))
    if grammar.infinitive.match(reference):
        question = question.replace("¿Qué hace ", "¿Para qué sirve ")
    if not _explain_doubt(page, question, reference):
        pattern = "option" if template == "option" else "entry"
        group = f"{template}:{owner}"
        yield Fact(question, reference, "detail", pattern, term_start, end, key, key, owner, group)


def _explain_doubt(page: Page, question: str, reference: str) -> str:
    return gate.explain_doubt(question, reference, page.grammar) or explain_poor_record(
        question, reference, page.grammar
    )


def _choose_key(page: Page, section: DocumentSection, terms: Sequence[str]) -> tuple[str, str, str]:
    """The key as the question names it, its owner, and the name of the template; three empty strings when none fits."""
    term = _strip_marks(terms[0])
    if term.startswith("-"):
        option = _find_option(terms)
        # not of a product, which may have several programs, nor of a command that has commands of its own
        stands_right = page.grammar.manual_heading.search(" ".join(section.headings[:1]))
        is_known = option and page.command and stands_right and not page.has_commands
        is_known = is_known and option.strip("-") not in _TRIVIAL
        return (f"`{option}`", f"`{page.command}`", "option") if is_known else ("", "", "")
    owner = f"`{page.command}`" if page.command else page.product
    # `screen.size()` in `screen` names its owner already
    if owner and _CODE_TERM.fullmatch(term) and owner.strip("`").lower() not in term.lower():
        return f"`{re.sub(r'[(].*[)]$', '()', term)}`", owner, "does_in"
    return "", "", ""


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


def _read_description(page: Page, block: Block, start: int) -> tuple[str, int] | None:
    """What an entry says and where that ends: all of it when short, else its first sentence; None when neither is whole."""
    spans = [(a, b) for a, b in find_sentences(page, block) if a >= start]
    if not spans:
        return None
    end = spans[-1][1] if spans[-1][1] - start <= MAX_DESCRIPTION_CHARS else spans[0][1]
    reference = _tidy_description(page, start, end)
    if is_unclean(reference) or gate.explain_doubtful_reference(reference, page.grammar):
        end = spans[0][1]
        reference = _tidy_description(page, start, end)
    rest = page.document.text[end : spans[-1][1]].strip()
    if rest and page.grammar.conditional_start.match(rest):
        return None  # the rest may say the contrary of another case
    if len(reference.split()) < 3 or len(reference) > 2 * MAX_DESCRIPTION_CHARS:
        return None
    return reference if reference[-1] in ".!?)" else f"{reference}.", end


def _tidy_description(page: Page, start: int, end: int) -> str:
    """The description without `This option`, which whoever asks does not see, and without `see section 3`."""
    text = drop_references(tidy_text(page.document.text[start:end]))
    text = page.grammar.self_reference.sub("", text, count=1)
    return text[:1].upper() + text[1:].rstrip()
