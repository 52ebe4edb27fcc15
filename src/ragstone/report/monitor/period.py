"""The report of a day, a week or a month: read from the store once, written as HTML or Markdown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.windows.period_report import Change, PeriodReport, period_report
from ragstone.monitor.windows.summary import Figure, Window
from ragstone.monitor.windows.window_run import MOST, WindowRun
from ragstone.report.figures import Line, Tone
from ragstone.report.monitor import reading
from ragstone.report.monitor.cards import point
from ragstone.report.monitor.charts import Point
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures

ENDINGS = (".html", ".md")
WORST = 10


@dataclass(frozen=True, slots=True)
class Whole:
    """A period with what its interactions show."""

    report: PeriodReport
    failures: Failures | None
    """None when nothing was judged."""
    diagnoses: Sequence[Diagnosis]
    worst: Sequence[reading.Seen]
    worst_by: str


def write(
    archive: Archive,
    period: str,
    until: int,
    path: str | os.PathLike[str],
    language: str = "en",
    *,
    zone: str = "UTC",
) -> PeriodReport:
    """Write the report of the last period that is over, in the format of the path's extension."""
    from ragstone.report.files import write_text

    check_ending(path)
    whole = read(archive, period, until, zone)
    write_text(path, rendered(whole, Path(path).suffix.lower(), language))
    return whole.report


def check_ending(path: str | os.PathLike[str]) -> None:
    """Complain of a path that names no format of this report."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise RagstoneError(
            f"{str(path)!r} names no format of this report; end it in {' or '.join(ENDINGS)}"
        )


def rendered(whole: Whole, ending: str, language: str) -> str:
    """The report as text in a format."""
    from ragstone.report.monitor import period_html, period_markdown

    render = period_html.render if ending == ".html" else period_markdown.render
    return render(whole, language)


def read(archive: Archive, period: str, until: int, zone: str = "UTC") -> Whole:
    """The last period that is over at a time, its failure classes, advice and worst interactions."""
    from ragstone.analysis.advice import load_symptoms
    from ragstone.analysis.diagnose import diagnose
    from ragstone.analysis.failures import analyse
    from ragstone.analysis.summary import summarise

    report = period_report(archive, period, until, zone=zone)
    run = WindowRun(archive, report.since, report.until)
    failures: Failures | None = None
    diagnoses: Sequence[Diagnosis] = ()
    if len(run) and run.info.metrics:
        failures = analyse(run)
        diagnoses = diagnose(run, summarise(run, worst=1), failures, load_symptoms())
    by = _worst_by(report)
    worst = reading.worst(archive, by, report.since, report.until, None, WORST)
    return Whole(report, failures, diagnoses, worst, by)


def _worst_by(report: PeriodReport) -> str:
    """The metric that got worse, else one with an alert, else the first."""
    scored = [one for one in report.changes if one.name in report.now.metrics]
    worse = [one.name for one in scored if one.verdict == "worse"]
    warned = {one.metric for one in report.alerts}
    named = [one.name for one in scored if one.name in warned]
    return next(iter([*worse, *named, *(one.name for one in scored)]), reading.FEEDBACK)


# ── what both formats say ─────────────────────────────────────────────────────────────────

TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}


def headline(report: PeriodReport, say: Words) -> Line:
    """The period in one line."""
    worse = sum(one.verdict == "worse" for one in report.changes)
    better = sum(one.verdict == "better" for one in report.changes)
    parts = []
    if worse:
        parts.append(say.count("summary.worse", worse))
    if better:
        parts.append(say.count("summary.better", better))
    judged = any(one.scored for one in report.now.metrics.values())
    if not parts:
        nothing = "summary.failed" if report.now.metrics else "summary.nothing"
        parts.append(say("summary.same" if judged else nothing))
    if report.alerts:
        parts.append(say.count("alert", len(report.alerts)))
    calm: Tone = "good" if judged and not report.alerts else "warn"
    tone: Tone = "bad" if worse else calm
    return Line("; ".join(parts), tone)


def verdict(one: Change, say: Words) -> str:
    """The verdict in words, with the change and its interval."""
    margin = "" if one.margin is None else say.number(one.margin, 2)
    return say(f"says.period_{one.verdict}", margin=margin)


def difference(one: Change, say: Words) -> str:
    """The change with its interval, signed."""
    if one.difference is None:
        return "–"
    text = signed(one.difference, say)
    if one.low is None or one.high is None:
        return text
    return f"{text} ({signed(one.low, say)} – {signed(one.high, say)})"


def signed(value: float, say: Words) -> str:
    """A number with its sign."""
    text = say.number(value, 3 if abs(value) < 1 else None)
    return text if text.startswith("-") or value == 0 else f"+{text}"


def points(report: PeriodReport, name: str) -> list[Point]:
    """A figure's course over the period."""
    return [point(one, _figure(one, name)) for one in report.series]


def _figure(window: Window, name: str) -> Figure | None:
    own = {"feedback": window.feedback, "latency": window.latency}
    return own[name] if name in own else window.metrics.get(name)


def called(name: str, say: Words) -> str:
    """A figure's name in words; metrics are called what they are."""
    return say(name) if name in ("feedback", "latency") else name


def costs(report: PeriodReport, say: Words) -> list[tuple[str, str, str]]:
    """What answering and judging cost, in this period and the one before."""
    now, before = report.now, report.before
    rows = [(say("judge_cost"), say.money(now.judge_usd), say.money(before.judge_usd))]
    for name in now.metrics:
        one, other = now.metrics[name], before.metrics.get(name)
        if one.calls:
            paid = f"{say.money(one.usd)}, {say('calls_many', n=say.whole(one.calls))}"
            rows.append((f"· {name}", paid, "–" if other is None else say.money(other.usd)))
    if now.cost is not None or before.cost is not None:
        answered = [say.money(one.cost.total) if one.cost else "–" for one in (now, before)]
        rows.insert(0, (say("system_cost"), answered[0], answered[1]))
    if now.tokens is not None:
        spent = [say.whole(round(one.tokens.total)) if one.tokens else "–" for one in (now, before)]
        rows.insert(1, (say("tokens"), spent[0], spent[1]))
    return rows


def heading(report: PeriodReport, say: Words) -> list[str]:
    """Which period, how much came, how many alerts."""
    first, last = report.dates()
    facts = [
        say("period_at", since=first, until=last, zone=report.zone),
        say.count("interaction", report.now.interactions),
        say.count("alert", len(report.alerts)),
    ]
    if report.now.failed:
        facts.insert(2, say("failed_many", n=say.whole(report.now.failed)))
    return facts


def newest_note(whole: Whole, say: Words) -> str:
    """That classes are of a part only, when they are."""
    if whole.failures is None or whole.failures.samples < MOST:
        return ""
    return say("newest_only", n=say.whole(MOST))
