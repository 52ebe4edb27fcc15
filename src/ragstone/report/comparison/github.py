"""A comparison in GitHub Actions: the step summary, and a line in the log for each regression."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.report.comparison import sentences
from ragstone.report.translator import load_translator

if TYPE_CHECKING:
    from ragstone.analysis.comparison import Comparison

SUMMARY_BYTES = 1_000_000
"""Bytes of a step summary that GitHub still shows."""


def build_commands(
    comparison: Comparison, language: str = "en", *, error: bool = False
) -> list[str]:
    """Workflow commands: an error or warning for each regression, a warning for each withheld verdict."""
    t = load_translator(language)
    regressions = {(regression.run, regression.metric) for regression in comparison.regressions}
    lines = []
    for versus in comparison.versus:
        for difference in versus.differences:
            verdict = sentences.describe_verdict(difference, comparison.floor, t).text
            if (difference.run, difference.metric) in regressions:
                text = t(
                    "annotation.regression",
                    metric=difference.metric,
                    baseline=comparison.baseline.name,
                    before=t.number(difference.before),
                    after=t.number(difference.after),
                    says=verdict,
                )
                lines.append(
                    _format_command("error" if error else "warning", versus.run.name, text)
                )
            elif difference.verdict == "withheld":
                text = t("annotation.withheld", metric=difference.metric, says=verdict)
                lines.append(_format_command("warning", versus.run.name, text))
    return lines


def append_summary(path: str, text: str) -> None:
    """Add the text to the step summary, cut where GitHub would refuse it."""
    # GitHub's limit is in bytes, and refuses the whole summary; `ignore` drops the character that
    # the cut went through.
    content = text.encode("utf-8", "replace")[:SUMMARY_BYTES].decode("utf-8", "ignore")
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(content + "\n")


def _format_command(kind: str, title: str, text: str) -> str:
    return f"::{kind} title={_escape_property(title)}::{_escape_data(text)}"


def _escape_data(text: str) -> str:
    """Text that cannot end the command or begin another."""
    # The percent sign first, or it would escape the escapes.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
