"""A progress line on stderr with rate, cost and time left: only on a terminal, only when it takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.engine import Progress
    from ragstone.systems import AnswerProgress

LINE_SECONDS = 1.0
"""Least time between two updates of a configuration's line."""
SHOW_AFTER_SECONDS = 2.0
"""Seconds before a bar or a sign of life appears."""


class Bar:
    """A progress bar; it draws nothing on a pipe, when quiet, or before the run has taken some time."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.title = "scoring"
        self.failed_word = "failed"
        """What is said of the samples that count as failures."""
        self.estimate_total: Callable[[], int | None] = lambda: None
        """How many samples there may be, asked once when the run does not know."""
        self.shown = not quiet and sys.stderr.isatty()
        self.started = time.monotonic()
        self._display: Any = None
        self._task: Any = None
        self._estimated_total: int | None = None
        self._rate_done = 0
        self._rate_since = self.started
        self.answers = 0
        """Answers that the system under test has given so far, kept ones included."""

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.stop()

    def __call__(self, progress: Progress) -> None:
        """Show how far the run is."""
        now = time.monotonic()
        if not self.shown or now - self.started < SHOW_AFTER_SECONDS:
            # The rate starts here: what a resumed run counts as done at once must not
            # flatter it.
            self._rate_done, self._rate_since = progress.done, now
            return
        if self._display is None:
            self._estimated_total = progress.total or self.estimate_total()
            self._display = self._start_display()
            self._task = self._display.add_task(self.title, total=progress.total, facts="")
        self._restart_if_renamed(self.title)
        if progress.total is None and self._estimated_total is not None:
            # The estimate may be too low (a line can hold several rows); a bar beyond its end looks
            # broken.
            progress = replace(progress, total=max(self._estimated_total, progress.done))
        self._display.update(
            self._task,
            completed=progress.done,
            total=progress.total,
            facts=self.format_facts(progress, now),
        )

    def show_answers(self, progress: AnswerProgress) -> None:
        """Show how many answers the system has given; a separate bar, before that of the scores."""
        from ragstone.engine import Progress

        self.answers = progress.done
        # Put back, for the scores that follow.
        title, self.title = self.title, "answering"
        self(Progress(progress.done, None, progress.failures, NO_USAGE))
        self.title = title

    def build_counter(self, title: str) -> Callable[[int, int | None], None]:
        """A callback for other work, called with how much is done and how much there is."""
        from ragstone.engine import Progress

        def show_count(done: int, total: int | None) -> None:
            self.title = title
            self(Progress(done, total, 0, NO_USAGE))

        return show_count

    def _restart_if_renamed(self, title: str) -> None:
        """Start the bar again when another kind of work has begun, which has another rate and total."""
        if self._task is not None and self._display.tasks[0].description != title:
            self._display.reset(self._task, description=title, total=None)
            self._rate_done, self._rate_since, self._estimated_total = (
                0,
                time.monotonic(),
                self.estimate_total(),
            )

    def format_facts(self, progress: Progress, now: float) -> str:
        """Rate, time left, cost and failures, as far as there are any."""
        of = "" if progress.total is None else f"/{progress.total:,}"
        parts = [f"{progress.done:,}{of}"]
        seconds = now - self._rate_since
        rate = (progress.done - self._rate_done) / seconds if seconds > 0 else 0.0
        if rate > 0:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
            if progress.total is not None:
                parts.append(f"{format_duration((progress.total - progress.done) / rate)} left")
        if progress.usage.usd:
            parts.append(f"${progress.usage.usd:,.2f}")
        if progress.failures:
            parts.append(f"{progress.failures:,} {self.failed_word}")
        return "  ".join(parts)

    def _start_display(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        live = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            console=Console(stderr=True),
            transient=True,
            expand=True,
        )
        live.start()
        return live


def stdout_to_stderr() -> redirect_stdout[Any]:
    """What a user's system or metric prints goes to stderr: stdout is for results."""
    return redirect_stdout(sys.stderr)


@contextmanager
def show_waiting(title: str, *, quiet: bool = False) -> Iterator[None]:
    """A sign of life for work of unknown length; shown under the same conditions as the bar."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(title)
    timer = threading.Timer(SHOW_AFTER_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        # The timer may be starting the display right now: wait, or it would start after it was
        # stopped.
        timer.join()
        status.stop()


def count_lines(path: str, most: int | None = None) -> int | None:
    """About how many samples a jsonl file holds; None for anything else."""
    # Lines of a csv or json file are not its rows; a bar without an end is better than a wrong one.
    if not path.endswith(".jsonl") or not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    return lines if most is None else min(lines, most)


def format_duration(seconds: float) -> str:
    """Seconds as people say them: `40 s`, `12 min`, `3 h 5 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def show_progress_lines(*, quiet: bool) -> Callable[[str, Any], None] | None:
    """A callback that rewrites a line for each configuration while it runs; None when quiet or without a terminal."""
    if quiet or not sys.stderr.isatty():
        return None
    last: dict[str, Any] = {"name": None, "at": 0.0}

    def show(name: str, progress: Any) -> None:
        now = time.monotonic()
        if name == last["name"] and now - last["at"] < LINE_SECONDS:
            return
        if last["name"] not in (None, name):
            click.echo(err=True)
        last.update(name=name, at=now)
        # The same callback gets the progress of answering (AnswerProgress, which has no usage) and of
        # scoring (Progress).
        scoring = hasattr(progress, "usage")
        failed = f", {progress.failures:,} failed" if progress.failures else ""
        what = "scored" if scoring else "answered"
        # Carriage return and erase: the line is written over itself.
        click.echo(f"\r\x1b[K{name}: {progress.done:,} {what}{failed}", err=True, nl=False)

    return show
