"""Gates: rules such as `>= 0.8` that a metric of a run must meet, read and checked."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from ragstone.locale.messages import Argument, compose

Figure = Literal["interval", "mean", "median", "coverage", "corrected"]
Sign = Literal[">=", "<=", ">", "<"]

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
"""Sign → whether a value and a limit satisfy it."""
_SIGNS: dict[str, Sign] = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<=", ">": ">", "<": "<"}
_FIGURES: dict[str, Figure] = {figure: figure for figure in get_args(Figure)}
FIGURE_PATTERN = "|".join(figure for figure in _FIGURES if figure != "interval")
"""The figures that a rule names; without one it is about the interval."""
_RULE = re.compile(
    rf"\s*(?:(?P<figure>{FIGURE_PATTERN})\s*)?(?P<sign>>=|<=|>|<|≥|≤)"
    r"\s*(?P<limit>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%)?\s*",
    re.IGNORECASE,
)
_REMEDY = (
    "write '>= 0.8' (the end of the interval), 'mean >= 0.8', 'median >= 0.8', 'coverage >= 0.99' or "
    "'corrected >= 0.8' (the end of the interval corrected by labels)"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One rule: which figure of a metric, compared how, with what."""

    figure: Figure
    """`interval` means its lower end for `>=` and `>`, its upper end for `<=` and `<`; `corrected` the same of the
    interval of the mean corrected by labels."""
    sign: Sign
    limit: float

    def is_met_by(self, value: float) -> bool:
        """Whether a value is on the right side of the limit."""
        return _HOLDS[self.sign](value, self.limit)

    def __str__(self) -> str:
        rule = f"{self.sign} {self.limit:g}"
        return rule if self.figure == "interval" else f"{self.figure} {rule}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a metric met its gate; `passed` is None when there is no figure to decide by."""

    metric: str
    rule: str
    passed: bool | None
    sentence: str


class GateFigures(Protocol):
    """What a gate needs to know of a metric; a MetricSummary has it."""

    @property
    def metric(self) -> str: ...
    @property
    def mean(self) -> float | None: ...
    @property
    def median(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def scored(self) -> int: ...
    @property
    def applicable(self) -> int: ...
    @property
    def corrected_ends(self) -> tuple[float, float] | None: ...


def parse_gate(text: str) -> Gate:
    """The gate that a rule such as `>= 0.8`, `mean >= 80%` or `coverage >= 0.99` stands for; ValueError says what to write."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a rule; {_REMEDY}")
    limit = float(match["limit"]) / (100 if match["percent"] else 1)
    if not math.isfinite(limit):
        raise ValueError(f"{text!r} compares with a number too large to hold; {_REMEDY}")
    figure = _FIGURES[(match["figure"] or "interval").lower()]
    sign = _SIGNS[match["sign"]]
    if figure == "coverage" and not 0 <= limit <= 1:
        raise ValueError(f"{text!r} compares a share with {limit:g}; coverage is between 0 and 1")
    return Gate(figure, sign, limit)


def check_gate(gate: Gate, figures: GateFigures) -> GateResult:
    """Whether the metric meets the gate, with the sentence that says by which figure."""
    value, figure = _select_figure(gate, figures)
    metric, rule, n = figures.metric, str(gate), figures.scored
    if value is None:
        sentence = (
            compose("gate_undecided", metric=metric, rule=rule, figure=figure, n=n)
            if n
            else compose("gate_undecided_unscored", metric=metric, rule=rule, n=n)
        )
        return GateResult(metric, rule, None, sentence)
    passed = gate.is_met_by(value)
    facts: dict[str, Argument] = {"metric": metric, "rule": rule, "figure": figure}
    facts["value"] = float(_format_value(value, gate))
    if gate.figure == "interval":
        sentence = compose("gate_interval", **facts, mean=figures.mean, n=n)
    elif gate.figure == "coverage":
        sentence = compose("gate_coverage", **facts, scored=n, applicable=figures.applicable)
    else:
        sentence = compose("gate_figure", **facts, n=n)
    return GateResult(metric, rule, passed, sentence)


def _select_figure(gate: Gate, figures: GateFigures) -> tuple[float | None, str]:
    """The value that the gate compares, and the key of its name in the catalogue."""
    if gate.figure == "mean":
        return figures.mean, "mean"
    if gate.figure == "median":
        return figures.median, "median"
    if gate.figure == "coverage":
        return (figures.scored / figures.applicable if figures.applicable else None), "coverage"
    if gate.figure == "corrected":
        interval = figures.corrected_ends
        low, high = (None, None) if interval is None else interval
        value = low if gate.sign in (">=", ">") else high
        return value, "corrected"
    # the cautious end: a gate that says "at least" must not pass by luck
    return (figures.low, "low") if gate.sign in (">=", ">") else (figures.high, "high")


def _format_value(value: float, gate: Gate) -> str:
    """The value with three digits, or as many more as show on which side of the limit it falls."""
    holds = _HOLDS[gate.sign]
    for digits in range(3, 17):
        text = f"{value:.{digits}g}"
        # 0.7999 must not be shown as 0.8 beside "failed: >= 0.8"
        if holds(float(text), gate.limit) == holds(value, gate.limit):
            return text
    return repr(value)
