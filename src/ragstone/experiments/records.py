"""What the store keeps of an experiment, so that the viewer can show it again: its runs and how they belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.analysis.effects import format_settings
from ragstone.store import Store, StoredRun
from ragstone.store.experiments import save_experiment

if TYPE_CHECKING:
    from ragstone.analysis.effects import Settings
    from ragstone.experiments.tune import TuningResult


def keep_bench(store: Store, runs: Sequence[StoredRun], **options: Any) -> str:
    """Keep a benchmark; `options` are those of its comparison: `baseline` (a run's place), `primary`, `margin`, `correction`."""
    return save_experiment(store, "bench", runs[0].info.source, _list_ids(runs), options)


def keep_ablation(
    store: Store,
    runs: Sequence[StoredRun],
    settings: Sequence[Settings],
    metrics: Sequence[str],
    primary: str | None,
) -> str:
    """Keep an ablation: the settings of each run, the current ones first, and the metrics with effects."""
    shown = [dict(values) for values in settings]
    body = {"settings": shown, "metrics": list(metrics), "primary": primary}
    return save_experiment(store, "ablation", runs[0].info.source, _list_ids(runs), body)


def keep_search(store: Store, result: TuningResult, name: str) -> str:
    """Keep a search for settings: its two runs on held-out questions, then those of the trials."""
    trials = [trial.run.id for trial in result.trials if trial.run is not None]
    runs = dict.fromkeys([result.baseline.id, result.run.id, *trials])
    return save_experiment(store, "tuning", name, list(runs), describe_search(result))


def describe_search(result: TuningResult) -> dict[str, Any]:
    """A search as plain JSON: what reports say of it, without the scores of each question."""
    comparison, gain = result.comparison, result.gain
    return {
        "objective": dict(result.objective.weights),
        "against": list(result.objective.against),
        "winner": format_settings(result.winner.settings),
        "winner_run": result.run.id,
        "baseline_run": result.baseline.id,
        "is_unchanged": comparison is None,
        "same_answers": comparison is not None and comparison.versus[0].same_answers,
        "gain": {
            "pairs": gain.pairs, "difference": gain.difference, "p": gain.p, "test": gain.test,
            "low": gain.interval.low, "high": gain.interval.high, "risen": gain.risen, "fallen": gain.fallen,
        },
        "savings": [
            [difference.metric, difference.before, difference.after]
            for difference in (() if comparison is None else comparison.versus[0].differences)
            if difference.metric in result.objective.against and difference.verdict == "better"
        ],
        "margin": result.margin,
        "answered": result.evaluations,
        "full_grid": result.full_grid,
        "stopped": result.stopped,
        "trials": [
            {
                "name": format_settings(trial.settings),
                "run": None if trial.run is None else trial.run.id,
                "questions": trial.questions,
                "measured": trial.measured,
                "winner_beside": result.measure_winner_beside(trial),
                "estimate": trial.estimate,
                "costs": [] if trial.standing is None else list(trial.standing.costs),
                "front": trial.front,
            }
            for trial in result.trials
        ],
    }  # fmt: skip


def _list_ids(runs: Sequence[StoredRun]) -> list[str]:
    return [run.id for run in runs]
