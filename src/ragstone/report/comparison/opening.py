"""What a comparison comes to, in the few sentences that a colleague would say: per run, over all, and how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.analysis.classes import get_family
from ragstone.analysis.headline import LEADING_FAMILIES
from ragstone.report.amounts import format_amount, format_signed, format_signed_interval
from ragstone.report.comparison.sentences import format_ratio, join_names, shorten_name
from ragstone.report.remarks import Remark, Severity
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.comparison import Comparison, Difference, RunComparison


ORDER = ("worse", "better", "equivalent", "identical", "unclear", "withheld")
"""What is said first of a run."""


def describe_run_verdicts(
    versus: RunComparison, comparison: Comparison, t: Translator
) -> list[Remark]:
    """One run against the baseline in a few sentences: what is shown, what is not, and what it takes."""
    names = {
        "run": shorten_name(versus.run.name, t),
        "baseline": shorten_name(comparison.baseline.name, t),
    }
    rows = sorted(versus.differences, key=_rank_difference)
    by_verdict: dict[str, list[Difference]] = {}
    for row in rows:
        if not row.resource:
            by_verdict.setdefault(row.verdict, []).append(row)
    lines = []
    if versus.same_answers:
        lines.append(Remark(t("gist.identical", n=t.whole(versus.pairs), **names)))
    for verdict, alike in sorted(by_verdict.items(), key=lambda pair: ORDER.index(pair[0])):
        lines += _describe_verdict(verdict, alike, names, t)
    if comparison.changed_values:
        names_changed = join_names(comparison.changed_values, t)
        lines.append(Remark(t("gist.changed_values", metrics=names_changed), "warn"))
    resources = [row for row in rows if row.resource and row.verdict in ("better", "worse")]
    if resources:
        items = join_names([describe_item(row, t) for row in resources], t)
        dearer = any(row.verdict == "worse" for row in resources)
        lines.append(Remark(t("gist.takes", items=items), "warn" if dearer else "good"))
    return lines


def _describe_verdict(
    verdict: str, rows: Sequence[Difference], names: dict[str, str], t: Translator
) -> list[Remark]:
    """One sentence on the quality metrics that came out the same way."""
    metrics = _name_metrics(rows, t)
    match verdict:
        case "worse" | "better":
            items = join_names([describe_item(row, t) for row in rows], t)
            text = t(f"gist.{verdict}", items=items, **names)
            return [Remark(text, "bad" if verdict == "worse" else "good")]
        case "equivalent":
            return [Remark(t("gist.equivalent", metrics=metrics))]
        case "unclear":
            return [Remark(_describe_unclear(rows, t))]
        case "withheld":
            return [Remark(t("gist.withheld", metrics=metrics), "warn")]
    return []  # that answers are identical is said of the whole run


def describe_item(difference: Difference, t: Translator) -> str:
    """`recall +0.040 (+0.010 – +0.070)`, `latency × 2.0 (1.8 – 2.2)`."""
    ratio = format_ratio(difference, t) if difference.resource else None
    if ratio is not None:
        return t("gist.item_ratio", metric=difference.metric, ratio=ratio[0], interval=ratio[1])
    change = format_signed(difference.difference, t)
    if difference.low is None:
        return t("gist.item_alone", metric=difference.metric, difference=change)
    interval = format_signed_interval(difference.low, difference.high, t)
    return t("gist.item", metric=difference.metric, difference=change, interval=interval)


def describe_state(comparison: Comparison, t: Translator) -> Remark:
    """The badge: which regressions are shown, or that none is and which may have been missed."""
    if comparison.regressions:
        return Remark(_name_regressions(comparison, t), "bad")
    everything = list(comparison.differences)
    counted = [d for d in everything if comparison.is_counted(d)]
    # without regressions, what is worse is a resource that the user did not name
    dearer = [d for d in everything if d.verdict == "worse"]
    withheld = [d for d in everything if d.verdict == "withheld"]
    parts = [t("badge.none_but_dearer" if dearer else "badge.none"), *_describe_missed(counted, t)]
    for key, rows in (("dearer", dearer), ("withheld", withheld)):
        if rows:
            parts.append(t(f"badge.{key}", metrics=_name_metrics(rows, t)))
    is_safe = all(d.verdict in ("better", "equivalent", "identical") for d in counted)
    severity: Severity = "warn" if dearer or withheld else "good" if is_safe else "plain"
    return Remark(" ".join(parts), severity)


def _name_regressions(comparison: Comparison, t: Translator) -> str:
    """How many there are and where; of several runs, in which."""
    names = {versus.run.id: shorten_name(versus.run.name, t) for versus in comparison.versus}
    items = [
        t("badge.item", metric=d.metric, run=names[d.run]) if len(names) > 1 else d.metric
        for d in comparison.regressions
    ]
    key = f"badge.regressions.{'one' if len(items) == 1 else 'many'}"
    return t(key, n=t.whole(len(items)), items=join_names(items, t))


def _describe_missed(counted: Sequence[Difference], t: Translator) -> list[str]:
    """The smallest loss that would have been found in the metric that matters, or where a loss is ruled out."""
    if counted and {d.verdict for d in counted} <= {"identical", "withheld"}:
        # the sentence once, or no sentence
        return [t("badge.identical")] * any(d.verdict == "identical" for d in counted)
    unclear = [d for d in counted if d.verdict == "unclear"]
    if unclear:
        # the primary metric, else the one in which most could have been missed
        named = max(unclear, key=lambda d: (d.family == "primary", _share_of_range(d)))
        if named.detectable is None:
            return [t("badge.missed_unknown", metric=named.metric)]
        if named.is_blind:
            return [t("badge.too_few", metric=named.metric)]
        seen = format_amount(named.detectable, t)
        return [t("badge.missed", seen=seen, metric=named.metric)]
    equivalent = [d for d in counted if d.verdict == "equivalent"]
    if not equivalent:
        return []
    margin = format_amount(max(d.margin for d in equivalent), t)
    return [t("badge.ruled_out", margin=margin, metrics=_name_metrics(equivalent, t))]


def describe_method(comparison: Comparison, t: Translator, *, plain_intervals: bool = False) -> str:
    """How the figures were found."""
    grouped = any(difference.clusters is not None for difference in comparison.differences)
    how = "paired" if comparison.paired else "unpaired"
    kind = t(f"how.kind_{'grouped' if grouped else 'plain'}")
    parts = [t(f"how.{how}", kind=kind), t(f"how.test_{how}")]
    if sum(comparison.tests.values()) > 1:
        families = [
            t(f"how.{family}.{'one' if n == 1 else 'many'}", n=t.whole(n), metric=comparison.primary)
            for family, n in comparison.tests.items()
        ]  # fmt: skip
        parts.append(t("how.families", parts="; ".join(families)))
        parts.append(t(f"how.{comparison.correction}"))
    parts.append(t("how.plain" if plain_intervals else "how.verdict"))
    return " ".join(parts)


def describe_percentiles(difference: Difference, t: Translator) -> str:
    """`latency: p50 0.8 → 1.5 (× 1.9; 1.7 – 2.1), …`."""
    if difference.verdict == "identical":
        return ""
    parts = []
    for change in difference.percentiles:
        figures = {"before": t.number(change.before), "after": t.number(change.after)}
        if change.ratio is None:
            continue
        ratio = format_amount(change.ratio, t)
        if change.ratio_low is None or change.ratio_high is None:
            parts.append(t("percentile_alone", name=change.name, ratio=ratio, **figures))
            continue
        ends = f"{format_amount(change.ratio_low, t)} – {format_amount(change.ratio_high, t)}"
        parts.append(t("percentile", name=change.name, ratio=ratio, interval=ends, **figures))
    return t("percentiles_of", metric=difference.metric, parts=", ".join(parts)) if parts else ""


def _describe_unclear(unclear: Sequence[Difference], t: Translator) -> str:
    metrics = _name_metrics(unclear, t)
    named = unclear[0]  # the primary metric stands first, then the leading one
    if named.detectable is None or named.needed is None:
        return t("gist.unclear", metrics=metrics)
    observed = abs(named.difference or 0.0)
    if observed > named.effect and not (named.is_blind or named.is_near):
        # what a difference takes falls with its square
        needed = max(round(named.needed * (named.effect / observed) ** 2), named.pairs + 1)
        item = describe_item(named, t)
        key = "gist.unclear_moved_one" if len(unclear) == 1 else "gist.unclear_moved"
        counts = {"needed": t.whole(needed), "n": t.whole(named.pairs)}
        return t(key, metrics=metrics, item=item, **counts)
    key = "gist.unclear_one" if len(unclear) == 1 else "gist.unclear_seen"
    if named.is_blind or named.is_near:
        key = "gist.too_few" if named.is_blind else "gist.near"
    return t(
        key,
        metrics=metrics,
        metric=named.metric,
        seen=format_amount(named.detectable, t),
        effect=format_amount(named.effect, t),
        needed=t.whole(named.needed),
    )


def _rank_difference(difference: Difference) -> tuple[bool, int]:
    family = get_family(difference.metric)
    known = LEADING_FAMILIES.index(family) if family in LEADING_FAMILIES else len(LEADING_FAMILIES)
    return difference.family != "primary", known


def _name_metrics(differences: Sequence[Difference], t: Translator) -> str:
    return join_names(list(dict.fromkeys(d.metric for d in differences)), t)


def _share_of_range(difference: Difference) -> float:
    if difference.detectable is None:
        return 0.0
    width = difference.bounds[1] - difference.bounds[0] if difference.bounds else None
    return difference.detectable / (width or abs(difference.before or 0.0) or 1.0)
