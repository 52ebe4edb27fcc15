"""What a cascade of two judges asked, saved and got wrong, from the opinions that findings carry.

The second judge was asked about every item that the first was unsure of and about a random share of the others, so each
item has a known chance to be asked. The mean that the second judge alone would give is estimated like a mean from
labels, with the second judge in the place of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

from ragstone.analysis.batch import Row
from ragstone.analysis.corrected import MIN_LABELS, CorrectedMean, LabelledUnits, correct_mean
from ragstone.analysis.stats import wilson_interval
from ragstone.judges.cascade_settings import CASCADE_NAME, DEFAULT_AGREE, parse_share
from ragstone.types import Finding, Score

SHARE_FAMILIES: Mapping[str, bool] = {
    "faithfulness": True,
    "context_recall": True,
    "hallucination_rate": False,
}
"""Metrics whose value is the share of supported claims (True), or of the others."""
BOUND_STEPS = 50
"""Bounds are tried in steps of 1 / 100 on each side of one half."""


@dataclass(frozen=True, slots=True)
class CascadeSummary:
    """What the second judge of a cascade was asked for one metric, and how far the first agrees with it."""

    items: int
    """Claims or chunks that were judged."""
    unsure: int
    """Of those, the ones that the first judge was unsure of, which the second decided."""
    checked: int
    """Sure ones that the second was asked about at random."""
    disagreed: int
    """Checked ones on which the two differ."""
    samples: int
    """Samples that these items are of."""
    samples_asked: int
    """Samples of which the second was asked anything."""
    disagreement: float | None
    """Estimated share of the sure items on which the two differ; None with fewer than `MIN_LABELS` checked."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    target: float
    """Share of verdicts that are to be the second judge's."""
    bounds: tuple[float, float] | None = None
    """The narrowest bounds that reach the target on these items; None when nothing was estimated, or no bounds help."""
    bounds_share: float | None = None
    """Share of the items that the second would be asked about with them."""
    second_mean: CorrectedMean | None = None
    """The metric's mean as the second judge alone would give it; `judge_mean` is that of the first alone."""

    @property
    def asked(self) -> int:
        """Items that the second judge was asked about."""
        return self.unsure + self.checked

    @property
    def agreement(self) -> float | None:
        """Estimated share of all verdicts that are the second judge's."""
        if self.disagreement is None or not self.items:
            return None
        return 1 - self.disagreement * (self.items - self.asked) / self.items


def is_cascade(judge: str | None) -> bool:
    """Whether the name of a run's judge is that of a cascade."""
    return (judge or "").startswith(CASCADE_NAME)


def summarise_cascade(run: Any) -> dict[str, CascadeSummary]:
    """Metric → what its cascade asked; empty for a run with another judge."""
    info = run.info
    if not is_cascade(info.judge):
        return {}
    spec = info.plan.judge
    given = spec.get("agree") if isinstance(spec, Mapping) else None
    target = DEFAULT_AGREE if given is None else parse_share(given, "agree", DEFAULT_AGREE)
    families = {str(m["name"]): str(m["family"]) for m in info.metrics if m.get("judged")}
    items: dict[str, list[_Item]] = {name: [] for name in families}
    for row in run.scores():
        for name in families:
            items[name] += _read_items(row, name, families[name] in SHARE_FAMILIES)
    return {
        name: _summarise_items(found, families[name], target)
        for name, found in items.items()
        if any(item.is_opinion for item in found)
    }


class WeighedVerdict(NamedTuple):
    """A verdict with the chance behind it, whether a better judge says the same, and how much it counts."""

    probability: float
    agrees: bool
    weight: float


def find_bounds(
    verdicts: Sequence[WeighedVerdict], target: float
) -> tuple[tuple[float, float], float] | None:
    """Return the narrowest bounds outside of which so few verdicts are wrong that the target is reached, and the share inside.

    Each side is cut where the fewest items have to be asked for; None when there are no verdicts, or when those with
    chances of 0 and 1 are already wrong too often."""
    total = sum(verdict.weight for verdict in verdicts)
    if not total:
        return None
    below, above = (_count_sides(verdicts, side, total) for side in (False, True))
    allowed = 1 - target + 1e-9
    best: tuple[float, int, int] | None = None
    for low, (low_share, low_wrong) in enumerate(below):
        for high, (high_share, high_wrong) in enumerate(above):
            inside = max(0.0, 1 - low_share - high_share)
            if low_wrong + high_wrong <= allowed and (best is None or (inside, low, high) < best):
                best = (inside, low, high)
    if best is None:
        return None
    inside, low, high = best
    step = 0.5 / BOUND_STEPS
    return (round(0.5 - low * step, 4), round(0.5 + high * step, 4)), inside


def _count_sides(
    verdicts: Sequence[WeighedVerdict], above: bool, total: float
) -> list[tuple[float, float]]:
    """For each bound from one half outwards: the share of the items at or beyond it, and of those that are wrong."""
    shares, wrong = [0.0] * (BOUND_STEPS + 1), [0.0] * (BOUND_STEPS + 1)
    for probability, agrees, weight in verdicts:
        away = probability - 0.5 if above else 0.5 - probability
        # items at one half belong to the upper side alone
        if away > 0 or (above and away == 0):
            place = min(BOUND_STEPS, int(away * 2 * BOUND_STEPS + 1e-9))
            shares[place] += weight / total
            wrong[place] += 0.0 if agrees else weight / total
    beyond = list(accumulate(reversed(shares)))[::-1]
    beyond_wrong = list(accumulate(reversed(wrong)))[::-1]
    return list(zip(beyond, beyond_wrong, strict=True))


