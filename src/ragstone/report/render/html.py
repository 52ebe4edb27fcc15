"""A document as one self-contained HTML page: nothing remote, everything escaped, readable without its script."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.report import document as doc
from ragstone.report.drawing.shapes import Drawing
from ragstone.report.drawing.svg import to_inline_svg
from ragstone.report.files import encode_text
from ragstone.report.samples import GENEROUS
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from markupsafe import Markup

PAGE_BYTES = 9_500_000
"""Bytes a page may take; ten megabytes still open in a mail reader and in any browser."""
FIRST_DRAWN = 100
"""Samples that are drawn at once; those behind them are packed, and drawn when they are wanted."""
MAX_SAMPLES = 3_000
"""Samples that a page shows; to draw many more takes longer than all the rest, and the viewer shows every one."""
PACKED_TOGETHER = 50
"""Packed samples after which the size of the page is looked at."""
NOTE_BYTES = 2_000
"""Room for the sentences about the samples that are shown."""
STYLES = {
    "comparison": ("comparison.css",),
    "failures": ("failures.css",),
    "demo": ("comparison.css", "failures.css"),
    "effects": ("failures.css",),
    "period": ("monitor.css", "failures.css"),
}
"""Style sheets that a kind of report adds to those of every page."""


def render(document: doc.ReportDocument, *, budget: int = PAGE_BYTES) -> str:
    """The page as text, within the budget of bytes however long its samples are."""
    from markupsafe import Markup

    listed = _find_samples(document.body)
    # The policy names style and script by their hashes: both must go into the page byte for byte.
    style = "".join(
        (read_resource("report.css"), read_resource("drawing.css"), *(_light_rules() if listed else ()),
         *map(read_resource, STYLES.get(document.kind, ())))
    )  # fmt: skip
    script = read_resource("report.js") if listed and listed.filter else ""
    context: dict[str, Any] = {
        "document": document,
        "t": document.t,
        "version": __version__,
        "policy": build_policy(style, script),
        "style": Markup(style),  # noqa: S704 - files of this package
        "script": Markup(script),  # noqa: S704 - a file of this package
        "samples": ShownSamples((), False, ""),
    }
    page = load_template("page.html.j2")
    if listed is not None:
        # Rendered twice: first without samples, to know how many bytes are left for them.
        room = budget - len(encode_text(page.render(context))) - NOTE_BYTES
        context["samples"] = _fit_samples(listed, document.t, room)
    return str(page.render(context))


# ── what every page is made of ────────────────────────────────────────────────────────────


def build_policy(style: str, script: str = "") -> str:
    """A Content-Security-Policy under which the page loads nothing and runs only what it was written with."""
    scripts = hash_source(script) if script else "'none'"
    return (
        f"default-src 'none'; style-src {hash_source(style)}; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def hash_source(text: str) -> str:
    """A text by its hash, as a policy names it."""
    digest = hashlib.sha256(encode_text(text)).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def build_style_sheet() -> str:
    """The style sheet of pages with samples."""
    return "".join((read_resource("report.css"), read_resource("drawing.css"), *_light_rules()))


def read_resource(name: str) -> str:
    """A file of the templates folder."""
    from importlib.resources import files

    return files("ragstone.report").joinpath("templates", name).read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def load_template(name: str) -> Any:
    """A template that escapes everything, knows no undefined name, and can render nodes of a document."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    # StrictUndefined: a name that a template misspells is an error, not an empty place in a report.
    environment = Environment(
        loader=FunctionLoader(read_resource), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "kind": lambda node: type(node).__name__,
        "shown": lambda nodes: doc.select_nodes(nodes, "page"),
        "shown_columns": lambda table: doc.select_columns(table, "page"),
        "cells": _list_cells,
        "spans": doc.to_spans,
        "split_code": doc.split_code,
        "svg": to_markup,
    }
    return environment.get_template(name)


def to_markup(drawing: Drawing, style: str) -> Markup:
    """A picture as inline SVG that the page colours."""
    from markupsafe import Markup

    return Markup(to_inline_svg(drawing, style))  # noqa: S704 - every text in it is escaped


def _list_cells(cells: Iterable[doc.TableCell | str]) -> list[doc.TableCell]:
    return [doc.to_cell(cell) for cell in cells]


def _light_rules() -> Iterator[str]:
    """One rule per finding: pointing at it lights up its evidence, without a script."""
    for n in range(1, GENEROUS.findings + 1):
        pointed = f'details[open]:has([data-c="{n}"]:is(:hover,:focus,:focus-within))'
        yield f'{pointed} [data-e~="{n}"]{{--lit:var(--accent-soft);--edge:var(--accent)}}\n'


# ── samples within a budget ───────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ShownSamples:
    """The samples of a page as HTML, whether any of them is shortened, and how many there are, in words."""

    texts: Sequence[str]
    cut: bool
    note: str
    packed: str = ""
    """The samples beyond those, a JSON list of their HTML: deflated, in base64."""
    packed_count: int = 0


