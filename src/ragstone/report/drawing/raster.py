"""A picture as PNG, drawn by matplotlib (extra `plot`) shape by shape."""

from __future__ import annotations

import io

from ragstone.errors import MissingExtra
from ragstone.report.drawing.colours import COLOURS
from ragstone.report.drawing.shapes import FONT_SIZE, Box, Caption, Dot, Drawing, Stroke

PIXELS_PER_UNIT = 2.0
"""Pixels for each unit of the drawing."""


def to_png(drawing: Drawing, margin: float = 12.0) -> bytes:
    """The picture as the bytes of a PNG file, the same for the same picture."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a PNG", "plot") from None
    width, height = drawing.width + 2 * margin, drawing.height + 2 * margin
    # Not pyplot, which keeps figures in global state and picks a backend by the environment.
    figure = Figure(
        figsize=(width / 100, height / 100), dpi=100 * PIXELS_PER_UNIT, facecolor="white"
    )
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-margin, drawing.width + margin)
    axes.set_ylim(drawing.height + margin, -margin)  # y grows downwards, as in SVG
    axes.axis("off")
    for order, shape in enumerate(drawing.shapes):
        _draw_shape(axes, shape, order + 1)
    out = io.BytesIO()
    # matplotlib would write its version, and the same run would give other bytes elsewhere.
    FigureCanvasAgg(figure).print_png(out, metadata={"Software": "ragstone"})
    return out.getvalue()


def _draw_shape(axes: object, shape: Box | Stroke | Dot | Caption, order: int) -> None:
    from matplotlib.axes import Axes
    from matplotlib.patches import Circle, Rectangle

    # checked here and not by the signature: matplotlib is an extra, imported only when it is needed
    assert isinstance(axes, Axes)
    colour = COLOURS[shape.role]
    points = 0.72  # points for each unit of the drawing
    match shape:
        case Box():
            axes.add_patch(
                Rectangle(
                    (shape.x, shape.y), shape.width, shape.height, color=colour, lw=0, zorder=order
                )
            )
        case Dot():
            axes.add_patch(Circle((shape.x, shape.y), shape.size, color=colour, lw=0, zorder=order))
        case Stroke():
            xs, ys = zip(*shape.points, strict=True)
            axes.plot(
                xs, ys, color=colour, lw=shape.thick * points, ls=(0, (4, 3)) if shape.dashed else "-",
                solid_capstyle="butt", zorder=order,
            )  # fmt: skip
        case Caption():
            side = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
            axes.text(
                shape.x, shape.y, shape.text, color=colour, fontsize=FONT_SIZE * points * 0.92, ha=side,
                # Names come from data: a `$` in one must not start a formula (`parse_math`).
                va="baseline", fontweight="bold" if shape.bold else "normal", zorder=order,
                parse_math=False,
            )  # fmt: skip
