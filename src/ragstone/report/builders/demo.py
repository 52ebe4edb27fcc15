"""The page of `ragstone demo`: how good version 1 is, what is wrong with it, and whether version 2 is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.report import document as doc
from ragstone.report.builders.comparison import ComparisonReport
from ragstone.report.builders.failures import FailureReport
from ragstone.report.builders.run import RunReport
from ragstone.report.words import Words, load_words

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
        say = load_words(self.run.language)
        run, failures = self.run.document(), self.failures.document()
        samples = [node for node in run.body if isinstance(node, doc.SampleList)]
        figures = [node for node in run.body if not isinstance(node, doc.SampleList)]
        weakness = (doc.Paragraph(text, style="strong") for text in self.describe_slices(say))
        head = (
            doc.Heading(say("demo_title"), 1),
            doc.Byline((say("demo_story"),)),
        )
        body = (
            doc.Section((doc.Heading(say("demo_quality")),)),
            *figures,
            doc.Section((doc.Heading(say("demo_cause")), *weakness)),
            *failures.body,
            doc.Section((doc.Heading(say("demo_change")),)),
            *self.comparison.document().body,
            *samples,
        )
        return doc.ReportDocument(
            self.kind, say, say("demo_title"), say("report"), head, body, skip_link="samples"
        )

    def describe_slices(self, say: Words) -> list[str]:
        """Where version 1 fails, in a sentence for each slice that stands out."""
        return [_describe_slice(part, say) for part in self.failures.failures.worse]


def _describe_slice(part: Slice, say: Words) -> str:
    kind = max(part.classes, key=part.classes.__getitem__)
    return say(
        "demo_slice",
        field=part.field,
        value=part.value,
        failures=say.whole(part.failures),
        samples=say.whole(part.samples),
        rest=say.percent(part.rest_rate),
        kind=say(f"failure_class.{kind}"),
    )
