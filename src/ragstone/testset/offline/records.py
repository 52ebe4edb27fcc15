"""Facts from records, a key with what is said of it: options of a command, entries of definition lists, table rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import (
    drop_references,
    frame_question,
    is_empty_answer,
    is_plain_code,
)
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.outline import DocumentSection, clean_title, find_name_line
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.clause_words import to_word_set

MAX_DESCRIPTION_CHARS = 260
"""A longer description is cut behind its first sentence."""
MAX_OWNER_WORDS = 6
MAX_READ_CHARS = 60_000
"""Characters in which it is looked how a word is used."""
MAX_PROSE_USES = 2
"""Times that a page may write a name of code as a plain word."""
MIN_DESCRIPTION_WORDS = 4
MIN_HEADING_STEMS = 3
"""Words of meaning that a paragraph must add to its heading."""
_HEADING_KEY = re.compile(r"[A-ZÁÉÍÓÚÑ][^?:;.,<>=…]*(?:\.\w[^?:;.,<>=…]*)?")
"""A heading that can be the name of something."""
_OPTION = re.compile(r"--?[A-Za-z0-9?][\w?-]*")
_CODE_TERM = re.compile(
    r"`?(?:[A-Za-z_/\\.][\w./:-]*[_./:-][\w./:-]*\w(?:\(.*\))?|[A-Za-z]\w*|[\w.]+\(.*\))`?$"
)
_LEAD = re.compile(
    r"(?P<key>`[^`]+`|\*\*[^*]+\*\*|“[^”]+”|«[^»]+»)\s*(?P<sign>:|–|—|-)\s+|(?P<plain>[A-ZÁÉÍÓÚÑ][^.:;,`\n]{2,50}): (?=[A-ZÁÉÍÓÚÑ])"
)
_MENU_PATH = re.compile(r"[A-ZÁÉÍÓÚÑ][\w /-]+(?: → [A-ZÁÉÍÓÚÑ][^→:;<>=]{2,40})+")
_CELL = re.compile(
    r"(?:[$€£]? ?\d[\d.,]* ?(?:[a-zA-Z%€$£°µ]{1,12}(?: [a-z]+)?)|`[^`]+`|[A-Za-zÁÉÍÓÚÑáéíóúñ][\w áéíóúñ'-]{3,60})"
)
"""A short value that tells something by itself: an amount with its unit, code, or words; a bare number lacks its unit."""
_CLAUSE = re.compile(
    r"(?:The|An?) [\w-]+ [a-z]{3,}s (?:the|an?|all|any|no|not|its|to|from|with)\b|(?:Los|Las) \w+s (?:\w+ ){0,3}\w+(?:an|en) "
)
"""A noun with its verb: the description is a sentence about something else."""
_COLUMN = re.compile(r"[^\W\d_][\w()/-]{1,20}(?: [\w()/-]{1,15}){0,2}")
_LONE_WORD = re.compile(r"`?(?:[A-ZÁÉÍÓÚÑ][\w+-]*|\W|\w|[^`]*[<>|][^`]*)`?")
"""A key that does not say by itself what it is: `Enter`, `x`."""
_TO_READER = re.compile(r"\b(?:eres|tu|tus|puedes|tienes|quieres|debes)\b", re.IGNORECASE)
"""Words of a paragraph that gives its reader advice instead of saying what a thing does."""
_INDEX = re.compile(r"index|contents|índice|contenido", re.IGNORECASE)
"""Titles of pages that list what stands elsewhere."""
_OUTCOMES = re.compile(r"ERR|RETURN|EXIT|VALOR|ESTADO|Errors|Exit|Return|Environment")
"""Sections of a manual page whose entries are no options, but what may come of a call."""
_NO_KEY = ("", "", "")
"""Key, owner and template of an entry that no template fits."""
# keys that are not worth a question
_TRIVIAL = to_word_set(
    "ok OK Cancel Close Help Apply Reset Aceptar Cancelar Cerrar Ayuda Aplicar help version usage h V ? quiet verbose q v Default Description Syntax Context Status Module Note Example Type Name"
)


def find_record_facts(page: Page) -> Iterator[Fact]:
    """Facts of every record of the page."""
    yield from _find_purpose(page)
    if _INDEX.fullmatch(page.title):
        return
    entries = [fact for section in page.sections for fact in _find_section_facts(page, section)]
    entries += _find_heading_facts(page)
    times = Counter(fact.key for fact in entries)
    # over the page, not per section: a key such as `-v` under two headings may mean two things
    yield from (fact for fact in entries if times[fact.key] == 1)
    yield from _find_table_facts(page)


def _find_section_facts(page: Page, section: DocumentSection) -> Iterator[Fact]:
    block = section.block
    if block.kind == "entry":
        yield from _find_entry_facts(page, section, block.terms, block.start, block.term_start)
    elif block.kind == "item":
        yield from _find_item_facts(page, section)
    elif block.kind == "row" and (option := _find_option(block.terms)):
        yield from _find_option_row_facts(page, section, option)


def _find_option_row_facts(page: Page, section: DocumentSection, option: str) -> Iterator[Fact]:
    """A table row of an option and its description."""
    text, row = section.block.terms[-1], section.block
    at = page.document.text.find(text, row.start, row.end)
    if len(text.split()) > 2 and option not in text and at >= 0:
        entry = replace(row, kind="entry", text=text, start=at, end=at + len(text))
        yield from _find_entry_facts(
            page, DocumentSection(entry, section.headings), [option], at, row.start
        )


def _find_heading_facts(page: Page) -> Iterator[Fact]:
    """A heading whose paragraph begins with a verb (`Inserts a …`) names what does that: a command, an option, a function."""
    for section, below in pairwise(page.sections):
        heading = clean_title(section.block.text)
        is_key = section.block.kind == "heading" and below.block.kind == "paragraph"
        if not is_key or not page.product or page.command or heading in _TRIVIAL:
            continue
        if not _HEADING_KEY.fullmatch(heading):
            continue
        described = _read_description(page, below.block, below.block.start)
        asked = _ask_heading(page, heading, section.headings[1] if section.headings[1:] else "")
        if described is None or not asked or not _is_described(page, asked[0], described[0]):
            continue
        question, key, owner = asked
        kind, group = ("detail" if owner else "conceptual"), f"heading:{owner}"
        yield Fact(
            question, described[0], kind, "entry", section.block.start, described[1], key, key,
            owner or page.product, group,
        )  # fmt: skip


def _ask_heading(page: Page, heading: str, above: str) -> tuple[str, str, str] | None:
    """The question for a heading, its key and its owner (the heading above it; empty for a name of its own); None when
    nobody could tell which thing is meant."""
    templates, key = page.grammar.templates, page.grammar.templates["quote"].format(heading)
    if not above or not re.search(r"[a-zñáéíóú]", heading):
        is_name = " " in heading or re.search(r"[A-Z].*[A-Z]|\d", heading)
        question = templates["does_in"].format(key=key, owner=page.product)
        return (question, key, "") if is_name else None
    if above == heading or len(above.split()) > MAX_OWNER_WORDS or re.search(r"[“«\"]", above):
        return None
    owner = templates["quote"].format(above)
    question = templates["option"].format(key=key, owner=owner)
    return frame_question(page, question, product=True), key, owner


def _is_described(page: Page, question: str, reference: str) -> bool:
    """Whether a paragraph says what the thing of its heading does, and more than its name."""
    grammar = page.grammar
    heading = question.partition("«")[2]
    is_task = (
        re.match(r"[A-ZÁÉÍÓÚ][a-zñ]+[aei]r \S", heading)
        and heading[:4].lower() != reference[:4].lower()
    )
    if is_task or _TO_READER.search(reference):
        return False
    does = (
        choose_template(page, reference) in ("does", "tells")
        and len(reference.split()) > MIN_DESCRIPTION_WORDS
    )
    if not does or not grammar.third_person.match(reference):
        return False
    is_empty = is_empty_answer(question, reference, grammar.language, MIN_HEADING_STEMS)
    return not is_empty and not gate.explain_doubt(question, reference, grammar)


def _find_purpose(page: Page) -> Iterator[Fact]:
    """What the NAME section of a manual page says that its command is for."""
    name_line = find_name_line(page.sections)
    if name_line is None or page.manual not in (1, 2, 3, 8):
        return
    text, block = name_line
    # Sections 2 and 3 of the manual are functions, 1 and 8 are commands.
    if page.manual in (2, 3) and not page.grammar.verb_start.match(text[:1].upper() + text[1:]):
        return  # a noun: not what a function does
    command = f"`{page.command}`"
    is_noun = page.grammar.noun_start.match(text[:1].upper() + text[1:])
    question = page.grammar.templates["what_is" if is_noun else "purpose"].format(key=command)
    reference = f"{text[:1].upper()}{text[1:].rstrip('.')}."
    is_language = gate.has_language(text, page.grammar, least=1)
    if (
        is_language
        and " - " not in text
        and not gate.explain_doubt(question, reference, page.grammar)
    ):
        span = block.start, block.end
        yield Fact(question, reference, "conceptual", "purpose_line", *span, command)


def _find_entry_facts(
    page: Page, section: DocumentSection, terms: Sequence[str], start: int, term_start: int
) -> Iterator[Fact]:
    """The fact of an entry; `start` is where its description starts, `term_start` where its first term does."""
    grammar = page.grammar
    described = _read_description(page, section.block, start)
    if described is None:
        return
    reference, end = described
    if grammar.background_start.match(reference) or _OUTCOMES.match(" ".join(section.headings[:1])):
        return
    key, owner, template = _choose_entry_key(page, section, terms, reference)
    if not key:
        return
    question = grammar.fix_question(
        grammar.templates[template].format(
            key=key, owner=owner, verb=_get_telling_verb(reference, page)
        )
    )
    if owner[:1] in ("“", "«"):  # of a dialog or menu, which many programs may have
        question = frame_question(page, question, tool=True, product=True)
    is_option = template.startswith("option")
    pattern = "option" if is_option else "entry"
    group = f"{template}:{owner}" if owner else f"{template}:{section.headings[:1]}"
    if not gate.explain_doubt(question, reference, grammar):
        kind = "conceptual" if template.startswith("what_is") else "detail"
        yield Fact(question, reference, kind, pattern, term_start, end, key, key, owner, group)


def _choose_entry_key(
    page: Page, section: DocumentSection, terms: Sequence[str], reference: str
) -> tuple[str, str, str]:
    """The key as the question names it, its owner, and the name of the template; three empty strings when none fits."""
    term = _strip_marks(terms[0])
    template = choose_template(page, reference)
    option_template = "option_is" if template == "what_is" else "option"
    if option := _find_option(terms):
        if not _is_known_option(page, section, option, reference):
            return _NO_KEY
        return f"`{option}`", f"`{page.tool}`" if page.tool else page.product, option_template
    quote = page.grammar.templates["quote"].format
    if _MENU_PATH.fullmatch(term):
        does = template in ("does", "tells") or page.grammar.infinitive.match(reference)
        return (quote(term), page.product, "does_in") if does and page.product else _NO_KEY
    is_clause = page.grammar.noun_start.match(reference) and not template
    owner = "" if is_clause else _find_option_owner(page, section, term)
    if owner:
        return quote(term), quote(owner), option_template
    named = _choose_name_key(page, section, term, template, reference)
    return named or _choose_code_key(page, term, template)


def _choose_name_key(
    page: Page, section: DocumentSection, term: str, template: str, reference: str
) -> tuple[str, str, str] | None:
    """The key of a term that is a name of the product's own, its owner and template; None for any other term."""
    is_name = _HEADING_KEY.fullmatch(term) and len(term.split()) <= 4 and term not in _TRIVIAL
    if not page.product or page.tool or not is_name or not template:
        return None
    if template != "what_is" and not page.grammar.third_person.match(reference):
        return None  # an order to the reader
    quote = page.grammar.templates["quote"].format
    if " " in term or not section.headings:
        return quote(term), page.product, f"{template}_in"
    # a single word (`Date`) is known by the heading above it
    heading = section.headings[0]
    is_far = len(term) < 3 or len(heading.split()) > MAX_OWNER_WORDS or "“" in heading
    return _NO_KEY if is_far else (quote(term), quote(heading), f"{template}_in")


