"""Means of a window corrected by labels of its interactions."""

from __future__ import annotations

import json

import pytest

from ragstone.cli.monitor.summary import show_summary
from ragstone.labels import Label, save_labels
from ragstone.labels.label import MONITOR
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.windows.calendars import get_time_zone
from ragstone.monitor.windows.corrected import correct_window
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.report import markdown, open_page
from ragstone.report.monitor.live import Frame, render_overview
from ragstone.report.monitor.query import Query
from ragstone.report.translator import load_translator
from ragstone.store import Store
from ragstone.types import Score
from windowed import MINUTE, START, fill, interaction

DAY = 24 * 60 * MINUTE


@pytest.fixture
def archive(tmp_path) -> Archive:
    """300 judged interactions with a mean of 0.5; of each fifth people say 0.8 of what the judge says."""
    archive = Archive(Store.open(str(tmp_path / "s.db")))
    fill(archive, 300)
    labels = [
        Label(f"i{n}", "score", 0.8 * (n % 3 / 2), item="faithfulness", author="ana", run=MONITOR)
        for n in range(0, 300, 5)
    ]
    save_labels(archive.store, labels)
    return archive


def test_a_window_is_corrected_by_the_labels_of_its_interactions(archive: Archive) -> None:
    estimate = correct_window(archive, START, START + DAY)["faithfulness"].estimate
    assert estimate is not None
    assert estimate.labels == 60
    assert estimate.judge_mean == pytest.approx(0.5)
    assert estimate.mean == pytest.approx(0.4, abs=0.02)
    assert estimate.low < 0.4 < estimate.high < 0.5


def test_a_window_without_labels_has_none(archive: Archive) -> None:
    assert correct_window(archive, START + DAY, START + 2 * DAY) == {}


def test_interactions_count_by_their_sampling_rate(tmp_path) -> None:
    archive = Archive(Store.open(str(tmp_path / "w.db")))
    some = [interaction(n, START + n * MINUTE) for n in range(200)]
    archive.add(some).result()
    # the bad half was sampled nine times as rarely as the good one
    scored = [
        ScoredInteraction(
            one.id, {"faithfulness": Score(float(n % 2))}, weight=1.0 if n % 2 else 9.0
        )
        for n, one in enumerate(some)
    ]
    archive.save_scores(scored).result()
    save_labels(
        archive.store,
        [Label(f"i{n}", "score", float(n % 2), item="faithfulness", author="a") for n in range(60)],
    )
    estimate = correct_window(archive, START, START + DAY)["faithfulness"].estimate
    assert estimate is not None
    assert estimate.judge_mean == pytest.approx(0.1)
    assert estimate.mean == pytest.approx(0.1, abs=0.03)


def test_report_page_and_summary_say_it(archive: Archive, capsys: pytest.CaptureFixture) -> None:
    analysis = analyse_period(archive, "daily", START + DAY + MINUTE)
    assert "`faithfulness`: Corrected by 60 labels" in markdown.render(open_page(analysis))
    t = load_translator("en", get_time_zone("UTC"))
    page = render_overview(archive, Frame(t, Query(window="24h"), START + DAY))
    assert "Corrected by 60 labels" in page
    show_summary(
        window="24h", until="2026-05-02T00:00", by=None, where=None, period=None, zone="UTC",
        as_json=True, store=archive.store.place,
    )  # fmt: skip
    corrected = json.loads(capsys.readouterr().out)["corrected"]
    assert corrected["faithfulness"]["estimate"]["labels"] == 60
