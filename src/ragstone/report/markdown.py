"""A result as GitHub-flavoured Markdown, fit for a pull request."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragstone.report.html import mark_safe, read_resource
from ragstone.report.remarks import choose_arrow, shorten, split_code

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragstone.report.pages import Page

NO_BREAK_SPACES = "\xa0\u202f"
"""Part the digits and units of numbers in Spanish."""
SIGNS = {"good": "✅", "bad": "❌", "warn": "❓"}


def render(page: Page) -> str:
    """The result as text."""
    text = open_environment().get_template(f"{page.template}.md.j2").render(page=page, t=page.t)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@lru_cache(maxsize=1)
def open_environment() -> Any:
    """Templates in which everything from outside is escaped for Markdown."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(read_resource),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "start": lambda text: mark_safe(escape_start(text)),
        "sentence": _mark_sentence,
        "code": lambda text: mark_safe(to_code(text)),
        "strong": lambda text: mark_safe(f"**{escape(text)}**"),
        "sign": lambda remark: SIGNS[remark.severity],
        "command": lambda text: mark_safe(text if text.isprintable() and "`" not in text else ""),
        "shorten": shorten,
        "arrow": choose_arrow,
    }
    return environment


def escape(text: str) -> str:
    """Text on one line in which nothing is Markdown, HTML, a mention or the end of a cell."""
    visible = "".join(c if c.isprintable() or c in NO_BREAK_SPACES else " " for c in text)
    line = re.sub(" +", " ", visible).strip(" ")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # `$` too: GitHub sets mathematics between two of them. After the entities, whose `&` and `;`
    # need no backslash.
    line = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", line)
    # a pull request calls nobody and links no issue because a sample says so
    return re.sub(r"(?<!\w)@(?=\w)|#(?=\d)", r"\g<0>&#8203;", line)


def escape_start(text: str) -> str:
    """A text at the start of a line, where nothing in it may begin a heading, a list or a rule."""
    return re.sub(r"^(\d+(?=[.)])|(?=[#+=.)-]))(.)", r"\1\\\2", escape(text))


def to_code(text: str) -> str:
    """A name as code, where it can be."""
    is_plain = text.isprintable() and not set(text) & set("`|")
    return f"`{text}`" if is_plain else escape(text)


def _finalize(value: Any) -> Markup:
    # what a macro or a filter gave is Markdown already
    return value if hasattr(value, "__html__") else mark_safe(escape(str(value)))


def _mark_sentence(sentence: str) -> Markup:
    """A sentence of ours, with what stands between backticks as code."""
    parts = []
    for text, is_code in split_code(sentence):
        # the spaces that part it from its neighbours stay
        start, end = text[:1] == " ", text.strip() and text[-1:] == " "
        plain = f"{' ' if start else ''}{escape(text)}{' ' if end else ''}"
        parts.append(f"`{text}`" if is_code else plain)
    return mark_safe("".join(parts))
