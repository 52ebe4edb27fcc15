"""Facts from records, a key with what is said of it: options of a command, menu items, functions, glossaries, table rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import drop_references, is_empty_answer
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.offline.subjects import frame_question
from ragstone.testset.outline import DocumentSection, find_name_line
from ragstone.text.clause_words import to_word_set
from ragstone.text.verbs import is_base_form

MAX_DESCRIPTION_CHARS = 260
"""A longer description is cut behind its first sentence."""
MAX_KEY_WORDS = 4
MIN_NEWS = 4
"""Words of meaning that a description which begins with its own key adds."""
MAX_TABLE_FACTS = 4
"""Facts of one table: more of them would ask the same thing again and again."""
_OPTION = re.compile(r"--?[A-Za-z0-9?][\w?-]*")
_CODE_TERM = re.compile(
    r"(?=.*[a-zA-Z]{3})(?=.*(?:[\w)][_.:(]|\w-\w|[a-z][A-Z])|[A-Z\d_]+$)(?!.*(?:example|ejemplo))\w[\w./:-]*(?<![./:-])(?:\(.*\))?"
)
"""A name that no prose would write: `send_robust()`, `AVERAGEIF`, `aarp-tick-time`; not a pattern (`www.`) or an example."""
_ACTION_NAME = re.compile(r"[A-ZÁÉÍÓÚÑ][\w-]* [^?:;.,<>=…()→]+")
_LEAD = re.compile(
    r"(?P<key>`[^`]+`|\*\*[^*]+\*\*|“[^”]+”|«[^»]+»)\s*(?P<sign>:|–|—|-)\s+|(?P<plain>[A-ZÁÉÍÓÚÑ][^.:;,`\n]{2,50}): (?=[A-ZÁÉÍÓÚÑ])"
)
_MENU_PATH = re.compile(r"[A-ZÁÉÍÓÚÑ][\w /-]+(?: → [A-ZÁÉÍÓÚÑ][^→:;<>=]{2,40})+")
_CELL = re.compile(
    r"(?:[$€£]? ?\d[\d.,]* ?(?:[a-zA-Z%€$£°µ]{1,12}(?: [a-z]+)?)|[$€£] ?\d[\d.,]*|\d{1,2}[:.]\d\d(?: ?(?:-|–|to|a) ?\d{1,2}[:.]\d\d)?|`[^`]+`|[A-Za-zÁÉÍÓÚÑáéíóúñ][\w áéíóúñ'-]{3,60})"
)
"""A short value that tells something by itself: an amount with its unit, code, or words; a bare number lacks its unit."""
_CLAUSE = re.compile(
    r"(?:The|An?) [\w-]+ [a-z]{3,}s (?:the|an?|all|any|no|not|its|to|from|with)\b|(?:Los|Las) \w+s (?:\w+ ){0,3}\w+(?:an|en) "
)
"""A noun with its verb: the description is a sentence about something else."""
_COLUMN = re.compile(r"[^\W\d_][\w()/-]{1,20}(?: [\w()/-]{1,15}){0,2}")
_INDEX = re.compile(r"index|contents|índice|contenido", re.IGNORECASE)
"""Titles of pages that list what stands elsewhere."""
_GLOSSARY = re.compile(r"\b(?:glossary|terminology|terms|glosario|terminología|términos)\b", re.I)
_OUTCOMES = re.compile(r"ERR|RETURN|EXIT|VALOR|ESTADO|Errors|Exit|Return|Environment")
"""Sections of a manual page whose entries are no options, but what may come of a call."""
_PHRASE_END = re.compile(
    r"[ ,](?:of|for|to|that|which|with|from|in|on|an?|the|de|para|que|la|el|los|las|una?)\b"
)
_AGENT = re.compile(
    r"\b(?:program|tool|utility|library|application|client|system|language|interface|implementation|daemon|server|editor|manager|helper|compiler|debugger|viewer|browser|interpreter|\w+at(?:or|er)|\w+[rl]yzer)s?\b"
)
"""A noun for what does something, which the line of a command's purpose names it by."""
_BEFORE_OBJECT = re.compile(r"\w+ (?:the|an?|all)\b")
_INFINITIVE = re.compile(r"(?:No )?[A-ZÁÉÍÓÚ][a-zñ]+[aei]r(?:se)?\b")
_CHOICE = re.compile(r"[<{\[(=][\w-]*\|")
"""`<0|1>`: an option that does one thing or its contrary."""
_NO_KEY = ("", "", "")
"""Key, owner and template of an entry that no template fits."""
# options that are not worth a question
_TRIVIAL = to_word_set("help version usage h V ? quiet verbose q v")


