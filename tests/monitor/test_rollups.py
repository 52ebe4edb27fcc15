"""Roll-ups equal a recomputation from scratch whatever comes late, changes or is purged, on both stores."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import StoreError
from ragstone.monitor import rollups
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Feedback
from ragstone.monitor.rollups import COLUMNS, refresh
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.statistics import Window
from ragstone.monitor.windows.summary import summarise_between, summarise_periods, summarise_steps
from ragstone.store import Store
from ragstone.types import Score
from windowed import MINUTE, START, fill, interaction

OFFSETS = st.integers(0, 3 * 24 * 60).map(lambda minutes: minutes * MINUTE // 2)
CHANGE = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 40), OFFSETS, st.sampled_from("abc")),
    st.tuples(st.just("feedback"), st.integers(0, 40), st.sampled_from([0.0, 0.5, 1.0])),
    st.tuples(st.just("score"), st.integers(0, 40), st.sampled_from([0.0, 0.25, 1.0, None]), st.booleans()),
    st.tuples(st.just("purge"), st.integers(0, 40)),
    st.tuples(st.just("refresh")),
)  # fmt: skip


@pytest.fixture
def archive(place: str) -> Any:
    store = Store.open(place)
    yield Archive(store)
    store.close()


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
                [ScoredInteraction(f"i{number}", {"faithfulness": score}, drawn, 1.0 + number % 3)]
            ).result()
        case ("purge", number):
            archive.purge(ids=[f"i{number}"])
        case _:
            refresh(archive)


class Plain:
    """Cells worked out from the interactions one by one, with nothing but sums: what roll-ups must come to."""

    def __init__(self, archive: Archive) -> None:
        weights = {
            (id, metric): (weight, drawn)
            for id, metric, weight, drawn in archive.store.read(
                "SELECT i.id, s.metric, s.weight, s.drawn FROM monitor_scores s"
                " JOIN interactions i ON i.number = s.number"
            )
        }
        self.values: list[tuple[int, dict[str, str], str, float | None, float, str]] = []
        """Time, slices, series, value, weight, outcome."""
        for one in archive.interactions():
            slices = {"": "", **one.slices}
            told = {":latency": one.latency, ":feedback": one.feedback}
            for name, value in told.items():
                if value is not None:
                    self.values.append((one.at, slices, name, value, 1.0, "ok"))
            for metric, score in archive.scores(one.id).items():
                weight = weights[one.id, metric][0]
                self.values.append((one.at, slices, metric, score.value, weight, score.outcome))

    def figures(self, since: int, until: int, field: str) -> dict[str, dict[str, list[Any]]]:
        """Value → series → count, weighted mean, least, largest, failures."""
        found: dict[str, dict[str, list[Any]]] = {}
        for value, name in sorted({(s[field], n) for _, s, n, *_ in self.values if field in s}):
            some = [
                (x, w, o)
                for at, slices, series, x, w, o in self.values
                if since <= at < until and slices.get(field) == value and series == name
            ]
            known = [(x, w) for x, w, _ in some if x is not None]
            if some:
                mean = sum(x * w for x, w in known) / sum(w for _, w in known) if known else None
                found.setdefault(value, {})[name] = [
                    len(known),
                    mean if mean is None else pytest.approx(mean),
                    min((x for x, _ in known), default=None),
                    max((x for x, _ in known), default=None),
                    len(some) - len(known),
                ]
        return found


def cells_of(window: Window) -> dict[str, list[Any]]:
    figures = {":feedback": window.feedback, ":latency": window.latency, **window.metrics}
    return {
        name: [one.scored, one.mean, one.minimum, one.maximum, sum(one.outcomes.values())]
        for name, one in figures.items()
        if one is not None
    }


def as_from_scratch(archive: Archive) -> None:
    """Windows of every size, also in the middle of buckets and of days elsewhere, as if no roll-up had ever been."""
    plain = Plain(archive)
    interactions = [one.at for one in archive.interactions()]
    end = START + 4 * DAY_MICROS
    stretches = [
        (START, end),
        (START + 7 * MINUTE + 1, end - 5 * HOUR_MICROS - 3),
        (START + DAY_MICROS, START + 2 * DAY_MICROS),
        (START + 30 * HOUR_MICROS + 1, START + 30 * HOUR_MICROS + 20 * MINUTE),
        # made of days, with hours and rows at both ends
        (START - 25 * DAY_MICROS, START + 2 * DAY_MICROS + 5 * HOUR_MICROS + 1),
    ]
    for since, until in stretches:
        for field in ("model", "odd"):
            summary = summarise_between(archive, since, until, by=field)
            assert summary.whole.interactions == sum(since <= at < until for at in interactions)
            assert cells_of(summary.whole) == plain.figures(since, until, "").get("", {})
            slices = {one.value: cells_of(one) for one in summary.slices}
            expected = plain.figures(since, until, field)
            assert {value: cells for value, cells in slices.items() if cells} == expected
    for one in summarise_periods(archive, "day", START, end, zone="Europe/Madrid"):
        assert cells_of(one) == plain.figures(one.since, one.until, "").get("", {})
    for one in summarise_steps(archive, START, end, 6 * HOUR_MICROS, where=("model", "a")):
        assert cells_of(one) == plain.figures(one.since, one.until, "model").get("a", {})
    refresh(archive)
    assert archive.store.read("SELECT COUNT(*) FROM monitor_dirty")[0][0] == 0


def stored(archive: Archive) -> list[tuple[Any, ...]]:
    """Every row of the table, without what only rounding changes."""
    rows = archive.store.read(
        f"SELECT field, bucket, value, metric, {COLUMNS} FROM monitor_rollups"
        " ORDER BY field, bucket, value, metric"
    )
    return [
        (
            *(round(x, 9) if isinstance(x, float) else x for x in row[:-2]),
            *map(json.loads, row[-2:]),
        )
        for row in rows
    ]


def test_roll_ups_equal_a_recomputation_from_scratch(place: str, tmp_path: Path) -> None:
    """Whatever came late, changed or was purged, in whatever order, and wherever a refresh came between."""
    numbers = itertools.count()

    @settings(max_examples=12, deadline=None)
    @given(changes=st.lists(CHANGE, min_size=5, max_size=40))
    def check(changes: list[tuple[Any, ...]]) -> None:
        store = Store.open(place)
        try:
            archive = Archive(store)
            archive.purge(ids=[f"i{n}" for n in range(41)])
            for clock, change in enumerate(changes):
                apply(archive, change, clock)
            as_from_scratch(archive)
            refresh(archive)
            kept = stored(archive)
            # the same once more, all at once
            fresh = Archive(Store.open(tmp_path / f"{next(numbers)}.db"))
            copied(archive, fresh)
            refresh(fresh)
            assert stored(fresh) == kept
            fresh.store.close()
        finally:
            store.close()

    check()


def copied(source: Archive, target: Archive) -> None:
    """Interactions, feedback and scores, in one go."""
    some = list(source.interactions(order="oldest"))
    target.add(some).result()
    rows = source.store.read(
        "SELECT i.id, s.metric, s.weight, s.drawn FROM monitor_scores s"
        " JOIN interactions i ON i.number = s.number"
    )
    target.save_scores(
        [
            ScoredInteraction(id, {metric: source.scores(id)[metric]}, bool(drawn), weight)
            for id, metric, weight, drawn in rows
        ]
    ).result()


def test_the_table_can_be_asked_with_sql(archive: Archive) -> None:
    """The columns of docs/store.md."""
    fill(archive, 120)
    refresh(archive)
    rows = archive.store.read(
        "SELECT bucket, value, n, total / weights, lowest, highest FROM monitor_rollups"
        " WHERE field = 'model' AND metric = 'faithfulness' ORDER BY bucket, value"
    )
    assert rows == [
        (START + hour * HOUR_MICROS, model, 30, 0.5, 0.0, 1.0)
        for hour in range(2)
        for model in "ab"
    ]
    ((body,),) = archive.store.read(
        "SELECT histogram FROM monitor_rollups WHERE field = '' AND metric = 'faithfulness' AND bucket = ?",
        (START,),
    )
    assert json.loads(body) == {"0": 20, "0.5": 20, "1": 20}


def test_percentiles_of_roll_ups_are_within_a_hundredth(archive: Archive) -> None:
    rng = random.Random(3)
    values = [rng.lognormvariate(0, 1) for _ in range(3000)]
    step = 5 * HOUR_MICROS // 3000
    archive.add(
        [interaction(n, START + n * step, latency=x) for n, x in enumerate(values)]
    ).result()
    latency = summarise_between(archive, START, START + 5 * HOUR_MICROS).whole.latency
    assert latency is not None
    for name, share in (("p5", 0.05), ("p50", 0.5), ("p95", 0.95)):
        exact = sorted(values)[round(share * len(values)) - 1]
        assert latency.percentiles[name] == pytest.approx(exact, rel=0.0101)


def test_the_comparison_with_scratch_sees_a_wrong_roll_up(archive: Archive) -> None:
    fill(archive, 50)
    refresh(archive)
    as_from_scratch(archive)
    archive.run(
        lambda db: db.execute("UPDATE monitor_rollups SET n = n + 1 WHERE metric = 'faithfulness'")
    ).result()
    with pytest.raises(AssertionError):
        as_from_scratch(archive)


def test_a_refresher_that_comes_second_leaves_the_fresher_cells_alone(archive: Archive) -> None:
    """The first reads before a change, the second after it; whoever writes last must not bring the old state back."""
    archive.add([interaction(1, START)]).result()
    marks = {START: [n for (n,) in archive.store.read("SELECT number FROM monitor_dirty")]}
    stretch = START, START + HOUR_MICROS
    stale = list(rollups._query_rows(archive, rollups.BETWEEN, stretch, HOUR_MICROS))
    assert stale
    archive.add([interaction(2, START + 1)]).result()
    refresh(archive)
    assert rollups._replace_hours(archive, marks, stale) == 0
    assert summarise_between(archive, START, START + HOUR_MICROS).whole.interactions == 2


MONTH = START - 2 * DAY_MICROS, START + 28 * DAY_MICROS


def count_days(archive: Archive, field: str) -> int:
    sql = "SELECT COUNT(DISTINCT bucket) FROM monitor_rollups_daily WHERE field = ?"
    return int(archive.store.read(sql, (field,))[0][0])


def test_days_have_the_percentiles_and_outcomes_of_their_hours(archive: Archive) -> None:
    fill(archive, 300, step=HOUR_MICROS // 3)
    failed = Score(outcome="judge_error", reason="away")
    archive.save_scores([ScoredInteraction("i7", {"faithfulness": failed})]).result()
    month = summarise_between(archive, *MONTH, by="model")
    assert count_days(archive, "model") == 5
    # a window of days in hourly steps holds the same interactions
    hourly = summarise_between(archive, START, START + 6 * DAY_MICROS, by="model")
    for days, hours in zip(
        [month.whole, *month.slices], [hourly.whole, *hourly.slices], strict=True
    ):
        for name in ("metrics", "latency", "cost"):
            one, other = getattr(days, name), getattr(hours, name)
            one, other = (x["faithfulness"] if name == "metrics" else x for x in (one, other))
            assert one.percentiles == other.percentiles
            assert (one.outcomes, one.scored) == (other.outcomes, other.scored)
            assert (one.mean, one.low, one.high) == pytest.approx(
                (other.mean, other.low, other.high)
            )
    # asked again, they come from the days
    archive.run(lambda db: db.execute("UPDATE monitor_rollups_daily SET n = n + 1")).result()
    assert summarise_between(archive, *MONTH).whole.interactions == 300 + 5


def test_a_replaced_hour_drops_its_day_and_no_other(archive: Archive) -> None:
    fill(archive, 72, step=HOUR_MICROS)
    summarise_between(archive, *MONTH, by="model")
    archive.add([interaction(99, START + 30 * HOUR_MICROS, meta={"model": "a"})]).result()
    refresh(archive)
    assert count_days(archive, "model") == count_days(archive, "") == 2
    assert [one.interactions for one in summarise_between(archive, *MONTH, by="model").slices] == [
        37,
        36,
    ]
    assert count_days(archive, "model") == 3


def test_a_day_with_a_crowded_hour_is_read_by_the_hour(archive: Archive) -> None:
    fill(archive, 48, step=HOUR_MICROS)
    crowd = [interaction(n, START + n, meta={"model": f"m{n % 100}"}) for n in range(100, 400)]
    archive.add(crowd).result()
    whole = summarise_between(archive, *MONTH, where=("model", "m7")).whole
    assert whole.interactions == 3
    assert summarise_between(archive, *MONTH, where=("model", "a")).whole.interactions == 24
    assert count_days(archive, "model") == 1


def test_hours_replaced_while_a_day_is_summed_leave_no_old_day(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(archive, 24, step=HOUR_MICROS)
    refresh(archive)
    encode = rollups._encode_cell

    def add_late(cell: rollups.RollupCell) -> Any:
        monkeypatch.setattr(rollups, "_encode_cell", encode)
        archive.add([interaction(99, START + 1)]).result()
        refresh(archive)
        return encode(cell)

    monkeypatch.setattr(rollups, "_encode_cell", add_late)
    summarise_between(archive, *MONTH)
    assert summarise_between(archive, *MONTH).whole.interactions == 25


def test_a_store_that_cannot_be_written_is_read_by_the_hour(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(archive, 24, step=HOUR_MICROS)
    refresh(archive)

    def refuse(write: Any) -> Any:
        raise StoreError("cannot write")

    monkeypatch.setattr(archive, "run", refuse)
    assert summarise_between(archive, *MONTH).whole.interactions == 24
    assert count_days(archive, "") == 0
