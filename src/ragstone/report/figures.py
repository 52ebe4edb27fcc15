"""What every report says about a metric, a gate or a run, whatever it is printed on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragstone.report.meanings import MEANINGS
from ragstone.report.words import Words
from ragstone.types import FAILURES

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate, MetricSummary, Summary
    from ragstone.config.gates import GateResult
    from ragstone.store import RunInfo

Tone = Literal["good", "bad", "warn", "plain"]


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence about a metric, with how it is to be taken."""

    text: str
    tone: Tone = "plain"


def state(summary: Summary, say: Words) -> Line:
    """The run in one line: incomplete, gates missed, all passed."""
    incomplete = sum(not one.complete for one in summary.metrics)
    missed = sum(gate.passed is False for gate in summary.gates)
    if incomplete:
        return Line(say.count("state.incomplete", incomplete), "warn")
    if any(gate.passed is None for gate in summary.gates):
        return Line(say("state.undecided"), "warn")
    if missed:
        return Line(say.count("state.missed", missed), "bad")
    return Line(say("state.passed" if summary.gates else "state.complete"), "good")


def metric_lines(one: MetricSummary, floor: float, say: Words) -> list[Line]:
    """Why samples were not scored, what that does to the mean, and what to beware of."""
    lines = []
    if not one.complete:
        lines.append(Line(_incomplete(one, floor, say), "bad"))
    if len(one.outcomes) == len(one.reasons) == 1:
        ((name, n),), (reason,) = one.outcomes.items(), one.reasons
        counted = say("reason_times", reason=say.outcome(name), n=say.whole(n))
        text = say("not_scored_why", part=counted, reason=shortened(say.message(reason), 240))
        lines.append(Line(text, _tone(one)))
    elif one.outcomes:
        parts = [
            say("reason_times", reason=say.outcome(name), n=say.whole(n))
            for name, n in one.outcomes.items()
        ]
        lines.append(Line(say("not_scored", parts="; ".join(parts)), _tone(one)))
        reasons = [
            say(
                "reason_times",
                reason=shortened(say.message(reason), 160),
                n=say.whole(n),
            )
            for reason, n in one.reasons.items()
        ]
        lines.append(Line(say("reasons", reasons="; ".join(reasons))))
    if one.if_failures_low is not None and one.if_failures_high is not None:
        lines.append(Line(_bounds(one, say), "warn"))
    for text in one.warnings:
        said = shortened(say.message(text), 300)
        lines.append(Line(f"{say('warning')}: {said}", "warn"))
    return lines


def gate_line(gate: GateResult, summary: Summary, say: Words) -> Line:
    """What a gate asked for and what was found."""
    tone: Tone = "warn" if gate.passed is None else "good" if gate.passed else "bad"
    found = next((one for one in summary.metrics if one.metric == gate.metric), None)
    if say.language == "en" or found is None:
        return Line(gate.sentence, tone)
    text = say(
        "gate.seen",
        metric=gate.metric,
        rule=gate.rule,
        state=gate_state(gate, say),
        mean=say.number(found.mean),
        interval=say.interval(found.low, found.high),
    )
    return Line(text, tone)


def gate_state(gate: GateResult, say: Words) -> str:
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


def share_of(row: LabelRate, say: Words) -> str:
    """`of 30 unanswerable`: what the rate is a share of."""
    return say(f"of.{SIDES.get(row.label, 'all')}", n=say.whole(row.total))


def percent_interval(row: LabelRate, say: Words) -> str:
    """The interval of a category's share."""
    if row.low is None or row.high is None:
        return "–"
    return f"{say.percent(row.low)} – {say.percent(row.high)}"


def thresholds(summary: Summary, metric: str) -> list[float]:
    """The scores that a metric's gates ask for."""
    from ragstone.config.gates import parse_gate

    rules = [parse_gate(gate.rule) for gate in summary.gates if gate.metric == metric]
    return [rule.limit for rule in rules if rule.figure != "coverage"]


def judge_text(info: RunInfo, say: Words) -> str:
    """The judge's name, or that there was none."""
    return say("judge_is", name=info.judge) if info.judge else say("no_judge")


