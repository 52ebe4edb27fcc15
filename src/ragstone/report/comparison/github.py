"""A comparison in GitHub Actions: the step summary, and a line in the log for each regression."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.report.comparison import sentences
from ragstone.report.words import words

if TYPE_CHECKING:
    from ragstone.analysis.compare import Comparison

LIMIT = 1_000_000
"""Bytes of a step summary that GitHub still shows."""


def commands(comparison: Comparison, language: str = "en", *, error: bool = False) -> list[str]:
    """Workflow commands: an error or warning for each regression, a warning for each withheld verdict."""
    say = words(language)
    regressions = {(one.run, one.metric) for one in comparison.regressions}
    lines = []
    for versus in comparison.versus:
        for one in versus.differences:
            says = sentences.verdict(one, comparison.floor, say).text
            if (one.run, one.metric) in regressions:
                text = say(
                    "annotation.regression",
                    metric=one.metric,
                    baseline=comparison.baseline.name,
                    before=say.number(one.before),
                    after=say.number(one.after),
                    says=says,
                )
                lines.append(_command("error" if error else "warning", versus.run.name, text))
            elif one.verdict == "withheld":
                text = say("annotation.withheld", metric=one.metric, says=says)
                lines.append(_command("warning", versus.run.name, text))
    return lines


def append_summary(path: str, text: str) -> None:
    """Add the text to the step summary, cut where GitHub would refuse it."""
    content = text.encode("utf-8", "replace")[:LIMIT].decode("utf-8", "ignore")
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(content + "\n")


def _command(kind: str, title: str, text: str) -> str:
    return f"::{kind} title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    """Text that cannot end the command or begin another one."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
