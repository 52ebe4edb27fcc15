"""What is said of each difference, whatever it is printed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.report.figures import Line, Tone, shortened
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.compare import Comparison, Difference, Versus

TONES: dict[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "plain",
    "unclear": "plain",
    "withheld": "warn",
}


def verdict(one: Difference, floor: float, say: Words) -> Line:
    """Better, worse, equivalent or unknown, in words that say how much and what would settle it."""
    tone = TONES[one.verdict]
    if one.verdict == "withheld":
        return Line(_withheld(one, floor, say), tone)
    if one.verdict == "equivalent":
        return Line(say("says.equivalent", margin=amount(one.margin, say)), tone)
    if one.verdict == "unclear":
        if one.detectable is None or one.needed is None:
            return Line(say("says.unclear_short"), tone)
        seen, effect = amount(one.detectable, say), amount(one.effect, say)
        return Line(
            say("says.unclear", seen=seen, effect=effect, needed=say.whole(one.needed)), tone
        )
    assert one.difference is not None
    size = amount(abs(one.difference), say)
    if one.bounds is None and one.before:
        change = one.difference / abs(one.before)
        sign = "+" if change > 0 else "−"
        size = say("relative", size=size, change=sign + say.percent(abs(change), 0))
    slight = "_slight" if one.slight else ""
    margin = amount(one.margin, say)
    if slight:
        return Line(say(f"says.{one.verdict}{slight}", size=size, margin=margin), tone)
    return Line(say(f"says.{one.verdict}", size=size), tone)


def gist(versus: Versus, say: Words) -> Line:
    """One run against the baseline in one line."""
    parts = []
    verdicts = {}
    for kind in ("better", "worse", "equivalent", "unclear", "withheld"):
        names = [one.metric for one in versus.differences if one.verdict == kind]
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
    return Line("; ".join(parts), tone)


def state(comparison: Comparison, say: Words) -> Line:
    """How many regressions there are."""
    n = len(comparison.regressions)
    if n:
        return Line(say.count("regressions", n), "bad")
    return Line(say("regressions.none"), "warn" if comparison.exit_code == 3 else "good")


def notes(versus: Versus, comparison: Comparison, say: Words) -> list[Line]:
    """How many samples were paired, what does not count, and what to beware of."""
    baseline, run = name_of(comparison.baseline.name), name_of(versus.run.name)
    lines = [gist(versus, say), Line(say.count("paired_on", versus.pairs))]
    if versus.only_before or versus.only_after:
        before, after = say.whole(versus.only_before), say.whole(versus.only_after)
        text = say("unmatched", before=before, after=after, baseline=baseline, run=run)
        lines.append(Line(text, "warn"))
    if versus.other_questions:
        ids = ", ".join(shortened(one, 40) for one in versus.other_questions[:3])
        lines.append(Line(say("other_questions", ids=ids), "bad"))
    alone = (*versus.only_metrics_before, *versus.only_metrics_after)
    if alone:
        lines.append(Line(say("only_metrics", metrics=", ".join(alone))))
    return lines


def metric_notes(one: Difference, versus: Versus, comparison: Comparison, say: Words) -> list[Line]:
    """Which samples do not count in a difference, and its warnings."""
    lines = []
    names = {"baseline": name_of(comparison.baseline.name), "run": name_of(versus.run.name)}
    if one.left_out:
        parts = []
        for key, n in one.left_out.items():
            side, _, end = key.partition(": ")
            parts.append(_left_side(side, say.outcome(end), say.whole(n), names, say))
        lines.append(Line(say("left_out_samples", parts="; ".join(parts))))
    for text in one.warnings:
        lines.append(Line(f"{say('warning')}: {say.message(text)}", "warn"))
    return lines


def method(comparison: Comparison, say: Words) -> str:
    """How the figures were found."""
    differences = [one for versus in comparison.versus for one in versus.differences]
    grouped = any(one.clusters is not None for one in differences)
    how = comparison.correction if comparison.tests > 1 else "single"
    correction = say(f"corrected.{how}", n=say.whole(comparison.tests))
    kind = say("kind_grouped" if grouped else "kind_plain")
    return say("how_compared", kind=kind, correction=correction)


def signed(value: float | None, say: Words) -> str:
    """A difference with its sign."""
    if value is None:
        return "–"
    text = say.number(abs(value), 3 if abs(value) < 10 else None)
    return text if value == 0 else ("+" if value > 0 else "−") + text


def signed_interval(one: Difference, say: Words) -> str:
    """The interval of a difference, its ends signed."""
    if one.low is None or one.high is None:
        return "–"
    return f"{signed(one.low, say)} – {signed(one.high, say)}"


def p_value(p: float | None, say: Words) -> str:
    """A p-value with as many digits as mean something."""
    if p is None:
        return "–"
    if p < 0.001:
        return "<" + say.number(0.001, 3)
    return say.number(p, 3 if p < 0.1 else 2)


def amount(value: float, say: Words) -> str:
    """The size of a difference: two significant digits, three decimals at most."""
    if value >= 1:
        return say.number(value)
    text = f"{value:.2g}" if value >= 0.001 else f"{value:.1g}"
    return text.replace(".", say("decimal"))


def moved(one: Difference, say: Words) -> str:
    """How many samples became better, stayed, became worse."""
    return " / ".join(say.whole(n) for n in (one.improved, one.unchanged, one.worsened))


def name_of(name: str) -> str:
    """A run's name, short enough for a table."""
    return shortened(name, 40)


def _withheld(one: Difference, floor: float, say: Words) -> str:
    if not one.applicable or one.pairs >= floor * one.applicable:
        return say("says.nothing")
    return say(
        "says.withheld",
        pairs=say.whole(one.pairs),
        applicable=say.whole(one.applicable),
        share=say.percent(one.pairs / one.applicable),
        floor=say.percent(floor),
    )


def _left_side(side: str, end: str, n: str, names: dict[str, str], say: Words) -> str:
    if side == "both":
        return say("left_side.both", end=end, n=n)
    if side == "before":
        return say("left_side.before", end=end, n=n, baseline=names["baseline"])
    return say("left_side.after", end=end, n=n, run=names["run"])
