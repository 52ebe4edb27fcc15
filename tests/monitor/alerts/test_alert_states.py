"""A few of the months of bench/alarm_states.py, and alerts that meet each other or a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench import alarm_states
from bench.alarms import BUDGET, REFERENCE, Scenario, draw, recovers, shared

from ragstone.config.alerts import Channel
from ragstone.monitor.alerts.alert import Alert, RuleResult, advance_alert
from ragstone.monitor.alerts.evaluation import evaluate_alerts
from ragstone.monitor.alerts.outbox import deliver_due
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.drift.sequential_test import (
    compute_alarm_level,
    learn_reference,
    run_drift_test,
)
from ragstone.store import Store
from ragstone.types import Score

HOURLY = Scenario("hour effect", 0.02)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_day_of_silence_is_no_data_and_nothing_else(seed: int) -> None:
    assert alarm_states.silent(seed)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_judge_that_fails_on_three_of_ten_is_failing_and_quality_did_not_drop(seed: int) -> None:
    assert alarm_states.failing(seed)


def test_other_questions_and_worse_answers_are_told_apart() -> None:
    assert alarm_states.apart(1) == (True, True)


def test_a_drop_that_ends_is_resolved_within_a_day() -> None:
    held, resolved = recovers(np.random.default_rng(5), HOURLY, 40)
    assert held >= 0.9
    assert resolved >= 0.9


def test_slices_share_the_budget_of_their_metric() -> None:
    """40 months with 5 slices each: the budget is 4 alarms; 13 has a chance below 1 in 1,000 at the bar of 0.15."""
    assert shared(np.random.default_rng(5), 40, 5) <= 13 / 40


@pytest.mark.parametrize("how", ["zero", "less"])
def test_drops_of_other_kinds_are_found_too(how: str) -> None:
    scenario = replace(HOURLY, drop=how)  # type: ignore[arg-type]
    rng = np.random.default_rng(5)
    drops = np.zeros((40, 60))
    drops[:, 40:] = 0.10
    reference = learn_reference(draw(rng, 40, REFERENCE, scenario))
    live = draw(rng, 40, 60, scenario, drops)
    firing = run_drift_test(reference, live, np.full(40, compute_alarm_level(BUDGET))).firing
    assert firing[:, 39].mean() <= 0.1
    assert firing[:, 44].mean() >= 0.8


def test_two_metrics_that_drop_at_once_are_two_alerts() -> None:
    with alarm_states.month(3) as one:
        for hours, bad in ((192, 0.0), (12, 0.3)):
            first = one.hour
            one.go(hours, 20, bad=bad)
            ids = [f"{hour}-{k}" for hour in range(first, one.hour) for k in range(20)]
            values = [
                0.0 if one.rng.random() < bad else one.rng.choice([1.0, 1.0, 0.8]) for _ in ids
            ]
            scored = [
                ScoredInteraction(id, {"answer_relevance": Score(value)})
                for id, value in zip(ids, values, strict=True)
            ]
            one.archive.save_scores(scored).result()
        assert one.look() == {"drop:faithfulness", "drop:answer_relevance"}


def test_an_alert_is_told_once_through_restarts(tmp_path: Path) -> None:
    settings = replace(alarm_states.QUIET, channels=(Channel("file", str(tmp_path / "a.jsonl")),))
    store = Store.open(tmp_path / "live.db")
    one = alarm_states.Month(Archive(store), 4)
    one.go(192, 20)
    one.go(12, 20, bad=0.4)
    store.close()
    for _ in range(3):
        again = Store.open(tmp_path / "live.db")
        archive = Archive(again)
        status = evaluate_alerts(archive, settings, one.now)
        assert [alert.rule for alert in status.open] == ["drop:faithfulness"]
        deliver_due(archive, settings.channels, one.now)
        again.close()
    assert len((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def test_stored_alerts_and_results_keep_their_json_keys() -> None:
    result = RuleResult("no_data", "no_data", "firing")
    alert, _ = advance_alert(None, result, 7)
    assert alert is not None
    assert (result.to_json()["found"], alert.to_dict()["told"]) == ("firing", True)
    assert RuleResult.from_json(result.to_json()) == result
    assert Alert.from_json(alert.to_dict()) == alert
