"""The page of `ragstone demo`: how good version 1 is, what is wrong with it, and whether version 2 is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.report import document as doc
from ragstone.report.builders.comparison import ComparisonReport
from ragstone.report.builders.failures import FailureReport
from ragstone.report.builders.run import RunReport
from ragstone.report.translator import Translator, load_translator

if TYPE_CHECKING:
    from ragstone.analysis.slices import Slice


@dataclass(frozen=True, slots=True)
class DemoReport:
    """Three reports on one page."""

    kind: ClassVar[str] = "demo"
    run: RunReport
    failures: FailureReport
    comparison: ComparisonReport

    def document(self) -> doc.ReportDocument:
        """The page as a tree: the story, then the reports one after the other, the samples of version 1 last."""
        t = load_translator(self.run.language)
        run, failures = self.run.document(), self.failures.document()
        samples = [node for node in run.body if isinstance(node, doc.SampleList)]
        figures = [node for node in run.body if not isinstance(node, doc.SampleList)]
        weakness = (doc.Paragraph(text, style="strong") for text in self.describe_slices(t))
        head = (
            doc.Heading(t("demo_title"), 1),
            doc.Byline((t("demo_story"),)),
        )
        body = (
            doc.Section((doc.Heading(t("demo_quality")),)),
            *figures,
            doc.Section((doc.Heading(t("demo_cause")), *weakness)),
            *failures.body,
            doc.Section((doc.Heading(t("demo_change")),)),
            *self.comparison.document().body,
            *samples,
        )
        return doc.ReportDocument(
            self.kind, t, t("demo_title"), t("report"), head, body, skip_link="samples"
        )

    def describe_slices(self, t: Translator) -> list[str]:
        """Where version 1 fails, in a sentence for each slice that stands out."""
        return [_describe_slice(part, t) for part in self.failures.failures.worse]


def _describe_slice(part: Slice, t: Translator) -> str:
    kind = max(part.classes, key=part.classes.__getitem__)
    return t(
        "demo_slice",
        field=part.field,
        value=part.value,
        failures=t.whole(part.failures),
        samples=t.whole(part.samples),
        rest=t.percent(part.rest_rate),
        kind=t(f"failure_class.{kind}"),
    )
