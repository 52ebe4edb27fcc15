"""Windows: figures of any stretch of time, and roll-ups that equal a recomputation from scratch whatever comes late."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.errors import DataError
from ragstone.monitor.archive import Archive, Scored
from ragstone.monitor.cells import Cell
from ragstone.monitor.interactions import Feedback, Interaction, to_micros
from ragstone.monitor.rollups import DAY, SPANS, load, raw, refresh
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows import between, bounds, duration, periods, series, summary
from ragstone.store import Store
from ragstone.types import Score

START = to_micros(datetime(2026, 5, 1, tzinfo=UTC))
MINUTE = 60_000_000


def interaction(number: int, at: int, **more: Any) -> Interaction:
    return Interaction(id=f"i{number}", at=at, question="q", answer="a", **more)


def fill(archive: Archive, count: int, step: int = MINUTE, **more: Any) -> None:
    """One interaction a step, with scores 0, 0.5, 1 in turn and models `a` and `b` in turn."""
    some = [
        interaction(n, START + n * step, latency=n % 7 + 1.0, cost=0.01, meta={"model": "ab"[n % 2]}, **more)
        for n in range(count)
    ]  # fmt: skip
    archive.add(some).result()
    archive.save_scores(
        [Scored(one.id, {"faithfulness": Score(n % 3 / 2)}) for n, one in enumerate(some)]
    ).result()


@pytest.fixture
def archive(place: str) -> Any:
    store = Store.open(place)
    yield Archive(store)
    store.close()


def test_a_window_counts_what_lies_in_it_to_the_microsecond(archive: Archive) -> None:
    fill(archive, 300)
    found = between(archive, START + 7 * MINUTE, START + 200 * MINUTE + 1).whole
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
    found = summary(archive, "4h", until=START + 240 * MINUTE, by="model")
    assert [(one.value, one.interactions) for one in found.slices] == [("a", 120), ("b", 120)]
    only = between(archive, START, START + 240 * MINUTE, where=("model", "a")).whole
    assert only.metrics["faithfulness"].mean == pytest.approx(
        statistics.fmean(n % 3 / 2 for n in range(0, 240, 2))
    )


def test_a_field_with_a_value_for_each_user_can_still_be_asked_for(archive: Archive) -> None:
    some = [interaction(n, START + n, meta={"user": f"u{n}"}) for n in range(100)]
    archive.add(some).result()
    found = between(archive, START - HOUR, START + DAY, by="user")
    assert len(found.slices) == 100
    assert load(archive, HOUR, START, START + HOUR, "user") == {START: None}


def test_weights_make_the_mean_stand_for_all_interactions(archive: Archive) -> None:
    some = [interaction(n, START + n) for n in range(4)]
    archive.add(some).result()
    archive.save_scores(
        [
            Scored("i0", {"faithfulness": Score(1.0)}, weight=3.0),
            Scored("i1", {"faithfulness": Score(0.0)}, weight=1.0),
            Scored("i2", {"faithfulness": Score(0.0)}, drawn=False),
            Scored("i3", {"faithfulness": Score(outcome="judge_error", reason="x")}),
        ]
    ).result()
    figure = between(archive, START, START + HOUR).whole.metrics["faithfulness"]
    assert figure.mean == pytest.approx(0.6)
    assert (figure.scored, figure.extra, figure.applicable) == (3, 1, 4)
    assert figure.coverage == pytest.approx(3 / 4)


def test_a_trend_has_the_slope_of_the_means_and_an_interval(archive: Archive) -> None:
    some = [interaction(n, START + n * HOUR // 4) for n in range(96)]
    archive.add(some).result()
    archive.save_scores(
        [
            Scored(one.id, {"faithfulness": Score(0.9 - 0.2 * n / 96 + 0.01 * (n % 2))})
            for n, one in enumerate(some)
        ]
    ).result()
    trend = between(archive, START, START + DAY).whole.metrics["faithfulness"].trend
    assert trend is not None
    assert trend.moving
    assert trend.slope == pytest.approx(-0.2, abs=0.005)
    assert trend.low < -0.2 < trend.high


def test_days_of_a_zone_have_23_and_25_hours_when_clocks_change() -> None:
    since = to_micros(datetime(2026, 3, 28, 12, tzinfo=UTC))
    lengths = [
        (stop - start) // HOUR for start, stop in bounds("day", since, since + 3 * DAY, "Europe/Madrid")
    ]  # fmt: skip
    assert lengths == [24, 23, 24, 24]
    months = list(bounds("month", since, since + 40 * DAY))
    assert [stop - start for start, stop in months] == [31 * DAY, 30 * DAY, 31 * DAY]
    weeks = list(bounds("week", since, since + DAY))
    assert [datetime.fromtimestamp(start / 1e6, UTC).weekday() for start, _ in weeks] == [0]


def test_periods_and_series_add_up_to_the_whole(archive: Archive) -> None:
    fill(archive, 200, step=20 * MINUTE)
    days = periods(archive, "day", START, START + 200 * 20 * MINUTE, zone="Asia/Kolkata")
    assert sum(one.interactions for one in days) == 200
    steps = series(archive, START, START + 200 * 20 * MINUTE, HOUR)
    assert [one.interactions for one in steps] == [3] * 66 + [2]
    assert steps[0].metrics["faithfulness"].mean == 0.5


def test_an_empty_window_says_so_and_invents_nothing(archive: Archive) -> None:
    found = summary(archive, "7d", until=START).whole
    assert found.interactions == 0
    assert found.metrics == {}
    assert found.latency is None


@pytest.mark.parametrize("text", ["", "7", "5 years", "-1h", "0s", "h"])
def test_what_is_no_duration_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(DataError, match="write 5m"):
        duration(text)


def test_durations_are_read_in_every_unit() -> None:
    assert [duration(text) // 1_000_000 for text in ("90s", "5m", "1.5h", "7d", "2w")] == [
        90, 300, 5400, 604800, 1209600,
    ]  # fmt: skip


# ── roll-ups against a recomputation from scratch ─────────────────────────────────────────

OFFSETS = st.integers(0, 3 * 24 * 60).map(lambda minutes: minutes * MINUTE // 2)
CHANGE = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 40), OFFSETS, st.sampled_from("abc")),
    st.tuples(st.just("feedback"), st.integers(0, 40), st.sampled_from([0.0, 0.5, 1.0])),
    st.tuples(st.just("score"), st.integers(0, 40), st.sampled_from([0.0, 0.25, 1.0, None]), st.booleans()),
    st.tuples(st.just("purge"), st.integers(0, 40)),
    st.tuples(st.just("refresh")),
)  # fmt: skip


def apply(archive: Archive, change: tuple[Any, ...], clock: int) -> None:
    match change:
        case ("add", number, offset, model):
            meta = {"model": model, "odd": bool(number % 2)}
            one = interaction(number, START + offset, latency=number / 3 + 0.1, meta=meta)
            archive.add([one]).result()
        case ("feedback", number, value):
            archive.add_feedback([Feedback(f"i{number}", START + clock, value)]).result()
        case ("score", number, value, drawn):
            score = Score(value) if value is not None else Score(outcome="judge_error", reason="x")
            archive.save_scores(
                [Scored(f"i{number}", {"faithfulness": score}, drawn, 1.0 + number % 3)]
            ).result()
        case ("purge", number):
            archive.purge(ids=[f"i{number}"])
        case _:
            refresh(archive)


def rounded(cell: Cell) -> Any:
    return [
        {k: round(v, 9) for k, v in part.items()} if isinstance(part, dict)
        else round(part, 9) if isinstance(part, float) else part
        for part in [*cell.dump(), cell.bins]
    ]  # fmt: skip


def rolled_up_equals_scratch(archive: Archive) -> None:
    refresh(archive)
    for span in SPANS:
        for field in ("", "model", "odd"):
            kept = load(archive, span, START - DAY, START + 5 * DAY, field, bins=True)
            for at in range(START, START + 4 * DAY, span):
                if at not in kept and span != HOUR:  # the last day is not added up while it grows
                    continue
                scratch = raw(archive, at, at + span, [field]).get(field, {})
                found = kept.get(at) or {}
                assert {
                    value: {name: rounded(cell) for name, cell in cells.items()}
                    for value, cells in found.items()
                } == {
                    value: {name: rounded(cell) for name, cell in cells.items()}
                    for value, cells in scratch.items()
                }
    assert archive.store.read("SELECT COUNT(*) FROM monitor_dirty")[0][0] == 0


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=st.lists(CHANGE, min_size=5, max_size=40))
def test_roll_ups_equal_a_recomputation_from_scratch(
    archive: Archive, changes: list[tuple[Any, ...]]
) -> None:
    archive.purge(ids=[f"i{n}" for n in range(41)])
    for clock, change in enumerate(changes):
        apply(archive, change, clock)
    rolled_up_equals_scratch(archive)


def test_a_refresher_that_comes_second_leaves_the_fresher_cells_alone(archive: Archive) -> None:
    """The first reads before a change, the second after it; whoever writes last must not bring the old state back."""
    from ragstone.monitor import rollups

    archive.add([interaction(1, START)]).result()
    marks = {START: [n for (n,) in archive.store.read("SELECT number FROM monitor_dirty")]}
    stale = rollups._buckets(archive, START, START + SPANS[0])
    archive.add([interaction(2, START + 1)]).result()
    refresh(archive)
    before = rollups._buckets
    try:
        rollups._buckets = lambda *_: stale  # type: ignore[assignment]
        assert rollups._recompute(archive, marks) == 0
    finally:
        rollups._buckets = before
    assert between(archive, START, START + HOUR).whole.interactions == 2
