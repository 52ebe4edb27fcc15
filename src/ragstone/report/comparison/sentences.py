"""What is said of each difference, whatever it is printed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.report.document import Remark, Tone
from ragstone.report.figures import describe_correction, shorten
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.compare import Comparison, Difference, RunComparison

TONES: dict[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "plain",
    "unclear": "plain",
    "withheld": "warn",
}


def describe_verdict(difference: Difference, floor: float, say: Words) -> Remark:
    """Better, worse, equivalent or unknown, in words that say how much and what would settle it."""
    tone = TONES[difference.verdict]
    if difference.verdict == "withheld":
        return Remark(_explain_withheld(difference, floor, say), tone)
    if difference.verdict == "equivalent":
        return Remark(say("says.equivalent", margin=format_amount(difference.margin, say)), tone)
    if difference.verdict == "unclear":
        # Without an interval there is nothing to extrapolate from.
        if difference.detectable is None or difference.needed is None:
            return Remark(say("says.unclear_short"), tone)
        seen, effect = (
            format_amount(difference.detectable, say),
            format_amount(difference.effect, say),
        )
        return Remark(
            say("says.unclear", seen=seen, effect=effect, needed=say.whole(difference.needed)), tone
        )
    assert difference.difference is not None
    size = format_amount(abs(difference.difference), say)
    # Seconds, tokens and dollars have no range to judge a difference by, so they are said relative
    # to the baseline, too.
    if difference.bounds is None and difference.before:
        change = difference.difference / abs(difference.before)
        sign = "+" if change > 0 else "−"
        size = say("relative", size=size, change=sign + say.percent(abs(change), 0))
    slight = "_slight" if difference.slight else ""
    margin = format_amount(difference.margin, say)
    if slight:
        return Remark(say(f"says.{difference.verdict}{slight}", size=size, margin=margin), tone)
    return Remark(say(f"says.{difference.verdict}", size=size), tone)


def describe_run_verdicts(versus: RunComparison, say: Words) -> Remark:
    """One run against the baseline in one line."""
    parts = []
    verdicts = {}
    for kind in ("better", "worse", "equivalent", "unclear", "withheld"):
        names = [
            difference.metric for difference in versus.differences if difference.verdict == kind
        ]
        verdicts[kind] = len(names)
        if names:
            shown = ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
            parts.append(say(f"gist.{kind}", metrics=shown))
    tone: Tone = "plain"
    if verdicts["worse"]:
        tone = "bad"
    elif verdicts["withheld"]:
        tone = "warn"
    elif verdicts["better"]:
        tone = "good"
    return Remark("; ".join(parts), tone)


def describe_state(comparison: Comparison, say: Words) -> Remark:
    """How many regressions there are."""
    n = len(comparison.regressions)
    if n:
        return Remark(say.count("regressions", n), "bad")
    return Remark(say("regressions.none"), "warn" if comparison.exit_code == 3 else "good")


def describe_pairing(versus: RunComparison, comparison: Comparison, say: Words) -> list[Remark]:
    """How many samples were paired, what does not count, and what to beware of."""
    baseline, run = shorten_name(comparison.baseline.name), shorten_name(versus.run.name)
    lines = [describe_run_verdicts(versus, say), Remark(say.count("paired_on", versus.pairs))]
    if versus.only_before or versus.only_after:
        before, after = say.whole(versus.only_before), say.whole(versus.only_after)
        text = say("unmatched", before=before, after=after, baseline=baseline, run=run)
        lines.append(Remark(text, "warn"))
    if versus.other_questions:
        ids = ", ".join(shorten(question, 40) for question in versus.other_questions[:3])
        lines.append(Remark(say("other_questions", ids=ids), "bad"))
    alone = (*versus.only_metrics_before, *versus.only_metrics_after)
    if alone:
        lines.append(Remark(say("only_metrics", metrics=", ".join(alone))))
    return lines


def describe_exclusions(
    difference: Difference, versus: RunComparison, comparison: Comparison, say: Words
) -> list[Remark]:
    """Which samples do not count in a difference, and its warnings."""
    lines = []
    names = {
        "baseline": shorten_name(comparison.baseline.name),
        "run": shorten_name(versus.run.name),
    }
    if difference.left_out:
        parts = []
        for key, n in difference.left_out.items():
            side, _, end = key.partition(": ")
            parts.append(_describe_excluded(side, say.outcome(end), say.whole(n), names, say))
        lines.append(Remark(say("left_out_samples", parts="; ".join(parts))))
    for text in difference.warnings:
        lines.append(Remark(f"{say('warning')}: {say.message(text)}", "warn"))
    return lines + describe_correction(difference.corrected, "corrected_difference", say)


def describe_method(comparison: Comparison, say: Words) -> str:
    """How the figures were found."""
    differences = [difference for versus in comparison.versus for difference in versus.differences]
    grouped = any(difference.clusters is not None for difference in differences)
    how = comparison.correction if comparison.tests > 1 else "single"
    correction = say(f"corrected.{how}", n=say.whole(comparison.tests))
    kind = say("kind_grouped" if grouped else "kind_plain")
    return say("how_compared", kind=kind, correction=correction)


def format_signed(value: float | None, say: Words) -> str:
    """A difference with its sign."""
    if value is None:
        return "–"
    text = say.number(abs(value), 3 if abs(value) < 10 else None)
    return text if value == 0 else ("+" if value > 0 else "−") + text


def format_signed_interval(difference: Difference, say: Words) -> str:
    """The interval of a difference, its ends signed."""
    if difference.low is None or difference.high is None:
        return "–"
    return f"{format_signed(difference.low, say)} – {format_signed(difference.high, say)}"


def format_p_value(p: float | None, say: Words) -> str:
    """A p-value with as many digits as mean something."""
    if p is None:
        return "–"
    if p < 0.001:
        # The tests behind it resample or approximate; digits beyond the third mean nothing.
        return "<" + say.number(0.001, 3)
    return say.number(p, 3 if p < 0.1 else 2)


def format_amount(value: float, say: Words) -> str:
    """The size of a difference: two significant digits, three decimals at most."""
    if value >= 1:
        return say.number(value)
    # Not `say.number`: three fixed decimals would show a difference of 0.0004 as 0.000.
    text = f"{value:.2g}" if value >= 0.001 else f"{value:.1g}"
    return text.replace(".", say("decimal"))


def format_moved(difference: Difference, say: Words) -> str:
    """How many samples became better, stayed, became worse."""
    return " / ".join(
        say.whole(n) for n in (difference.improved, difference.unchanged, difference.worsened)
    )


def shorten_name(name: str) -> str:
    """A run's name, short enough for a table."""
    return shorten(name, 40)


def _explain_withheld(difference: Difference, floor: float, say: Words) -> str:
    if not difference.applicable or difference.pairs >= floor * difference.applicable:
        return say("says.nothing")
    return say(
        "says.withheld",
        pairs=say.whole(difference.pairs),
        applicable=say.whole(difference.applicable),
        share=say.percent(difference.pairs / difference.applicable),
        floor=say.percent(floor),
    )


def _describe_excluded(side: str, end: str, n: str, names: dict[str, str], say: Words) -> str:
    if side == "both":
        return say("left_side.both", end=end, n=n)
    if side == "before":
        return say("left_side.before", end=end, n=n, baseline=names["baseline"])
    return say("left_side.after", end=end, n=n, run=names["run"])
