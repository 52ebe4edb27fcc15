"""Alert states and hold times; one round of watching over simulated weeks, on both stores."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import watched
from ragstone.config.alerts import Alerts, Channel, parse_threshold
from ragstone.monitor.alerts.alert import (
    Alert,
    RuleResult,
    advance_alert,
    load_alert_events,
    load_alerts_between,
    load_open_alerts,
)
from ragstone.monitor.alerts.evaluation import evaluate_alerts, load_status
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Interaction, to_micros
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.store import Store
from ragstone.types import Score

START = to_micros(datetime(2026, 5, 1, tzinfo=UTC))
MINUTE = 60_000_000
QUIET = Alerts(questions=False, thresholds=())


def reading(found: Any, **more: Any) -> RuleResult:
    return RuleResult("threshold:x < 1", "threshold", found, title="low", **more)


def states(steps: list[tuple[int, Any]], **more: Any) -> list[tuple[str | None, bool]]:
    alert: Alert | None = None
    seen = []
    for minute, found in steps:
        alert, told = advance_alert(alert, reading(found, **more), minute * MINUTE)
        seen.append((alert.state if alert else None, told))
        if alert is not None and not alert.open:
            alert = None
    return seen


def test_an_alert_fires_after_its_hold_and_is_told_once() -> None:
    steps = [(0, "firing"), (5, "firing"), (10, "firing"), (15, "firing")]
    assert states(steps, hold=10 * MINUTE) == [
        ("pending", False), ("pending", False), ("firing", True), ("firing", False),
    ]  # fmt: skip


def test_without_a_hold_it_fires_at_once() -> None:
    assert states([(0, "firing")]) == [("firing", True)]


def test_a_pending_alert_that_goes_away_tells_nobody() -> None:
    steps = [(0, "firing"), (5, "ok"), (6, "firing"), (14, "firing"), (17, "firing")]
    assert states(steps, hold=10 * MINUTE) == [
        ("pending", False), ("dropped", False), ("pending", False), ("pending", False), ("firing", True),
    ]  # fmt: skip


def test_an_early_sign_does_not_count_towards_the_hold() -> None:
    steps = [(0, "pending"), (20, "firing"), (25, "firing"), (30, "firing")]
    assert [state for state, _ in states(steps, hold=10 * MINUTE)] == [
        "pending", "pending", "pending", "firing",
    ]  # fmt: skip


def test_it_is_resolved_when_all_was_well_for_long_enough() -> None:
    steps = [(0, "firing"), (5, "ok"), (20, "firing"), (25, "ok"), (50, "ok"), (56, "ok")]
    assert states(steps, resolve=30 * MINUTE) == [
        ("firing", True), ("firing", False), ("firing", False), ("firing", False),
        ("firing", False), ("resolved", True),
    ]  # fmt: skip


def test_not_knowing_changes_nothing() -> None:
    assert states([(0, "unknown"), (1, "firing"), (2, "unknown")]) == [
        (None, False), ("firing", True), ("firing", False),
    ]  # fmt: skip


# ── rounds ────────────────────────────────────────────────────────────────────────────────


class World:
    """A store that fills hour by hour."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.rng, self.hour = archive, random.Random(3), 0

    @property
    def now(self) -> int:
        return START + self.hour * HOUR_MICROS

    def go(self, hours: int, *, bad: float = 0.0, failures: float = 0.0, n: int = 40, only: str = "b") -> None:  # fmt: skip
        """Hours of answers, each hour's within five minutes (fewer buckets to keep); `bad` is the share of bad ones of model `only`, `failures` that of judge failures."""
        some, scores = [], []
        for _ in range(hours):
            for k in range(n):
                model = self.rng.choice("ab")
                one = Interaction(
                    f"i{self.hour}-{k}", self.now + k * 5_000_000, f"How long is warranty {k}?",
                    answer="Two years.", meta={"model": model},
                )  # fmt: skip
                some.append(one)
                value = self.score()
                if model == only and self.rng.random() < bad:
                    value = 0.0
                # the judge fails on good answers: what is left looks worse than it is
                failed = self.rng.random() < (failures * 1.6 if value == 1 else failures * 0.3)
                score = Score(outcome="judge_error", reason="x") if failed else Score(value)
                scores.append(ScoredInteraction(one.id, {"faithfulness": score}))
            self.hour += 1
        self.archive.add(some).result()
        self.archive.save_scores(scores).result()

    def score(self) -> float:
        shape = self.rng.random()
        return 1.0 if shape < 0.55 else 0.0 if shape < 0.63 else self.rng.betavariate(4, 2)

    def watch(self, settings: Alerts = QUIET) -> dict[str, str]:
        return {
            one.rule: one.state for one in evaluate_alerts(self.archive, settings, self.now).open
        }


