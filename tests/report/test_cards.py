"""Cards of the live page, on stores that have only just begun."""

from __future__ import annotations

from pathlib import Path

from ragstone.monitor.archive import Archive
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.monitor.windows.summary import summarise_between, summarise_steps
from ragstone.report.monitor.cards import build_traffic_cards
from ragstone.report.translator import load_translator
from ragstone.store import Store
from windowed import MINUTE, START, interaction


def test_what_came_in_the_hour_that_is_not_over_is_drawn_when_there_is_nothing_else(
    tmp_path: Path,
) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    end = START + 24 * HOUR_MICROS + 20 * MINUTE
    archive.add([interaction(n, end - MINUTE - n, cost=0.5) for n in range(3)]).result()
    since = end - 24 * HOUR_MICROS
    whole = summarise_between(archive, since, end).whole
    windows = summarise_steps(archive, since - 20 * MINUTE, end + 40 * MINUTE, HOUR_MICROS)
    cards = list(build_traffic_cards(whole, windows, load_translator("en")))
    assert len(cards) == 2
    assert [card.figure for card in cards] == ["3", load_translator("en").money(1.5)]
    for card, last in zip(cards, (3.0, 1.5), strict=True):
        assert f"highest {load_translator('en').number(last)}" in card.drawing.label
    archive.store.close()
