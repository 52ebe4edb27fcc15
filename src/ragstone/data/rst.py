"""reStructuredText as Markdown: headings, code, lists of definitions and links, as documentation of Python projects has them.

Directives that hold prose (notes, warnings) give it; those that hold code become fenced code; tables of contents, images,
options of directives, labels and comments are left out. Not a parser of the whole language: what is unknown stays text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, takewhile

_UNDERLINE = re.compile(r"""([=\-~^"'`*+#:.<>_])\1{2,}$""")
_DIRECTIVE = re.compile(r"\.\. (?:[\w+.-]+:)?([\w+.-]+)::(?: +(.*))?$")
_HIDDEN = re.compile(r"\.\. ?|__ ")
"""A label, a comment, a target or a substitution."""
_FIELD = re.compile(r"[ \t]*:[\w .-]+:(?=\s|$)")
"""An option of a directive, or a field of metadata."""
_PROSE = frozenset({"note", "warning", "tip", "important", "hint", "caution", "attention", "danger", "seealso", "admonition", "topic", "versionadded", "versionchanged", "deprecated", "sidebar"})  # fmt: skip
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "literal", "prompt", "doctest", "testcode", "ipython", "console"})  # fmt: skip
_DESCRIBED = frozenset({"option", "confval", "envvar", "function", "method", "class", "data", "attribute", "setting", "describe", "directive", "exception"})  # fmt: skip
_QUIET_ROLES = frozenset({"ref", "doc", "term", "guilabel", "menuselection", "numref", "abbr", "any", "download", "emphasis"})  # fmt: skip
_PYTHON_ROLES = frozenset({"class", "func", "meth", "attr", "exc", "mod", "obj", "data"})
_ROLE = re.compile(r":(?:[\w+.-]+:)?(\w+):`([^`<]+?)(\s*<[^`>]*>)?`")
_LINKED_ITEM = re.compile(r"^(\s*[-*+] )`([^`<]+?)\s*<([^`>\s()]+)>`__?\.?$", re.MULTILINE)
_LINK = re.compile(r"`([^`<]+?)(?:\s*<[^`>]*>)?`__?\b|\b([A-Za-z][\w-]*\w)_(?=[\s.,;:)])")
_ITEM = re.compile(r"(?:[-*+]|\d+\.|#\.) ")
_LITERAL = re.compile(r"``(.+?)``")


def rst_to_text(text: str) -> tuple[str, str]:
    """The text as Markdown and the title, which is the first heading; empty when there is none."""
    lines = text.expandtabs().split("\n")
    levels: list[str] = []
    out: list[str] = []
    title = ""
    at = 0
    while at < len(lines):
        heading, after = _read_heading(lines, at, levels)
        if heading:
            title = title or heading.lstrip("# ")
            out += ["", heading, ""]
            at = after
            continue
        block, at = _read_block(lines, at)
        out += block
    return _read_inline("\n".join(out)), _read_inline(title)


def _read_heading(lines: Sequence[str], at: int, levels: list[str]) -> tuple[str, int]:
    """The heading that starts on a line, with or without a line above it, and the line after it; empty when none does."""
    is_over = bool(_UNDERLINE.match(lines[at].rstrip())) and at + 2 < len(lines)
    words = lines[at + int(is_over)].strip() if at + 1 < len(lines) else ""
    below = lines[at + 1 + int(is_over)].rstrip() if at + 1 + int(is_over) < len(lines) else ""
    is_long = len(below) >= len(words) - 1 and _UNDERLINE.match(below)
    if not words or not is_long or _UNDERLINE.match(words) or (lines[at][:1] == " " and not is_over):  # fmt: skip
        return "", at
    style = ("over" if is_over else "") + below[0]
    if style not in levels:
        levels.append(style)
    return f"{'#' * min(levels.index(style) + 1, 6)} {words}", at + 2 + int(is_over)


def _read_block(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """The block that starts on a line, as Markdown, and the line after it."""
    line = lines[at].rstrip()
    body, after = _read_body(lines, at)
    directive = _DIRECTIVE.match(line)
    if directive:
        return _read_directive(directive[1].lower(), directive[2] or "", body), after
    if _HIDDEN.match(line) or _FIELD.match(line):
        return [""], after
    if line.endswith("::"):
        told = line[:-2].rstrip() if line.endswith((" ::", "\t::")) or line == "::" else line[:-1]
        return [told, "", *_fence(body)], after
    has_more = bool(body) and bool(lines[at + 1].strip())
    if not has_more or line.startswith((" ", "|", "=")):
        return [re.sub(r"^(\s*)#\. ", r"\g<1>1. ", line)], at + 1
    told = " ".join(takewhile(str.strip, body))
    if _ITEM.match(line):  # it goes on in the next lines
        return [f"{line} {told}", *dropwhile(str.strip, body)], after
    return ["", line, f": {told}", ""], after


def _read_body(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """The lines below a line that are indented further, without their indent, and the number of the line after them."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][: indent + 1].isspace()):
        end += 1
    body = [line.rstrip() for line in lines[at + 1 : end]]
    while body and not body[-1]:
        body.pop()
    least = min((len(line) - len(line.lstrip()) for line in body if line), default=0)
    return [line[least:] for line in body], end


def _read_directive(name: str, argument: str, body: Sequence[str]) -> list[str]:
    """What a directive tells, as Markdown; nothing where it only arranges the page."""
    told = list(body)
    while told and (_FIELD.match(told[0]) or not told[0]):
        told.pop(0)
    if name in _PROSE:
        words = argument if name in ("note", "warning", "tip", "important", "hint", "caution") else ""  # fmt: skip
        return ["", *([words] if words else []), *told, ""]
    if name == "glossary":
        return ["", *_read_entries(told)]
    if name in _CODE:
        return ["", *_fence(told)]
    if name in _DESCRIBED and told:
        return ["", f"`{argument}`", f": {' '.join(takewhile(str.strip, told))}", ""]
    return [""]


def _fence(body: Sequence[str]) -> list[str]:
    lines = list(body)
    while lines and not lines[0]:
        lines.pop(0)
    return ["```", *lines, "```", ""] if lines else []


def _read_inline(text: str) -> str:
    """The text with roles and links as their words; code in single marks."""
    text = _LITERAL.sub(lambda code: f"`{code[1]}`", text)
    text = _ROLE.sub(_read_role, text)
    text = _LINKED_ITEM.sub(r"\1[\2](\3)", text)
    return _LINK.sub(lambda link: link[1] or link[2], text).replace("`~.", "`").replace("`~", "`")


def _read_role(role: re.Match[str]) -> str:
    """The words of a role; a label that only a program can follow in brackets, code in its marks."""
    name, words = role[1], role[2].lstrip("~!")
    words = words.removeprefix(".") if name in _PYTHON_ROLES else words
    if name in ("ref", "doc", "numref") and not role[3]:
        return f"[{words}]"
    return words if name in _QUIET_ROLES else f"`{words}`"


def _read_entries(lines: Sequence[str]) -> list[str]:
    """The entries of a glossary."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        block, at = _read_block(lines, at)
        out += block
    return out