def judge_lines(summary: Summary, say: Words) -> list[str]:
    """For a run on the embedded judge: how far it agrees with people on each metric, and when another would do better."""
    info = summary.run
    if not (info.judge or "").startswith("offline "):
        return []
    from ragstone.judges.offline.quality import SHOWN_BY, quality

    language = info.plan.get("language")
    lines = []
    for one in quality([m.metric for m in summary.metrics], language):
        names = ", ".join(one.metrics)
        if one.auroc is None:
            lines.append(say("judge_heuristic", metrics=names))
            continue
        parts = [f"AUROC {say.number(one.auroc)}"]
        if one.accuracy is not None:
            parts.append(f"{say('balanced_accuracy')} {say.number(one.accuracy)}")
        data = say("judged_on", rows=say.whole(one.rows), data=one.data, language=one.language)
        lines.append(f"{names}: {', '.join(parts)} {data}")
    if not lines:
        return []
    unknown = language is not None and language.split("-")[0] not in ("en", "es")
    unmeasured = [say("judge_unmeasured", language=language)] if unknown else []
    head = say("judge_measured", name=info.judge, page=SHOWN_BY)
    return [head, *unmeasured, *lines, say("judge_llm")]


def heading(summary: Summary, say: Words) -> list[str]:
    """Where the samples came from, how many there are and who judged; nothing twice."""
    info = summary.run
    facts = (info.source, info.format, say.count("sample", summary.samples), judge_text(info, say))
    return [shortened(fact, 200) for fact in dict.fromkeys(facts)]


def command(info: RunInfo) -> str:
    """The command that does the run again: as it was typed, or made up of the run's facts; empty without a data file."""
    typed = info.plan.get("command")
    if typed and typed[0] == "eval":
        return shlex.join(["ragstone", *typed])
    if not Path(info.source).suffix and not Path(str(info.plan.get("source", ""))).is_absolute():
        return ""
    plan = info.plan
    parts = ["ragstone", "eval", info.source]
    parts += ["-m", ",".join(str(one["name"]) for one in info.metrics)]
    judge = (
        info.judge.partition(" ")[0] if info.judge else None
    )  # `offline 1`: the version is no name
    flags = ("judge", judge), ("lang", plan.get("language")), ("format", plan.get("format"))
    for flag, value in (*flags, ("limit", plan.get("limit"))):
        parts += [f"--{flag}", str(value)] if value is not None else []
    for field, place in (plan.get("fields") or {}).items():
        parts += ["--field", f"{field}={place}"]
    for metric, rule in (plan.get("gates") or {}).items():
        parts += ["--gate", f"{metric} {rule}"]
    if plan.get("skip_bad_rows"):
        parts.append("--skip-bad-rows")
    return " ".join(shlex.quote(part) for part in parts)


def meanings(info: RunInfo, say: Words) -> Mapping[str, str]:
    """Each metric's one-sentence meaning; a user's own metric keeps the language it was written in."""
    known = MEANINGS.get(say.language, {})
    return {
        str(one["name"]): known.get(str(one["family"]), str(one["meaning"])) for one in info.metrics
    }


def moment(created: str) -> str:
    """`2026-11-15 21:40 UTC` from an ISO time."""
    return f"{created[:10]} {created[11:16]} UTC" if len(created) >= 16 else created


def shortened(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis when it is longer than the limit."""
    head = text[: 4 * limit + 100]  # a reply of a megabyte is not split for a line of it
    line = " ".join(head.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1].rstrip() + "…"


def _tone(one: MetricSummary) -> Tone:
    """Failures are a warning; samples that a metric does not apply to are not."""
    return "warn" if any(name.partition(":")[0] in FAILURES for name in one.outcomes) else "plain"


def _incomplete(one: MetricSummary, floor: float, say: Words) -> str:
    if not one.applicable:
        return say("nothing_scored" if one.total else "no_samples")
    return say(
        "incomplete_why",
        scored=say.whole(one.scored),
        applicable=say.whole(one.applicable),
        share=say.percent(one.scored / one.applicable),
        floor=say.percent(floor),
    )


def _bounds(one: MetricSummary, say: Words) -> str:
    ends = {"low": say.number(one.if_failures_low), "high": say.number(one.if_failures_high)}
    if one.bounds is None:
        return say("bounds_short", **ends)
    worst, best = (f"{end:g}" for end in one.bounds)
    return say("bounds", worst=worst, best=best, **ends)
