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
    list_sections,
)
from ragstone.text.clause_words import to_word_set
from ragstone.text.sentences import split_sentences

_MANUAL_OF = re.compile(
    r"(?:^|[—–|-] )(?P<name>(?:GNU )?[A-Z][\w+.-]*)(?: v?\d[\w.]*)? (?i:documentation|manual|help|handbook|user(?:’s|'s)? guide)\b"
    r"|^(?i:ayuda|manual|guía|documentación|referencia)(?: [a-zñáéíóú]+){0,4} (?:del?|para) (?P<nombre>(?:GNU )?[A-Z][\w+.-]*)",
    re.MULTILINE,
)
"""`Flask documentation`, `Manual de GNU LilyPond`: a title, or the first lines of a page, that say whose manual it is."""
_NO_PRODUCTS = DOCUMENT_WORDS | to_word_set(
    "up next previous home top index contents inicio arriba anterior siguiente índice contenido this command menu user online quick el la los las handbook options requirements purpose opciones "
    "file edit view settings preferences tools help window archivo editar ver preferencias configuración herramientas ayuda ventana"
)
"""Words of navigation, of menus and for documents."""
_GENERIC_TITLES = DOCUMENT_WORDS | to_word_set(
    "home index contents readme about inicio índice contenido our nuestra nuestro untitled"
)
MAX_TITLE_WORDS = 12
_ARTICLES = "the|an?|your|our|this|el|la|los|las|un|una|su|tu|este|esta"
MIN_USES, MAX_ARTICLES = 3, 0.1
"""Uses of a word in a document from which it may be a name, and the share of them that may have an article."""
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
    body: str
    """Its text without headings and code, so far as it is read for how words are written."""
    has_telling_title: bool
    """Whether the title tells which page it is; not one that any page could have."""

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
    blocks = parse_blocks(document.text)
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
    product = "" if command else _find_product(text, opening, folder, folder_product, names)
    # code is a sign of a manual, whose nouns belong to a program and which has no owner
    is_prose = "`" not in document.text and all(block.kind != "code" for block in blocks)
    owner = find_owner(title) if is_prose else ""
    return Page(
        # by position: in the order of the fields of Page
        document, GRAMMARS[language], tuple(list_sections(blocks)), title, owner, command, manual,
        frozenset(written), frozenset(names), product, is_prose, body, _is_telling(title, names),
    )  # fmt: skip


def _find_title(document: Document, blocks: Sequence[Block], grammar: Grammar) -> str:
    """The title without number and site; empty for the name of a file, which nobody would use in a question, and for
    one in another language."""
    title = clean_title(document.title)
    is_heading = any(title in block.text for block in blocks if block.kind == "heading")
    is_file_name = document.id.rpartition("/")[2].startswith(title) and not is_heading
    is_file_name = is_file_name or re.fullmatch(r"(?i:README)\b.*|\w+_\w+", title) is not None
    return "" if is_file_name or not gate.has_language(title, grammar) else title


def _find_names(body: str, written: Mapping[str, int]) -> set[str]:
    """The words that a page writes with a large letter inside a sentence, and more often so than small."""
    inside = re.findall(r"(?<=[a-zñáéíóú,] )[A-ZÁÉÍÓÚÑ][\w-]+", body)
    large = Counter(name.lower() for name in inside)
    return {word for word, count in large.items() if count > written.get(word, 0)}


def _is_telling(title: str, names: Container[str]) -> bool:
    """Whether a title tells which page it is; a single word does where it is one of the names of the document."""
    words = re.sub(r"^(?:the|an?|el|la|los|las) ", "", title, flags=re.IGNORECASE).split()
    is_generic = not words or (len(words) < 4 and words[0].lower() in _GENERIC_TITLES)
    is_common = len(words) == 1 and title.lower() not in names
    is_long = len(words) > MAX_TITLE_WORDS or re.search(r"[;?!…|]", title)
    return not (is_generic or is_common or is_long)


def _find_product(
    text: str, opening: str, folder: str, folder_product: str, names: Container[str]
) -> str:
    """The name that the folder is called by, whose manual the page says it is, or that its folder is about."""
    folder_product = "" if folder_product.lower() in _NO_PRODUCTS else folder_product
    if folder_product and folder_product.lower() == folder.lower():
        return folder_product
    if called := _find_called(text, folder):
        return called
    manuals = (manual["name"] or manual["nombre"] for manual in _MANUAL_OF.finditer(opening))
    # `Operating manual`: what the page itself does not write as a name is none
    told = (name for name in manuals if name.lower() not in _NO_PRODUCTS and name.split()[-1].lower() in names)  # fmt: skip
    if name := next(told, ""):
        return name
    is_named = folder_product in opening and not _is_part_of_name(folder_product, text)
    return folder_product if folder_product and is_named else ""


def _find_called(text: str, folder: str) -> str:
    """The name of a folder as its document writes it, where it writes it as a name: again and again, and without an article."""
    if len(folder) < 3 or folder.lower() in _NO_PRODUCTS:
        return ""
    name = "[- _]".join(map(re.escape, re.split(r"[-_]", folder)))
    uses = re.findall(rf"(?:\b({_ARTICLES}) )?(?<![\w/.@`-])({name})(?![\w/`-]|\.\w)", text, re.IGNORECASE)  # fmt: skip
    with_article = sum(bool(article) for article, _ in uses)
    if len(uses) < MIN_USES or MAX_ARTICLES * len(uses) < with_article:
        return ""
    return str(Counter(name for _, name in uses).most_common(1)[0][0])


def _is_part_of_name(name: str, text: str) -> bool:
    """Whether a word mostly stands beside other capitals (KDE Partition Manager), or is a noun (`Gestor de particiones`)."""
    capital = r"[A-ZÁÉÍÓÚÑ][\w-]+"
    word = re.escape(name)
    parts = re.findall(rf"{capital} {word}\b|\b{word} (?:(?:of|de|del) )?{capital}|\b{word} (?:of|de|del) ", text)  # fmt: skip
    return 3 * len(parts) > len(re.findall(rf"\b{word}\b", text))


def find_sentences(page: Page, block: Block) -> list[tuple[int, int]]:
    """Where the sentences of a block stand in the document's text."""
    raw = plain_inline(page.document.text[block.start : block.end])
    # a sign of menu paths that the splitter takes for the bullet of a list
    raw = raw.replace("\n", " ").replace("▸", "→")
    return [
        (block.start + a, block.start + b) for a, b in split_sentences(raw, page.grammar.language)
    ]
