"""Failure classes and advice as one self-contained HTML page, in the look of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone._version import __version__
from ragstone.report.drawing.shapes import NARROW, WIDE
from ragstone.report.drawing.svg import inline
from ragstone.report.failures import sentences
from ragstone.report.figures import judge_text, shortened
from ragstone.report.page import policy, resource, template
from ragstone.report.words import words

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures
    from ragstone.store import StoredRun


def render(
    failures: Failures,
    diagnoses: Sequence[Diagnosis] | None,
    run: StoredRun,
    language: str = "en",
) -> str:
    """The page as text."""
    from markupsafe import Markup

    say = words(language)
    style = "".join(resource(name) for name in ("report.css", "drawing.css", "failures.css"))
    drawings = [
        Markup(inline(sentences.picture(failures, say, width), kind))  # noqa: S704 - every text in it is escaped
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    ]
    return str(
        template("failures.html.j2").render(
            say=say,
            version=__version__,
            policy=policy(style),
            style=Markup(style),  # noqa: S704 - files of this package
            name=shortened(failures.run.name, 200),
            info=failures.run,
            judge=judge_text(failures.run, say),
            samples_text=say.count("sample", failures.samples),
            state=sentences.state(failures, say),
            drawings=drawings,
            rows=sentences.class_rows(failures, say),
            notes=sentences.notes(failures, say),
            heads=sentences.slice_heads(say),
            slices=[sentences.slice_cells(one, say) for one in failures.worse],
            slices_note=sentences.slices_note(failures, say),
            diagnoses=None if diagnoses is None else sentences.diagnosis_views(diagnoses, say),
            examples=[
                (sentences.class_name(kind, say), some)
                for kind, some in sentences.examples(failures, run, say, 20)
            ],
        )
    )
