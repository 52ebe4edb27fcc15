"""What can be labelled of a run, with what its judge says of each: answers, claims or chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.analysis.summary import ScoredRun
from ragstone.errors import RagstoneError
from ragstone.labels.label import Target
from ragstone.store import StoredRun
from ragstone.types import Finding, Score

JUDGED_BY: Mapping[Target, tuple[str, ...]] = {
    "claim": ("faithfulness", "hallucination_rate"),
    "support": ("faithfulness", "hallucination_rate"),
    "chunk": ("context_relevance",),
    "correctness": ("answer_correctness",),
    "relevance": ("answer_relevance",),
    "refusal": ("abstention_accuracy",),
}
"""The metrics that judge what a target asks of people, the first that a run has is taken."""

CHUNK_VALUES: Mapping[str, float] = {"not_relevant": 0.0, "partly_relevant": 0.5, "relevant": 1.0}
REFUSALS = frozenset({"correct_refusal", "false_refusal"})
INVERTED = frozenset({"hallucination_rate"})
"""Metrics that count what is not supported."""


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A claim, chunk or answer of a run, and what the judge says of it."""

    sample: str
    item: str
    """The claim or the chunk's id; empty for the answer."""
    position: int
    """Of the sample in the run."""
    group: str
    """Units of one group are not independent: the sample's group, else the sample."""
    prediction: float
    """From 0 to 1 what the judge expects people to say: its probability where it has one, else its value."""
    decision: float
    """What the judge says, as it counts in the metric."""
    share: float
    """Of the sample's own units: the mean over samples gives each the same weight."""
    has_probability: bool
    finding: Finding | None = None
    value: float | None = None
    """The metric's own value for the whole answer; None for claims and chunks."""
    weakest: float | None = None
    """The least chance of a claim of the answer, from a judge that knows them."""

    @property
    def key(self) -> tuple[str, str]:
        """Sample and item."""
        return self.sample, self.item

    @property
    def doubt(self) -> float:
        """How unsure the judge is, 0 to 1."""
        return 1 - abs(2 * self.prediction - 1)


def find_metric(run: ScoredRun, target: Target, item: str = "") -> Mapping[str, Any] | None:
    """The metric of a run that judges the target; of a `score`, the one that the item names."""
    for family in (item,) if target == "score" else JUDGED_BY.get(target, ()):
        for metric in run.info.metrics:
            if family in (metric["family"], metric["name"]):
                return metric
    return None


def require_metric(run: StoredRun, target: Target) -> Mapping[str, Any]:
    """The metric of a run that judges the target; an error that names what to measure when it has none."""
    metric = find_metric(run, target)
    if metric is None:
        wanted = " or ".join(JUDGED_BY.get(target, ())) or "another target: --on support"
        raise RagstoneError(
            f"the run {run.info.name!r} has no judgement on {target}; score it with -m {wanted}"
        )
    return metric


def list_units(run: ScoredRun, target: Target, item: str = "") -> list[JudgedUnit]:
    """Every unit of the target that the run's judge has judged; `item` names the metric of a `score`."""
    metric = find_metric(run, target, item)
    if metric is None:
        return []
    name, family = str(metric["name"]), str(metric["family"])
    units: list[JudgedUnit] = []
    for position, sample, group, scores in run.scores():
        score = scores.get(name)
        # every answer has the label of a refusal or not, also where the metric gives it no value
        if score is not None and (score.ok or (target == "refusal" and score.label)):
            where = (sample, position, group or sample)
            units += _read_units(score, target, family, where)
    return units


def _read_units(
    score: Score, target: Target, family: str, where: tuple[str, int, str]
) -> Iterator[JudgedUnit]:
    sample, position, group = where
    if target in ("claim", "chunk"):
        items = _list_findings(score, target)
        for item, finding in items.items():
            chance, decision = finding.probability, _to_decision(finding, target)
            prediction = decision if chance is None else chance
            yield JudgedUnit(
                sample, item, position, group, prediction, decision, 1 / len(items), chance is not None, finding
            )  # fmt: skip
        return
    value, chance = float(score.value or 0.0), score.probability
    weakest: float | None = None
    if family in INVERTED:
        value = 1 - value
    if target == "support":
        # people are asked whether all of the answer is supported
        decision = float(value > 1 - 1e-9 if chance is None else chance >= 0.5)
        prediction = value if chance is None else chance
        chances = [finding.probability for finding in score.findings]
        weakest = min((p for p in chances if p is not None), default=None)
    elif target == "refusal":
        prediction = decision = float(score.label in REFUSALS)
        chance = None
    else:
        prediction = decision = value
        chance = None
    yield JudgedUnit(
        sample, "", position, group, prediction, decision, 1.0, chance is not None, value=value,
        weakest=weakest,
    )  # fmt: skip


def _list_findings(score: Score, target: Target) -> dict[str, Finding]:
    """The findings by claim or chunk; one that comes twice counts once, as in the metric."""
    findings: dict[str, Finding] = {}
    for finding in score.findings:
        findings.setdefault(finding.text if target == "claim" else finding.chunk, finding)
    return findings


def _to_decision(finding: Finding, target: Target) -> float:
    if target == "claim":
        return float(finding.verdict == "supported")
    return CHUNK_VALUES.get(finding.verdict, 0.0)
