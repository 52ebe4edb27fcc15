"""What every report says about a metric, a gate or a run, whatever it is printed on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.locale.catalogue import load_meanings
from ragstone.report.remarks import Remark, Severity
from ragstone.report.remarks import shorten as shorten
from ragstone.report.translator import Translator
from ragstone.store import default_place
from ragstone.types import FAILURES

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate, MetricSummary, Summary
    from ragstone.analysis.corrected import MetricCorrection
    from ragstone.analysis.scales import UnfitGate
    from ragstone.analysis.value_versions import OutdatedGate
    from ragstone.config.gates import GateResult
    from ragstone.store import RunInfo

SHOWN_COLD_START_SECONDS = 1.0
"""A shorter first call of a system stands among the facts of the report only."""


def describe_run(summary: Summary, t: Translator) -> Remark:
    """The run in one line: incomplete, gates missed, all passed."""
    # Incomplete comes before missed gates: a gate on too few scores decides nothing.
    incomplete = sum(not metric.complete for metric in summary.metrics)
    missed = sum(gate.passed is False for gate in summary.gates)
    if incomplete:
        return Remark(t.count("state.incomplete", incomplete), "warn")
    if any(gate.passed is None for gate in summary.gates):
        return Remark(t("state.undecided"), "warn")
    if missed:
        return Remark(t.count("state.missed", missed), "bad")
    return Remark(t("state.passed" if summary.gates else "state.complete"), "good")


def describe_metric(metric: MetricSummary, floor: float, t: Translator) -> list[Remark]:
    """Why samples were not scored, what that does to the mean, and what to beware of."""
    lines = []
    # first of all: JUnit takes the first line for the message
    if not metric.complete:
        lines.append(Remark(_explain_incomplete(metric, floor, t), "bad"))
    if len(metric.outcomes) == len(metric.reasons) == 1:
        ((name, n),), (reason,) = metric.outcomes.items(), metric.reasons
        counted = t("reason_times", reason=t.outcome(name), n=t.whole(n))
        text = t("not_scored_why", part=counted, reason=shorten(t.message(reason), 240))
        lines.append(Remark(text, _outcome_severity(metric)))
    elif metric.outcomes:
        parts = [
            t("reason_times", reason=t.outcome(name), n=t.whole(n))
            for name, n in metric.outcomes.items()
        ]
        lines.append(Remark(t("not_scored", parts="; ".join(parts)), _outcome_severity(metric)))
        reasons = [
            t("reason_times", reason=shorten(t.message(reason), 160), n=t.whole(n))
            for reason, n in metric.reasons.items()
        ]
        lines.append(Remark(t("reasons", reasons="; ".join(reasons))))
    if metric.if_failures_low is not None and metric.if_failures_high is not None:
        lines.append(Remark(_describe_bounds(metric, t), "warn"))
    if metric.percentiles:
        lines.append(Remark(_describe_percentiles(metric, t)))
    for text in metric.warnings:
        message = shorten(t.message(text), 300)
        lines.append(Remark(f"{t('warning')}: {message}", "warn"))
    lines += describe_cascade(metric, t)
    return lines + describe_correction(metric.corrected, "corrected_mean", t)


def describe_cascade(metric: MetricSummary, t: Translator) -> list[Remark]:
    """What the second judge of a cascade was asked, how far the first agrees with it, and what it alone would t."""
    cascade = metric.cascade
    if cascade is None:
        return []
    counts = {
        name: t.whole(getattr(cascade, name))
        for name in ("asked", "items", "unsure", "checked", "disagreed", "samples")
    }
    saved = t.percent(1 - cascade.asked / cascade.items)
    untouched = t.whole(cascade.samples - cascade.samples_asked)
    lines = [Remark(t("cascade_asked", **counts, saved=saved, untouched=untouched), "")]
    if cascade.disagreement is None or cascade.agreement is None:
        return [*lines, Remark(t("cascade_too_few", **counts), "warn")]
    reached = cascade.agreement >= cascade.target
    if cascade.checked:
        text = t(
            "cascade_agreement", **counts, rate=t.percent(cascade.disagreement),
            interval=f"{t.percent(cascade.low or 0.0)} – {t.percent(cascade.high or 0.0)}",
            agreement=t.percent(cascade.agreement), target=t.percent(cascade.target),
        )  # fmt: skip
        lines.append(Remark(text, "" if reached else "warn"))
    if cascade.bounds is not None and cascade.bounds_share is not None:
        low, high = cascade.bounds
        key = "cascade_bounds" if low < high else "cascade_bounds_none"
        share, target = t.percent(cascade.bounds_share), t.percent(cascade.target)
        lines.append(Remark(t(key, bounds=f"{low:g}..{high:g}", share=share, target=target), ""))
    second = cascade.second_mean
    if second is not None:
        interval = t.interval(second.low, second.high)
        first = t.number(second.judge_mean)
        text = t("cascade_mean", mean=t.number(second.mean), interval=interval, first=first)
        lines.append(Remark(text, ""))
    return lines


def describe_correction(
    correction: MetricCorrection | None, key: str, t: Translator
) -> list[Remark]:
    """What labels say of a mean or of a difference, how many more are worth it, and what to beware of.

    `key` names the phrase: `corrected_mean` or `corrected_difference`."""
    if correction is None:
        return []
    lines, estimate = [], correction.estimate
    if estimate is not None:
        text = t(
            key,
            n=t.whole(estimate.labels),
            target=t.translate("target", correction.target),
            mean=t.number(estimate.mean).replace("-", "−"),
            interval=t.interval(estimate.low, estimate.high).replace("-", "−"),
            judge=t.number(estimate.judge_mean),
        )
        if estimate.needed is not None and estimate.labels < estimate.needed < estimate.units:
            text = f"{text} {t('corrected_needed', n=t.whole(estimate.needed))}"
        lines.append(Remark(text, ""))
    notes = (f"{t('warning')}: {t.message(text)}" for text in correction.notes)
    return lines + [Remark(text, "warn") for text in notes]


def describe_gate(gate: GateResult, t: Translator) -> Remark:
    """What a gate asked for and what the run has."""
    severity: Severity = "warn" if gate.passed is None else "good" if gate.passed else "bad"
    return Remark(t.message(gate.sentence), severity)


def describe_unfit_gates(
    gates: Iterable[UnfitGate], judge: str | None, t: Translator
) -> list[Remark]:
    """Gates whose judge was measured and does not tell good from bad well enough."""
    return [
        Remark(t("gate_unfit", judge=judge or "–", metric=g.metric, language=g.language), "warn")
        for g in gates
    ]


def describe_outdated_gates(gates: Iterable[OutdatedGate], t: Translator) -> list[Remark]:
    """Missed gates from before the values changed, each with the bound it needs now."""
    return [
        Remark(t("gate_outdated", metric=g.metric, rule=g.rule, suggested=g.suggested), "warn")
        for g in gates
    ]


def name_gate_state(gate: GateResult, t: Translator) -> str:
    """Passed, missed or cannot be decided."""
    key = "undecided" if gate.passed is None else "passed" if gate.passed else "missed"
    return t(f"gate.{key}")


SIDES = {
    "correct_refusal": "unanswerable",
    "missed_refusal": "unanswerable",
    "false_refusal": "answerable",
    "answered": "answerable",
}
"""What the rate of a category is a share of, where that is not all samples."""


def name_denominator(row: LabelRate, t: Translator) -> str:
    """`of 30 unanswerable`: what the rate is a share of."""
    return t(f"of.{SIDES.get(row.label, 'all')}", n=t.whole(row.total))


def format_percent_interval(row: LabelRate, t: Translator) -> str:
    """The interval of a category's share."""
    if row.low is None or row.high is None:
        return "–"
    return f"{t.percent(row.low)} – {t.percent(row.high)}"


