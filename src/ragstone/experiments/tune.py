"""Tuning of a system's settings: trials on a growing subset of questions, and the winner reported on held-out ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.analysis.columns import number_groups, read_columns
from ragstone.analysis.compare import MARGIN
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.effects import Settings
from ragstone.analysis.paired import MeanDifference, compare_pairs
from ragstone.data import read
from ragstone.display import Displayed
from ragstone.engine.sync import run_sync
from ragstone.experiments.answer import build_system
from ragstone.experiments.compare import ComparisonResult, build_frame, compare
from ragstone.experiments.inputs import is_judge
from ragstone.experiments.race import Race
from ragstone.experiments.records import keep_search
from ragstone.experiments.run import Run
from ragstone.experiments.search import (
    Objective,
    choose_survivors,
    compute_quality,
    draw_candidates,
    find_highest,
    find_range,
    parse_objective,
    plan_rounds,
    split_samples,
)
from ragstone.experiments.trials import (
    Trial,
    TrialSearch,
    TuningBudget,
    order_trials,
    rank_trials,
)
from ragstone.judges.factory import make_judge
from ragstone.metrics import resolve
from ragstone.store import Store
from ragstone.types import Sample

HELD_OUT_SHARE = 0.3
MAX_IN_FULL = 3
"""Configurations that answer every question where quality is traded: halving so few would leave no front."""


@dataclass(frozen=True, slots=True, repr=False)
class TuningResult(Displayed):
    """The result of the search, and how its winner does on held-out questions."""

    objective: Objective
    trials: tuple[Trial, ...]
    """The best first."""
    winner: Trial
    run: Run
    """The winner on the held-out questions."""
    baseline: Run
    """The system as it was, on the same."""
    result: ComparisonResult | None
    """Both compared on the held-out questions; None when the system as it was is the winner."""
    gain: MeanDifference
    """The objective of the winner minus that of the system as it was, on the held-out questions."""
    evaluations: int
    """Tuning questions answered, over all trials."""
    full_grid: int
    """Tuning questions that a full grid would have answered."""
    stopped: str = ""
    """The budget that ended the search early."""
    margin: float = MARGIN
    """Differences up to this do not matter."""

    @property
    def comparison(self) -> Comparison | None:
        """The winner against the system as it was, on the held-out questions."""
        return None if self.result is None else self.result.comparison

    def to_dict(self) -> dict[str, Any]:
        """The search with all its trials, and the comparison on held-out questions, as plain JSON."""
        against = self.objective.against
        return {
            "objective": dict(self.objective.weights),
            "winner": dict(self.winner.settings),
            "winner_run": self.run.id,
            "baseline_run": self.baseline.id,
            "evaluations": self.evaluations,
            "grid_evaluations": self.full_grid,
            "stopped": self.stopped or None,
            "trials": [
                {
                    "settings": dict(trial.settings),
                    "questions": trial.questions,
                    "measured": trial.measured,
                    "winner_beside": self.measure_winner_beside(trial),
                    "estimate": trial.estimate,
                    "run": trial.run.id if trial.run else None,
                    "front": trial.front if against else None,
                    **(
                        dict(zip(against, trial.standing.costs, strict=True))
                        if trial.standing
                        else {}
                    ),
                }
                for trial in self.trials
            ],
            "comparison": self.comparison.to_dict() if self.comparison else None,
        }

    def to_frame(self) -> Any:
        """One row a trial: its settings, questions, what was measured, and what that is to be held against."""
        return build_frame(
            [
                {
                    **trial.settings,
                    "questions": trial.questions,
                    "measured": trial.measured,
                    "estimate": trial.estimate,
                }
                | {"winner_beside": self.measure_winner_beside(trial)}
                for trial in self.trials
            ]
        )

    def __repr__(self) -> str:
        return f"<TuningResult: {len(self.trials)} trials>"

    def measure_winner_beside(self, trial: Trial) -> float | None:
        """The objective of the winner on the questions that a trial answered: what its own mean is to be held against."""
        import numpy as np

        if self.winner.standing is None:
            return None
        value_at = dict(zip(self.winner.places, self.winner.standing.quality, strict=True))
        values = [value_at[at] for at in trial.places if at in value_at]
        shared = [value for value in values if not np.isnan(value)]
        return float(np.mean(shared)) if shared else None


def tune(
    samples: Any, system: Any, vary: Mapping[str, Sequence[Any]], objective: str, **options: Any
) -> TuningResult:
    """Search for better settings of a system; takes the options of `atune`."""
    return run_sync(lambda: atune(samples, system, vary, objective, **options))


async def atune(
    samples: Any,
    system: Any,
    vary: Mapping[str, Sequence[Any]],
    objective: str,
    *,
    against: Sequence[str] = (),
    settings: Settings | None = None,
    budget: TuningBudget | None = None,
    held_out: float = HELD_OUT_SHARE,
    seed: int = 0,
    judge: Any = None,
    store: str | Path | Store | None = None,
    margin: float = MARGIN,
    limit: int | None = None,
    watch: Callable[[str, Any], None] | None = None,
    **options: Any,
) -> TuningResult:
    """Try configurations on a growing subset of the tuning questions, then the best on held-out ones next to the baseline.

    They race for the one best; when quality is traded `against` something, they are halved. The baseline is the system with `settings` alone. Every round of a trial is a Run whose id follows from what it is, so
    that the same call resumes an interrupted one, and replies of system and judge are never paid twice."""
    wanted = parse_objective(objective, against)
    allowed = budget or TuningBudget()
    for name in wanted.metrics:
        resolve(name)
    combinations = draw_candidates(vary, allowed.trials, seed)
    fixed = settings or {}
    for plan in ({}, *combinations):  # a mistake in the last one shows before the first is paid for
        await build_system(system, {**fixed, **plan}).system.close()
    everything = [record.sample for record in read(samples, limit=limit)]
    tuning, reporting = split_samples(everything, held_out, seed)
    shared = judge if judge is None or is_judge(judge) else make_judge(judge)
    search = TrialSearch(
        system=system, fixed=fixed, objective=wanted, tuning=tuning, store=Store.open(store),
        judge=shared, budget=allowed, watch=watch, options=options,
    )  # fmt: skip
    try:
        run_trials = _run_halving if wanted.against else _run_race
        trials = await run_trials(search, combinations)
        ended = search.find_spent_budget()
        ordered = rank_trials(trials)
        # the budget does not cover these two runs: without them the search has no result
        before = await search.run({}, reporting, is_shown=True)
        after = await search.run(ordered[0].settings, reporting, is_shown=True)
    finally:
        if shared is not None and shared is not judge:
            await shared.close()
    result = TuningResult(
        objective=wanted, trials=tuple(ordered), winner=ordered[0], run=after, baseline=before,
        result=_compare_held_out(before, after, wanted, margin),
        gain=_measure_gain(before, after, reporting, wanted), evaluations=search.questions,
        full_grid=math.prod(map(len, vary.values())) * len(tuning), stopped=ended, margin=margin,
    )  # fmt: skip
    keep_search(search.store, result, str(samples) if isinstance(samples, str | Path) else before.info.source)  # fmt: skip
    return result


def _compare_held_out(
    before: Run, after: Run, objective: Objective, margin: float
) -> ComparisonResult | None:
    if before.id == after.id:
        return None
    metrics = [*objective.metrics, *(n for n in objective.against if n not in objective.weights)]
    result = compare(
        [before, after], metrics=metrics, primary=metrics[0], margin=margin, league=True
    )
    # what quality is traded against may well become worse: that is no regression
    return replace(result, comparison=replace(result.comparison, judged=objective.metrics))


def _measure_gain(
    before: Run, after: Run, samples: Sequence[Sample], objective: Objective
) -> MeanDifference:
    """The difference of the objective on questions that the search never saw, so that choosing the best of many does not flatter it."""
    import numpy as np

    ids = [sample.id for sample in samples]
    old, new = (
        compute_quality(read_columns(run.stored), ids, objective) for run in (before, after)
    )
    both = ~(np.isnan(old) | np.isnan(new))
    groups = number_groups([sample.group for sample in samples])
    return compare_pairs(
        old[both],
        new[both],
        None if groups is None else groups[both],
        bounds=find_range(objective),
        binary=all(resolve(name).binary for name in objective.metrics)
        and len(objective.metrics) == 1,
    )


async def _run_race(search: TrialSearch, combinations: Sequence[Settings]) -> list[Trial]:
    """Each step some more questions for the most hopeful configuration, until none can pass the leader or the effort is spent."""
    trials = [Trial(combination) for combination in combinations]
    race = Race(combinations, len(search.tuning), best_value=find_highest(search.objective))
    while (step := race.choose_next()) is not None:
        which, places = step
        trial = trials[which]
        if not await search.answer_more(trial, places):
            break
        assert trial.standing is not None
        value_at = dict(zip(trial.places, trial.standing.quality, strict=True))
        race.add_scores(which, places, [value_at[at] for at in places])
    for trial, mean in zip(trials, race.estimate_means(), strict=True):
        is_partial = 0 < trial.questions < len(search.tuning)
        trial.estimate = mean if is_partial and not math.isnan(mean) else None
    return order_trials(trials, trials[race.leader] if race.leader is not None else None)


async def _run_halving(search: TrialSearch, combinations: Sequence[Settings]) -> list[Trial]:
    """Round by round more questions for fewer configurations: where quality is traded, a race has no one winner."""
    trials = [Trial(combination) for combination in combinations]
    count = len(search.tuning)
    remaining = trials
    for size in plan_rounds(count) if len(trials) > MAX_IN_FULL else [count]:
        for trial in remaining:
            if not await search.answer_more(trial, range(size)):
                return trials
        survivors = choose_survivors(
            [trial.standing for trial in remaining if trial.standing is not None],
            number_groups([sample.group for sample in search.tuning[:size]]),
        )
        remaining = [remaining[at] for at in survivors]
    return trials
