"""What is said of each difference, whatever it is printed on; its figures are written by `report/amounts.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.analysis.comparison import from_exclusion_key
from ragstone.report.amounts import format_amount
from ragstone.report.document import Remark, Tone
from ragstone.report.figures import describe_correction, shorten
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis.comparison import Comparison, Difference, RunComparison

MAX_NAMES = 5
"""Names that a sentence lists; of more it lists one less, and an ellipsis."""

TONES: dict[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "plain",
    "identical": "plain",
    "unclear": "plain",
    "withheld": "warn",
}


def describe_verdict(difference: Difference, floor: float, say: Words) -> Remark:
    """Better, worse, equivalent or unknown, in words that say how much and what would settle it.

    `floor` is the share of the applicable samples that must be scored for a verdict."""
    tone = TONES[difference.verdict]
    if difference.verdict == "withheld":
        return Remark(_explain_withheld(difference, floor, say), tone)
    if difference.verdict == "equivalent":
        return Remark(say("says.equivalent", margin=format_amount(difference.margin, say)), tone)
    if difference.verdict == "identical":
        return Remark(say("says.identical"), tone)
    if difference.verdict == "unclear":
        return Remark(_explain_unclear(difference, say), tone)
    assert difference.difference is not None
    size = format_amount(abs(difference.difference), say)
    # Seconds, tokens and dollars have no range to judge a difference by, so they are said relative
    # to the baseline, too.
    if difference.bounds is None and difference.before:
        change = difference.difference / abs(difference.before)
        sign = "+" if change > 0 else "−"
        size = say("relative", size=size, change=sign + say.percent(abs(change), 0))
    if difference.is_slight:
        margin = format_amount(difference.margin, say)
        return Remark(say(f"says.{difference.verdict}_slight", size=size, margin=margin), tone)
    return Remark(say(f"says.{difference.verdict}", size=size), tone)


def describe_pairing(
    run_comparison: RunComparison, comparison: Comparison, say: Words
) -> list[Remark]:
    """How many samples were paired, what does not count, and what to beware of."""
    baseline, run = (
        shorten_name(comparison.baseline.name, say),
        shorten_name(run_comparison.run.name, say),
    )
    counts = {
        "before": say.whole(run_comparison.only_before),
        "after": say.whole(run_comparison.only_after),
    }
    if not comparison.paired:
        lines = [Remark(say("sets", baseline=baseline, run=run, **counts))]
    else:
        lines = [Remark(say.count("paired_on", run_comparison.pairs))]
        if run_comparison.only_before or run_comparison.only_after:
            lines.append(Remark(say("unmatched", baseline=baseline, run=run, **counts), "warn"))
    if run_comparison.other_questions:
        ids = ", ".join(shorten(question, 40) for question in run_comparison.other_questions[:3])
        lines.append(Remark(say("other_questions", ids=ids), "bad"))
    alone = (*run_comparison.only_metrics_before, *run_comparison.only_metrics_after)
    if alone:
        lines.append(Remark(say("only_metrics", metrics=", ".join(alone))))
    return lines


def describe_exclusions(
    difference: Difference, run_comparison: RunComparison, comparison: Comparison, say: Words
) -> list[Remark]:
    """Which samples do not count in a difference, and its warnings."""
    lines = []
    names = {
        "baseline": shorten_name(comparison.baseline.name, say),
        "run": shorten_name(run_comparison.run.name, say),
    }
    if difference.left_out:
        parts = []
        for key, n in difference.left_out.items():
            side, outcome = from_exclusion_key(key)
            parts.append(_describe_excluded(side, say.outcome(outcome), say.whole(n), names, say))
        lines.append(Remark(say("left_out_samples", parts="; ".join(parts))))
    # of values that are all the same there is nothing to beware of
    for text in difference.warnings if difference.verdict != "identical" else ():
        lines.append(Remark(f"{say('warning')}: {say.message(text)}", "warn"))
    return lines + describe_correction(difference.corrected, "corrected_difference", say)


def format_ratio(difference: Difference, say: Words) -> tuple[str, str] | None:
    """After as a multiple of before, and the interval of that; None where there is none."""
    ratio, before = difference.ratio, difference.before
    if ratio is None or not before or difference.low is None or difference.high is None:
        return None
    low, high = (format_amount(max(0.0, 1 + end / before), say) for end in (difference.low, difference.high))  # fmt: skip
    return format_amount(ratio, say), f"{low} – {high}"


def join_names(names: Sequence[str], say: Words) -> str:
    """`a, b and c`; of many, the first few."""
    shown = list(names) if len(names) <= MAX_NAMES else [*names[: MAX_NAMES - 1], "…"]
    if len(shown) < 2 or shown[-1] == "…":
        return ", ".join(shown)
    return say("gist.and", list=", ".join(shown[:-1]), last=shown[-1])


def format_moved(difference: Difference, say: Words) -> str:
    """How many samples became better, stayed, became worse; a dash where samples have no partner."""
    if difference.test == "interval":
        return "–"
    return " / ".join(
        say.whole(n) for n in (difference.improved, difference.unchanged, difference.worsened)
    )


def shorten_name(name: str, say: Words) -> str:
    """A run's name, short enough for a table; `current settings` in the language of the report."""
    return shorten(say.name_run(name), 40)


def _explain_unclear(difference: Difference, say: Words) -> str:
    # Without an interval there is nothing to extrapolate from.
    if difference.detectable is None or difference.needed is None:
        return say("says.unclear_short")
    seen, effect = (
        format_amount(value, say) for value in (difference.detectable, difference.effect)
    )
    needed = say.whole(difference.needed)
    if difference.pairs and difference.unchanged == difference.pairs:
        return say("says.still", effect=effect, needed=needed)
    if difference.is_near:
        return say("says.near", effect=effect)
    if difference.is_blind:
        return say("says.too_few", effect=effect, needed=needed)
    return say("says.unclear", seen=seen, effect=effect, needed=needed)


def _explain_withheld(difference: Difference, floor: float, say: Words) -> str:
    if difference.coverage is None or difference.coverage >= floor - 1e-9:
        return say("says.nothing")
    return say(
        "says.withheld",
        pairs=say.whole(difference.pairs),
        applicable=say.whole(difference.applicable),
        share=say.percent(difference.coverage),
        floor=say.percent(floor),
    )


def _describe_excluded(side: str, outcome: str, n: str, names: dict[str, str], say: Words) -> str:
    if side == "both":
        return say("left_side.both", end=outcome, n=n)
    if side == "before":
        return say("left_side.before", end=outcome, n=n, baseline=names["baseline"])
    return say("left_side.after", end=outcome, n=n, run=names["run"])