def find_record_facts(page: Page) -> Iterator[Fact]:
    """Facts of every record of the page."""
    yield from _find_purpose(page)
    if _INDEX.fullmatch(page.title):
        return
    entries = [fact for section in page.sections for fact in _find_section_facts(page, section)]
    entries += _find_heading_facts(page)
    times = Counter(fact.key for fact in entries)
    # over the page, not per section: a key such as `-v` under two headings may mean two things
    defined = Counter(
        option
        for section in page.sections
        if section.block.kind == "entry"
        for option in set(_OPTION.findall(" ".join(section.block.terms)))
    )
    yield from (
        fact for fact in entries if times[fact.key] == 1 and defined[fact.key.strip("`")] < 2
    )
    yield from _find_table_facts(page)


def _find_section_facts(page: Page, section: DocumentSection) -> Iterator[Fact]:
    block = section.block
    if block.kind == "entry":
        yield from _find_entry_facts(page, section, block.terms, block.start, block.term_start)
    elif block.kind == "item" and (
        lead := _LEAD.match(page.document.text[block.start : block.end])
    ):
        # `**Term**: description`
        term = tidy_text((lead["key"] or lead["plain"]).replace("**", ""))
        yield from _find_entry_facts(page, section, [term], block.start + lead.end(), block.start)


def _find_heading_facts(page: Page) -> Iterator[Fact]:
    """A heading in code whose paragraph begins with a verb (`Returns a …`) names what does that: a command, a function."""
    for section, below in pairwise(page.sections):
        is_key = section.block.kind == "heading" and below.block.kind == "paragraph"
        term = _strip_marks(section.block.text) if is_key and not page.command else ""
        if _CODE_TERM.fullmatch(term):
            start = section.block.start
            yield from _find_entry_facts(page, below, [term], below.block.start, start)


def _find_purpose(page: Page) -> Iterator[Fact]:
    """What the NAME section of a manual page says that its command is for."""
    name_line = find_name_line(page.sections)
    if name_line is None or page.manual not in (1, 2, 3, 8):
        return
    text, block = name_line
    command = f"`{page.command}`"
    template = _choose_purpose(page, text)
    reference = f"{text[:1].upper()}{text[1:].rstrip('.')}."
    question = page.grammar.templates[template or "purpose"].format(key=command)
    names = block.text[: block.text.find(text)]
    is_shared = "," in names and re.search(r"\b(?:or|and|o|y|e)\b|[,/]", text)
    if (
        template
        and gate.has_language(text, page.grammar, least=1)
        and not is_shared  # `fseeko, ftello - set or report …`: one does this, the other that
        and " - " not in text
        and not gate.explain_doubt(question, reference, page.grammar)
    ):
        span = block.start, block.end
        yield Fact(question, reference, "conceptual", "purpose_line", *span, command)


def _choose_purpose(page: Page, text: str) -> str:
    """The template for a line of a command's purpose: `purpose` for a verb, `what_is` for a noun, empty when that is not clear."""
    if page.grammar.verb_start.match(text[:1].upper() + text[1:]):
        is_verb = True
    elif page.manual in (2, 3) or page.grammar.language == "es":
        return ""  # a noun: not what a function does, nor what a command is for (`filtro de texto`)
    else:
        first = text.split()[0].lower()
        is_verb = is_base_form(first) or first in page.verbs or bool(_BEFORE_OBJECT.match(text))
    is_noun = _AGENT.search(_PHRASE_END.split(text)[0]) is not None
    if is_verb == is_noun:
        return ""  # neither, or both: `control program for …`
    return "purpose" if is_verb else "what_is"


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
    if not key or is_empty_answer(key, reference, grammar.language):
        return
    question = grammar.fix_question(grammar.templates[template].format(key=key, owner=owner))
    if grammar.language == "es" and _INFINITIVE.match(reference):
        question = question.replace("¿Qué hace ", "¿Para qué sirve ")
    if not gate.explain_doubt(question, reference, grammar):
        kind = "conceptual" if template == "what_is_in" else "detail"
        pattern = "option" if template.startswith("option") else "entry"
        group = f"{template}:{owner}"
        yield Fact(question, reference, kind, pattern, term_start, end, key, key, owner, group)