def list_thresholds(summary: Summary, metric: str) -> list[float]:
    """The scores that a metric's gates ask for."""
    from ragstone.config.gates import parse_gate

    rules = [parse_gate(gate.rule) for gate in summary.gates if gate.metric == metric]
    # A limit on coverage is a share of samples, not a score: it has no place on the metric's scale.
    return [rule.limit for rule in rules if rule.figure != "coverage"]


def name_judge(info: RunInfo, t: Translator) -> str:
    """The judge's name, or that there was none."""
    return t("judge_is", name=info.judge) if info.judge else t("no_judge")


def describe_judge(summary: Summary, t: Translator) -> list[str]:
    """For a run on the embedded judge: how far it agrees with people on each metric, and when another would do better."""
    info = summary.run
    if not (info.judge or "").startswith("offline "):
        return []
    from ragstone.judges.offline.quality import SHOWN_BY, quality

    language = info.plan.language
    lines = []
    for figure in quality([m.metric for m in summary.metrics], language):
        names = ", ".join(figure.metrics)
        if figure.auroc is None:
            lines.append(t("judge_heuristic", metrics=names))
            continue
        parts = [f"AUROC {t.number(figure.auroc)}"]
        if figure.accuracy is not None:
            parts.append(f"{t('balanced_accuracy')} {t.number(figure.accuracy)}")
        data = t("judged_on", rows=t.whole(figure.rows), data=figure.data, language=figure.language)
        lines.append(f"{names}: {', '.join(parts)} {data}")
    if not lines:
        return []
    unknown = language is not None and language.split("-")[0] not in ("en", "es")
    unmeasured = [t("judge_unmeasured", language=language)] if unknown else []
    head = t("judge_measured", name=info.judge, page=SHOWN_BY)
    return [head, *unmeasured, *lines, t("judge_llm")]


