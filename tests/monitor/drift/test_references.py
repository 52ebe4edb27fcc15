"""Reference periods as they are saved: when they are, and what makes them be learned again."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ragstone.config.alerts import Alerts
from ragstone.monitor.alerts.basis_text import describe_value_change
from ragstone.monitor.alerts.evaluation import evaluate_alerts
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.drift.references import (
    FORMAT,
    load_references,
    load_value_change,
    note_value_version,
    reset_references,
)
from ragstone.monitor.interactions import Interaction, to_micros
from ragstone.monitor.state import save_state
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.store import Store
from ragstone.types import Score

START = to_micros(datetime(2026, 5, 1, tzinfo=UTC))
SETTINGS = Alerts(reference="4d", questions=False, thresholds=(), slices=())
RULE = "drop:faithfulness"


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    store = Store.open(tmp_path / "m.db")
    yield Archive(store)
    store.close()


def fill(archive: Archive, days: int) -> None:
    """Usual hours of eight scores each."""
    rng = random.Random(3)
    asked = [
        Interaction(
            f"i{hour}-{k}", START + hour * HOUR_MICROS + k, "How long?", answer="Two years."
        )
        for hour in range(days * 24)
        for k in range(8)
    ]
    archive.add(asked).result()
    archive.save_scores(
        [ScoredInteraction(item.id, {"faithfulness": Score(rng.random())}) for item in asked]
    ).result()


def test_a_reference_is_saved_a_day_after_its_half_and_whole_a_day_after_its_end(
    archive: Archive,
) -> None:
    fill(archive, 5)
    is_whole = []
    for hours in (3 * 24 - 1, 3 * 24, 5 * 24 - 1, 5 * 24):
        evaluate_alerts(archive, SETTINGS, START + hours * HOUR_MICROS)
        saved = load_references(archive, SETTINGS)
        is_whole.append(saved[RULE]["whole"] if RULE in saved else None)
    assert is_whole == [None, False, False, True]


def test_a_reset_forgets_what_was_saved_and_learns_from_then_on(archive: Archive) -> None:
    fill(archive, 5)
    now = START + 5 * DAY_MICROS
    assert evaluate_alerts(archive, SETTINGS, now).state == "ok"
    assert RULE in load_references(archive, SETTINGS)
    reset_references(archive, now)
    assert load_references(archive, SETTINGS) == {"from": now, "format": FORMAT}
    assert evaluate_alerts(archive, SETTINGS, now).state == "learning"


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, {"spec", "format", "from", RULE}),
        ({"spec": "14d"}, set()),
        ({"format": FORMAT - 1}, {"from"}),
    ],
)
def test_references_of_another_period_or_layout_are_not_used(
    archive: Archive, change: dict[str, Any], kept: set[str]
) -> None:
    """The time of a reset stays when only the layout is old: it is what the user asked for."""
    saved = {"spec": SETTINGS.reference, "format": FORMAT, "from": START, RULE: {}, **change}
    archive.run(lambda db: save_state(db, "reference", json.dumps(saved), START)).result()
    assert set(load_references(archive, SETTINGS)) == kept


def test_a_change_of_values_begins_a_new_reference_and_is_marked(archive: Archive) -> None:
    """Scores that counted verdicts are no reference for sums of probabilities; text metrics keep theirs."""
    fill(archive, 5)
    now = START + 5 * DAY_MICROS
    assert evaluate_alerts(archive, SETTINGS, now).state == "ok"
    note_value_version(archive, ["faithfulness"], now)
    status = evaluate_alerts(archive, SETTINGS, now)
    assert [stream.state for stream in status.streams] == ["learning"]
    assert status.streams[0].values_since_us == now
    assert "2026-05-06" in describe_value_change(status.streams[0], "en")
    note_value_version(archive, ["faithfulness"], now + DAY_MICROS)  # said once
    assert load_value_change(archive)[0] == now


def test_an_archive_without_older_scores_has_no_change_of_values(archive: Archive) -> None:
    note_value_version(archive, ["faithfulness"], START)
    fill(archive, 5)
    assert evaluate_alerts(archive, SETTINGS, START + 5 * DAY_MICROS).state == "ok"
