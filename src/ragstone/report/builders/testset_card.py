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
from ragstone.report.translator import Translator, load_translator

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
        card, t = self.card, load_translator(self.language)
        title = shorten(t("card", name=card.name), 120)
        size = t(
            "card.size",
            items=t.whole(card.items),
            documents=t.whole(len(card.documents)),
            version=card.version,
        )
        tables = {
            "kind": card.kinds, "language": card.languages, "maker": card.makers, "proof": card.proofs,
            "style": card.styles, "document": dict(list(card.documents.items())[:MAX_DOCUMENTS]),
        }  # fmt: skip
        body = [
            build_panel("origin", t("card.origin"), _build_counts(tables, card.items, t)),
            build_panel("read", t("card.read"), build_list(_describe_reading(card, t))),
            build_panel("weak", t("card.weak"), build_list(_describe_weaknesses(card, t))),
        ]
        head = (doc.Heading(title, 1), doc.Paragraph(size))
        return doc.ReportDocument("testset", t, title, title, head, tuple(body))

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
        found, t = self.difference, load_translator(self.language)
        title = shorten(t("versions", old=self.names[0], new=self.names[1]), 120)
        counts = {name: t.whole(len(getattr(found, name))) for name in ("changed", "added", "removed")}  # fmt: skip
        size = t("versions.size", same=t.whole(found.same), **counts)
        lists = {
            "changed": [
                f"{item.id}  {item.question}  ({', '.join(f'{name}: {was!r} → {now!r}' for name, (was, now) in item.fields.items())})"
                for item in found.changed
            ],
            "added": [f"{item.id}  {item.question}" for item in found.added],
            "removed": [f"{item.id}  {item.question}" for item in found.removed],
        }
        body = [
            build_panel(name, t(f"versions.{name}"), build_list(_limit(lines, t)))
            for name, lines in lists.items()
            if lines
        ]
        advice = t("versions.equal" if found.is_empty else "versions.advice", same=t.whole(found.same))  # fmt: skip
        head = (doc.Heading(title, 1), doc.Paragraph(size), doc.Paragraph(advice))
        return doc.ReportDocument("testset", t, title, title, head, tuple(body))

    def data(self) -> dict[str, Any]:
        """The differences as JSON takes them."""
        return self.difference.to_dict()


def _build_counts(
    tables: Mapping[str, Mapping[str, int]], total: int, t: Translator
) -> doc.ReportTable:
    rows = []
    for name, counts in tables.items():
        head = t(f"card.{name}")
        for value, count in counts.items():
            shown = t(f"{_TRANSLATED[name]}.{value}") if name in _TRANSLATED else value
            rows.append([head, shown, t.whole(count), t.percent(count / max(1, total))])
            head = ""
    blank = doc.TableColumn("")
    return build_table([blank, blank, *build_number_columns(t, "count", "checkup.share")], rows)


def _describe_reading(card: SetCard, t: Translator) -> Iterator[str]:
    yield t("card.read.share", share=t.percent(card.read_share))
    yield t("card.read.counts", **{name: t.whole(count) for name, count in card.read.items()})


def _describe_weaknesses(card: SetCard, t: Translator) -> Iterator[str]:
    if not card.weaknesses:
        yield t("card.weak.none")
    for code, figures in card.weaknesses:
        shown = {
            name: t.percent(value) if isinstance(value, float) else t.whole(value) if isinstance(value, int) else value
            for name, value in figures.items()
        }  # fmt: skip
        yield t(f"card.weak.{code}", **shown)


def _limit(lines: list[str], t: Translator) -> list[str]:
    more = len(lines) - MAX_LISTED
    return lines if more <= 0 else [*lines[:MAX_LISTED], t("checkup.faults.more", n=t.whole(more))]