def list_run_facts(summary: Summary, t: Translator) -> list[str]:
    """Where the samples came from, how many there are and who judged; nothing twice."""
    info = summary.run
    facts = [info.source, info.format, t.count("sample", summary.samples), name_judge(info, t)]
    if info.facts.calibration:
        labels = t.whole(int(info.facts.calibration["labels"]))
        facts.append(t("judge_fitted", n=labels, day=info.facts.calibration["fitted"]))
    if (info.facts.cold_start or 0.0) >= SHOWN_COLD_START_SECONDS:
        facts.append(f"{t('cold_start')} {format_cold_start(info, t)}")
    return [shorten(fact, 200) for fact in dict.fromkeys(facts)]


def format_cold_start(info: RunInfo, t: Translator) -> str:
    """The seconds of the system's first call, which its latency leaves out; empty when there was none."""
    seconds = info.facts.cold_start
    return "" if seconds is None else t("cold_start_value", seconds=t.number(seconds))


def build_command(info: RunInfo) -> str:
    """The command that does the run again: as it was typed, or made up of the run's facts; empty without a data file."""
    typed = info.facts.command
    if typed and typed[0] == "eval":
        return shlex.join(["ragstone", *typed])
    # A run over rows in memory has no file that the command could name.
    if not Path(info.source).suffix and not Path(info.facts.source).is_absolute():
        return ""
    plan = info.plan
    parts = ["ragstone", "eval", info.source]
    parts += ["-m", ",".join(str(metric["name"]) for metric in info.metrics)]
    # `offline 1`: the version is no part of the name
    judge = info.judge.partition(" ")[0] if info.judge else None
    flags = ("judge", judge), ("lang", plan.language), ("format", plan.data.format)
    for flag, value in (*flags, ("limit", plan.data.limit)):
        parts += [f"--{flag}", str(value)] if value is not None else []
    for field, column in plan.data.fields.items():
        parts += ["--field", f"{field}={column}"]
    for metric, rule in plan.gates.items():
        parts += ["--gate", f"{metric} {rule}"]
    if plan.data.skip_bad_rows:
        parts.append("--skip-bad-rows")
    return " ".join(shlex.quote(part) for part in parts)


def name_store(info: RunInfo) -> str:
    """The flag that a command on the run needs, with a space before it; empty where the store is the usual one."""
    # The command must work when it is pasted, wherever the store is.
    return "" if info.place == default_place() else f" --store {shlex.quote(info.place)}"


def translate_meanings(info: RunInfo, t: Translator) -> Mapping[str, str]:
    """Each metric's meaning in one sentence; a user's own metric keeps the language it was written in."""
    known = load_meanings(t.language)
    return {
        str(metric["name"]): known.get(str(metric["family"]), str(metric["meaning"]))
        for metric in info.metrics
    }


def format_moment(created: str) -> str:
    """`2026-11-15 21:40 UTC` from an ISO time."""
    return f"{created[:10]} {created[11:16]} UTC" if len(created) >= 16 else created


def _outcome_severity(metric: MetricSummary) -> Severity:
    """Failures are a warning; samples that a metric does not apply to are not."""
    return (
        "warn" if any(name.partition(":")[0] in FAILURES for name in metric.outcomes) else "plain"
    )


def _explain_incomplete(metric: MetricSummary, floor: float, t: Translator) -> str:
    if not metric.applicable:
        return t("nothing_scored" if metric.total else "no_samples")
    return t(
        "incomplete_why",
        scored=t.whole(metric.scored),
        applicable=t.whole(metric.applicable),
        share=t.percent(metric.scored / metric.applicable),
        floor=t.percent(floor),
    )


def _describe_percentiles(metric: MetricSummary, t: Translator) -> str:
    parts = []
    for name, percentile in metric.percentiles.items():
        ends = f" ({t.interval(percentile.low, percentile.high)})"
        value = t.number(percentile.value)
        parts.append(f"{name} {value}{ends if percentile.low is not None else ''}")
    return ", ".join(parts)


def _describe_bounds(metric: MetricSummary, t: Translator) -> str:
    # What the mean would be if every failed sample had scored the worst, or the best, value there
    # is.
    ends = {"low": t.number(metric.if_failures_low), "high": t.number(metric.if_failures_high)}
    if metric.bounds is None:
        return t("bounds_short", **ends)
    worst, best = (f"{end:g}" for end in metric.bounds)
    return t("bounds", worst=worst, best=best, **ends)