def render_sample(
    sample: object,
    t: Translator,
    *,
    is_open: bool,
    is_alone: bool = False,
    said: Mapping[str, Sequence[str]] | None = None,
) -> Markup:
    """The view of a sample as HTML, which `is_alone` on its page or one of a list; `said` is what people said of its parts: `c` and a finding's number, `k` and a chunk's rank, a metric."""
    from markupsafe import Markup

    text = load_template("sample.html.j2").render(
        t=t, s=sample, open=is_open, said=said or {}, is_alone=is_alone
    )
    return Markup(text)  # noqa: S704 - rendered by our own template


def _find_samples(nodes: Sequence[doc.Node]) -> doc.SampleList | None:
    for node in doc.select_nodes(nodes, "page"):
        if isinstance(node, doc.SampleList):
            return node
        if isinstance(node, doc.Section) and (listed := _find_samples(node.nodes)):
            return listed
    return None


def _fit_samples(listed: doc.SampleList, t: Translator, budget: int) -> ShownSamples:
    """The samples as HTML, the largest ones shortened until all fit."""

    def render_capped(cap: int, first: int, last: int) -> Iterator[tuple[str, bool]]:
        for number, position in enumerate(listed.positions[first:last], first):
            sample = listed.open(position)
            limits = sample.fit_limits(listed.limits)
            while True:
                view = sample.build_view(limits)
                text = render_sample(view, t, is_open=number == 0)
                # The least limits tighten to themselves: then the sample is as short as it gets.
                if len(encode_text(text)) < cap or limits == limits.tighten():
                    break
                limits = limits.tighten()
            yield text, view.cut

    # A first pass at full length; most pages fit, and only others pay for a second.
    texts, cut, sizes = _keep_fitting(render_capped(budget, 0, FIRST_DRAWN), budget)
    if sum(sizes) > budget:
        cap = _choose_cap(sizes, budget)
        texts, cut, sizes = _keep_fitting(render_capped(cap, 0, FIRST_DRAWN), budget)
    packed, packed_count = "", 0
    if len(texts) == len(sizes) and len(listed.positions) > FIRST_DRAWN:
        room = budget - sum(sizes)
        drawn = render_capped(room // 20, FIRST_DRAWN, MAX_SAMPLES)
        packed, packed_count, is_shortened = _pack(drawn, room)
        cut |= is_shortened
    shown = len(texts) + packed_count
    cut |= shown < len(listed.positions)
    return ShownSamples(texts, cut, _count_samples(listed, shown, t), packed, packed_count)


def _pack(drawn: Iterator[tuple[str, bool]], room: int) -> tuple[str, int, bool]:
    """As many samples as fit into the room, packed; how many they are, and whether one of them is shortened."""
    squeezer = zlib.compressobj(9)
    body, count, cut = squeezer.compress(b"["), 0, False
    while batch := list(islice(drawn, PACKED_TOGETHER)):
        # a copy, so that a batch that does not fit can be left out
        trial = squeezer.copy()
        text = ",".join(json.dumps(text) for text, _ in batch)
        more = trial.compress(f"{',' if count else ''}{text}".encode()) + trial.flush(zlib.Z_SYNC_FLUSH)  # fmt: skip
        if (len(body) + len(more)) * 4 // 3 > room:
            break
        squeezer, body, count = trial, body + more, count + len(batch)
        cut |= any(is_shortened for _, is_shortened in batch)
    body += squeezer.compress(b"]") + squeezer.flush()
    return base64.b64encode(body).decode("ascii") if count else "", count, cut


def _count_samples(listed: doc.SampleList, shown: int, t: Translator) -> str:
    if listed.filter is None:
        return ""
    total = listed.filter.total
    if shown >= total:
        return t("worst_all", total=t.whole(total))
    return t("worst_some", shown=t.whole(shown), total=t.whole(total))


def _keep_fitting(
    drawn: Iterator[tuple[str, bool]], budget: int
) -> tuple[list[str], bool, list[int]]:
    """The texts that fit into the budget, whether one of them is shortened, and the sizes of all."""
    texts: list[str] = []
    sizes: list[int] = []
    used, cut = 0, False
    for text, is_shortened in drawn:
        sizes.append(len(encode_text(text)) + 1)
        used += sizes[-1]
        if used <= budget:
            texts.append(text)
            cut |= is_shortened
    return texts, cut, sizes


def _choose_cap(sizes: Sequence[int], budget: int) -> int:
    """The size at which cutting every larger sample makes the sum fit: small ones stay whole."""
    remaining, ordered = budget, sorted(sizes)
    for number, size in enumerate(ordered):
        fair = remaining // (len(ordered) - number)
        if size > fair:
            return fair
        remaining -= size
    return budget
