"""What each kind of result shows in any format: one module a result, with templates of the same name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.report.drawing.shapes import Drawing
    from ragstone.report.samples import SampleList


@dataclass(frozen=True)
class Page:
    """A result in a language: what its templates, the terminal and the other formats ask for."""

    t: Translator
    kind: ClassVar[str]
    """The formats that it can be written in are listed under this name."""
    template: ClassVar[str]
    """`templates/NAME.html.j2` and `NAME.md.j2`; `print_NAME` of the terminal."""
    styles: ClassVar[tuple[str, ...]] = ()
    """Style sheets beside those of every page."""
    skip_link: ClassVar[str] = ""
    """Id of the element that keyboard users may go to at once."""

    @property
    def title(self) -> str:
        """The name of the browser's window."""
        raise NotImplementedError

    @property
    def brand(self) -> str:
        """What sort of report it is, in a word or two."""
        return self.t(self.template)

    @property
    def footer(self) -> str:
        """What stands at the end beside the version."""
        return ""

    @property
    def samples(self) -> SampleList | None:
        """The samples that a page shows one by one, read as they are rendered."""
        return None

    def data(self) -> dict[str, Any]:
        """The figures as JSON takes them."""
        raise NotImplementedError

    def picture(self) -> Drawing:
        """The chart of the result."""
        raise NotImplementedError
