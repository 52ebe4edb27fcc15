"""The checks of a test run under pytest, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.report.pages import Page
from ragstone.report.pages.run import ClaimView
from ragstone.report.remarks import Remark


@dataclass(frozen=True)
class ChecksPage(Page):
    """Every check of a test run."""

    kind: ClassVar[str] = "checks"
    template: ClassVar[str] = "checks"
    records: Sequence[Mapping[str, Any]]
    """As `Checker.records` holds them."""

    @property
    def title(self) -> str:
        """What it is of."""
        return self.t("checks_title")

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.t("report")

    @property
    def count(self) -> str:
        """How many checks there are."""
        return self.t.count("checks_count", len(self.records))

    @property
    def missed(self) -> list[ClaimView]:
        """The checks that were missed, with what is wrong."""
        return [
            ClaimView(
                r["test"], r["lines"][0], "bad", tuple(line.strip() for line in r["lines"][1:])
            )
            for r in self.records
            if not r["passed"]
        ]

    @property
    def state(self) -> Remark:
        """How many were missed."""
        missed = len(self.missed)
        if missed:
            return Remark(self.t.count("checks_missed", missed), "bad")
        return Remark(self.t("checks_met"), "good")
