"""Probabilities of a judge fitted to labels of one's own data: Platt or isotonic, whichever holds on labels left out.

A judge that says yes or no gets two numbers, P(true | yes) and P(true | no). What is better is decided by the log-loss on
folds that share no group with what was fitted; a gain within its standard error is none, and then nothing is fitted. The
replies of the store stay as the judge gave them: the fit is applied when they are read (`engine/broker.py`)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ragstone.asks import Answered, Ask, Reply, digest
from ragstone.errors import RagstoneError

Method = Literal["platt", "isotonic", "two_numbers"]

MIN_LABELS = 30
FOLDS = 5
CLIP = 0.01
"""Probabilities count as at least this and at most 1 minus this: one sure mistake must not decide everything."""
MIN_SLOPE = 0.05


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """What the judge said of a claim, and what a person said."""

    probability: float | None
    """None from a judge that says yes or no."""
    supported: bool
    """The judge's verdict."""
    label: float
    group: str
    """Claims of one group are never on both sides of a fold."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a probability, or a yes or no, becomes one that fits the labels."""

    method: Method
    numbers: tuple[tuple[float, float], ...]
    """Platt: one pair, slope and shift of the log-odds. Isotonic: probability → fitted, rising. Two numbers: one pair, after a
    yes and after a no."""
    labels: int
    log_loss: float
    """On labels left out."""
    before: float
    """The same of the probabilities as they are."""
    fitted: str = ""
    """Day, as 2026-11-17."""

    def apply(self, probability: float | None, supported: bool) -> float | None:
        """Return the fitted probability; None where the judge stated none and the fit is of those it states."""
        if self.method == "two_numbers":
            return self.numbers[0][0 if supported else 1]
        if probability is None:
            return None
        if self.method == "platt":
            slope, shift = self.numbers[0]
            return _to_probability(slope * _to_log_odds(probability) + shift)
        return _interpolate(self.numbers, probability)

    def calibrate_reply(self, ask: Ask, answered: Answered) -> Answered:
        """Return a reply to `support` with fitted probabilities, any other as it is.

        A claim that is now more likely unsupported is no longer shown as supported; none becomes supported without a quote."""
        if ask.kind != "support" or not isinstance(answered, Reply):
            return answered
        rows = answered.value.get("verdicts") if isinstance(answered.value, Mapping) else None
        if not isinstance(rows, list):
            return answered
        return replace(
            answered, value={**answered.value, "verdicts": [self._calibrate_row(r) for r in rows]}
        )

    def _calibrate_row(self, row: Any) -> Any:
        if not isinstance(row, Mapping):
            return row
        supported = row.get("verdict") == "supported"
        stated = row.get("probability")
        chance = self.apply(stated if isinstance(stated, int | float) else None, supported)
        if chance is None:
            return row
        verdict = "not_found" if supported and chance < 0.5 else row.get("verdict")
        return {**row, "verdict": verdict, "probability": round(chance, 4)}

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {**asdict(self), "numbers": [list(pair) for pair in self.numbers]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Calibration:
        """Return what `to_json` wrote."""
        return cls(
            **{**stored, "numbers": tuple((float(a), float(b)) for a, b in stored["numbers"])}
        )


def fit_calibration(claims: Sequence[LabelledClaim], fitted: str = "") -> Calibration | None:
    """Fit the labels by each method, keep the best on folds left out; None where leaving them as they are is as good."""
    if len(claims) < MIN_LABELS:
        raise RagstoneError(
            f"{len(claims)} claims have a label and a verdict of the judge; {MIN_LABELS} are needed: "
            "label more with ragstone label"
        )
    stated = [claim for claim in claims if claim.probability is not None]
    methods: tuple[Method, ...] = ("platt", "isotonic")
    if len(stated) < len(claims) / 2:
        methods, stated = ("two_numbers",), list(claims)
    before = [_measure_loss(_state(claim), claim.label) for claim in stated]
    folds = _number_folds(stated)
    best: Calibration | None = None
    for method in methods:
        losses = _cross_validate(method, stated, folds)
        loss = sum(losses) / len(losses)
        gains = [old - new for old, new in zip(before, losses, strict=True)]
        if _is_clear(gains, [claim.group for claim in stated]) and (
            best is None or loss < best.log_loss
        ):
            best = Calibration(
                method, _fit(method, stated), len(stated), round(loss, 4),
                round(sum(before) / len(before), 4), fitted,
            )  # fmt: skip
    return best


def measure_calibration_error(pairs: Sequence[tuple[float, float]], bins: int = 10) -> float:
    """Return the expected calibration error of (probability, label): bins of equal width, each by its share."""
    gaps: dict[int, float] = {}
    for probability, label in pairs:
        number = min(int(probability * bins), bins - 1)
        gaps[number] = gaps.get(number, 0.0) + probability - label
    return sum(map(abs, gaps.values())) / len(pairs)


def _state(claim: LabelledClaim) -> float:
    return float(claim.supported) if claim.probability is None else claim.probability


def _cross_validate(
    method: Method, claims: Sequence[LabelledClaim], folds: Sequence[int]
) -> list[float]:
    """The loss of each claim under a fit of the other folds; of its own probability where one fold holds all."""
    fits: dict[int, Calibration] = {}
    for fold in set(folds):
        others = [c for c, number in zip(claims, folds, strict=True) if number != fold]
        if others:
            fits[fold] = Calibration(method, _fit(method, others), len(others), 0.0, 0.0)
    losses = []
    for claim, fold in zip(claims, folds, strict=True):
        fit = fits.get(fold)
        chance = _state(claim) if fit is None else fit.apply(claim.probability, claim.supported)
        losses.append(_measure_loss(0.0 if chance is None else chance, claim.label))
    return losses


def _is_clear(gains: Sequence[float], groups: Sequence[str]) -> bool:
    """Whether the gain is above its standard error, groups counted as one piece each."""
    mean = sum(gains) / len(gains)
    sums: dict[str, float] = {}
    for gain, group in zip(gains, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + gain - mean
    error = math.sqrt(sum(total * total for total in sums.values())) / len(gains)
    return mean > error


def _measure_loss(probability: float, label: float) -> float:
    p = _clip(probability)
    return -label * math.log(p) - (1 - label) * math.log(1 - p)


def _number_folds(claims: Sequence[LabelledClaim]) -> list[int]:
    """The fold of each claim; the order of groups is that of their hashes, so that it says nothing of the claims."""
    order = sorted({claim.group for claim in claims}, key=digest)
    fold_of = {group: number % FOLDS for number, group in enumerate(order)}
    return [fold_of[claim.group] for claim in claims]


def _fit(method: Method, claims: Sequence[LabelledClaim]) -> tuple[tuple[float, float], ...]:
    if method == "two_numbers":
        sides = [[c.label for c in claims if c.supported is said] for said in (True, False)]
        yes, no = ((sum(side) + 1) / (len(side) + 2) for side in sides)
        return ((yes, no),)
    pairs = [(_state(claim), claim.label) for claim in claims]
    return (_fit_platt(pairs),) if method == "platt" else _fit_isotonic(pairs)


def _fit_platt(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Slope and shift of the log-odds by Newton's method, on Platt's smoothed labels, with a weak pull towards (1, 0).

    A slope below MIN_SLOPE would lose the judge's order of claims, or turn it round; then only the shift is fitted."""
    yes = sum(label for _, label in pairs)
    high, low = (yes + 1) / (yes + 2), 1 / (len(pairs) - yes + 2)
    points = [(_to_log_odds(p), low + label * (high - low)) for p, label in pairs]
    for with_slope in (True, False):
        slope, shift = 1.0 if with_slope else MIN_SLOPE, 0.0
        for _ in range(100):
            g_slope, g_shift = slope - 1, shift
            h_ss, h_sb, h_bb = 1.0, 0.0, 1.0
            for x, target in points:
                p = _to_probability(slope * x + shift)
                weight = p * (1 - p)
                g_slope += (p - target) * x
                g_shift += p - target
                h_ss += weight * x * x
                h_sb += weight * x
                h_bb += weight
            if with_slope:
                determinant = h_ss * h_bb - h_sb * h_sb
                d_slope = (h_bb * g_slope - h_sb * g_shift) / determinant
                d_shift = (h_ss * g_shift - h_sb * g_slope) / determinant
            else:
                d_slope, d_shift = 0.0, g_shift / h_bb
            # a whole step from far away overshoots: none is larger than 1
            shrink = 1 / max(1.0, abs(d_slope), abs(d_shift))
            slope, shift = slope - shrink * d_slope, shift - shrink * d_shift
            if abs(d_slope) + abs(d_shift) < 1e-9:
                break
        if slope >= MIN_SLOPE:
            break
    return slope, shift


def _fit_isotonic(pairs: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Rising steps by pooling neighbours that fall, each with its smoothed share, at its mean probability."""
    equal: dict[float, list[float]] = {}  # one block for claims with the same probability
    for probability, label in sorted(pairs):
        equal.setdefault(probability, []).append(label)
    blocks: list[list[float]] = []  # sum of probabilities, sum of labels, count
    for probability, labels_there in equal.items():
        size = float(len(labels_there))
        blocks.append([probability * size, sum(labels_there), size])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    knots, highest = [], 0.0
    for total, labels, count in blocks:
        highest = max(highest, (labels + 0.5) / (count + 1))
        knots.append((total / count, highest))
    return tuple(knots)


def _interpolate(knots: Sequence[tuple[float, float]], probability: float) -> float:
    at = bisect_right(knots, (probability, math.inf))
    if at in (0, len(knots)):
        return knots[min(at, len(knots) - 1)][1]
    (left, low), (right, high) = knots[at - 1], knots[at]
    return low + (high - low) * (probability - left) / (right - left)


def _clip(probability: float) -> float:
    return min(max(probability, CLIP), 1 - CLIP)


def _to_log_odds(probability: float) -> float:
    p = _clip(probability)
    return math.log(p / (1 - p))


def _to_probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(log_odds, -500.0)))
