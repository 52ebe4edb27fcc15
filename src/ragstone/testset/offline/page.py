"""A document as the patterns see it: its title, what it is about, and its blocks with the headings above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragstone.data.documents import Document
from ragstone.testset.blocks import Block, parse_blocks, plain_inline
from ragstone.testset.offline.english import ENGLISH
from ragstone.testset.offline.grammar import Grammar, words
from ragstone.testset.offline.spanish import SPANISH
from ragstone.text.sentences import split_sentences

GRAMMARS: dict[str, Grammar] = {"en": ENGLISH, "es": SPANISH}
_NUMBERING = re.compile(
    r"(?:(?:Chapter|Appendix|Part|Section|Capítulo|Apéndice|Parte|Sección|Anexo)\s+[\w.]+?[.:]?|\d+(?:\.\d+)*\.?|[A-Z]\.\d+(?:\.\d+)*\.?)\s+(?=\S)"
)
_SUFFIX = re.compile(r"\s+(?:—|–|-|\|)\s+.*$|\s+(?:Manual Page|documentation)$")
_MANUAL_NAME = re.compile(r"([A-Za-z][\w.+:-]*)\s?\((\d)\w*\)")
_DOCUMENT_WORDS = words(
    "tutorial guide guía manual chapter introduction introducción reference referencia module módulo appendix faq how part note using notes "
    "release overview the an section apéndice capítulo notas cómo"
)
"""First words of a title that name a document, not its owner."""
_SECTION_NAME = re.compile(r"(?:NAME|NOMBRE)$", re.IGNORECASE)
_NAME_LINE = re.compile(r"([\w.+, -]+?) +[-–—] +(.+)")


@dataclass(frozen=True, slots=True)
class Section:
    """A block with the headings it stands under, nearest first."""

    block: Block
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A document ready to be asked about."""

    document: Document
    grammar: Grammar
    sections: tuple[Section, ...]
    title: str
    """Without numbering and site name."""
    owner: str
    """Whose document it is: `Casa Almendro` of `Casa Almendro: envíos`; empty when the title does not say."""
    command: str
    """The command or function a manual page is about; empty elsewhere."""
    manual: int
    """The section of the manual; 0 elsewhere."""
    common: frozenset[str]
    """Words that the document writes with a small letter and never with a large one inside a sentence."""
    small: frozenset[str]
    """All words that the document writes with a small letter."""
    names: frozenset[str]
    """Words, in small letters, that it writes with a large one inside a sentence."""

    def lower_start(self, phrase: str) -> str:
        """The phrase as it stands inside a sentence: a name keeps its capital."""
        first, space, rest = phrase.partition(" ")
        small = first[:1].lower() + first[1:]
        plain = small.isalpha() and small.islower() and small not in self.names
        if (
            first.lower() in self.grammar.articles
            or small in self.common
            or (plain and rest[:1].islower())
        ):
            return small + space + rest
        return phrase


def open_page(document: Document, language: str) -> Page:
    """The page of a document."""
    blocks = parse_blocks(document.text)
    title = clean_title(document.title)
    command, manual = _manual_name(document, blocks)
    small = set(re.findall(r"(?<![\w`-])[a-zñáéíóú][\w-]+", document.text[:60_000]))
    names = {
        name.lower()
        for name in re.findall(r"(?<=[a-zñáéíóú,] )[A-ZÁÉÍÓÚÑ][\w-]+", document.text[:60_000])
    }
    common = frozenset(small - names)
    sections = tuple(_sections(blocks))
    return Page(
        document, GRAMMARS[language], sections, title, find_owner(title), command, manual, common, frozenset(small), frozenset(names),
    )  # fmt: skip


def clean_title(title: str) -> str:
    """A title or heading without its number, the site's name and marks."""
    title = " ".join(title.split()).strip("#¶ ")
    stripped = _NUMBERING.sub("", title, count=1) if _NUMBERING.match(title) else title
    return _SUFFIX.sub("", stripped).strip(" .")


def find_owner(title: str) -> str:
    """The name before the colon of a title; a word that begins a chapter's title is none."""
    head, colon, _ = title.partition(":")
    names = head.split()
    if not colon or not 0 < len(names) <= 5 or not head[:1].isupper():
        return ""
    if names[0].endswith("ing") or names[0].lower() in _DOCUMENT_WORDS:
        return ""
    large = [name for name in names if name[:1].isupper()]
    return head.strip() if len(large) >= 2 and len(large) * 2 > len(names) else ""


def _manual_name(document: Document, blocks: tuple[Block, ...]) -> tuple[str, int]:
    lines = [document.title, *(block.text for block in blocks[:2])]
    for line in lines:
        found = _MANUAL_NAME.match(line.strip())
        if found:
            name = found[1].lower() if found[1].isupper() else found[1]
            return _written_name(name, blocks), int(found[2])
    return "", 0


def _written_name(name: str, blocks: tuple[Block, ...]) -> str:
    """The name as the section NAME writes it: `perlRun` of the title PERLRUN(1)."""
    for at, block in enumerate(blocks[:-1]):
        if block.kind == "heading" and _SECTION_NAME.match(block.text):
            found = _NAME_LINE.match(blocks[at + 1].text)
            for word in found[1].split(",") if found else ():
                if word.strip().lower() == name.lower():
                    return word.strip()
    return name


def name_line(page: Page) -> tuple[str, Block] | None:
    """What the section NAME of a manual page says that its command is for, and the block."""
    for at, section in enumerate(page.sections):
        if section.block.kind == "heading" or at > 6:
            continue
        if section.headings and _SECTION_NAME.match(section.headings[0]):
            found = _NAME_LINE.match(section.block.text)
            return (found[2], section.block) if found else None
    return None


def _sections(blocks: tuple[Block, ...]) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind == "heading":
            path = [(level, text) for level, text in path if level < block.level]
            path.append((block.level, clean_title(block.text)))
        yield Section(block, tuple(text for _, text in reversed(path)))


def find_sentences(page: Page, block: Block) -> list[tuple[int, int]]:
    """Where the sentences of a block stand in the document's text."""
    raw = plain_inline(page.document.text[block.start : block.end]).replace("\n", " ")
    return [
        (block.start + a, block.start + b) for a, b in split_sentences(raw, page.grammar.language)
    ]
