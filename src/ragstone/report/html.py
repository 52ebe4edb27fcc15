"""A result as one self-contained HTML page: nothing remote, everything escaped, readable without its script."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.report.drawing.shapes import NARROW, WIDE, Drawing
from ragstone.report.drawing.svg import to_inline_svg
from ragstone.report.files import encode_text
from ragstone.report.remarks import choose_arrow, shorten, split_code
from ragstone.report.samples import GENEROUS, SampleList
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragstone.report.pages import Page

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


def render(page: Page, *, budget: int = PAGE_BYTES) -> str:
    """The page as text, within the budget of bytes however long its samples are."""
    listed = page.samples
    # The policy names style and script by their hashes: both must go into the page byte for byte.
    style = "".join(
        (
            read_resource("report.css"),
            read_resource("drawing.css"),
            *(_light_rules() if listed else ()),
            *map(read_resource, page.styles),
        )
    )
    script = read_resource("report.js") if listed and listed.filter else ""
    context: dict[str, Any] = {
        "page": page,
        "t": page.t,
        "version": __version__,
        "policy": build_policy(style, script),
        "style": mark_safe(style),
        "script": mark_safe(script),
        "shown": ShownSamples((), False, ""),
    }
    template = load_template(f"{page.template}.html.j2")
    if listed is not None:
        # Rendered twice: first without samples, to know how many bytes are left for them.
        room = budget - len(encode_text(template.render(context))) - NOTE_BYTES
        context["shown"] = _fit_samples(listed, page.t, room)
    return str(template.render(context))


def render_fragment(page: Page) -> str:
    """What a notebook shows of a result, in the colours of the notebook; without charts and samples."""
    return str(load_template(f"{page.template}.cell.html.j2").render(page=page, t=page.t))


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


def mark_safe(text: str) -> Markup:
    """A text of this package that goes into a page as it is."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - files of this package, and SVG in which every text is escaped


@lru_cache(maxsize=1)
def open_environment() -> Any:
    """Templates that escape everything and know no undefined name."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    # StrictUndefined: a name that a template misspells is an error, not an empty place in a report.
    environment = Environment(
        loader=FunctionLoader(read_resource), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "svg": to_markup,
        "sentence": mark_code,
        "shorten": shorten,
        "arrow": choose_arrow,
    }
    environment.globals |= {"draw": draw_twice}
    return environment


def load_template(name: str) -> Any:
    """A template by the name of its file."""
    return open_environment().get_template(name)


def to_markup(drawing: Drawing, style: str = "wide") -> Markup:
    """A picture as inline SVG that the page colours."""
    return mark_safe(to_inline_svg(drawing, style))


def draw_twice(draw: Callable[[float], Drawing]) -> Markup:
    """A picture for a page, and once more for a phone, on which the letters of the first would be too small."""
    return mark_safe(to_inline_svg(draw(WIDE), "wide") + to_inline_svg(draw(NARROW), "narrow"))


def mark_code(sentence: str) -> Markup:
    """A sentence of ours, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup("").join(
        Markup("<code>{}</code>").format(text) if is_code else escape(text)
        for text, is_code in split_code(sentence)
    )


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
    is_titled: bool = False,
) -> Markup:
    """The view of a sample as HTML, alone on its page or one of a list; where it `is_titled` by its question, without it.

    `said` is what people said of its parts: `c` and a finding's number, `k` and a chunk's rank, a metric."""
    text = load_template("sample.html.j2").render(
        t=t, s=sample, open=is_open, said=said or {}, is_alone=is_alone, is_titled=is_titled
    )
    return mark_safe(text)


def _fit_samples(listed: SampleList, t: Translator, budget: int) -> ShownSamples:
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
        more = trial.compress(f"{',' if count else ''}{text}".encode()) + trial.flush(
            zlib.Z_SYNC_FLUSH
        )
        if (len(body) + len(more)) * 4 // 3 > room:
            break
        squeezer, body, count = trial, body + more, count + len(batch)
        cut |= any(is_shortened for _, is_shortened in batch)
    body += squeezer.compress(b"]") + squeezer.flush()
    return base64.b64encode(body).decode("ascii") if count else "", count, cut


def _count_samples(listed: SampleList, shown: int, t: Translator) -> str:
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
