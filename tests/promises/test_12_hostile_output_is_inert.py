"""Text from outside runs nothing and loads nothing: not on pages, not in Markdown, not on the terminal.

15 payloads in every field of reports and of the monitor's pages, in a real browser; Markdown, chat messages, mails and terminal sequences."""

from __future__ import annotations

from chromium import (
    browser,
    needs_chromium,
)
from report.conftest import build
from report.test_browser import test_no_text_from_outside_runs_or_loads_anything
from report.test_markdown import (
    test_a_sample_mentions_nobody_and_links_no_issue,
    test_text_from_outside_is_no_markup,
)
from report.test_terminal import test_text_from_outside_controls_nothing

__all__ = [
    "browser",
    "build",
    "test_a_sample_mentions_nobody_and_links_no_issue",
    "test_no_text_from_outside_runs_or_loads_anything",
    "test_text_from_outside_controls_nothing",
    "test_text_from_outside_is_no_markup",
]

needs_chromium(test_no_text_from_outside_runs_or_loads_anything)
