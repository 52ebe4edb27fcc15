"""The HTML page as text; what a browser makes of it is in test_browser.py."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from paged import run_page
from ragstone.analysis import Summary, summarise
from ragstone.report import html
from ragstone.report.formats import write_page
from ragstone.store import StoredRun
from ragstone.types import Finding, Score

VOID = {"meta", "link", "input", "br", "rect", "line", "path"}


def page_of(run: StoredRun, summary: Summary, language: str = "en", **options: Any) -> str:
    return html.render(run_page(run, summary, language), **options)


class Outline(HTMLParser):
    """Tags that close in order, and every attribute seen."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def outline(page: str) -> Outline:
    reader = Outline()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_needs_nothing_from_elsewhere(run: StoredRun, summary: Summary) -> None:
    for tag, attributes in outline(page_of(run, summary)).tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "audio", "video")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith(("#", "data:image/svg+xml,"))
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    assert "@import" not in page_of(run, summary)
    assert "url(" not in page_of(run, summary)


def test_the_policy_allows_only_what_is_on_the_page(run: StoredRun, summary: Summary) -> None:
    page = page_of(run, summary)
    policy = next(
        str(attributes["content"])
        for _, attributes in outline(page).tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_an_incomplete_metric_is_marked(run: StoredRun, summary: Summary) -> None:
    page = page_of(run, summary)
    assert page.count('class="card incomplete"') == 2
    assert "Incomplete: 2 metrics are under the coverage floor" in page


def test_samples_come_worst_first_with_their_findings(run: StoredRun, summary: Summary) -> None:
    page = page_of(run, summary)
    order = [int(n) for n in re.findall(r'<article class="sample" id="s(\d+)"', page)]
    assert order == list(summary.worst[:100])  # the others are packed
    assert (
        '<mark class="good" data-e="1">At standard atmospheric pressure water boils at 100 °C</mark>'
        in page
    )
    assert "Relevant but not retrieved" in page


def test_a_run_without_judge_gates_or_scores_is_a_page(build: Any) -> None:
    cases = [({"question": "q"}, {"m": Score(outcome="not_applicable", reason="nothing")})]
    metric = {"name": "m", "family": "m", "higher_is_better": True, "bounds": None, "binary": False,
              "judged": False, "labels": [], "meaning": ""}  # fmt: skip
    run = build(cases, metrics=(metric,), judge=None)
    page = page_of(run, summarise(run))
    outline(page)
    assert "no judge" in page
    assert "<strong>–</strong>" in page


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_is_in_its_language(run: StoredRun, summary: Summary, language: str) -> None:
    page = page_of(run, summary, language)
    outline(page)
    assert f'<html lang="{language}">' in page
    assert ("<strong>0,496</strong>" in page) == (language == "es")
    assert ("Documentos relevantes entre los k primeros" in page) == (language == "es")


def long_case(number: int) -> tuple[dict[str, Any], dict[str, Score]]:
    """A sample of about a hundred kilobytes whose escaped form is five times that."""
    text = f'{number} "&<>\'" ' * 1500
    row = {
        "question": text,
        "answer": text,
        "contexts": [{"id": f"{n}", "text": text} for n in range(8)],
    }
    findings = tuple(
        Finding(f"{n} {text}", "not_found", text, f"{n}", text[:400]) for n in range(20)
    )
    return row, {"m": Score(number % 7 / 7, findings=findings)}


def test_a_page_shows_no_more_samples_than_it_may(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "FIRST_DRAWN", 2)
    monkeypatch.setattr(html, "MAX_SAMPLES", 5)
    cases = [({"question": f"q{n}", "answer": "a"}, {}) for n in range(8)]
    run = build(cases, metrics=())
    page = page_of(run, summarise(run))
    assert "5 of 8 samples, the worst first" in page


def test_long_samples_are_shortened_to_fit_the_budget(build: Any) -> None:
    metric = {"name": "m", "family": "m", "higher_is_better": True, "bounds": [0, 1], "binary": False,
              "judged": True, "labels": [], "meaning": ""}  # fmt: skip
    small = ({"question": "a short one", "answer": "kept whole"}, {"m": Score(0.99)})
    run = build([*(long_case(n) for n in range(30)), small], metrics=(metric,))
    budget = 600_000
    page = page_of(run, summarise(run), budget=budget)
    assert len(page.encode()) <= budget
    assert len(page.encode()) > budget / 3
    assert page.count('<article class="sample"') == 31
    assert "characters left out" in page
    assert "Long texts are shortened" in page
    assert "kept whole" in page
    outline(page)


@pytest.mark.slow
def test_a_page_holds_all_samples_and_draws_the_first_hundred(build: Any, tmp_path: Path) -> None:
    metric = {"name": "m", "family": "m", "higher_is_better": True, "bounds": [0, 1], "binary": False,
              "judged": False, "labels": [], "meaning": ""}  # fmt: skip
    text = "A passage of about the usual length, with words enough to fill a line or two. " * 3
    contexts = [{"id": str(n), "text": text} for n in range(10)]
    cases = [
        ({"question": f"q{n}", "answer": text, "contexts": contexts}, {"m": Score(n / 1100)})
        for n in range(1100)
    ]
    run = build(cases, metrics=(metric,))
    path = tmp_path / "report.html"
    write_page(run_page(run, summarise(run)), path)
    assert path.stat().st_size < 3_000_000
    page = path.read_text(encoding="utf-8")
    assert page.count('<article class="sample"') == 100
    assert "All 1,100 samples" in page
    assert "1,000 more samples" in page


def test_the_notebook_table_marks_incomplete_metrics(run: StoredRun, summary: Summary) -> None:
    fragment = html.render_fragment(run_page(run, summary))
    outline(fragment)
    assert fragment.count("incomplete</span>") == 2
    assert "<b>0.496</b>" in fragment
    assert "<script" not in fragment
