"""A parsed document for finding facts: its grammar, its outline, and which of its words are names."""

from __future__ import annotations

import re
from collections import Counter
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

_TOOL = re.compile(r"[a-z][\w.+-]+(?: [a-z][\w-]+)?|[A-Z]+(?: [A-Z]+){0,3}|[\w-]+_[\w-]+")
"""A title that is the name of a command, a function or an SQL statement."""
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
    verbs: frozenset[str]
    """Words that it writes behind `to`, most of them verbs."""
    product: str
    """The name that the document speaks of far more often than of any other (`JuK`); empty where none stands out."""

    @property
    def tool(self) -> str:
        """The command, function or statement that the page is about, by its manual name or its title; empty elsewhere."""
        return self.command or (self.title if _TOOL.fullmatch(self.title) else "")

    def lower_start(self, phrase: str) -> str:
        """The phrase as it stands inside a sentence: a name keeps its capital."""
        first, _, rest = phrase.partition(" ")
        small = first[:1].lower() + first[1:]
        article = first.lower() in self.grammar.articles
        if rest[:1].isupper() and not article:
            return phrase  # `Copy Location`: a name of several words
        plain = small.replace("-", "").isalpha() and small.islower()
        is_noun = plain and rest[:1].islower() and (small not in self.names or small in self.small)
        lowered = article or small in self.common or is_noun
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
        frozenset(re.findall(r"\bto ([a-z]+)\b", document.text[:60_000])), _find_product(large, title),
    )  # fmt: skip


def _find_product(names: list[str], title: str) -> str:
    """The name that is written far more often than the next one; less so where it stands in the title."""
    (first, times), (_, others) = (*Counter(names).most_common(2), ("", 0), ("", 0))[:2]
    is_title = first in title.split()
    stands_out = times >= (3 if is_title else 8) and times >= (1.5 if is_title else 3) * others
    return (
        first
        if stands_out and re.fullmatch(r"[A-Z][a-z]+[\w-]*|[A-Z][\w-]*[a-z]\w*", first)
        else ""
    )


def find_sentences(page: Page, block: Block) -> list[tuple[int, int]]:
    """Where the sentences of a block stand in the document's text."""
    raw = plain_inline(page.document.text[block.start : block.end]).replace("\n", " ")
    return [
        (block.start + a, block.start + b) for a, b in split_sentences(raw, page.grammar.language)
    ]