def _choose_code_key(page: Page, term: str, template: str) -> tuple[str, str, str]:
    """The key of a term that is code, its owner and template."""
    name = re.sub(r"[(].*[)]$", "()", term)
    is_title = re.fullmatch(r"[A-ZÁÉÍÓÚ][a-zñáéíóú]{3,}", name) and name.lower() in page.small
    if (
        not template
        or not _CODE_TERM.match(term)
        or name in _TRIVIAL
        or is_title
        or is_plain_code(f"`{name}`", page)
    ):
        return _NO_KEY
    if re.search(r"[.:(]", name):  # a qualified name says whose it is
        return f"`{name}`", "", template
    owner = f"`{page.tool}`" if page.tool else page.product
    is_word = not page.tool and name.islower()
    # a plain count: an expression of its own for each name would have to be compiled
    uses = page.document.text.count(f" {name} ", 0, MAX_READ_CHARS) if is_word else 0
    is_prose = uses > MAX_PROSE_USES
    return (f"`{name}`", owner, f"{template}_in") if owner and not is_prose else _NO_KEY


def _is_known_option(page: Page, section: DocumentSection, option: str, reference: str) -> bool:
    """Whether an option has a tool, stands where its manual page lists options, and is described by what it does."""
    headings = " ".join(section.headings)
    stands_right = not page.command or page.grammar.manual_heading.search(headings)
    is_told = option.strip("-") not in _TRIVIAL and _tells_option(page, reference)
    # a product may have several programs, whose short options differ
    is_owned = page.tool or (page.product and option.startswith("--"))
    return bool(is_owned and stands_right and is_told)


