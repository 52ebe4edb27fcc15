"""The viewer in a real Chromium: nothing from outside runs, keys work, a running evaluation advances, contrast is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chromium import CONTRAST, PAYLOADS, Visit, browser, needs_chromium
from live import Server, in_thread
from ragstone.labels import Label, load_labels, save_labels
from ragstone.labels.label import hash_content
from ragstone.server import ServerSettings
from ragstone.store import Store, StoredRun
from ragstone.store.run_notes import save_note, save_tags
from ragstone.types import Finding, Score
from viewed import METRICS, add_run, append_rows, make_row

__all__ = ["browser"]
pytestmark = needs_chromium


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "runs.db")
    yield opened
    opened.close()


@pytest.fixture
def server(store: Store) -> Iterator[Server]:
    settings = ServerSettings(home="runs", ingest=False, editing=True, author="ana")
    with in_thread(settings, store) as running:
        yield running


def poison(store: Store, number: int) -> StoredRun:
    """A run with a payload in every text that comes from outside."""
    payload = PAYLOADS[number % len(PAYLOADS)]
    rows = []
    for at in range(3):
        text = f"{PAYLOADS[(number + at) % len(PAYLOADS)]} {at}"
        row = {
            "id": text, "question": text, "answer": f"{text} one. two.", "contexts": [{"id": text, "text": text}],
            "reference": text, "relevant": {text: 1}, "meta": {text[:40]: text},
        }  # fmt: skip
        findings = (Finding(text, payload, payload, text, text, verified=False),)
        scores = {
            "faithfulness": Score(0.1 * at, findings=findings, warnings=(payload,)),
            "context_relevance": Score(0.5, findings=findings),
            "recall": Score(outcome="metric_error", reason=payload),
        }
        rows.append((row, scores))
    metrics = tuple({**metric, "meaning": payload} for metric in METRICS)
    run = add_run(store, payload, source=payload, rows=rows, metrics=metrics, judge=payload)
    save_tags(store, run.id, [payload])
    save_note(store, run.id, payload)
    row = run.row(1)
    for target, item in (("claim", f"{payload} 0"), ("note", "")):
        content = hash_content(row.sample, target, item)  # type: ignore[arg-type]
        label = Label(row.id, target, 1.0 if item else None, payload, item, payload, 1, run.id, payload, content)  # type: ignore[arg-type]  # fmt: skip
        save_labels(store, [label])
    return run


def test_no_text_from_outside_runs_on_any_page(store: Store, server: Server, browser: Any) -> None:
    for number in (0, 5):
        one, two = poison(store, number), poison(store, number)
        pages = (
            "runs", "runs?trend=faithfulness", f"run?run={one.id}", f"sample?run={one.id}&at=2", f"label?run={one.id}&at=1",
            f"label?run={one.id}&on=claim", f"compare?run={one.id}&run={two.id}", "label", "compare",
        )  # fmt: skip
        visit = Visit(browser, f"{server.url}/healthz")
        visit.requests.clear()
        for page in pages:
            visit.page.goto(f"{server.url}/{page}")
            if visit.page.locator("progress").count():
                visit.page.wait_for_timeout(700)
                visit.page.goto(f"{server.url}/{page}")
            visit.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")  # fmt: skip
            assert visit.page.evaluate("window.hit") is None, page
            assert visit.page.locator("main").count() == 1, page
        assert visit.complaints == []
        assert {url.split("/")[2] for url in visit.requests} == {f"{server.host}:{server.port}"}
        visit.page.context.close()


def test_a_queue_is_labelled_by_keyboard(store: Store, server: Server, browser: Any) -> None:
    run = add_run(store, "first", samples=6)
    visit = Visit(browser, f"{server.url}/label?run={run.id}&on=claim")
    for key in ("s", "c", "k", "u"):
        before = visit.page.inner_text(".sub")
        visit.page.keyboard.press(key)
        visit.page.wait_for_function("(old) => document.querySelector('.sub').innerText !== old", arg=before)  # fmt: skip
    labels = load_labels(store, run=run.id, target="claim")
    assert sorted(label.word for label in labels) == ["contradicted", "supported"]
    assert {label.author for label in labels} == {"ana"}
    assert visit.complaints == []


def test_samples_are_stepped_through_and_filtered_by_keyboard(
    store: Store, server: Server, browser: Any
) -> None:
    run = add_run(store, "first", samples=6)
    visit = Visit(browser, f"{server.url}/run?run={run.id}")
    visit.page.locator(".list-of-samples").wait_for()
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("blue")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**q=blue**")
    assert visit.page.locator(".list-of-samples tbody tr").count() == 3
    visit.page.locator(".list-of-samples tbody a").first.click()
    visit.page.wait_for_url("**/sample?**")
    first = visit.page.url
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_url(lambda url: url != first)
    visit.page.keyboard.press("ArrowLeft")
    visit.page.wait_for_url(first)
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        assert visit.page.evaluate(CONTRAST) == []
    visit.page.set_viewport_size({"width": 390, "height": 800})
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390


def test_an_unfinished_run_advances_on_the_page(store: Store, server: Server, browser: Any) -> None:
    run = add_run(store, "growing", samples=4, is_done=False)
    visit = Visit(browser, f"{server.url}/runs")
    assert visit.page.inner_text(".runs tbody tr td:nth-child(4)") == "4"
    append_rows(run, [make_row(number, 0.0) for number in range(5, 20)])
    cell = "() => document.querySelector('.runs tbody tr td:nth-child(4)').innerText === '19'"
    visit.page.wait_for_function(cell)


def test_pages_read_without_script(store: Store, server: Server, browser: Any) -> None:
    run = add_run(store, "first", samples=6)
    visit = Visit(browser, f"{server.url}/runs", java_script_enabled=False)
    visit.page.locator("th.name a").click()
    visit.page.wait_for_timeout(700)
    visit.page.goto(f"{server.url}/run?run={run.id}")
    visit.page.locator("input[type=search]").fill("blue")
    visit.page.locator(".filter button").click()
    assert visit.page.locator(".list-of-samples tbody tr").count() == 3
    visit.page.locator(".list-of-samples tbody a").first.click()
    assert visit.page.locator(".claim").count() == 4
