"""A parsed document for finding facts: its grammar, its outline, and which of its words are names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from ragstone.data.documents import Document
from ragstone.testset.blocks import Block, parse_blocks, plain_inline
from ragstone.testset.offline import gate
from ragstone.testset.offline.english import ENGLISH
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.spanish import SPANISH
from ragstone.testset.outline import (
    DOCUMENT_WORDS,
    DocumentSection,
    clean_title,
    find_manual_name,
    find_owner,
    find_site,
    list_sections,
)
from ragstone.testset.products import find_product
from ragstone.text.clause_words import to_word_set
from ragstone.text.sentences import split_sentences

_GENERIC_TITLES = DOCUMENT_WORDS | to_word_set(
    "home index contents readme about inicio índice contenido our nuestra nuestro untitled"
)
_BOX = re.compile(
    r"(?i:notes?|warnings?|tips?|important|cautions?|hints?|notas?|avisos?|advertencias?|sugerencias?|consejos?|importante|precaución|atención)[:.]?"
)
"""What stands above a box that is set off from its text."""
_FILE_NAME = re.compile(r"(?i:README)\b.*|\w+_\w+|(?:[A-Z][a-z]+){3,}")
"""A title that is the name of a file or a page of a wiki: `GmManualLettersForms`."""
MAX_TITLE_WORDS = 16
_SCREEN = re.compile(
    r"\b(?:click|menus?|toolbar|dialogs?|buttons?|windows?|checkbox|(?:haga )?clic|pulse|menús?|botón|botones|diálogos?|ventanas?|casilla)\b",
    re.IGNORECASE,
)
MIN_SCREEN_WORDS = 3
"""Words of what is seen on a screen that make a page one about a program."""
_OPENING_CHARS = 200
"""How much of a page may be the head of its site."""
GRAMMARS: dict[str, Grammar] = {"en": ENGLISH, "es": SPANISH}


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed document."""

    document: Document
    grammar: Grammar
    sections: tuple[DocumentSection, ...]
    title: str
    """Without numbering and site name."""
    owner: str
    """Whose document it is: `Casa Almendro` of `Casa Almendro: envíos`; empty when the title does not say."""
    command: str
    """The command or function a manual page is about; empty elsewhere."""
    manual: int
    """The section of the manual; 0 elsewhere."""
    small: frozenset[str]
    """All words that the document writes with a small letter."""
    names: frozenset[str]
    """Words, in small letters, that it writes with a large one inside a sentence, and more often so."""
    product: str
    """The name of what the document is about (`JuK`); empty where none stands out."""
    is_prose: bool
    """Whether it has no code, which is a sign of a manual: whose nouns belong to a program."""
    is_program: bool
    """Whether it speaks of windows and buttons, as the pages about a program do."""
    body: str
    """Its text without headings and code, so far as it is read for how words are written."""
    has_telling_title: bool
    """Whether the title tells which page it is; not one that any page could have."""
    site: str
    """The site that the document's title names; empty where it names none."""

    @property
    def has_home(self) -> bool:
        """Whether a question can say whose `the museum` or `we` is."""
        return bool(self.owner or self.has_telling_title)

    @property
    def has_commands(self) -> bool:
        """Whether the page lists commands of its command."""
        return any(
            self.grammar.commands_heading.search(section.block.text)
            for section in self.sections
            if section.block.kind == "heading"
        )

    def lower_start(self, phrase: str) -> str:
        """The phrase as it stands inside a sentence: a name keeps its capital."""
        first, _, rest = phrase.partition(" ")
        small = first[:1].lower() + first[1:]
        if first.lower() in self.grammar.articles:
            return small + phrase[len(first) :]
        # `Copy Location`: a name of several words; `Guided walks`: a noun that only begins its sentence
        is_noun = small.replace("-", "").isalpha() and small.islower() and rest[:1].islower()
        is_common = (is_noun or not rest) and small in self.small and small not in self.names
        lowered = is_common or (is_noun and small not in self.names)
        return small + phrase[len(first) :] if lowered else phrase


