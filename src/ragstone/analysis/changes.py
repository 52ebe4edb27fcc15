"""The samples behind a difference: which became worse, which were fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragstone.analysis.columns import ComparableRun, SamplePairs, is_failure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUESTIONS_CHECKED = 20
"""Samples whose questions are compared, to notice that two runs do not ask the same."""


class MetricScale(Protocol):
    """What a change needs to know of a metric; a Difference has it."""

    @property
    def metric(self) -> str: ...
    @property
    def higher_is_better(self) -> bool: ...
    @property
    def bounds(self) -> tuple[float, float] | None: ...
    @property
    def resource(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class SampleChange:
    """One sample that moved between two runs."""

    id: str
    before: int
    """Its position in the baseline."""
    after: int
    """Its position in the other run."""
    change: float
    """Mean over the metrics of how far it moved, as a share of their range: −1 is from best to worst."""
    metrics: dict[str, tuple[float | str, float | str]]
    """Metrics that moved → value before and after, or the outcome where there is none."""


@dataclass(frozen=True, slots=True)
class SampleChanges:
    """The samples that moved most, and how many moved at all."""

    regressed: tuple[SampleChange, ...]
    fixed: tuple[SampleChange, ...]
    regressed_count: int
    fixed_count: int


def find_changes(pair: SamplePairs, metrics: Sequence[MetricScale], most: int) -> SampleChanges:
    """The samples that became worse or better; what failed on one side only counts as a move over the whole range."""
    import numpy as np

    # moves are shares of a range, so that metrics can be added up; latency and cost have no good
    # end to move to
    quality = [metric for metric in metrics if metric.bounds is not None and not metric.resource]
    total, scored = np.zeros(pair.pairs), np.zeros(pair.pairs)
    moves = {}
    for metric in quality:
        move = moves[metric.metric] = _measure_moves(pair, metric)
        present = ~np.isnan(move)
        total += np.where(present, move, 0.0)
        scored += present
    change = total / np.maximum(scored, 1)
    # equal changes stay in the order of the data, so that two reports of the same runs agree
    order = np.lexsort((np.arange(pair.pairs), change))
    worse = [int(i) for i in order[:most] if change[i] < -1e-9]
    better = [int(i) for i in order[::-1][:most] if change[i] > 1e-9]
    return SampleChanges(
        tuple(_describe_change(pair, i, float(change[i]), moves) for i in worse),
        tuple(_describe_change(pair, i, float(change[i]), moves) for i in better),
        int((change < -1e-9).sum()),
        int((change > 1e-9).sum()),
    )


def find_changed_questions(
    before: ComparableRun, after: ComparableRun, pair: SamplePairs
) -> tuple[str, ...]:
    """Ids, among a few samples spread over the runs, under which the runs ask different questions."""
    step = max(1, pair.pairs // QUESTIONS_CHECKED)
    changed = []
    for index in range(0, pair.pairs, step):
        left, right = int(pair.left[index]), int(pair.right[index])
        old = before.row(int(pair.before.positions[left])).sample.question
        new = after.row(int(pair.after.positions[right])).sample.question
        if old is not None and new is not None and " ".join(old.split()) != " ".join(new.split()):
            changed.append(pair.before.ids[left])
    return tuple(changed)


def has_same_answers(before: ComparableRun, after: ComparableRun, pair: SamplePairs) -> bool:
    """Whether both runs gave the same answer to each shared question, or retrieved the same where there are no answers."""
    return all(
        _read_output(before, int(pair.before.positions[left]))
        == _read_output(after, int(pair.after.positions[right]))
        for left, right in zip(pair.left.tolist(), pair.right.tolist(), strict=True)
    )


def _read_output(run: ComparableRun, position: int) -> object:
    sample = run.row(position).sample
    if sample.answer is not None or sample.error:
        return sample.answer, sample.error
    return tuple((chunk.id, chunk.text) for chunk in sample.contexts or ())


def _measure_moves(pair: SamplePairs, metric: MetricScale) -> NDArray[np.float64]:
    """How far each sample moved towards the good end; NaN where nothing can be said."""
    assert metric.bounds is not None
    width = metric.bounds[1] - metric.bounds[0]
    name = metric.metric
    move = (pair.after.values[name][pair.right] - pair.before.values[name][pair.left]) / width
    if not metric.higher_is_better:
        move = -move
    # outcomes of a side, the samples' indexes there, and the move of a sample that failed on that side alone
    sides = (
        (pair.before.missing_outcomes[name], pair.left, 1.0),
        (pair.after.missing_outcomes[name], pair.right, -1.0),
    )
    for (outcomes, indexes, whole_move), (other_outcomes, others, _) in (sides, sides[::-1]):
        if not any(is_failure(outcome) for outcome in outcomes.values()):
            continue
        for number, (here, there) in enumerate(zip(indexes.tolist(), others.tolist(), strict=True)):
            # failed on one side and scored on the other; failed on both says nothing
            if is_failure(outcomes.get(here, "")) and there not in other_outcomes:
                move[number] = whole_move
    return move


def _describe_change(
    pair: SamplePairs, index: int, change: float, moves: dict[str, NDArray[np.float64]]
) -> SampleChange:
    left, right = int(pair.left[index]), int(pair.right[index])
    moved = {}
    for name, move in moves.items():
        if abs(float(move[index])) > 1e-9:  # False for NaN
            old, new = (
                columns.missing_outcomes[name].get(at, float(columns.values[name][at]))
                for columns, at in ((pair.before, left), (pair.after, right))
            )
            moved[name] = (old, new)
    return SampleChange(
        id=pair.before.ids[left],
        before=int(pair.before.positions[left]),
        after=int(pair.after.positions[right]),
        change=change,
        metrics=moved,
    )
