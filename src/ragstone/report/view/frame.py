"""What every page of the viewer has around it: language, navigation, the state of the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ragstone._version import __version__
from ragstone.report.html import (
    ShownSamples,
    build_style_sheet,
    load_template,
    read_resource,
)
from ragstone.report.translator import Translator

PAGES = ("runs", "experiments", "label", "testsets", "monitor")
"""Pages that the navigation leads to, in its order."""
PARENTS = {
    "review": "runs",
    "pane": "runs",
    "figures": "runs",
    "calls": "runs",
    "experiment": "experiments",
}
"""Page → the page of the navigation that it belongs to."""
SCRIPTS = ("theme.js", "view.js", "review.js")
MAX_PARAMETER_CHARS = 300


@dataclass(frozen=True, slots=True)
class NavLink:
    """A link of the navigation."""

    href: str
    text: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class ViewFrame:
    """The surroundings of one page."""

    t: Translator
    page: str
    """The name of the page, which is its path."""
    values: Mapping[str, Sequence[str]]
    """The parameters of the address."""
    lang: str = ""
    """Only when the address names it: then every link does."""
    signed_in: bool = False
    can_edit: bool = False
    """Whether labels and notes are taken."""
    can_run: bool = False
    """Whether the system of a run is asked again."""
    author: str = ""
    """Who is labelling."""
    monitor_page: str = "monitor"
    """Where the monitor's page is: it is the home page of its own server."""
    message: str = ""
    """What was just done."""
    theme: str = ""
    """`light` or `dark` where the reader has chosen; else that of the system."""
    testset: str = ""
    """The test set that the reader last added to."""
    kept: Sequence[str] = ()
    """The columns of the last visit of this page."""

    def choose_kept(self, name: str) -> list[str]:
        """The values of a parameter that pages remember; where the address has none, those of the last visit."""
        return self.get_all(name) if name in self.values else list(self.kept)

    def get(self, name: str, most: int = MAX_PARAMETER_CHARS) -> str:
        """The last value of a parameter, cleaned; empty without one."""
        values = self.values.get(name) or ("",)
        # no database holds NUL, and hardly a parameter of ours is so long
        return values[-1].replace("\x00", "").strip()[:most]

    def get_all(self, name: str) -> list[str]:
        """Every value of a parameter that is not empty, each once."""
        cleaned = (value.replace("\x00", "").strip()[:MAX_PARAMETER_CHARS] for value in self.values.get(name, ()))  # fmt: skip
        return list(dict.fromkeys(value for value in cleaned if value))[:50]

    def get_number(self, name: str, default: int, highest: int) -> int:
        """A whole number from 1; the default where the address has none."""
        text = self.get(name)
        is_count = text.isascii() and text.isdigit() and len(text) < 10
        return min(max(int(text), 1), highest) if is_count else default

    def href(self, page: str, /, **values: str | Sequence[str]) -> str:
        """The address of a page, relative, in the language of this one; empty values are left out."""
        pairs: list[tuple[str, str]] = []
        for name, value in values.items():
            items = [value] if isinstance(value, str) else list(value)
            pairs += [(name.rstrip("_"), item) for item in items if item]
        if self.lang:
            pairs.append(("lang", self.lang))
        return f"{page}?{urlencode(pairs)}" if pairs else page

    def fill(self, template: str, **more: Any) -> str:
        """The HTML of a template, everything escaped."""
        other = "en" if self.t.language == "es" else "es"
        pairs = [(name, value) for name, values in self.values.items() for value in values if name != "lang"]  # fmt: skip
        return str(
            load_template(template).render(
                t=self.t, frame=self, version=__version__, other=other,
                switch=f"{self.page}?{urlencode([*pairs, ('lang', other)])}",
                signed_in=self.signed_in, brand=self.t("view.app"), nav=self.build_nav(),
                zone="UTC", shown=ShownSamples((), False, ""), message=self.message,
                theme=self.theme, **more,
            )
        )  # fmt: skip

    def build_nav(self) -> list[NavLink]:
        """The links of the navigation."""
        return [
            NavLink(
                self.href(self.monitor_page if page == "monitor" else page),
                self.t(f"view.nav.{page}"),
                page == PARENTS.get(self.page, self.page),
            )
            for page in PAGES
        ]


def build_view_style() -> str:
    """The style sheet of the viewer's pages."""
    names = ("monitor.css", "comparison.css", "failures.css", "view.css", "review.css")
    return build_style_sheet() + "".join(map(read_resource, names))


def build_view_script() -> str:
    """The scripts of the viewer's pages, which all of them can be read without."""
    return "".join(map(read_resource, SCRIPTS))
