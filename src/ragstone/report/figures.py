"""What every report says about a metric, a gate or a run, whatever it is printed on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.locale.catalogue import load_meanings
from ragstone.report.document import Remark, Tone
from ragstone.report.words import Words
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


def describe_run(summary: Summary, say: Words) -> Remark:
    """The run in one line: incomplete, gates missed, all passed."""
    # Incomplete comes before missed gates: a gate on too few scores decides nothing.
    incomplete = sum(not metric.complete for metric in summary.metrics)
    missed = sum(gate.passed is False for gate in summary.gates)
    if incomplete:
        return Remark(say.count("state.incomplete", incomplete), "warn")
    if any(gate.passed is None for gate in summary.gates):
        return Remark(say("state.undecided"), "warn")
    if missed:
        return Remark(say.count("state.missed", missed), "bad")
    return Remark(say("state.passed" if summary.gates else "state.complete"), "good")


def describe_metric(metric: MetricSummary, floor: float, say: Words) -> list[Remark]:
    """Why samples were not scored, what that does to the mean, and what to beware of."""
    lines = []
    # first of all: JUnit takes the first line for the message
    if not metric.complete:
        lines.append(Remark(_explain_incomplete(metric, floor, say), "bad"))
    if len(metric.outcomes) == len(metric.reasons) == 1:
        ((name, n),), (reason,) = metric.outcomes.items(), metric.reasons
        counted = say("reason_times", reason=say.outcome(name), n=say.whole(n))
        text = say("not_scored_why", part=counted, reason=shorten(say.message(reason), 240))
        lines.append(Remark(text, _outcome_tone(metric)))
    elif metric.outcomes:
        parts = [
            say("reason_times", reason=say.outcome(name), n=say.whole(n))
            for name, n in metric.outcomes.items()
        ]
        lines.append(Remark(say("not_scored", parts="; ".join(parts)), _outcome_tone(metric)))
        reasons = [
            say("reason_times", reason=shorten(say.message(reason), 160), n=say.whole(n))
            for reason, n in metric.reasons.items()
        ]
        lines.append(Remark(say("reasons", reasons="; ".join(reasons))))
    if metric.if_failures_low is not None and metric.if_failures_high is not None:
        lines.append(Remark(_describe_bounds(metric, say), "warn"))
    if metric.percentiles:
        lines.append(Remark(_describe_percentiles(metric, say)))
    for text in metric.warnings:
        message = shorten(say.message(text), 300)
        lines.append(Remark(f"{say('warning')}: {message}", "warn"))
    lines += describe_cascade(metric, say)
    return lines + describe_correction(metric.corrected, "corrected_mean", say)


def describe_cascade(metric: MetricSummary, say: Words) -> list[Remark]:
    """What the second judge of a cascade was asked, how far the first agrees with it, and what it alone would say."""
    cascade = metric.cascade
    if cascade is None:
        return []
    counts = {
        name: say.whole(getattr(cascade, name))
        for name in ("asked", "items", "unsure", "checked", "disagreed", "samples")
    }
    saved = say.percent(1 - cascade.asked / cascade.items)
    untouched = say.whole(cascade.samples - cascade.samples_asked)
    lines = [Remark(say("cascade_asked", **counts, saved=saved, untouched=untouched), "")]
    if cascade.disagreement is None or cascade.agreement is None:
        return [*lines, Remark(say("cascade_too_few", **counts), "warn")]
    reached = cascade.agreement >= cascade.target
    if cascade.checked:
        text = say(
            "cascade_agreement", **counts, rate=say.percent(cascade.disagreement),
            interval=f"{say.percent(cascade.low or 0.0)} – {say.percent(cascade.high or 0.0)}",
            agreement=say.percent(cascade.agreement), target=say.percent(cascade.target),
        )  # fmt: skip
        lines.append(Remark(text, "" if reached else "warn"))
    if cascade.bounds is not None and cascade.bounds_share is not None:
        low, high = cascade.bounds
        key = "cascade_bounds" if low < high else "cascade_bounds_none"
        share, target = say.percent(cascade.bounds_share), say.percent(cascade.target)
        lines.append(Remark(say(key, bounds=f"{low:g}..{high:g}", share=share, target=target), ""))
    second = cascade.second_mean
    if second is not None:
        interval = say.interval(second.low, second.high)
        first = say.number(second.judge_mean)
        text = say("cascade_mean", mean=say.number(second.mean), interval=interval, first=first)
        lines.append(Remark(text, ""))
    return lines


def describe_correction(correction: MetricCorrection | None, key: str, say: Words) -> list[Remark]:
    """What labels say of a mean or of a difference, how many more are worth it, and what to beware of.

    `key` names the phrase: `corrected_mean` or `corrected_difference`."""
    if correction is None:
        return []
    lines, estimate = [], correction.estimate
    if estimate is not None:
        text = say(
            key,
            n=say.whole(estimate.labels),
            target=say.translate("target", correction.target),
            mean=say.number(estimate.mean).replace("-", "−"),
            interval=say.interval(estimate.low, estimate.high).replace("-", "−"),
            judge=say.number(estimate.judge_mean),
        )
        if estimate.needed is not None:
            text = f"{text} {say('corrected_needed', n=say.whole(estimate.needed))}"
        lines.append(Remark(text, ""))
    notes = (f"{say('warning')}: {say.message(text)}" for text in correction.notes)
    return lines + [Remark(text, "warn") for text in notes]


def describe_gate(gate: GateResult, say: Words) -> Remark:
    """What a gate asked for and what the run has."""
    tone: Tone = "warn" if gate.passed is None else "good" if gate.passed else "bad"
    return Remark(say.message(gate.sentence), tone)


def describe_unfit_gates(gates: Iterable[UnfitGate], judge: str | None, say: Words) -> list[Remark]:
    """Gates whose judge was measured and does not tell good from bad well enough."""
    return [
        Remark(say("gate_unfit", judge=judge or "–", metric=g.metric, language=g.language), "warn")
        for g in gates
    ]


def describe_outdated_gates(gates: Iterable[OutdatedGate], say: Words) -> list[Remark]:
    """Missed gates from before the values changed, each with the bound it needs now."""
    return [
        Remark(say("gate_outdated", metric=g.metric, rule=g.rule, suggested=g.suggested), "warn")
        for g in gates
    ]


def name_gate_state(gate: GateResult, say: Words) -> str:
    """Passed, missed or cannot be decided."""
    key = "undecided" if gate.passed is None else "passed" if gate.passed else "missed"
    return say(f"gate.{key}")


SIDES = {
    "correct_refusal": "unanswerable",
    "missed_refusal": "unanswerable",
    "false_refusal": "answerable",
    "answered": "answerable",
}
"""What the rate of a category is a share of, where that is not all samples."""


def name_denominator(row: LabelRate, say: Words) -> str:
    """`of 30 unanswerable`: what the rate is a share of."""
    return say(f"of.{SIDES.get(row.label, 'all')}", n=say.whole(row.total))


def format_percent_interval(row: LabelRate, say: Words) -> str:
    """The interval of a category's share."""
    if row.low is None or row.high is None:
        return "–"
    return f"{say.percent(row.low)} – {say.percent(row.high)}"