def _tells_option(page: Page, reference: str) -> bool:
    """Whether a description says what an option does, beginning with a verb, or what it specifies, with a noun phrase."""
    grammar, first = page.grammar, reference.split()[0].lower()
    if grammar.noun_start.match(reference) or grammar.option_start.match(reference):
        return True
    return grammar.language == "en" and not page.verbs.isdisjoint({first, first.removesuffix("s")})


def _find_option(terms: Sequence[str]) -> str:
    """The name of an option that says most: of `-a, --all` the long one; empty for what is no option."""
    dashed = [term for term in map(_strip_marks, terms) if term.startswith("-")]
    options = [name for term in dashed for name in _OPTION.findall(term)]
    # `--no-x` comes with `--x`, which is the one described
    long = (name for name in options if name.startswith("--") and not name.startswith("--no-"))
    return next(long, options[0] if options else "")


def _find_option_owner(page: Page, section: DocumentSection, term: str) -> str:
    """What an entry is an option of: the menu, dialog or settings that the heading above names, or the page's title
    where the heading is only `Options`; empty when it is none."""
    is_name = re.fullmatch(r"[A-ZÁÉÍÓÚÑ][^.,;:()<>=→]*", term) and len(term.split()) <= 5
    heading = " ".join(section.headings[:1])
    if page.command or not is_name or not page.grammar.option_heading.match(heading):
        return ""
    # `The View menu`: of many programs, so that the question must name which
    if len(heading.split()) > 1:
        is_named = page.product or len(extract_content_stems(heading, page.grammar.language)) > 2
        return heading if is_named else ""
    return "" if page.grammar.option_heading.match(page.title) else page.title


