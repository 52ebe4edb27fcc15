"""Gates: rules such as `>= 0.8` that a metric of a run must meet, read and checked."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

Figure = Literal["interval", "mean", "median", "coverage"]
Sign = Literal[">=", "<=", ">", "<"]

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_SIGNS: dict[str, Sign] = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<=", ">": ">", "<": "<"}
_FIGURES: dict[str, Figure] = {figure: figure for figure in get_args(Figure)}
_RULE = re.compile(
    r"\s*(?:(?P<figure>mean|median|coverage)\s*)?(?P<sign>>=|<=|>|<|≥|≤)"
    r"\s*(?P<limit>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%)?\s*",
    re.IGNORECASE,
)
_REMEDY = (
    "write '>= 0.8' (the end of the interval), 'mean >= 0.8', 'median >= 0.8' or 'coverage >= 0.99'"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One rule: which figure of a metric, compared how, with what."""

    figure: Figure
    """`interval` means its lower end for `>=` and `>`, its upper end for `<=` and `<`."""
    sign: Sign
    limit: float

    def __str__(self) -> str:
        rule = f"{self.sign} {self.limit:g}"
        return rule if self.figure == "interval" else f"{self.figure} {rule}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a metric met its gate; None when there is no figure to decide by."""

    metric: str
    rule: str
    passed: bool | None
    sentence: str


class Figures(Protocol):
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


def check(gate: Gate, found: Figures) -> GateResult:
    """Whether the metric meets the gate, with the sentence that says by which figure."""
    value, name = _figure(gate, found)
    head = f"{found.metric} {gate}"
    scored = f"n {found.scored}"
    if value is None:
        why = "nothing was scored" if not found.scored else f"there is no {name}"
        return GateResult(
            found.metric, str(gate), None, f"{head}: cannot be decided, {why} ({scored})"
        )
    if gate.figure == "interval":
        scored = f"mean {found.mean:.3g}, {scored}"
    elif gate.figure == "coverage":
        scored = f"{found.scored} of {found.applicable} scored"
    passed = _HOLDS[gate.sign](value, gate.limit)
    sentence = f"{head}: {name} is {_shown(value, gate)} ({scored})"
    return GateResult(found.metric, str(gate), passed, sentence)


def _figure(gate: Gate, found: Figures) -> tuple[float | None, str]:
    if gate.figure == "mean":
        return found.mean, "mean"
    if gate.figure == "median":
        return found.median, "median"
    if gate.figure == "coverage":
        return (found.scored / found.applicable if found.applicable else None), "coverage"
    if gate.sign in (">=", ">"):
        return found.low, "lower end of the interval"
    return found.high, "upper end of the interval"


def _shown(value: float, gate: Gate) -> str:
    """The value with three digits, or as many more as show on which side of the limit it falls."""
    holds = _HOLDS[gate.sign]
    for digits in range(3, 17):
        text = f"{value:.{digits}g}"
        if holds(float(text), gate.limit) == holds(value, gate.limit):
            return text
    return repr(value)
