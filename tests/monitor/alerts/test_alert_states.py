"""A few of the months of bench/alarm_states.py, and alerts that meet each other or a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench import alarm_states

from ragstone.config.alerts import Channel
from ragstone.monitor.alerts.alert import Alert, RuleResult, advance_alert
from ragstone.monitor.alerts.evaluation import evaluate_alerts
from ragstone.monitor.alerts.outbox import deliver_due
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.store import Store
from ragstone.types import Score


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_day_of_silence_is_no_data_and_nothing_else(seed: int) -> None:
    assert alarm_states.silent(seed)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_judge_that_fails_on_three_of_ten_is_failing_and_quality_did_not_drop(seed: int) -> None:
    assert alarm_states.failing(seed)


def test_other_questions_and_worse_answers_are_told_apart() -> None:
    assert alarm_states.apart(1) == (True, True)


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