def choose_template(page: Page, reference: str) -> str:
    """The template that fits a description: `does`, `tells` or `what_is`; empty when that is not clear."""
    grammar = page.grammar
    if grammar.verb_start.match(reference):
        first = reference.split()[0].lower()
        return "tells" if first in grammar.telling_verbs else "does"
    if not grammar.noun_start.match(reference) or _CLAUSE.match(reference):
        return ""
    opening = {word.lower() for word in re.findall(r"[^\W\d_]+", reference)[1:8]}
    return "" if opening & grammar.finite_verbs else "what_is"


def _get_telling_verb(reference: str, page: Page) -> str:
    verb = reference.split()[0].lower()
    return page.grammar.base_forms.get(verb, verb)


def _strip_marks(term: str) -> str:
    """A term without marks and its default value (`timeout (10s)`); of several spans of code the first."""
    bare = re.sub(r" \(.*\)$|\s*\[\d+\]$", "", term.strip("`*“”«» ").split("`")[0].strip())
    return re.sub(
        r"^([A-Z_]{3,}|\\\w+) [<\w-].*$", r"\1", bare
    )  # `ORPHAN color`: with its argument


def _read_description(page: Page, block: Block, start: int) -> tuple[str, int] | None:
    """What an entry says and where that ends: all of it when short, else its first sentence; None when neither is whole."""
    spans = [(a, b) for a, b in find_sentences(page, block) if a >= start]
    if not spans:
        return None
    end = spans[-1][1] if spans[-1][1] - start <= MAX_DESCRIPTION_CHARS else spans[0][1]
    reference = _tidy_description(page, start, end)
    if gate.explain_doubtful_reference(reference, page.grammar):
        end = spans[0][1]
        reference = _tidy_description(page, start, end)
    if end < spans[-1][1] and page.grammar.conditional_start.match(reference):
        return None  # the rest may say the contrary of another case
    if len(reference.split()) < 3 or len(reference) > 2 * MAX_DESCRIPTION_CHARS:
        return None
    return reference if reference[-1] in ".!?)" else f"{reference}.", end


