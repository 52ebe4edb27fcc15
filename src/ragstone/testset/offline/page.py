"""A parsed document for finding facts: its grammar, its outline, and which of its words are names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragstone.data.documents import Document
from ragstone.testset.blocks import Block, parse_blocks, plain_inline
from ragstone.testset.offline.english import ENGLISH
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.spanish import SPANISH
from ragstone.testset.outline import (
    DocumentSection,
    clean_title,
    find_manual_name,
    find_owner,
    list_sections,
)
from ragstone.text.sentences import split_sentences

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
    common: frozenset[str]
    """Words that the document writes with a small letter and never with a large one inside a sentence."""
    small: frozenset[str]
    """All words that the document writes with a small letter."""
    names: frozenset[str]
    """Words, in small letters, that it writes with a large one inside a sentence."""

    def lower_start(self, phrase: str) -> str:
        """The phrase as it stands inside a sentence: a name keeps its capital."""
        first, _, rest = phrase.partition(" ")
        small = first[:1].lower() + first[1:]
        article = first.lower() in self.grammar.articles
        if rest[:1].isupper() and not article:
            return phrase  # `Copy Location`: a name of several words
        plain = small.isalpha() and small.islower() and small not in self.names
        lowered = article or small in self.common or (plain and rest[:1].islower())
        return small + phrase[len(first) :] if lowered else phrase


def open_page(document: Document, language: str) -> Page:
    """The page of a document."""
    blocks = parse_blocks(document.text)
    title = clean_title(document.title)
    command, manual = find_manual_name(document, blocks)
    # enough to see how a word is written; longer documents are not read whole for that
    small = set(re.findall(r"(?<![\w`-])[a-zñáéíóú][\w-]+", document.text[:60_000]))
    large = re.findall(r"(?<=[a-zñáéíóú,] )[A-ZÁÉÍÓÚÑ][\w-]+", document.text[:60_000])
    names = {name.lower() for name in large}
    return Page(
        # by position: in the order of the fields of Page
        document, GRAMMARS[language], tuple(list_sections(blocks)), title, find_owner(title), command, manual,
        frozenset(small - names), frozenset(small), frozenset(names),
    )  # fmt: skip


def find_sentences(page: Page, block: Block) -> list[tuple[int, int]]:
    """Where the sentences of a block stand in the document's text."""
    raw = plain_inline(page.document.text[block.start : block.end]).replace("\n", " ")
    return [
        (block.start + a, block.start + b) for a, b in split_sentences(raw, page.grammar.language)
    ]
