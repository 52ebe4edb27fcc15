"""A Spanish report over a run that holds every message says none of them in English."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from paged import print_text, run_page
from ragstone.analysis import Summary, summarise
from ragstone.locale.catalogue import load_phrases
from ragstone.locale.messages import Argument, Message, compose
from ragstone.report import html, markdown
from ragstone.store import StoredRun
from ragstone.types import Finding, Score

ENGLISH, SPANISH = load_phrases("en", "messages"), load_phrases("es", "messages")
CODES = [code for code in ENGLISH if "." not in code]
METRICS = 12


def sample_message(code: str) -> Message:
    """The message with arguments of the kinds that its formats want."""
    arguments: dict[str, Argument] = {}
    for _, name, spec, _ in string.Formatter().parse(ENGLISH[code]):
        if name:
            is_number = bool(spec) and spec[-1:] in "fge%"
            is_list = bool(spec) and "|" not in spec
            arguments[name] = 0.5 if is_number else ("xx", "yy") if is_list else "xx"
    return compose(code, **arguments)


def fragments(text: str) -> list[str]:
    """The words of a sentence between its placeholders, where they are enough to know it by."""
    parts = (literal.strip() for literal, *_ in string.Formatter().parse(text))
    return [part for part in parts if len(part) >= 10]


@pytest.fixture
def every(build: Any) -> tuple[StoredRun, Summary]:
    """Each message as the reason of a score, and as a warning and a finding of another."""
    names = [f"m{n}" for n in range(METRICS)]
    cases = []
    for start in range(0, len(CODES), METRICS // 2):
        scores = {}
        for at, code in enumerate(CODES[start : start + METRICS // 2]):
            message = sample_message(code)
            scores[names[2 * at]] = Score(outcome="judge_error", kind="transport", reason=message)
            finding = Finding(f"claim {start + at}", "not_found", message)
            scores[names[2 * at + 1]] = Score(0.0, findings=(finding,), warnings=(message,))
        for name in names:
            scores.setdefault(name, Score(0.5))
        cases.append(({"question": "q", "answer": "a"}, scores))
    metrics = tuple(
        {"name": name, "family": name, "higher_is_better": True, "bounds": [0, 1], "binary": False,
         "judged": False, "labels": [], "meaning": ""}
        for name in names
    )  # fmt: skip
    run = build(cases, metrics=metrics)
    gates = {"m0": ">= 0.5", "m1": "mean >= 0.5", "m2": "coverage >= 0.5", "m3": "<= 0.5"}
    return run, summarise(run, gates=gates)


def show_html(run: StoredRun, summary: Summary) -> str:
    return unescape(html.render(run_page(run, summary, "es")))


def show_markdown(run: StoredRun, summary: Summary) -> str:
    return markdown.render(run_page(run, summary, "es")).replace("\\", "")


def show_terminal(run: StoredRun, summary: Summary) -> str:
    return print_text(run_page(run, summary, "es", is_opened=False), 4000, details=True)


@pytest.mark.parametrize("show", [show_html, show_markdown, show_terminal])
def test_no_message_is_said_in_english(
    every: tuple[StoredRun, Summary], show: Callable[[StoredRun, Summary], str]
) -> None:
    text = re.sub(r"\s+", " ", show(*every))
    other = " ".join(SPANISH.values())
    english = [
        (code, part)
        for code in CODES
        for part in fragments(ENGLISH[code])
        if part in text and part not in other
    ]
    assert english == []


def test_every_message_is_in_the_page(every: tuple[StoredRun, Summary]) -> None:
    text = re.sub(r"\s+", " ", show_html(*every))
    missing = [code for code in CODES if not all(part in text for part in fragments(SPANISH[code]))]
    assert missing == []
