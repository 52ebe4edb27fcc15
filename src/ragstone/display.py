"""How results show themselves in print and in notebooks, without knowing who writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Show = Callable[[Any], str]
_shows: dict[str, Show] = {}


def register(*, text: Show, html: Show) -> None:
    """Say what prints a result, and what shows it in a notebook; `ragstone/__init__.py` names `ragstone.report`."""
    _shows.update(text=text, html=html)


class Displayed:
    """A result that `print` and a notebook show as a report."""

    __slots__ = ()

    def __str__(self) -> str:
        return _shows["text"](self) if "text" in _shows else repr(self)

    def _repr_html_(self) -> str | None:
        return _shows["html"](self) if "html" in _shows else None
