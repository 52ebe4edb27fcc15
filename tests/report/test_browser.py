"""The page in a real Chromium: nothing in it runs but its own script, which filters and sorts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chromium import CONTRAST, PAYLOADS, Visit, browser, needs_chromium, playwright
from paged import run_page
from ragstone.analysis import Summary, summarise
from ragstone.report import html
from ragstone.report.formats import write_page
from ragstone.store import StoredRun
from ragstone.types import Finding, Score

__all__ = ["browser"]
pytestmark = needs_chromium


@pytest.fixture
def page_file(run: StoredRun, summary: Summary, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_page(run_page(run, summary), path)
    return path


def poisoned(payload: str, number: int) -> tuple[dict[str, Any], dict[str, Score]]:
    """A sample with the payload in every text that a report can show."""
    text = f"{payload} {number}"
    row = {
        "id": text,
        "question": text,
        "answer": text,
        "contexts": [
            {"id": text, "text": f"{text} and a quote. {text}"},
            {"id": "b", "text": text},
        ],
        "reference": text,
        "relevant": {text: 1, payload: 1},
        "group": text,
        "meta": {payload: payload},
    }
    findings = (Finding(text, payload, payload, text, "and a quote", verified=False, span=(0, 5)),)
    scores = {
        f"m{payload}": Score(0.1, findings=findings, warnings=(payload,), label=payload),
        "n": Score(outcome="judge_error", kind="refusal", reason=payload, label=payload),
    }
    return row, scores


def test_no_text_from_outside_runs_or_loads_anything(
    build: Any, browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    for number, payload in enumerate(PAYLOADS):
        plain = {"higher_is_better": True, "bounds": [0, 1], "binary": False, "judged": True}
        metrics = (
            {
                "name": f"m{payload}",
                "family": payload,
                "labels": [payload],
                "meaning": payload,
                **plain,
            },
            {"name": "n", "family": "n", "labels": [payload], "meaning": payload, **plain},
        )
        run = build([poisoned(payload, number)], metrics=metrics, name=payload, source=payload,
                    judge=payload, bad=(payload,))  # fmt: skip
        summary = summarise(run, gates={f"m{payload}": ">= 0.5"})
        write_page(run_page(run, summary, ("en", "es")[number % 2]), path)
        visit = Visit(browser, path.as_uri())
        visit.page.locator(".claim").first.focus()
        visit.page.locator(".claim").first.hover()
        visit.page.get_by_role("searchbox").fill(payload)
        visit.page.wait_for_timeout(150)
        assert visit.page.evaluate("window.hit") is None
        assert visit.complaints == []
        assert visit.requests == [path.as_uri()]
        visit.page.get_by_role("searchbox").fill("")
        visit.page.wait_for_timeout(150)
        assert visit.page.locator(".sample").count() == 1
        assert payload.split("\u2028")[0] in visit.page.locator("h1").inner_text()
        visit.page.context.close()


def test_the_notebook_table_runs_nothing_either(build: Any, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "cell.html"
    plain = {
        "higher_is_better": True,
        "bounds": [0, 1],
        "binary": False,
        "judged": True,
        "labels": [],
    }
    for payload in PAYLOADS:
        scores = {payload: Score(outcome="metric_error", reason=payload)}
        metrics = ({"name": payload, "family": payload, "meaning": payload, **plain},)
        run = build([({"question": "q"}, scores)], metrics=metrics, name=payload, source=payload)
        fragment = html.render_fragment(run_page(run, summarise(run)))
        path.write_text(f'<!doctype html><meta charset="utf-8">{fragment}', encoding="utf-8")
        visit = Visit(browser, path.as_uri())
        assert visit.page.evaluate("window.hit") is None
        assert [url for url in visit.requests if "evil" in url] == []
        visit.page.context.close()


def test_the_page_reads_without_its_script(browser: Any, page_file: Path) -> None:
    visit = Visit(browser, page_file.as_uri(), java_script_enabled=False)
    assert visit.shown() == 100
    assert "20 more samples are drawn by the page's script" in visit.page.inner_text("#samples")
    assert not visit.page.locator("#filter").is_visible()
    visit.page.locator("#list summary").nth(1).click()
    assert visit.page.locator("#list details[open]").count() == 2


def test_filters_by_outcome_metric_and_text(browser: Any, page_file: Path, run: StoredRun) -> None:
    visit = Visit(browser, page_file.as_uri())
    failed = [row for row in run.rows() if not row.scores["faithfulness"].ok]
    errors = [row for row in failed if row.scores["faithfulness"].outcome == "judge_error"]
    visit.page.locator("select[name=metric]").select_option(label="faithfulness")
    visit.page.locator("select[name=outcome]").select_option("o:judge_error")
    playwright.expect(visit.page.locator("output")).to_have_text(f"{len(errors)} of 120 shown")
    assert visit.shown() == len(errors)
    visit.page.locator("select[name=outcome]").select_option("o:")
    playwright.expect(visit.page.locator("output")).to_have_text(f"{len(failed)} of 120 shown")
    visit.page.get_by_role("button", name="Clear").click()
    playwright.expect(visit.page.locator("output")).to_have_text("120 of 120 shown")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("TREINTA anos")
    playwright.expect(visit.page.locator("output")).to_have_text("30 of 120 shown")
    visit.page.get_by_role("searchbox").fill("nowhere to be found")
    playwright.expect(visit.page.locator("#nothing")).to_be_visible()


def test_choosing_a_metric_sorts_its_worst_first(
    browser: Any, page_file: Path, run: StoredRun
) -> None:
    visit = Visit(browser, page_file.as_uri())
    visit.page.locator("select[name=metric]").select_option(label="hallucination_rate")
    visit.page.locator("select[name=outcome]").select_option("o:ok")
    playwright.expect(visit.page.locator("output")).to_have_text("102 of 120 shown")
    first = visit.page.locator(".sample:visible").first.get_attribute("id")
    values = {f"s{row.position}": row.scores["hallucination_rate"].value for row in run.rows()}
    assert values[first] == max(value for value in values.values() if value is not None)


@pytest.mark.parametrize("script", [True, False])
def test_pointing_at_a_claim_lights_up_its_evidence(
    browser: Any, page_file: Path, summary: Summary, run: StoredRun, script: bool
) -> None:
    visit = Visit(browser, page_file.as_uri(), java_script_enabled=script, reduced_motion="reduce")
    position = next(p for p in summary.worst if run.row(p).scores["faithfulness"].findings
                    and run.row(p).scores["faithfulness"].findings[0].quote)  # fmt: skip
    sample = visit.page.locator(f"#s{position}")
    if sample.locator("details[open]").count() == 0:
        sample.locator("summary").click()
    mark = sample.locator(".chunk mark").first
    lit = "element => getComputedStyle(element).backgroundColor !== 'rgba(0, 0, 0, 0)'"
    assert not mark.evaluate(lit)
    sample.locator(".claim").first.focus()
    assert mark.evaluate(lit)
    visit.page.locator("h1").click()
    assert not mark.evaluate(lit)
    sample.locator(".claim").first.hover()
    assert mark.evaluate(lit)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_text_has_contrast(
    browser: Any, page_file: Path, width: int, scheme: str
) -> None:
    visit = Visit(
        browser, page_file.as_uri(), viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    visit.page.locator("#list summary").nth(1).click()
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.page.evaluate(CONTRAST) == []


def test_packed_samples_are_drawn_when_opened_and_run_nothing(
    build: Any, browser: Any, tmp_path: Path
) -> None:
    cases = [poisoned(PAYLOADS[number % len(PAYLOADS)], number) for number in range(110)]
    scores = {"m": Score(0.5), "n": Score(0.25)}
    rows = [(row, {**scores, "m": next(iter(judged.values()))}) for row, judged in cases]
    plain = {"higher_is_better": True, "bounds": [0, 1], "binary": False, "judged": True}
    metrics = tuple(
        {"name": name, "family": name, "labels": [], "meaning": "", **plain} for name in "mn"
    )
    run = build(rows, metrics=metrics)
    path = tmp_path / "report.html"
    write_page(run_page(run, summarise(run)), path)
    visit = Visit(browser, path.as_uri())
    visit.page.locator("#list .sample").nth(109).wait_for()
    assert visit.page.locator("#list .sample .body").count() == 100
    for number in (100, 109):
        visit.page.locator("#list .sample summary").nth(number).click()
        visit.page.locator("#list .sample").nth(number).locator(".body").wait_for()
    assert visit.page.locator("#list .sample .body").count() == 102
    visit.page.locator("#list .sample .claim").last.hover()
    assert visit.page.evaluate("window.hit") is None
    assert visit.complaints == []
    assert visit.requests == [path.as_uri()]


@pytest.mark.slow
def test_a_report_of_a_thousand_samples_is_small_and_holds_all(
    build: Any, a_case: Any, browser: Any, tmp_path: Path
) -> None:
    run = build([a_case(number) for number in range(1, 1201)])
    path = tmp_path / "report.html"
    write_page(run_page(run, summarise(run)), path)
    assert path.stat().st_size <= 3_000_000
    visit = Visit(browser, path.as_uri())
    visit.page.locator("#list .sample").nth(150).wait_for()
    assert visit.page.evaluate("document.querySelectorAll('*').length") <= 30_000
    assert "1,200 of 1,200" in visit.page.inner_text("#filter output")