def list_thresholds(summary: Summary, metric: str) -> list[float]:
    """The scores that a metric's gates ask for."""
    from ragstone.config.gates import parse_gate

    rules = [parse_gate(gate.rule) for gate in summary.gates if gate.metric == metric]
    # A limit on coverage is a share of samples, not a score: it has no place on the metric's scale.
    return [rule.limit for rule in rules if rule.figure != "coverage"]


def name_judge(info: RunInfo, say: Words) -> str:
    """The judge's name, or that there was none."""
    return say("judge_is", name=info.judge) if info.judge else say("no_judge")


def describe_judge(summary: Summary, say: Words) -> list[str]:
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
            lines.append(say("judge_heuristic", metrics=names))
            continue
        parts = [f"AUROC {say.number(figure.auroc)}"]
        if figure.accuracy is not None:
            parts.append(f"{say('balanced_accuracy')} {say.number(figure.accuracy)}")
        data = say(
            "judged_on", rows=say.whole(figure.rows), data=figure.data, language=figure.language
        )
        lines.append(f"{names}: {', '.join(parts)} {data}")
    if not lines:
        return []
    unknown = language is not None and language.split("-")[0] not in ("en", "es")
    unmeasured = [say("judge_unmeasured", language=language)] if unknown else []
    head = say("judge_measured", name=info.judge, page=SHOWN_BY)
    return [head, *unmeasured, *lines, say("judge_llm")]