@pytest.fixture
def world(mostly_sqlite: str) -> Iterator[World]:
    store = Store.open(mostly_sqlite)
    yield World(Archive(store))
    store.close()


@pytest.fixture(scope="module")
def eight_days(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A SQLite store with eight usual days, and where the dice were then."""
    path = tmp_path_factory.mktemp("alerts") / "eight-days.db"
    store = Store.open(path)
    world = World(Archive(store))
    world.go(24 * 8)
    store.close()
    return path, world.rng.getstate()


@pytest.fixture
def after_eight_days(mostly_sqlite: str, eight_days: tuple[Path, Any]) -> Iterator[World]:
    """A world of its own after eight usual days; on SQLite they are copied, not lived again."""
    is_copied = not mostly_sqlite.startswith("postgresql")
    path, dice = eight_days
    if is_copied:
        shutil.copyfile(path, mostly_sqlite)
    store = Store.open(mostly_sqlite)
    world = World(Archive(store))
    if is_copied:
        world.hour = 24 * 8
        world.rng.setstate(dice)
    else:
        world.go(24 * 8)
    yield world
    store.close()


@pytest.fixture
def world_anywhere(place: str) -> Iterator[World]:
    """The world of the two tests that need most of what a round reads and writes."""
    store = Store.open(place)
    yield World(Archive(store))
    store.close()


def test_a_drop_fires_says_what_moved_and_is_resolved(world_anywhere: World) -> None:
    world = world_anywhere
    watched.measure(world.archive)
    world.go(24 * 8)
    assert world.watch() == {}
    world.go(8, bad=0.4)
    assert world.watch() == {"drop:faithfulness": "firing"}
    (alert,) = load_open_alerts(world.archive)
    facts = alert.facts
    assert facts["before"] == pytest.approx(0.797, abs=0.02)
    assert facts["change"] < -0.08
    assert abs(facts["since_us"] - (START + 24 * 8 * HOUR_MICROS)) <= 2 * HOUR_MICROS
    assert facts["part"]["field"] == "model"
    assert facts["part"]["value"] == "b"
    assert facts["part"]["explained"] > 0.5
    assert len(facts["examples"]) == 3
    assert all(one["value"] == 0 for one in facts["examples"])
    assert facts["advice"][0]["causes"]
    assert "faithfulness fell from 0.7" in alert.title
    assert "mostly where model is b" in alert.title
    world.go(1, bad=0.4)
    world.watch()
    (same,) = load_open_alerts(world.archive)
    assert same.id == alert.id
    assert same.facts["part"]["value"] == "b"
    world.go(30)
    assert world.watch() == {}
    assert [state for _, state in load_alert_events(world.archive, alert.id)][-2:] == [
        "firing",
        "resolved",
    ]
    assert [one.id for one in load_alerts_between(world.archive, START, world.now)] == [alert.id]
    status = load_status(world.archive)
    assert status is not None
    assert status.state == "ok"


def test_the_same_store_and_time_give_the_same_round(after_eight_days: World) -> None:
    world = after_eight_days
    world.go(8, bad=0.4)
    first = evaluate_alerts(world.archive, QUIET, world.now)
    again = evaluate_alerts(world.archive, QUIET, world.now)
    assert [(one.id, one.title) for one in again.open] == [
        (one.id, one.title) for one in first.open
    ]
    assert again.streams == first.streams


def test_a_day_without_data_is_no_data_and_no_degradation(after_eight_days: World) -> None:
    world = after_eight_days
    world.hour += 23
    assert world.watch() == {}
    world.hour += 2
    assert world.watch() == {"no_data": "no_data"}
    status = load_status(world.archive)
    assert status is not None
    assert status.state == "no_data"
    assert {stream.state for stream in status.streams} == {"no_data"}
    world.go(1)
    assert world.watch() == {}


def test_no_scores_while_interactions_come_in_is_said_of_the_metric(
    after_eight_days: World,
) -> None:
    world = after_eight_days
    for hour in range(26):
        late = Interaction(f"u{hour}", world.now + hour * HOUR_MICROS, "q", answer="a")
        world.archive.add([late]).result()
    world.hour += 26
    assert world.watch() == {"no_data:faithfulness": "no_data"}


def test_a_failing_judge_is_no_quality_alert(after_eight_days: World) -> None:
    world = after_eight_days
    for _ in range(12):
        world.go(1, failures=0.3)
        assert set(world.watch().values()) <= {"judge_failing"}
    assert world.watch() == {"judge_failing:faithfulness": "judge_failing"}
    status = load_status(world.archive)
    assert status is not None
    assert status.state == "judge_failing"


def test_a_reference_outlives_the_interactions_it_came_from(world: World) -> None:
    world.go(24 * 9)
    world.watch()
    world.archive.purge(before=START + 8 * DAY_MICROS)
    world.go(8, bad=0.4)
    assert world.watch() == {"drop:faithfulness": "firing"}


def test_before_the_reference_is_complete_it_is_learning(world: World) -> None:
    world.go(24 * 3)
    world.go(6, bad=0.5)
    status = evaluate_alerts(world.archive, QUIET, world.now)
    assert status.open == ()
    assert status.state == "learning"


def test_where_scores_are_few_the_reference_takes_longer(world: World) -> None:
    def go_sparsely(days: int, bad: float = 0.0) -> None:
        for _ in range(days * 4):
            world.go(1, n=2, bad=bad)
            world.hour += 5

    go_sparsely(8)
    assert evaluate_alerts(world.archive, QUIET, world.now).state == "learning"
    go_sparsely(6)
    assert evaluate_alerts(world.archive, QUIET, world.now).state == "ok"
    go_sparsely(10, bad=0.9)
    assert world.watch()["drop:faithfulness"] == "firing"


def test_a_threshold_fires_after_its_hold(world_anywhere: World) -> None:
    world = world_anywhere
    settings = Alerts(
        questions=False, window="2h", thresholds=(parse_threshold("faithfulness < 0.6"),)
    )
    world.go(2, bad=0.8, only="b")
    world.go(1, bad=0.9, only="a")
    world.go(1, bad=1.0)
    assert world.watch(settings).get("threshold:faithfulness < 0.6") == "pending"
    evaluate_alerts(world.archive, settings, world.now + 10 * MINUTE)
    (alert,) = load_open_alerts(world.archive)
    assert alert.state == "firing"
    assert "alert when faithfulness < 0.6" in alert.title
    assert len(alert.facts["examples"]) == 3


def test_an_alert_of_a_rule_that_is_gone_does_not_stay_for_ever(world: World) -> None:
    settings = Alerts(
        questions=False, hold="1s", thresholds=(parse_threshold("faithfulness < 0.9"),)
    )
    world.go(1)
    evaluate_alerts(world.archive, settings, world.now)
    evaluate_alerts(world.archive, settings, world.now + 2_000_000)
    assert [alert.state for alert in load_open_alerts(world.archive)] == ["firing"]
    world.go(1)
    world.watch()
    evaluate_alerts(world.archive, QUIET, world.now + 23 * HOUR_MICROS)
    assert len(load_open_alerts(world.archive)) == 1
    evaluate_alerts(world.archive, replace(QUIET, no_data="30d"), world.now + 25 * HOUR_MICROS)
    assert load_open_alerts(world.archive) == []


def test_what_is_told_waits_in_the_outbox_for_every_channel(after_eight_days: World) -> None:
    world = after_eight_days
    settings = replace(QUIET, channels=(Channel("log"), Channel("file", "/nowhere/a.jsonl")))
    world.go(8, bad=0.4)
    world.watch(settings)
    world.watch(settings)
    rows = world.archive.store.read("SELECT channel FROM monitor_outbox ORDER BY channel")
    assert len(rows) == 2
