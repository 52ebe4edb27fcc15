"""What is said of each difference, whatever it is printed on; its figures are written by `report/amounts.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.analysis.comparison import from_exclusion_key
from ragstone.report.amounts import format_amount
from ragstone.report.figures import describe_correction
from ragstone.report.remarks import Remark, Severity, shorten, shorten_middle
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.comparison import Comparison, Difference, RunComparison

MAX_NAMES = 5
"""Names that a sentence lists; of more it lists one less, and an ellipsis."""

SEVERITIES: dict[str, Severity] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "plain",
    "identical": "plain",
    "unclear": "plain",
    "withheld": "warn",
}


def describe_verdict(difference: Difference, floor: float, t: Translator) -> Remark:
    """Better, worse, equivalent or unknown, in words that say how much and what would settle it.

    `floor` is the share of the applicable samples that must be scored for a verdict."""
    severity = SEVERITIES[difference.verdict]
    if difference.verdict == "withheld":
        return Remark(_explain_withheld(difference, floor, t), severity)
    if difference.verdict == "equivalent":
        return Remark(t("says.equivalent", margin=format_amount(difference.margin, t)), severity)
    if difference.verdict == "identical":
        return Remark(t("says.identical"), severity)
    if difference.verdict == "unclear":
        return Remark(_explain_unclear(difference, t), severity)
    assert difference.difference is not None
    size = format_amount(abs(difference.difference), t)
    # Seconds, tokens and dollars have no range to judge a difference by, so they are said relative
    # to the baseline, too.
    if difference.bounds is None and difference.before:
        change = difference.difference / abs(difference.before)
        sign = "+" if change > 0 else "−"
        size = t("relative", size=size, change=sign + t.percent(abs(change), 0))
    if difference.is_slight:
        margin = format_amount(difference.margin, t)
        return Remark(t(f"says.{difference.verdict}_slight", size=size, margin=margin), severity)
    return Remark(t(f"says.{difference.verdict}", size=size), severity)


def describe_pairing(
    run_comparison: RunComparison, comparison: Comparison, t: Translator
) -> list[Remark]:
    """How many samples were paired, what does not count, and what to beware of."""
    baseline, run = (
        shorten_name(comparison.baseline.name, t),
        shorten_name(run_comparison.run.name, t),
    )
    counts = {
        "before": t.whole(run_comparison.only_before),
        "after": t.whole(run_comparison.only_after),
    }
    if not comparison.paired:
        lines = [Remark(t("sets", baseline=baseline, run=run, **counts))]
    else:
        lines = [Remark(t.count("paired_on", run_comparison.pairs))]
        if run_comparison.only_before or run_comparison.only_after:
            lines.append(Remark(t("unmatched", baseline=baseline, run=run, **counts), "warn"))
    if run_comparison.other_questions:
        ids = ", ".join(shorten(question, 40) for question in run_comparison.other_questions[:3])
        lines.append(Remark(t("other_questions", ids=ids), "bad"))
    alone = (*run_comparison.only_metrics_before, *run_comparison.only_metrics_after)
    if alone:
        lines.append(Remark(t("only_metrics", metrics=", ".join(alone))))
    return lines


def describe_exclusions(
    difference: Difference, run_comparison: RunComparison, comparison: Comparison, t: Translator
) -> list[Remark]:
    """Which samples do not count in a difference, and its warnings."""
    lines = []
    names = {
        "baseline": shorten_name(comparison.baseline.name, t),
        "run": shorten_name(run_comparison.run.name, t),
    }
    if difference.left_out:
        parts = []
        for key, n in difference.left_out.items():
            side, outcome = from_exclusion_key(key)
            parts.append(_describe_excluded(side, t.outcome(outcome), t.whole(n), names, t))
        lines.append(Remark(t("left_out_samples", parts="; ".join(parts))))
    # of values that are all the same there is nothing to beware of
    for text in difference.warnings if difference.verdict != "identical" else ():
        lines.append(Remark(f"{t('warning')}: {t.message(text)}", "warn"))
    return lines + describe_correction(difference.corrected, "corrected_difference", t)


def format_ratio(difference: Difference, t: Translator) -> tuple[str, str] | None:
    """After as a multiple of before, and the interval of that; None where there is none."""
    ratio, before = difference.ratio, difference.before
    if ratio is None or not before or difference.low is None or difference.high is None:
        return None
    low, high = (format_amount(max(0.0, 1 + end / before), t) for end in (difference.low, difference.high))  # fmt: skip
    return format_amount(ratio, t), f"{low} – {high}"


def join_names(names: Sequence[str], t: Translator) -> str:
    """`a, b and c`; of many, the first few."""
    shown = list(names) if len(names) <= MAX_NAMES else [*names[: MAX_NAMES - 1], "…"]
    if len(shown) < 2 or shown[-1] == "…":
        return ", ".join(shown)
    return t("gist.and", list=", ".join(shown[:-1]), last=shown[-1])


def format_moved(difference: Difference, t: Translator) -> str:
    """How many samples became better, stayed, became worse; a dash where samples have no partner."""
    if difference.test == "interval":
        return "–"
    return " / ".join(
        t.whole(n) for n in (difference.improved, difference.unchanged, difference.worsened)
    )


def shorten_name(name: str, t: Translator) -> str:
    """A run's name, short enough for a table; `current settings` in the language of the report."""
    return shorten_middle(t.name_run(name), 40)


def _explain_unclear(difference: Difference, t: Translator) -> str:
    # Without an interval there is nothing to extrapolate from.
    if difference.detectable is None or difference.needed is None:
        return t("says.unclear_short")
    seen, effect = (format_amount(value, t) for value in (difference.detectable, difference.effect))
    needed = t.whole(difference.needed)
    if difference.pairs and difference.unchanged == difference.pairs:
        return t("says.still", effect=effect, needed=needed)
    if difference.is_near:
        return t("says.near", effect=effect)
    if difference.is_blind:
        return t("says.too_few", effect=effect, needed=needed)
    return t("says.unclear", seen=seen, effect=effect, needed=needed)


def _explain_withheld(difference: Difference, floor: float, t: Translator) -> str:
    if difference.coverage is None or difference.coverage >= floor - 1e-9:
        return t("says.nothing")
    return t(
        "says.withheld",
        pairs=t.whole(difference.pairs),
        applicable=t.whole(difference.applicable),
        share=t.percent(difference.coverage),
        floor=t.percent(floor),
    )


def _describe_excluded(
    side: str, outcome: str, n: str, names: dict[str, str], t: Translator
) -> str:
    if side == "both":
        return t("left_side.both", end=outcome, n=n)
    if side == "before":
        return t("left_side.before", end=outcome, n=n, baseline=names["baseline"])
    return t("left_side.after", end=outcome, n=n, run=names["run"])
