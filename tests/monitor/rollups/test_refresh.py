"""Roll-ups equal a recomputation from scratch whatever comes late, changes or is purged, on both stores."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Feedback
from ragstone.monitor.rollups.merge import BINS, SPANS_MICROS, SUMS
from ragstone.monitor.rollups.refresh import load_cells, read_bodies, refresh
from ragstone.monitor.rollups.table_stack import TableStack
from ragstone.monitor.rollups.tables import COLUMNS, encode_histograms, encode_table
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


def stored(archive: Archive) -> dict[tuple[Any, ...], Any]:
    """Everything that is kept, without what only rounding changes."""
    found = {}
    for span in SPANS_MICROS:
        for field in ("", "model", "odd"):
            for kind in (SUMS, BINS):
                for bucket, body in read_bodies(archive, span, 0, 2**62, field, kind):
                    pile = TableStack()
                    pile.add(0, body)
                    if kind == SUMS:
                        rows = [
                            (value, name, *(round(getattr(cell, column) or 0, 9) for column in COLUMNS), cell.outcomes)
                            for _, value, name, cell in pile.build_table().iter_cells()
                        ]  # fmt: skip
                    else:
                        rows = [
                            (value, name, keys.tolist(), weights.round(9).tolist())
                            for (
                                _,
                                value,
                                name,
                            ), keys, weights in pile.build_histograms().iter_cells()
                        ]
                    found[span, field, kind, bucket] = sorted(rows, key=str)
    return found


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
            kept = stored(archive)
            # the same once more, all at once
            fresh = Archive(Store.open(tmp_path / f"{next(numbers)}.db"))
            copied(archive, fresh)
            refresh(fresh)
            anew = stored(fresh)
            for key in kept.keys() ^ anew.keys():  # a day may be kept or be read from its hours
                assert key[0] == DAY_MICROS
            assert all(kept[key] == anew[key] for key in kept.keys() & anew.keys())
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


def test_scattered_changes_leave_hours_and_days_for_later_and_every_figure_right(
    archive: Archive,
) -> None:
    fill(archive, 4 * 24 * 6, step=10 * MINUTE)
    refresh(archive)
    late = [interaction(9000 + n, START + n * 5 * HOUR_MICROS + 1, latency=9.0) for n in range(19)]
    archive.add(late).result()
    summary = summarise_between(archive, START, START + 4 * DAY_MICROS, by="model")
    assert summary.whole.interactions == 4 * 24 * 6 + 19
    left = archive.store.read(
        "SELECT span, COUNT(*) FROM monitor_stale GROUP BY span ORDER BY span"
    )
    assert left
    hours = load_cells(archive, HOUR_MICROS, START, START + 4 * DAY_MICROS, "")
    counts = [cells[""][":all"].n for cells in hours.values() if cells is not None]
    assert (len(counts), sum(counts)) == (96, 4 * 24 * 6 + 19)
    as_from_scratch(archive)
    assert archive.store.read("SELECT COUNT(*) FROM monitor_stale") == [(0,)]
    for span in SPANS_MICROS:
        for kind in (SUMS, BINS):
            assert all(body for _, body in read_bodies(archive, span, 0, 2**62, "", kind))


@pytest.mark.parametrize("kept", [0, 1, 30])
def test_days_left_for_later_do_not_outlast_the_purge_of_the_newest(
    archive: Archive, kept: int
) -> None:
    """The last day, which has no table while it grows, moves back to a day before those that were left."""
    fill(archive, 60, step=7 * HOUR_MICROS)
    summarise_between(
        archive, START, START + 18 * DAY_MICROS
    )  # somebody looks: what is not at hand is left
    stale = "SELECT bucket FROM monitor_stale WHERE span = ? ORDER BY bucket"
    days = [bucket for (bucket,) in archive.store.read(stale, (DAY_MICROS // 1_000_000,))]
    assert days
    assert days[-1] >= START + kept * 7 * HOUR_MICROS
    archive.purge(ids=[f"i{n}" for n in range(kept, 60)])
    refresh(archive)
    assert archive.store.read("SELECT COUNT(*) FROM monitor_stale") == [(0,)]
    as_from_scratch(archive)
    fill(archive, 70, step=7 * HOUR_MICROS)  # and it grows again
    as_from_scratch(archive)


def test_adding_up_what_was_left_ends_when_nothing_more_can_be_done(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragstone.monitor.rollups import refresh as rollups

    fill(archive, 60, step=7 * HOUR_MICROS)
    summarise_between(archive, START, START + 18 * DAY_MICROS)
    monkeypatch.setattr(rollups, "merge_buckets", lambda *_: None)
    assert rollups.merge_deferred(archive) == 0


@pytest.mark.parametrize("spoiled", [SUMS, BINS])
def test_the_comparison_with_scratch_sees_a_wrong_roll_up(archive: Archive, spoiled: str) -> None:
    fill(archive, 50)
    refresh(archive)
    before = stored(archive)
    as_from_scratch(archive)
    ((at, body),) = read_bodies(archive, HOUR_MICROS, START, START + HOUR_MICROS, "", spoiled)
    pile = TableStack()
    for _ in range(2):  # everything twice
        pile.add(0, body)
    wrong = (
        encode_table(pile.build_table())
        if spoiled == SUMS
        else encode_histograms(pile.build_histograms())
    )
    archive.run(
        lambda db: db.execute(
            "UPDATE monitor_rollups SET body = ? WHERE span = 3600 AND bucket = ? AND field = ''"
            " AND kind = ?",
            (wrong, at, spoiled),
        )
    ).result()
    assert stored(archive) != before
    if spoiled == SUMS:
        with pytest.raises(AssertionError):
            as_from_scratch(archive)


def test_a_refresher_that_comes_second_leaves_the_fresher_cells_alone(archive: Archive) -> None:
    """The first reads before a change, the second after it; whoever writes last must not bring the old state back."""
    from ragstone.monitor.rollups import refresh as rollups

    archive.add([interaction(1, START)]).result()
    marks = {START: [n for (n,) in archive.store.read("SELECT number FROM monitor_dirty")]}
    stale = rollups._build_range(archive, START, START + SPANS_MICROS[0])
    assert stale
    archive.add([interaction(2, START + 1)]).result()
    refresh(archive)
    before = rollups._build_range
    try:
        rollups._build_range = lambda *_: stale
        assert rollups._rebuild_buckets(archive, marks, None) == 0
    finally:
        rollups._build_range = before
    assert summarise_between(archive, START, START + HOUR_MICROS).whole.interactions == 2