def list_run_facts(summary: Summary, say: Words) -> list[str]:
    """Where the samples came from, how many there are and who judged; nothing twice."""
    info = summary.run
    facts = [info.source, info.format, say.count("sample", summary.samples), name_judge(info, say)]
    if info.facts.calibration:
        labels = say.whole(int(info.facts.calibration["labels"]))
        facts.append(say("judge_fitted", n=labels, day=info.facts.calibration["fitted"]))
    if (info.facts.cold_start or 0.0) >= SHOWN_COLD_START_SECONDS:
        facts.append(f"{say('cold_start')} {format_cold_start(info, say)}")
    return [shorten(fact, 200) for fact in dict.fromkeys(facts)]


def format_cold_start(info: RunInfo, say: Words) -> str:
    """The seconds of the system's first call, which its latency leaves out; empty when there was none."""
    seconds = info.facts.cold_start
    return "" if seconds is None else say("cold_start_value", seconds=say.number(seconds))


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


def translate_meanings(info: RunInfo, say: Words) -> Mapping[str, str]:
    """Each metric's meaning in one sentence; a user's own metric keeps the language it was written in."""
    known = load_meanings(say.language)
    return {
        str(metric["name"]): known.get(str(metric["family"]), str(metric["meaning"]))
        for metric in info.metrics
    }


def format_moment(created: str) -> str:
    """`2026-11-15 21:40 UTC` from an ISO time."""
    return f"{created[:10]} {created[11:16]} UTC" if len(created) >= 16 else created


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis when it is longer than the limit."""
    head = text[: 4 * limit + 100]  # a reply of a megabyte is not split for a line of it
    line = " ".join(head.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1].rstrip() + "…"


def _outcome_tone(metric: MetricSummary) -> Tone:
    """Failures are a warning; samples that a metric does not apply to are not."""
    return (
        "warn" if any(name.partition(":")[0] in FAILURES for name in metric.outcomes) else "plain"
    )


def _explain_incomplete(metric: MetricSummary, floor: float, say: Words) -> str:
    if not metric.applicable:
        return say("nothing_scored" if metric.total else "no_samples")
    return say(
        "incomplete_why",
        scored=say.whole(metric.scored),
        applicable=say.whole(metric.applicable),
        share=say.percent(metric.scored / metric.applicable),
        floor=say.percent(floor),
    )


def _describe_percentiles(metric: MetricSummary, say: Words) -> str:
    parts = []
    for name, percentile in metric.percentiles.items():
        ends = f" ({say.interval(percentile.low, percentile.high)})"
        value = say.number(percentile.value)
        parts.append(f"{name} {value}{ends if percentile.low is not None else ''}")
    return ", ".join(parts)


def _describe_bounds(metric: MetricSummary, say: Words) -> str:
    # What the mean would be if every failed sample had scored the worst, or the best, value there
    # is.
    ends = {"low": say.number(metric.if_failures_low), "high": say.number(metric.if_failures_high)}
    if metric.bounds is None:
        return say("bounds_short", **ends)
    worst, best = (f"{end:g}" for end in metric.bounds)
    return say("bounds", worst=worst, best=best, **ends)