def _choose_entry_key(
    page: Page, section: DocumentSection, terms: Sequence[str], reference: str
) -> tuple[str, str, str]:
    """The key as the question names it, its owner, and the name of the template; three empty strings when none fits."""
    owner = f"`{page.tool}`" if page.tool else page.product
    template = choose_template(page, reference)
    if option := _find_option(terms):
        is_known = _is_known_option(page, section, option, reference)
        option_template = "option_is" if template == "what_is" else "option"
        return (f"`{option}`", owner, option_template) if is_known else _NO_KEY
    term, does = _strip_marks(terms[0]), template == "does"
    if not owner or not term:
        return _NO_KEY
    if _MENU_PATH.fullmatch(term):
        key = page.grammar.templates["quote"].format(term.rstrip("."))
        return (key, owner, "does_in") if _tells_item(page, term, reference) else _NO_KEY
    key = (
        _name_key(page, section, term, reference, does=does)
        if template in ("does", "what_is")
        else ""
    )
    return (key, owner, f"{template}_in") if key else _NO_KEY


def _tells_item(page: Page, path: str, reference: str) -> bool:
    """Whether a description says what a menu item does, and more than its name: `Game → Save` saves."""
    first, language = reference.split()[0].lower(), page.grammar.language
    if path.rpartition("→ ")[2][:4].lower() == first[:4]:
        return not is_empty_answer(f"{path} {page.product}", reference, language, MIN_NEWS)
    if page.grammar.verb_start.match(reference):
        return True
    if language == "es":
        return bool(_INFINITIVE.match(reference) or page.grammar.third_person.match(reference))
    return is_base_form(first) or is_base_form(first.removesuffix("s"))


def _name_key(
    page: Page, section: DocumentSection, term: str, reference: str, *, does: bool
) -> str:
    """A name in code, a term of a glossary or a name that says what it does, as a question writes it; else empty.

    `does`: the description says what it does, not what it is."""
    is_said = page.grammar.third_person.match(reference) is not None  # not an order to the reader
    # a file does nothing
    if (
        does
        and "/" not in term
        and _CODE_TERM.fullmatch(term)
        and (is_said or re.search(r"[_(]", term))
    ):
        return f"`{re.sub(r'[(].*[)]$', '()', term)}`"
    if page.tool or len(term.split()) > MAX_KEY_WORDS:
        return ""
    about = " ".join((page.title, *section.headings))
    is_name = is_said and _is_action(page, term) if does else _GLOSSARY.search(about)
    return page.grammar.templates["quote"].format(term) if is_name else ""


def _is_action(page: Page, term: str) -> bool:
    """Whether the name of a thing says that it does something: `Copy Budget`, not `Closing Date`."""
    first = term.split()[0].lower()
    if not _ACTION_NAME.fullmatch(term):
        return False
    return (
        first.endswith(("ar", "er", "ir")) if page.grammar.language == "es" else first in page.verbs
    )


def _is_known_option(page: Page, section: DocumentSection, option: str, reference: str) -> bool:
    """Whether an option has a tool, stands where its manual page lists options, and is described by what it does."""
    headings = " ".join(section.headings)
    stands_right = not page.command or page.grammar.manual_heading.search(headings)
    is_told = option.strip("-") not in _TRIVIAL and _tells_option(page, reference)
    # not of a product, which may have several programs
    return bool(page.tool and stands_right and is_told)


