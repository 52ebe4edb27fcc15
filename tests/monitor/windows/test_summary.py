"""Windows: figures of any stretch of time, whole and by slice."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from typing import Any

import pytest

from ragstone.config.durations import parse_duration
from ragstone.errors import DataError
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import to_micros
from ragstone.monitor.rollups import is_crowded
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import iter_periods
from ragstone.monitor.windows.summary import (
    summarise_between,
    summarise_periods,
    summarise_steps,
    summarise_window,
)
from ragstone.store import Store
from ragstone.types import Score
from windowed import MINUTE, START, fill, interaction


@pytest.fixture
def archive(place: str) -> Any:
    store = Store.open(place)
    yield Archive(store)
    store.close()


def test_a_window_counts_what_lies_in_it_to_the_microsecond(archive: Archive) -> None:
    fill(archive, 300)
    found = summarise_between(archive, START + 7 * MINUTE, START + 200 * MINUTE + 1).whole
    assert found.interactions == 194
    figure = found.metrics["faithfulness"]
    values = [n % 3 / 2 for n in range(7, 201)]
    assert figure.scored == 194
    assert figure.mean == pytest.approx(statistics.fmean(values))
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low < statistics.fmean(values) < figure.high
    assert figure.percentiles["p50"] == 0.5
    assert found.cost is not None
    assert found.cost.total == pytest.approx(1.94)
    assert found.latency is not None
    assert found.latency.percentiles["p50"] == pytest.approx(4, rel=0.02)


def test_slices_are_windows_of_their_own(archive: Archive) -> None:
    fill(archive, 240)
    summary = summarise_window(archive, "4h", until=START + 240 * MINUTE, by="model")
    assert [(one.value, one.interactions) for one in summary.slices] == [("a", 120), ("b", 120)]
    only = summarise_between(archive, START, START + 240 * MINUTE, where=("model", "a")).whole
    assert only.metrics["faithfulness"].mean == pytest.approx(
        statistics.fmean(n % 3 / 2 for n in range(0, 240, 2))
    )


def test_a_field_with_a_value_for_each_user_can_still_be_asked_for(archive: Archive) -> None:
    some = [interaction(n, START + n, meta={"user": f"u{n}"}) for n in range(100)]
    archive.add(some).result()
    summary = summarise_between(archive, START - HOUR_MICROS, START + DAY_MICROS, by="user")
    assert len(summary.slices) == 100
    assert summary.more == 0
    assert is_crowded(archive, "user", START, START + HOUR_MICROS)
    few = summarise_between(
        archive, START - HOUR_MICROS, START + DAY_MICROS, by="user", max_slices=7
    )
    assert (len(few.slices), few.more) == (7, 93)
    one = summarise_between(
        archive, START - HOUR_MICROS, START + DAY_MICROS, where=("user", "u42")
    ).whole
    assert one.interactions == 1


def test_an_id_is_no_slice_and_can_still_be_asked_for(archive: Archive) -> None:
    """Nearly every interaction has a value of its own: nothing of it is kept, it is read from the rows."""
    step = HOUR_MICROS // 1500
    some = [interaction(n, START + n * step, meta={"request": f"r{n}"}) for n in range(3000)]
    some += [interaction(3000, START + 10 * step, meta={"request": "r7"})]
    archive.add(some).result()
    summary = summarise_between(archive, START - HOUR_MICROS, START + 3 * DAY_MICROS, by="request")
    assert [(one.value, one.interactions) for one in summary.slices[:2]] == [("r7", 2), ("r0", 1)]
    assert (len(summary.slices), summary.more) == (200, 2800)
    rows = archive.store.read("SELECT DISTINCT metric FROM monitor_rollups WHERE field = 'request'")
    assert rows == [(":many",)]
    late = interaction(3001, START + 20 * step, meta={"request": "r7"})
    archive.add([late]).result()
    whose = summarise_between(archive, START, START + DAY_MICROS, where=("request", "r7")).whole
    assert whose.interactions == 3


def test_a_field_with_thousands_of_values_can_be_asked_for(archive: Archive) -> None:
    some = [
        interaction(
            n, START + n * HOUR_MICROS // 100, latency=1.0 + n, meta={"user": f"u{n * 7 % 1100}"}
        )
        for n in range(4000)
    ]
    archive.add(some).result()
    summary = summarise_between(
        archive, START, START + 40 * HOUR_MICROS, by="user", max_slices=5000
    )
    assert len(summary.slices) == 1100
    assert {one.interactions for one in summary.slices} == {3, 4}
    latencies = sorted(one.latency.total for one in summary.slices if one.latency is not None)
    expected: dict[int, list[float]] = {}
    for n in range(4000):
        expected.setdefault(n * 7 % 1100, []).append(1.0 + n)
    assert latencies == pytest.approx(sorted(sum(some) for some in expected.values()))


def test_weights_make_the_mean_stand_for_all_interactions(archive: Archive) -> None:
    some = [interaction(n, START + n) for n in range(4)]
    archive.add(some).result()
    archive.save_scores(
        [
            ScoredInteraction("i0", {"faithfulness": Score(1.0)}, weight=3.0),
            ScoredInteraction("i1", {"faithfulness": Score(0.0)}, weight=1.0),
            ScoredInteraction("i2", {"faithfulness": Score(0.0)}, drawn=False),
            ScoredInteraction("i3", {"faithfulness": Score(outcome="judge_error", reason="x")}),
        ]
    ).result()
    figure = summarise_between(archive, START, START + HOUR_MICROS).whole.metrics["faithfulness"]
    assert figure.mean == pytest.approx(0.6)
    assert (figure.scored, figure.extra, figure.applicable) == (3, 1, 4)
    assert figure.coverage == pytest.approx(3 / 4)


def test_a_trend_has_the_slope_of_the_means_and_an_interval(archive: Archive) -> None:
    some = [interaction(n, START + n * HOUR_MICROS // 4) for n in range(96)]
    archive.add(some).result()
    archive.save_scores(
        [
            ScoredInteraction(one.id, {"faithfulness": Score(0.9 - 0.2 * n / 96 + 0.01 * (n % 2))})
            for n, one in enumerate(some)
        ]
    ).result()
    trend = (
        summarise_between(archive, START, START + DAY_MICROS).whole.metrics["faithfulness"].trend
    )
    assert trend is not None
    assert trend.is_moving
    assert trend.slope == pytest.approx(-0.2, abs=0.005)
    assert trend.low < -0.2 < trend.high


def test_days_of_a_zone_have_23_and_25_hours_when_clocks_change() -> None:
    since = to_micros(datetime(2026, 3, 28, 12, tzinfo=UTC))
    lengths = [
        (stop - start) // HOUR_MICROS for start, stop in iter_periods("day", since, since + 3 * DAY_MICROS, "Europe/Madrid")
    ]  # fmt: skip
    assert lengths == [24, 23, 24, 24]
    months = list(iter_periods("month", since, since + 40 * DAY_MICROS))
    assert [stop - start for start, stop in months] == [
        31 * DAY_MICROS,
        30 * DAY_MICROS,
        31 * DAY_MICROS,
    ]
    weeks = list(iter_periods("week", since, since + DAY_MICROS))
    assert [datetime.fromtimestamp(start / 1e6, UTC).weekday() for start, _ in weeks] == [0]


def test_periods_and_series_add_up_to_the_whole(archive: Archive) -> None:
    fill(archive, 200, step=20 * MINUTE)
    days = summarise_periods(archive, "day", START, START + 200 * 20 * MINUTE, zone="Asia/Kolkata")
    assert sum(day.interactions for day in days) == 200
    steps = summarise_steps(archive, START, START + 200 * 20 * MINUTE, HOUR_MICROS)
    assert [step.interactions for step in steps] == [3] * 66 + [2]
    assert steps[0].metrics["faithfulness"].mean == 0.5


def test_an_empty_window_says_so_and_invents_nothing(archive: Archive) -> None:
    found = summarise_window(archive, "7d", until=START).whole
    assert found.interactions == 0
    assert found.metrics == {}
    assert found.latency is None


@pytest.mark.parametrize("text", ["", "7", "5 years", "-1h", "0s", "h"])
def test_what_is_no_duration_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(DataError, match="write 5m"):
        parse_duration(text)


def test_durations_are_read_in_every_unit() -> None:
    assert [parse_duration(text) // 1_000_000 for text in ("90s", "5m", "1.5h", "7d", "2w")] == [
        90, 300, 5400, 604800, 1209600,
    ]  # fmt: skip
