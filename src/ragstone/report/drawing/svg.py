"""A picture as SVG: inline in a page, which colours it, or as a file of its own."""

from __future__ import annotations

from html import escape

from ragstone.report.drawing.colours import COLOURS
from ragstone.report.drawing.shapes import FONT_SIZE, Box, Caption, Dot, Drawing, Shape, Stroke

FONT_FAMILY = "Inter,ui-sans-serif,system-ui,'Segoe UI',Roboto,'Helvetica Neue','Liberation Sans',Arial,sans-serif"


def to_inline_svg(drawing: Drawing, kind: str = "") -> str:
    """An svg element for a page; its roles are classes (`d-bar`) of the page's style sheet."""
    body = "".join(map(_to_linked_element, drawing.shapes))
    # what is inside an `img` cannot be reached by keyboard or read out
    has_links = any(isinstance(shape, Box | Dot) and shape.href for shape in drawing.shapes)
    role = "group" if has_links else "img"
    times = ""
    if drawing.times is not None:
        since, until, left, right = drawing.times
        times = f' data-since="{since}" data-until="{until}" data-left="{left:g}" data-right="{right:g}"'
    return (
        f'<svg class="drawing {kind}" viewBox="0 0 {_format_coordinate(drawing.width)} {_format_coordinate(drawing.height)}" role="{role}" '
        f'aria-label="{escape(drawing.label)}"{times}>{body}</svg>'
    )


def to_svg_file(drawing: Drawing, margin: float = 12.0) -> str:
    """A whole SVG file with its own colours."""
    width, height = drawing.width + 2 * margin, drawing.height + 2 * margin
    rules = "".join(
        f".d-{role}{{fill:{colour};stroke:{colour}}}" for role, colour in COLOURS.items()
    )
    style = (
        f"text{{font:{_format_coordinate(FONT_SIZE)}px {FONT_FAMILY};stroke:none!important}}text.d-b{{font-weight:600}}"
        # Each role sets both fill and stroke; what a shape must not have is taken off again, so
        # that one rule a role serves every shape.
        f"{rules}rect,circle{{stroke:none!important}}polyline{{fill:none!important}}"
    )
    body = "".join(_to_element(shape) for shape in drawing.shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_format_coordinate(width)}" height="{_format_coordinate(height)}" '
        f'viewBox="{_format_coordinate(-margin)} {_format_coordinate(-margin)} {_format_coordinate(width)} {_format_coordinate(height)}" role="img" '
        f'aria-label="{escape(drawing.label)}"><style>{style}</style>'
        f'<rect x="{_format_coordinate(-margin)}" y="{_format_coordinate(-margin)}" width="{_format_coordinate(width)}" height="{_format_coordinate(height)}" fill="#ffffff"/>'
        f"{body}</svg>\n"
    )


def _to_linked_element(shape: Shape) -> str:
    element = _to_element(shape)
    if not isinstance(shape, Box | Dot) or not shape.href:
        return element
    return f'<a href="{escape(shape.href)}" aria-label="{escape(shape.title)}">{element}</a>'


def _to_element(shape: Shape) -> str:
    match shape:
        case Box():
            return (
                f'<rect class="d-{shape.role}" x="{_format_coordinate(shape.x)}" y="{_format_coordinate(shape.y)}" width="{_format_coordinate(shape.width)}" '
                f'height="{_format_coordinate(shape.height)}" rx="1.5">{_render_title(shape.title)}</rect>'
            )
        case Dot():
            return (
                f'<circle class="d-{shape.role}" cx="{_format_coordinate(shape.x)}" cy="{_format_coordinate(shape.y)}" '
                f'r="{_format_coordinate(shape.size)}">{_render_title(shape.title)}</circle>'
            )
        case Stroke():
            points = " ".join(
                f"{_format_coordinate(x)},{_format_coordinate(y)}" for x, y in shape.points
            )
            dashes = ' stroke-dasharray="4 3"' if shape.dashed else ""
            return f'<polyline class="d-{shape.role}" points="{points}" stroke-width="{_format_coordinate(shape.thick)}"{dashes}/>'
        case Caption():
            bold = " d-b" if shape.bold else ""
            return (
                f'<text class="d-{shape.role}{bold}" x="{_format_coordinate(shape.x)}" y="{_format_coordinate(shape.y)}" '
                f'text-anchor="{shape.anchor}">{escape(shape.text)}</text>'
            )


def _render_title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _format_coordinate(number: float) -> str:
    # Two decimals are a fiftieth of a pixel; more would only make pages larger and differ between
    # machines.
    return f"{number:.2f}".rstrip("0").rstrip(".")
