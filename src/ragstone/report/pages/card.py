"""The card of a test set, and what differs between two versions of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report.pages import Page
from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator
from ragstone.testset.versions import VersionDifference

if TYPE_CHECKING:
    from ragstone.testset.card import DatasetCard

MAX_DOCUMENTS = 10
MAX_LISTED = 20
"""Items shown of each sort of difference."""
_TRANSLATED = {"proof": "card.proof"}
"""Tables whose names are codes with words in the catalogue."""


@dataclass(frozen=True)
class CardPage(Page):
    """The card of a test set."""

    kind: ClassVar[str] = "testset"
    template: ClassVar[str] = "card"
    card: DatasetCard

    @property
    def title(self) -> str:
        """Which set."""
        return shorten(self.t("card", name=self.card.name), 120)

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.title

    @property
    def size(self) -> str:
        """How many items and documents there are."""
        card, t = self.card, self.t
        return t(
            "card.size",
            items=t.whole(card.items),
            documents=t.whole(len(card.documents)),
            version=card.version,
        )

    @property
    def rows(self) -> list[list[str]]:
        """Where the items come from: name, value, count, share."""
        card, t, rows = self.card, self.t, []
        tables = {
            "kind": card.kinds,
            "language": card.languages,
            "maker": card.makers,
            "proof": card.proofs,
            "style": card.styles,
            "document": dict(list(card.documents.items())[:MAX_DOCUMENTS]),
        }
        for name, counts in tables.items():
            head = t(f"card.{name}")
            for value, count in counts.items():
                shown = t(f"{_TRANSLATED[name]}.{value}") if name in _TRANSLATED else value
                rows.append([head, shown, t.whole(count), t.percent(count / max(1, card.items))])
                head = ""
        return rows

    @property
    def reading(self) -> list[str]:
        """How much of it people have read."""
        return [*_describe_reading(self.card, self.t)]

    @property
    def weaknesses(self) -> list[str]:
        """What it is weak at."""
        return [*_describe_weaknesses(self.card, self.t)]

    def data(self) -> dict[str, Any]:
        """The card as JSON takes it."""
        return self.card.to_dict()


@dataclass(frozen=True)
class VersionPage(Page):
    """What differs between two versions of a test set."""

    kind: ClassVar[str] = "testset"
    template: ClassVar[str] = "versions"
    difference: VersionDifference
    names: tuple[str, str]

    @property
    def title(self) -> str:
        """Which versions."""
        return shorten(self.t("versions", old=self.names[0], new=self.names[1]), 120)

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.title

    @property
    def size(self) -> str:
        """How many items are the same, and how many are not."""
        found, t = self.difference, self.t
        counts = {
            name: t.whole(len(getattr(found, name))) for name in ("changed", "added", "removed")
        }
        return t("versions.size", same=t.whole(found.same), **counts)

    @property
    def advice(self) -> str:
        """Whether figures of both may be compared."""
        found, t = self.difference, self.t
        return t(
            "versions.equal" if found.is_empty else "versions.advice", same=t.whole(found.same)
        )

    @property
    def lists(self) -> list[tuple[str, list[str]]]:
        """Key and items of each sort of difference that occurs."""
        found = self.difference
        lists = {
            "changed": [
                f"{item.id}  {item.question}  ({_describe_change(item.fields)})"
                for item in found.changed
            ],
            "added": [f"{item.id}  {item.question}" for item in found.added],
            "removed": [f"{item.id}  {item.question}" for item in found.removed],
        }
        return [(key, self._limit(lines)) for key, lines in lists.items() if lines]

    def _limit(self, lines: list[str]) -> list[str]:
        more = len(lines) - MAX_LISTED
        rest = [self.t("checkup.faults.more", n=self.t.whole(more))] if more > 0 else []
        return [*lines[:MAX_LISTED], *rest]

    def data(self) -> dict[str, Any]:
        """The differences as JSON takes them."""
        return self.difference.to_dict()


def _describe_change(fields: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(f"{name}: {was!r} → {now!r}" for name, (was, now) in fields.items())


def open_page(
    result: DatasetCard | VersionDifference, t: Translator, *, names: tuple[str, str] = ("", "")
) -> Page:
    """The page of a card, or of what differs between two sets of these names."""
    if isinstance(result, VersionDifference):
        return VersionPage(t, result, names)
    return CardPage(t, result)


def _describe_reading(card: DatasetCard, t: Translator) -> Iterator[str]:
    yield t("card.read.share", share=t.percent(card.read_share))
    yield t("card.read.counts", **{name: t.whole(count) for name, count in card.read.items()})


def _describe_weaknesses(card: DatasetCard, t: Translator) -> Iterator[str]:
    if not card.weaknesses:
        yield t("card.weak.none")
    for code, figures in card.weaknesses:
        shown = {
            name: t.percent(value)
            if isinstance(value, float)
            else t.whole(value)
            if isinstance(value, int)
            else value
            for name, value in figures.items()
        }
        yield t(f"card.weak.{code}", **shown)
