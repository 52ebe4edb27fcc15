"""The outline of a document: cleaned titles, its owner, what a manual page is about, and the headings above each block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.data.documents import Document
from ragstone.testset.blocks import Block
from ragstone.text.clause_words import to_word_set

_NUMBERING = re.compile(
    r"^(?:(?:Chapter|Appendix|Part|Section|Article|Rule|Clause|Capítulo|Apéndice|Parte|Sección|Anexo|Artículo|Regla|Cláusula)\s+(?:\d[\w.]*?|[IVXLC]+|[A-Z])[.:]?|\d+(?:\.\d+)*\.?|[A-Z]\.\d+(?:\.\d+)*\.?)\s+(?=\S)"
)
_SUFFIX = re.compile(
    r"\s+[|<]\s+.*$|\s+(?:—|–|-)\s+(?=.*(?:\d\.\d|(?i:documentation|documentación|wiki|docs)\b)).*$|\s+(?:Manual Page|documentation)$"
)
"""The name of a site behind a title; `– Data Sheet` is part of it."""
_SITE = re.compile(r"\S\s+\|\s+([A-ZÁÉÍÓÚÑ][^|]{2,60})$")
_MANUAL_NAME = re.compile(r"([A-Za-z][\w.+:-]*)\s?\((\d)\w*\)")
_MANUAL_TITLE = re.compile(r"- ([A-Za-z][\w.+:-]*)\((\d)\w*\)$")
DOCUMENT_WORDS = to_word_set(
    "frequently preguntas tutorial guide guía manual chapter introduction introducción reference referencia module módulo appendix faq how part note using notes "
    "release overview the an section apéndice capítulo notas cómo"
)
"""First words of a title before a colon that name a sort of document, not its owner: `Guide: …`."""
_SECTION_NAME = re.compile(r"(?:NAME|NOMBRE)$", re.IGNORECASE)
_NAME_LINE = re.compile(r"([\w.+, -]+?) +[-–—] +(.+)")


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A block with the headings it stands under, nearest first."""

    block: Block
    headings: tuple[str, ...]


def list_sections(blocks: Sequence[Block]) -> Iterator[DocumentSection]:
    """Every block with the headings above it; a heading is itself the first of its own."""
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind == "heading":
            # a heading ends all sections of its level and of deeper ones
            path = [(level, text) for level, text in path if level < block.level]
            path.append((block.level, clean_heading(block.text)))
        yield DocumentSection(block, tuple(text for _, text in reversed(path)))


def clean_title(title: str) -> str:
    """A title without its number, the site's name and marks."""
    return _SUFFIX.sub("", clean_heading(title)).strip(" .")


def clean_heading(heading: str) -> str:
    """A heading without its number and marks."""
    return _NUMBERING.sub("", " ".join(heading.split()).strip("#¶ "), count=1).strip(" .:")


def find_site(title: str) -> str:
    """The site that a title names behind a bar (`Information for patients | Elm Street Surgery`); empty where it names none."""
    match = _SITE.search(" ".join(title.split()))
    return match[1].strip() if match else ""


def find_owner(title: str) -> str:
    """Whose a document is, by the name before the colon of its title (`Casa Almendro: envíos`); empty when there is none."""
    head, colon, _ = title.partition(":")
    names = head.split()
    if not colon or not 0 < len(names) <= 5 or not head[:1].isupper():
        return ""
    if names[0].endswith("ing") or names[0].lower() in DOCUMENT_WORDS:
        return ""
    capitalised = [name for name in names if name[:1].isupper()]
    is_name = len(capitalised) >= 2 and len(capitalised) * 2 > len(names)
    return head.strip() if is_name else ""


def find_manual_name(document: Document, blocks: Sequence[Block]) -> tuple[str, int]:
    """The command or function of a manual page and the section of the manual; empty and 0 elsewhere."""
    lines = [document.title, *(block.text for block in blocks[:2])]
    for line in lines:
        # `Postfix manual - smtp(8)`: the name may also end the title
        match = _MANUAL_NAME.match(line.strip()) or _MANUAL_TITLE.search(line)
        if match:
            name = match[1].lower() if match[1].isupper() else match[1]
            return _find_name_as_written(name, blocks), int(match[2])
    return "", 0


def _find_name_as_written(name: str, blocks: Sequence[Block]) -> str:
    """The name as the section NAME writes it: `perlRun` of the title PERLRUN(1)."""
    for at, block in enumerate(blocks[:-1]):
        if block.kind == "heading" and _SECTION_NAME.match(block.text):
            match = _NAME_LINE.match(blocks[at + 1].text)
            words = [word.strip() for word in match[1].split(",")] if match else []
            for word in words:
                if word.lower() == name.lower():
                    return word
            # the header may cut a long name off, or carry the language of a translation: apt-show-versions.es
            if len(words) == 1 and (words[0].startswith(name) or name.startswith(words[0])):
                return words[0]
    return name


def find_name_line(sections: Sequence[DocumentSection]) -> tuple[str, Block] | None:
    """What the section NAME of a manual page says that its command is for, and the block."""
    for at, section in enumerate(sections):
        if section.block.kind == "heading" or at > 6:  # NAME stands first
            continue
        if section.headings and _SECTION_NAME.match(section.headings[0]):
            match = _NAME_LINE.match(section.block.text)
            return (match[2], section.block) if match else None
    return None
