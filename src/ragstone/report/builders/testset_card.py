"""The card of a test set, and what differs between two versions of one, as reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report import document as doc
from ragstone.report.builders.parts import (
    build_list,
    build_number_columns,
    build_panel,
    build_table,
)
from ragstone.report.figures import shorten
from ragstone.report.words import Words, load_words

if TYPE_CHECKING:
    from ragstone.testset.card import SetCard
    from ragstone.testset.versions import VersionDifference

MAX_DOCUMENTS = 10
MAX_LISTED = 20
"""Items shown of each sort of difference."""
_TRANSLATED = {"proof": "card.proof"}
"""Tables whose names are codes with words in the catalogue."""


@dataclass(frozen=True, slots=True)
class CardReport:
    """The card of a test set."""

    kind: ClassVar[str] = "testset"
    card: SetCard
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The card as a tree."""
        card, say = self.card, load_words(self.language)
        title = shorten(say("card", name=card.name), 120)
        size = say(
            "card.size",
            items=say.whole(card.items),
            documents=say.whole(len(card.documents)),
            version=card.version,
        )
        tables = {
            "kind": card.kinds, "language": card.languages, "maker": card.makers, "proof": card.proofs,
            "style": card.styles, "document": dict(list(card.documents.items())[:MAX_DOCUMENTS]),
        }  # fmt: skip
        body = [
            build_panel("origin", say("card.origin"), _build_counts(tables, card.items, say)),
            build_panel("read", say("card.read"), build_list(_describe_reading(card, say))),
            build_panel("weak", say("card.weak"), build_list(_describe_weaknesses(card, say))),
        ]
        head = (doc.Heading(title, 1), doc.Paragraph(size))
        return doc.ReportDocument("testset", say, title, title, head, tuple(body))

    def data(self) -> dict[str, Any]:
        """The card as JSON takes it."""
        return self.card.to_dict()


@dataclass(frozen=True, slots=True)
class VersionReport:
    """What differs between two versions of a test set."""

    kind: ClassVar[str] = "testset"
    difference: VersionDifference
    names: tuple[str, str]
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The differences as a tree."""
        found, say = self.difference, load_words(self.language)
        title = shorten(say("versions", old=self.names[0], new=self.names[1]), 120)
        counts = {name: say.whole(len(getattr(found, name))) for name in ("changed", "added", "removed")}  # fmt: skip
        size = say("versions.size", same=say.whole(found.same), **counts)
        lists = {
            "changed": [
                f"{item.id}  {item.question}  ({', '.join(f'{name}: {was!r} → {now!r}' for name, (was, now) in item.fields.items())})"
                for item in found.changed
            ],
            "added": [f"{item.id}  {item.question}" for item in found.added],
            "removed": [f"{item.id}  {item.question}" for item in found.removed],
        }
        body = [
            build_panel(name, say(f"versions.{name}"), build_list(_limit(lines, say)))
            for name, lines in lists.items()
            if lines
        ]
        advice = say("versions.equal" if found.is_empty else "versions.advice", same=say.whole(found.same))  # fmt: skip
        head = (doc.Heading(title, 1), doc.Paragraph(size), doc.Paragraph(advice))
        return doc.ReportDocument("testset", say, title, title, head, tuple(body))

    def data(self) -> dict[str, Any]:
        """The differences as JSON takes them."""
        return self.difference.to_dict()


def _build_counts(
    tables: Mapping[str, Mapping[str, int]], total: int, say: Words
) -> doc.ReportTable:
    rows = []
    for name, counts in tables.items():
        head = say(f"card.{name}")
        for value, count in counts.items():
            shown = say(f"{_TRANSLATED[name]}.{value}") if name in _TRANSLATED else value
            rows.append([head, shown, say.whole(count), say.percent(count / max(1, total))])
            head = ""
    blank = doc.TableColumn("")
    return build_table([blank, blank, *build_number_columns(say, "count", "checkup.share")], rows)


def _describe_reading(card: SetCard, say: Words) -> Iterator[str]:
    yield say("card.read.share", share=say.percent(card.read_share))
    yield say("card.read.counts", **{name: say.whole(count) for name, count in card.read.items()})


def _describe_weaknesses(card: SetCard, say: Words) -> Iterator[str]:
    if not card.weaknesses:
        yield say("card.weak.none")
    for code, figures in card.weaknesses:
        shown = {
            name: say.percent(value) if isinstance(value, float) else say.whole(value) if isinstance(value, int) else value
            for name, value in figures.items()
        }  # fmt: skip
        yield say(f"card.weak.{code}", **shown)


def _limit(lines: list[str], say: Words) -> list[str]:
    more = len(lines) - MAX_LISTED
    return (
        lines if more <= 0 else [*lines[:MAX_LISTED], say("checkup.faults.more", n=say.whole(more))]
    )
