"""A picture as SVG: inline in a page, which colours it, or as a file of its own."""

from __future__ import annotations

from html import escape

from ragstone.report.drawing.colours import COLOURS
from ragstone.report.drawing.shapes import FONT_SIZE, Box, Caption, Dot, Drawing, Shape, Stroke

FONT_FAMILY = "Inter,ui-sans-serif,system-ui,'Segoe UI',Roboto,'Helvetica Neue','Liberation Sans',Arial,sans-serif"


def to_inline_svg(drawing: Drawing, kind: str = "") -> str:
    """An svg element for a page; its roles are classes (`d-bar`) of the page's style sheet."""
    body = "".join(_to_element(shape) for shape in drawing.shapes)
    return (
        f'<svg class="drawing {kind}" viewBox="0 0 {_n(drawing.width)} {_n(drawing.height)}" role="img" '
        f'aria-label="{escape(drawing.label)}">{body}</svg>'
    )


def to_svg_file(drawing: Drawing, margin: float = 12.0) -> str:
    """A whole SVG file with its own colours."""
    width, height = drawing.width + 2 * margin, drawing.height + 2 * margin
    rules = "".join(
        f".d-{role}{{fill:{colour};stroke:{colour}}}" for role, colour in COLOURS.items()
    )
    style = (
        f"text{{font:{_n(FONT_SIZE)}px {FONT_FAMILY};stroke:none!important}}text.d-b{{font-weight:600}}"
        f"{rules}rect,circle{{stroke:none!important}}polyline{{fill:none!important}}"
    )
    body = "".join(_to_element(shape) for shape in drawing.shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="{_n(-margin)} {_n(-margin)} {_n(width)} {_n(height)}" role="img" '
        f'aria-label="{escape(drawing.label)}"><style>{style}</style>'
        f'<rect x="{_n(-margin)}" y="{_n(-margin)}" width="{_n(width)}" height="{_n(height)}" fill="#ffffff"/>'
        f"{body}</svg>\n"
    )


def _to_element(shape: Shape) -> str:
    match shape:
        case Box():
            return (
                f'<rect class="d-{shape.role}" x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" '
                f'height="{_n(shape.height)}" rx="1.5">{_title(shape.title)}</rect>'
            )
        case Dot():
            return (
                f'<circle class="d-{shape.role}" cx="{_n(shape.x)}" cy="{_n(shape.y)}" '
                f'r="{_n(shape.size)}">{_title(shape.title)}</circle>'
            )
        case Stroke():
            points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
            dashes = ' stroke-dasharray="4 3"' if shape.dashed else ""
            return f'<polyline class="d-{shape.role}" points="{points}" stroke-width="{_n(shape.thick)}"{dashes}/>'
        case Caption():
            bold = " d-b" if shape.bold else ""
            return (
                f'<text class="d-{shape.role}{bold}" x="{_n(shape.x)}" y="{_n(shape.y)}" '
                f'text-anchor="{shape.anchor}">{escape(shape.text)}</text>'
            )


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