def _tidy_description(page: Page, start: int, end: int) -> str:
    """The description without `This option`, which whoever asks does not see, and without `see section 3`."""
    text = drop_references(tidy_text(page.document.text[start:end]))
    text = page.grammar.self_reference.sub("", text, count=1) if text[:1] in "TE" else text
    return text[:1].upper() + text[1:].rstrip(" ;:")


def _find_item_facts(page: Page, section: DocumentSection) -> Iterator[Fact]:
    """`**Term**: description` and `code` – description as list items."""
    raw = page.document.text[section.block.start : section.block.end]
    lead = _LEAD.match(raw)
    if lead is None:
        return
    start = section.block.start + lead.end()
    yield from _find_entry_facts(
        page,
        section,
        [tidy_text((lead["key"] or lead["plain"]).replace("**", ""))],
        start,
        section.block.start,
    )


def _find_table_facts(page: Page) -> Iterator[Fact]:
    """Cells of tables whose first row names the columns and whose first column names the rows."""
    blocks = [section.block for section in page.sections]
    for is_table, rows in groupby(blocks, key=lambda block: block.kind == "row"):
        if is_table:
            yield from _find_rows_facts(page, list(rows))


def _find_rows_facts(page: Page, rows: Sequence[Block]) -> Iterator[Fact]:
    header, *body = rows
    keys = [row.terms[0] for row in body]
    # A repeated key makes every question about it ambiguous; a first row that is no row of names is
    # data.
    if len(body) < 2 or len(set(keys)) < len(keys) or not all(map(_COLUMN.fullmatch, header.terms)):
        return
    for row in body:
        if len(row.terms) != len(header.terms) or not row.terms[0].strip():
            continue
        for column, value in list(zip(header.terms, row.terms, strict=True))[1:]:
            if 0 < len(value) <= MAX_DESCRIPTION_CHARS:
                group = f"table:{header.start}:{column}"
                yield from _find_cell_facts(page, row, column, value, group)


def _find_cell_facts(page: Page, row: Block, column: str, value: str, group: str) -> Iterator[Fact]:
    grammar, key = page.grammar, _name_row(page, row)
    if not key:
        return
    if column.lower().split()[0] in grammar.description_columns:
        value = value[:1].upper() + value[1:] + ("" if value[-1] in ".!?)" else ".")
        template = _choose_cell_template(page, key, value)
        kind = "conceptual" if template == "what_is" else "detail"
    else:
        is_value = _CELL.fullmatch(value) and grammar.value_columns.match(column)
        template, kind = "cell" if is_value else "", "factual"
    if not template:
        return
    question = grammar.templates[template].format(
        key=key,
        verb=_get_telling_verb(value, page),
        column=re.sub(r"\s*\(.*?\)", "", column).lower(),
    )
    question = frame_question(page, grammar.fix_question(question), product=True)
    if _is_known_row(page, key, kind) and not gate.explain_doubtful_question(question, grammar):
        yield Fact(question, value, kind, "table", row.start, row.end, key, key, "", group)


def _choose_cell_template(page: Page, key: str, value: str) -> str:
    """The template for a cell that describes its row; empty when it does not say what the row's thing is or does."""
    is_doubtful = _LONE_WORD.fullmatch(key) or gate.explain_doubtful_reference(value, page.grammar)
    if is_doubtful or is_empty_answer(key, value, page.grammar.language, MIN_HEADING_STEMS):
        return ""
    return choose_template(page, value)


def _is_known_row(page: Page, key: str, kind: str) -> bool:
    """Whether a question says whose row it asks about: by owner or product, or by a name that is known by itself."""
    is_named = kind == "factual" and " " not in key
    is_qualified = re.search(r"`[^`]*\w[._/(][^`]*`", key) is not None
    return is_named or is_qualified or bool(page.owner or page.product)


def _name_row(page: Page, row: Block) -> str:
    """The key of a table row as a question names it; empty when it does not say which row."""
    key = row.terms[0]
    is_odd = (
        key.endswith(":")
        or re.search(r" (?:o|or|y|and) ", key)
        or ("`" in key and not re.fullmatch(r"`[^`]+`", key))
    )
    is_named = (gate.is_specific(key) or page.owner) and "(" not in key
    if not is_named or is_odd or len(key.split()) > 4:
        return ""
    is_code = re.fullmatch(r"\S*[_.:/-]\S*", key) and "`" not in key
    if " " in key and not page.owner:
        return page.grammar.templates["quote"].format(key)
    return f"`{key}`" if is_code else key
