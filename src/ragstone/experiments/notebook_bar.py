"""A progress bar below a notebook cell: how many samples are scored, how fast, what they cost."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.engine import Progress
    from ragstone.systems import AnswerProgress

SHOW_AFTER_SECONDS = 1.0
"""A cell that takes less shows no bar."""


def is_in_notebook() -> bool:
    """Whether this code runs in the kernel of a notebook (Jupyter, Colab, VS Code)."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """One line of a cell's output, replaced as the run goes on; it stays as the record of how long the run took."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._handle: Any = None

    def show_scores(self, progress: Progress) -> None:
        """Show how many samples are scored."""
        self._show("samples scored", progress.done, progress.total, progress.usage.usd)

    def show_answers(self, progress: AnswerProgress) -> None:
        """Show how many questions the system has answered."""
        self._show("answers", progress.done, None, 0.0)

    def _show(self, what: str, done: int, total: int | None, usd: float) -> None:
        seconds = time.monotonic() - self._started
        if seconds < SHOW_AFTER_SECONDS:
            return
        from IPython.display import HTML, display

        facts = [f"{done:,} of {total:,} {what}" if total else f"{done:,} {what}"]
        facts += [f"{seconds:.0f} s", *([f"${usd:,.2f}"] if usd else [])]
        end = f' max="{total}"' if total else ""
        # the number alone is no name for those who hear the page
        bar = f'<progress value="{done}"{end} aria-label="{what}"></progress> ' if total else ""
        shown = HTML(f'<div class="ragstone-progress">{bar}{" · ".join(facts)}</div>')
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)