def open_page(
    document: Document, language: str, folder_product: str = "", *, shares_title: bool = False
) -> Page:
    """The page of a document; `folder_product` is what the documents of its folder are about, where that is known.

    `shares_title`: another document has the same title, so that it does not tell which is meant."""
    # a box (`Note`) goes on with its section
    blocks = [block for block in parse_blocks(document.text) if block.kind != "heading" or not _BOX.fullmatch(block.text)]  # fmt: skip
    title = "" if shares_title else _find_title(document, blocks, GRAMMARS[language])
    command, manual = find_manual_name(document, blocks)
    # enough to see how a word is written; longer documents are not read whole for that
    text = document.text[:60_000]
    # not of headings, which many write with capitals throughout
    body = "\n".join(block.text for block in blocks if block.kind not in ("heading", "code"))[:60_000]  # fmt: skip
    written = Counter(re.findall(r"(?<![\w`./@\['\"-])[a-zñáéíóú][\w-]+", body))
    names = _find_names(body, written)
    opening = f"{document.title}\n{document.text[:_OPENING_CHARS]}"
    folder = document.id.rpartition("/")[0].rpartition("/")[2]
    # code is a sign of a manual, whose nouns belong to a program and which has no owner
    is_prose = "`" not in document.text and all(block.kind != "code" for block in blocks)
    product = "" if command else find_product(text, opening, folder, folder_product, names, is_prose=is_prose)  # fmt: skip
    owner = find_owner(title) if is_prose else ""
    owner = owner if owner in body else ""  # `Membership and Borrowing: …` is nobody's name
    return Page(
        # by position: in the order of the fields of Page
        document, GRAMMARS[language], tuple(list_sections(blocks)), title, owner, command, manual,
        frozenset(written), frozenset(names), product, is_prose, len(_SCREEN.findall(body)) >= MIN_SCREEN_WORDS, body, _is_telling(title, names),
        find_site(document.title),
    )  # fmt: skip


def _find_title(document: Document, blocks: Sequence[Block], grammar: Grammar) -> str:
    """The title without number and site, or the only large heading where that is the name of a file, which nobody would
    use in a question; empty for one in another language."""
    title = clean_title(document.title)
    headings = [block for block in blocks if block.kind == "heading"]
    is_heading = any(title == clean_title(block.text) for block in headings)
    is_file_name = document.id.rpartition("/")[2].startswith(title) and not is_heading
    if is_file_name or _FILE_NAME.fullmatch(title):
        first = [clean_title(block.text) for block in headings if block.level == 1]
        title = first[0] if len(first) == 1 and not _FILE_NAME.fullmatch(first[0]) else ""
    return title if gate.has_language(title, grammar) else ""


def _find_names(body: str, written: Mapping[str, int]) -> set[str]:
    """The words that a page writes with a large letter inside a sentence, and more often so than small."""
    inside = re.findall(r"(?<=[a-zñáéíóú,] )[A-ZÁÉÍÓÚÑ][\w-]+", body)
    large = Counter(name.lower() for name in inside)
    return {word for word, count in large.items() if count > written.get(word, 0)}


def _is_telling(title: str, names: Container[str]) -> bool:
    """Whether a title tells which page it is; a single word does where it is one of the names of the document."""
    words = re.sub(r"^(?:the|an?|el|la|los|las) ", "", title, flags=re.IGNORECASE).split()
    named = [word.lower() for word in words if word.lower() in names]
    is_generic = not words or (len(words) < 4 and words[0].lower() in _GENERIC_TITLES and named in ([], [words[0].lower()]))  # fmt: skip
    is_common = len(words) == 1 and title.lower() not in names
    is_long = len(words) > MAX_TITLE_WORDS or re.search(r"[;?!…|]", title)
    return not (is_generic or is_common or is_long)


def find_sentences(page: Page, block: Block) -> list[tuple[int, int]]:
    """Where the sentences of a block stand in the document's text."""
    raw = plain_inline(page.document.text[block.start : block.end])
    # a sign of menu paths that the splitter takes for the bullet of a list
    raw = raw.replace("\n", " ").replace("▸", "→")
    return [
        (block.start + a, block.start + b) for a, b in split_sentences(raw, page.grammar.language)
    ]
