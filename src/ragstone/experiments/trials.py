"""Trials of a search for better settings: one configuration each, run on more and more questions, and ranked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import RunColumns, read_columns
from ragstone.analysis.effects import Settings, format_settings
from ragstone.asks import digest
from ragstone.errors import RagstoneError
from ragstone.experiments.answer import build_system
from ragstone.experiments.run import Run, aevaluate
from ragstone.experiments.search import (
    Objective,
    TrialState,
    compute_quality,
    front_layers,
    rank_standings,
)
from ragstone.store import Store
from ragstone.types import Sample

if TYPE_CHECKING:
    from ragstone.engine import Progress
    from ragstone.systems import AnswerProgress


@dataclass(frozen=True, slots=True)
class TuningBudget:
    """When the search stops; the report on held-out questions comes on top."""

    trials: int | None = None
    calls: int | None = None
    """Questions to the system and to the judge."""
    usd: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Trial:
    """One configuration and how far it came."""

    settings: Settings
    questions: int = 0
    """Tuning questions that it has answered."""
    run: Run | None = None
    """Its last round."""
    standing: TrialState | None = None
    front: bool = False
    """Whether no other configuration that came as far is as good and as cheap."""
    places: tuple[int, ...] = ()
    """Indexes of the tuning questions that it has answered, ascending; `standing.quality` has the same order."""
    estimate: float | None = None
    """After a race that it did not run to the end: its mean over all tuning questions, those that it was not asked estimated."""

    @property
    def measured(self) -> float | None:
        """The objective on the questions that it answered."""
        import numpy as np

        if self.standing is None or np.isnan(self.standing.quality).all():
            return None
        return float(np.nanmean(self.standing.quality))

    @property
    def mean(self) -> float | None:
        """Its estimate for all tuning questions, or what was measured where it answered them all."""
        return self.measured if self.estimate is None else self.estimate


@dataclass(slots=True)
class TrialSearch:
    """The state of a search: what was spent, and how to run one more round of a trial."""

    system: Any
    fixed: Settings
    objective: Objective
    tuning: list[Sample]
    store: Store
    judge: Any
    budget: TuningBudget
    watch: Callable[[str, Any], None] | None
    """Called with the configuration's name and how far its answers or its scores are."""
    options: Mapping[str, Any]
    """Further options of `evaluate`."""
    started: float = field(default_factory=time.monotonic)
    questions: int = 0
    calls: int = 0
    usd: float = 0.0

    async def answer_more(self, trial: Trial, places: Sequence[int]) -> bool:
        """Let a trial answer these questions too; False when the budget is spent."""
        if self.find_spent_budget():
            return False
        new = sorted(set(places) - set(trial.places))
        trial.places = tuple(sorted({*trial.places, *places}))
        previous = trial.run
        run = await self.run(trial.settings, [self.tuning[at] for at in trial.places])
        if previous is not None and previous.id != run.id:
            previous.delete()  # its samples are all in the new one
        table = read_columns(run.stored)
        costs = tuple(_mean_cost(table, name) for name in self.objective.against)
        # only what this run paid: replies found in the store belong to the run that asked first
        usage = run.info.usage
        self.questions += len(new)
        self.calls += len(new) + usage.calls
        self.usd += usage.usd
        if "cost" in table.values:
            self.usd += _sum_cost(table, [self.tuning[at].id for at in new])
        trial.run, trial.questions = run, len(trial.places)
        ids = [self.tuning[at].id for at in trial.places]
        trial.standing = TrialState(compute_quality(table, ids, self.objective), costs)
        return True

    async def run(
        self, settings: Settings, samples: Sequence[Sample], *, is_shown: bool = False
    ) -> Run:
        """A stored run of a configuration; the same one again when it was begun before.

        `is_shown`: its latency is reported, so that the system is warmed up first."""
        given = {**self.fixed, **settings}
        under_test = build_system(self.system, given)
        # built for its identity only; `aevaluate` makes its own
        await under_test.system.close()
        about = {
            "system": under_test.identity,
            "samples": [(sample.id, sample.question, sample.reference) for sample in samples],
            "metrics": list(self.objective.metrics),
            "judge": None if self.judge is None else self.judge.name,
            # all that can change a score, and nothing else: an id that changes for less would pay
            # for a trial again
            "options": {key: repr(value) for key, value in self.options.items()},
        }
        name = format_settings(settings)
        watch = self.watch
        on_progress: Callable[[AnswerProgress | Progress], None] | None = (
            None if watch is None else lambda progress: watch(name, progress)
        )
        # a warm-up at each round of each trial is worth its calls only where time is the aim
        aims = {*self.objective.against, *self.objective.metrics}
        warmup = {} if is_shown or aims & {"latency", "first_token"} else {"warmup": 0}
        return await aevaluate(
            list(samples), list(self.objective.metrics), judge=self.judge, name=f"tune: {name}",
            store=self.store, run_id=f"tune-{digest(about)[:16]}", restart=True, system=self.system,
            settings={**warmup, **given}, watch=on_progress, asked=on_progress,
            shares_answers=True, **self.options,
        )  # fmt: skip

    def find_spent_budget(self) -> str:
        """Which budget is used up; empty while there is some of each."""
        limits = {
            "calls": (self.budget.calls, self.calls),
            "usd": (self.budget.usd, self.usd),
            "seconds": (self.budget.seconds, time.monotonic() - self.started),
        }
        return next(
            (k for k, (most, now) in limits.items() if most is not None and now >= most), ""
        )


def order_trials(trials: Sequence[Trial], leader: Trial | None) -> list[Trial]:
    """The trials of a race, the best estimate first and those without one last.

    The leader comes before all: it answered everything, and the lead of others is a guess."""

    def rank(trial: Trial) -> tuple[bool, float]:
        return trial is not leader, math.inf if trial.mean is None else -trial.mean

    return sorted(trials, key=rank)


def rank_trials(trials: Sequence[Trial]) -> list[Trial]:
    """The best first: who answered more questions was better when the others were dropped; the front is marked.

    Trials of a race come in its own order."""
    begun = [trial for trial in trials if trial.standing is not None]
    if not begun:
        raise RagstoneError("the budget allows not a single trial; raise it")
    if any(trial.estimate is not None for trial in begun):
        return begun
    ordered: list[Trial] = []
    for size in sorted({trial.questions for trial in begun}, reverse=True):
        level = [trial for trial in begun if trial.questions == size]
        ordered += [
            level[at]
            for at in rank_standings([t.standing for t in level if t.standing is not None])
        ]
    _mark_front([trial for trial in ordered if trial.questions == ordered[0].questions])
    return ordered


def _mark_front(trials: Sequence[Trial]) -> None:
    """Mark the trials that no other beats in both objective and costs."""
    points = [(-(t.mean or 0.0), *t.standing.costs) for t in trials if t.standing is not None]
    for trial, layer in zip(trials, front_layers(points), strict=True):
        trial.front = layer == 0


def _mean_cost(table: RunColumns, name: str) -> float:
    import numpy as np

    if name not in table.values or np.isnan(table.values[name]).all():
        known = ", ".join(table.values)
        raise RagstoneError(f"the system's replies tell no {name!r}; there is {known}")
    return float(np.nanmean(table.values[name]))


def _sum_cost(table: RunColumns, ids: Sequence[str]) -> float:
    import numpy as np

    return float(np.nansum(table.values["cost"][[table.places[name] for name in ids]]))