def _tells_option(page: Page, reference: str) -> bool:
    """Whether a description says what an option does, beginning with a verb, or what it specifies, with a noun phrase."""
    grammar, first = page.grammar, reference.split()[0].lower()
    if grammar.noun_start.match(reference):
        return choose_template(page, reference) == "what_is"  # not `The name will be changed`
    if grammar.option_start.match(reference):
        return True
    return grammar.language == "en" and not page.verbs.isdisjoint({first, first.removesuffix("s")})


def _find_option(terms: Sequence[str]) -> str:
    """The name of an option that says most: of `-a, --all` the long one; empty for what is no option."""
    if re.search(r"(?:^|[\s,/])\+\w", " ".join(terms)) or _CHOICE.search(" ".join(terms)):
        return ""  # `-num +num`: what is said is true of one or the other
    dashed = [term for term in map(_strip_marks, terms) if term.startswith("-")]
    options = [name for term in dashed for name in _OPTION.findall(term)]
    # `--no-x` comes with `--x`, which is the one described
    long = {name for name in options if name.startswith("--") and not name.startswith("--no-")}
    if len(long) > 1:
        return ""  # said of several, each of which may do a part of it
    return next(iter(long), options[0] if options else "")


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
    if gate.explain_doubtful_reference(reference, page.grammar):
        end = spans[0][1]
        reference = _tidy_description(page, start, end)
    rest = page.document.text[end : spans[-1][1]].strip()
    if rest and any(map(page.grammar.conditional_start.match, (reference, rest))):
        return None  # the rest may say the contrary of another case
    if len(reference.split()) < 3 or len(reference) > 2 * MAX_DESCRIPTION_CHARS:
        return None
    return reference if reference[-1] in ".!?)" else f"{reference}.", end


def _tidy_description(page: Page, start: int, end: int) -> str:
    """The description without `This option`, which whoever asks does not see, and without `see section 3`."""
    text = drop_references(tidy_text(page.document.text[start:end]))
    text = page.grammar.self_reference.sub("", text, count=1) if text[:1] in "TE" else text
    return text[:1].upper() + text[1:].rstrip()


def _find_table_facts(page: Page) -> Iterator[Fact]:
    """Cells of tables whose first row names the columns and whose first column names the rows."""
    blocks = [section.block for section in page.sections]
    for is_table, rows in groupby(blocks, key=lambda block: block.kind == "row"):
        if is_table:
            yield from islice(_find_rows_facts(page, list(rows)), MAX_TABLE_FACTS)


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
    name = re.sub(r"\s*\(.*?\)", "", column).lower()
    # in ordinary prose every column says something of its rows
    is_prose = bool(page.setting.frame)
    is_value = _CELL.fullmatch(value) and (is_prose or grammar.value_columns.match(column))
    # a row is known by the owner, product or setting of its page, or by a name of one word
    if not key or not is_value or not (page.has_home or page.product or " " not in key):
        return
    asked = grammar.templates["quote"].format(key) if is_prose and "`" not in key else key
    template = grammar.templates["cell_for" if is_prose else "cell"]
    question = grammar.fix_question(template.format(key=asked, column=name))
    question = frame_question(page, question, product=True)
    if not gate.explain_doubtful_question(question, grammar):
        yield Fact(question, value, "factual", "table", row.start, row.end, key, key, "", group)


def _name_row(page: Page, row: Block) -> str:
    """The key of a table row as a question names it; empty when it does not say which row."""
    key = row.terms[0]
    is_odd = (
        key.endswith(":")
        or not re.search(r"[^\W\d_]", key)
        or re.search(r" (?:o|or|y|and) ", key)
        or ("`" in key and not re.fullmatch(r"`[^`]+`", key))
    )
    is_named = (gate.is_specific(key) or page.has_home) and "(" not in key
    if not is_named or is_odd or len(key.split()) > 4:
        return ""
    is_code = re.fullmatch(r"\S*[_.:/-]\S*", key) and "`" not in key
    if " " in key and not page.owner:
        return page.grammar.templates["quote"].format(key)
    return f"`{key}`" if is_code else key
