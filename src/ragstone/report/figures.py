"""What every report says about a metric, a gate or a run, whatever it is printed on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragstone.report.words import Words
from ragstone.types import FAILURES, NOTHING_USED

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary, Summary
    from ragstone.gates import GateResult
    from ragstone.store import RunInfo

Tone = Literal["good", "bad", "warn", "plain"]


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence about a metric, with how it is to be taken."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class LabelRow:
    """How many samples fall in one category, and what share that is."""

    name: str
    count: int
    of: str
    """The name of what the share is of: `all`, or the side of the table it belongs to."""
    base: int
    rate: float | None
    low: float | None
    high: float | None


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
    if one.outcomes:
        parts = [
            say("reason_times", reason=say.outcome(name), n=say.whole(n))
            for name, n in one.outcomes.items()
        ]
        failed = any(name.partition(":")[0] in FAILURES for name in one.outcomes)
        text = say("not_scored", parts="; ".join(parts))
        lines.append(Line(text, "warn" if failed else "plain"))
    if one.reasons:
        reasons = [
            say("reason_times", reason=shortened(reason, 160), n=say.whole(n))
            for reason, n in one.reasons.items()
        ]
        lines.append(Line(say("reasons", reasons="; ".join(reasons))))
    if one.if_failures_low is not None and one.if_failures_high is not None:
        lines.append(Line(_bounds(one, say), "warn"))
    lines += [Line(f"{say('warning')}: {shortened(text, 300)}", "warn") for text in one.warnings]
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
"""Refusals are rates of the questions on their side: a false refusal can only happen to an answerable one."""


def label_rows(one: MetricSummary) -> list[LabelRow]:
    """Each category of a metric with its share and the share's Wilson interval."""
    from ragstone.stats import rates

    sided = set(one.labels) <= set(SIDES)
    sides = {name: SIDES[name] if sided else "all" for name in one.labels}
    bases: dict[str, int] = {}
    for name, count in one.labels.items():
        bases[sides[name]] = bases.get(sides[name], 0) + count
    kin = [[name for name in sides if sides[name] == side] for side in bases]
    shares = rates(one.labels, kin)
    return [
        LabelRow(name, n, sides[name], bases[sides[name]], *(shares[name] or (None, None, None)))
        for name, n in one.labels.items()
    ]


def percent_interval(row: LabelRow, say: Words) -> str:
    """The interval of a category's share."""
    if row.low is None or row.high is None:
        return "–"
    return f"{say.percent(row.low)} – {say.percent(row.high)}"


def thresholds(summary: Summary, metric: str) -> list[float]:
    """The scores that a metric's gates ask for."""
    from ragstone.gates import parse_gate

    rules = [parse_gate(gate.rule) for gate in summary.gates if gate.metric == metric]
    return [rule.limit for rule in rules if rule.figure != "coverage"]


def total(summary: Summary) -> int:
    """How many samples the summary covers."""
    known = summary.run.total
    return known if known is not None else max((m.total for m in summary.metrics), default=0)


def usage_text(summary: Summary, say: Words) -> str:
    """What the run paid the judge, in one line; empty when it paid nothing."""
    used = summary.run.usage
    if used == NOTHING_USED:
        return ""
    return say(
        "usage_line",
        calls=say.count("call", used.calls),
        input=say.whole(used.input_tokens),
        output=say.whole(used.output_tokens),
        usd=say.money(used.usd),
    )


def judge_text(info: RunInfo, say: Words) -> str:
    """The judge's name, or that there was none."""
    return say("judge_is", name=info.judge) if info.judge else say("no_judge")


def command(info: RunInfo) -> str:
    """The command that does the run again."""
    metrics = ", ".join(str(one["name"]) for one in info.metrics)
    parts = ["ragstone", "eval", info.source, "-m", metrics]
    if info.judge:
        parts += ["--judge", info.judge]
    return " ".join(shlex.quote(part) for part in parts)


def meanings(info: RunInfo) -> Mapping[str, str]:
    """Each metric's one-sentence meaning."""
    return {str(one["name"]): str(one.get("meaning", "")) for one in info.metrics}


def moment(created: str) -> str:
    """`2026-11-15 21:40 UTC` from an ISO time."""
    return f"{created[:10]} {created[11:16]} UTC" if len(created) >= 16 else created


def shortened(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis when it is longer than the limit."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _incomplete(one: MetricSummary, floor: float, say: Words) -> str:
    if not one.applicable:
        return say("nothing_applicable")
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