@dataclass(frozen=True, slots=True)
class _Item:
    """A finding of a sample, as the two judges decided it."""

    sample: int
    group: str
    weight: float
    """Its share of the sample's own items."""
    first: str
    second: str
    chance: float
    probability: float | None
    verified: bool
    """Whether the quote of a supported claim stands in its source."""
    is_opinion: bool
    counts_support: bool
    """Whether the metric counts supported claims, so that contradicted and not found are the same to it."""

    @property
    def is_asked(self) -> bool:
        return self.second != ""

    @property
    def agrees(self) -> bool:
        """Whether the first judge says what the second does; a `supported` without a true quote is `not_found`."""
        if self.counts_support:
            first, second = self.supported
            return first == second
        is_unproved = self.second == "supported" and not self.verified
        return self.first == ("not_found" if is_unproved else self.second)

    @property
    def supported(self) -> tuple[float, float]:
        """What the first and the second judge count in a share of supported claims."""
        second = float(self.second == "supported" and self.verified)
        return (float(self.first == "supported") if self.first else second), second


def _read_items(row: Row, metric: str, counts_support: bool) -> Iterator[_Item]:
    position, sample, group, scores = row
    score: Score | None = scores.get(metric)
    if score is None or not score.ok:
        return
    for finding in score.findings:
        yield _read_item(
            finding, position, group or sample, 1 / len(score.findings), counts_support
        )


def _read_item(
    finding: Finding, position: int, group: str, weight: float, counts_support: bool
) -> _Item:
    opinion = finding.opinion
    # decided without a judge, such as a claim without sources: both would say the same
    if opinion is None:
        verdict = finding.verdict
        return _Item(
            position, group, weight, verdict, verdict, 1.0, None, True, False, counts_support
        )
    return _Item(
        position, group, weight, opinion.first, opinion.second, opinion.chance, opinion.probability,
        finding.verified is not False, True, counts_support,
    )  # fmt: skip


def _summarise_items(items: Sequence[_Item], family: str, target: float) -> CascadeSummary:
    judged = [item for item in items if item.is_opinion]
    summary = _count_items(judged, target)
    if summary.checked < MIN_LABELS and summary.unsure < summary.items:
        return summary
    rate, low, high = _estimate_share(summary.disagreed, summary.checked)
    bounds, inside = _suggest_bounds(judged, target) or (None, None)
    return replace(
        summary,
        disagreement=rate,
        low=low,
        high=high,
        bounds=bounds,
        bounds_share=inside,
        second_mean=_estimate_mean(items, family),
    )


def _count_items(items: Sequence[_Item], target: float) -> CascadeSummary:
    """What was asked, without any estimate."""
    checked = [item for item in items if item.chance < 1 and item.is_asked]
    return CascadeSummary(
        items=len(items),
        # a chance of 1: the first was unsure, so the second was asked whatever the draw
        unsure=sum(item.chance >= 1 for item in items),
        checked=len(checked),
        disagreed=sum(not item.agrees for item in checked),
        samples=len({item.sample for item in items}),
        samples_asked=len({item.sample for item in items if item.is_asked}),
        disagreement=None,
        low=None,
        high=None,
        target=target,
    )


def _estimate_share(count: int, total: int) -> tuple[float, float, float]:
    """A share with its 95 % interval; 0 of nothing when every item was asked about anyway."""
    return (count / total, *wilson_interval(count, total)) if total else (0.0, 0.0, 0.0)


def _suggest_bounds(
    items: Sequence[_Item], target: float
) -> tuple[tuple[float, float], float] | None:
    asked = [item for item in items if item.is_asked and item.probability is not None]
    return find_bounds(
        [WeighedVerdict(item.probability or 0.0, item.agrees, 1 / item.chance) for item in asked],
        target,
    )


def _estimate_mean(items: Sequence[_Item], family: str) -> CorrectedMean | None:
    """The mean that the second judge alone would give; None for a metric that is no share of claims."""
    if family not in SHARE_FAMILIES:
        return None
    import numpy as np

    labelled = [number for number, item in enumerate(items) if item.is_asked]
    first = np.array([item.supported[0] for item in items])
    second = np.array([items[number].supported[1] for number in labelled])
    if not SHARE_FAMILIES[family]:
        first, second = 1 - first, 1 - second
    weights = np.array([item.weight for item in items])
    groups = {group: number for number, group in enumerate({item.group: 0 for item in items})}
    return correct_mean(
        LabelledUnits(
            first,
            labelled=np.array(labelled, np.int64),
            labels=second,
            sampling_probabilities=np.array([items[number].chance for number in labelled]),
            weights=weights / weights.sum(),
            groups=np.array([groups[item.group] for item in items], np.int64),
        )
    )
