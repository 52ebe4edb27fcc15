"""Pictures: laid out once, inside their frame at any width, the same as SVG and PNG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from paged import run_page
from ragstone.analysis.pareto import Candidate, TradeOff
from ragstone.errors import MissingExtra
from ragstone.report.drawing import charts, svg
from ragstone.report.drawing.rows import ChartRow, choose_ticks, draw_rows
from ragstone.report.drawing.shapes import (
    NARROW,
    WIDE,
    Box,
    Caption,
    Dot,
    Drawing,
    Stroke,
    text_width,
)
from ragstone.report.files import write_picture
from ragstone.report.translator import load_translator

SAY = load_translator("en")
TRADE = TradeOff(
    "recall", "latency", (Candidate("a", 1, 0.5, True), Candidate("b & <c>", 2, 0.9, True), Candidate("d", 3, 0.4, False))
)  # fmt: skip


def inside(drawing: Drawing) -> None:
    """Nothing leaves the frame sideways, and no name runs into the plot."""
    for shape in drawing.shapes:
        match shape:
            case Box():
                assert shape.x >= -1
                assert shape.x + shape.width <= drawing.width + 1
                assert shape.width >= 0
                assert shape.height >= 0
            case Dot():
                assert 0 <= shape.x <= drawing.width
                assert 0 <= shape.y <= drawing.height
            case Stroke():
                assert all(-1 <= x <= drawing.width + 1 for x, _ in shape.points)
            case Caption():
                left = {"start": 0, "middle": 0.5, "end": 1}[shape.anchor]
                start = shape.x - left * text_width(shape.text)
                assert start >= -12
                assert start + text_width(shape.text) <= drawing.width + 12


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_picture_stays_in_its_frame(run, summary, width: float) -> None:
    drawings = [
        charts.draw_metric_bars(summary, SAY, width),
        charts.draw_histograms(summary.metrics, SAY, width),
        charts.draw_pareto(TRADE, SAY, width),
        run_page(run, summary, "es").picture(),
    ]
    for drawing in drawings:
        inside(drawing)
        ElementTree.fromstring(svg.to_svg_file(drawing))
        ElementTree.fromstring(svg.to_inline_svg(drawing))


def test_a_long_name_is_cut_and_a_huge_interval_clipped() -> None:
    rows = [ChartRow("a name that goes on and on and on and on", 0.5, -9.0, 9.0, figure="0.500")]
    inside(draw_rows(rows, "x", SAY, width=NARROW, scale=(0.0, 1.0)))


def test_a_gate_is_drawn_where_it_lies(summary) -> None:
    drawing = charts.draw_metric_bars(summary, SAY, WIDE)
    assert sum(isinstance(s, Stroke) and s.role == "target" for s in drawing.shapes) == 3


def test_text_in_a_picture_is_text() -> None:
    assert "b &amp; &lt;c&gt;" in svg.to_svg_file(charts.draw_pareto(TRADE, SAY, WIDE))


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-0.13, 0.13), (0.946, 0.963), (0, 4.6e6), (-3e-5, 1e-5)]
)
def test_ticks_are_round_and_between_the_ends(low: float, high: float) -> None:
    ticks = choose_ticks(low, high, 6)
    assert 2 <= len(ticks) <= 8
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
    assert all(len(re.sub(r"[-.0]|e.*", "", f"{tick:.6g}")) <= 4 for tick in ticks)


def test_the_same_picture_is_the_same_bytes(tmp_path, run, summary) -> None:
    pytest.importorskip("matplotlib", reason="needs ragstone[plot]")
    drawing = run_page(run, summary).picture()
    for name in ("a.png", "b.png"):
        write_picture(drawing, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_without_matplotlib_a_png_names_the_extra_and_svg_works(
    tmp_path, run, summary, monkeypatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingExtra, match=r"ragstone\[plot\]"):
        write_picture(run_page(run, summary).picture(), tmp_path / "a.png")
    write_picture(run_page(run, summary).picture(), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
