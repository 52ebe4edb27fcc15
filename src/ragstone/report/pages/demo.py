"""The page of `ragstone demo`: how good version 1 is, what is wrong with it, and whether version 2 is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.report.pages import Page
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.pages.failures import FailurePage
from ragstone.report.pages.run import RunPage
from ragstone.report.slices import describe_slice

if TYPE_CHECKING:
    from ragstone.analysis.slices import Slice
    from ragstone.report.samples import SampleList


@dataclass(frozen=True)
class DemoPage(Page):
    """Three reports on one page."""

    kind: ClassVar[str] = "demo"
    template: ClassVar[str] = "demo"
    styles: ClassVar[tuple[str, ...]] = ("comparison.css", "failures.css")
    skip_link: ClassVar[str] = "samples"
    run: RunPage
    failures: FailurePage
    comparison: ComparisonPage

    @property
    def title(self) -> str:
        """What it is of."""
        return self.t("demo_title")

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.t("report")

    @property
    def samples(self) -> SampleList:
        """Those of version 1."""
        return self.run.samples

    @property
    def weaknesses(self) -> list[str]:
        """Where version 1 fails, in a sentence for each slice that stands out."""
        return [self._describe_slice(part) for part in self.failures.failures.worse]

    def _describe_slice(self, part: Slice) -> str:
        t = self.t
        kind = max(part.classes, key=part.classes.__getitem__)
        counts = {"failures": t.whole(part.failures), "samples": t.whole(part.samples)}
        return t(
            "demo_slice",
            slice=describe_slice(part, t),
            rest=t.percent(part.rest_rate),
            kind=t(f"failure_class.{kind}"),
            **counts,
        )
