"""The viewer in a real Chromium: nothing from outside runs, keys work, a running evaluation advances, contrast is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from chromium import CONTRAST, PAYLOADS, Visit, browser, needs_chromium
from live import Server, in_thread
from ragstone.labels import Label, load_labels, save_labels
from ragstone.labels.label import hash_content
from ragstone.monitor import Archive, Interaction
from ragstone.monitor.interactions import now_micros
from ragstone.report.view.testset_page import to_item
from ragstone.server import ServerSettings
from ragstone.store import Store, StoredRun
from ragstone.store.run_notes import save_note, save_tags
from ragstone.store.saved_views import save_view
from ragstone.store.testsets import list_testsets, load_items, save_items
from ragstone.types import Finding, Score
from viewed import METRICS, add_run, append_rows, fetch_whole, make_row
from waiting import wait_until

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
    save_items(
        store, payload, [to_item(one.sample) for one in run.rows()], origin=payload, author=payload
    )
    save_view(store, f"review?run={run.id}&q={number}", payload, payload)
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
            "runs", "runs?trend=faithfulness", f"review?run={one.id}", f"review?run={one.id}&at=2", f"label?run={one.id}&at=1",
            f"label?run={one.id}&on=claim", f"review?run={one.id}&run={two.id}&at=1", f"figures?run={one.id}", f"calls?run={one.id}&at=1", "label", "testsets", f"testset?name={quote(list_testsets(store)[0].name)}",
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


def open_review(server: Server, browser: Any, *runs: StoredRun, more: str = "", **options: Any) -> Visit:  # fmt: skip
    """The review page of some runs once their classes are there."""
    query = "&".join(f"run={run.id}" for run in runs)
    fetch_whole(server, f"/review?{query}")
    wait_until(
        lambda: b"being prepared" not in server.get(f"/review?{query}").body, "traits are written"
    )
    size = {"width": 1440, "height": 900}
    return Visit(browser, f"{server.url}/review?{query}{more}", **{"viewport": size, **options})


def read_current(visit: Visit) -> str:
    """The question that is chosen in the list."""
    return str(visit.page.inner_text(".grid a[aria-current]"))


def test_the_worst_sample_is_open_and_its_neighbours_are_a_key_away(
    store: Store, server: Server, browser: Any
) -> None:
    run = add_run(store, "first", samples=6)
    visit = open_review(server, browser, run)
    titles = visit.page.locator(".grid a[data-at]").all_inner_texts()
    assert read_current(visit) == titles[0] == visit.page.inner_text(".panehead h2")
    for key, at in (("j", 1), ("j", 2), ("k", 1), ("ArrowDown", 2)):
        visit.page.keyboard.press(key)
        visit.page.wait_for_function("(title) => document.querySelector('.panehead h2').innerText === title", arg=titles[at])  # fmt: skip
        assert read_current(visit) == titles[at]
    # the address is that of what is seen
    visit.page.reload()
    assert read_current(visit) == titles[2]
    visit.page.locator(".grid tbody tr").nth(4).locator("td").first.click()
    visit.page.wait_for_function("(title) => document.querySelector('.panehead h2').innerText === title", arg=titles[4])  # fmt: skip
    assert visit.complaints == []


def test_text_is_searched_by_keys_alone(store: Store, server: Server, browser: Any) -> None:
    visit = open_review(server, browser, add_run(store, "first", samples=6))
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("blue")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**q=blue**")
    assert visit.page.locator(".grid tbody tr").count() == 3
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        assert visit.page.evaluate(CONTRAST) == []
    visit.page.set_viewport_size({"width": 390, "height": 844})
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_stretch_of_a_histogram_is_one_drag(store: Store, server: Server, browser: Any) -> None:
    run = add_run(store, "first", samples=20)
    visit = open_review(server, browser, run)
    box = visit.page.locator(".hist[data-metric=faithfulness] svg").bounding_box()
    visit.page.mouse.move(box["x"] + 1, box["y"] + 15)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 15)
    visit.page.mouse.up()
    visit.page.wait_for_url("**range=faithfulness**")
    values = [row.scores["faithfulness"].value for row in run.rows()]
    expected = [value for value in values if value is not None and value <= 0.5]
    assert abs(visit.page.locator(".grid tbody tr").count() - len(expected)) <= 1
    assert visit.complaints == []


def test_two_and_four_runs_are_two_clicks_from_the_list(
    store: Store, server: Server, browser: Any
) -> None:
    runs = [add_run(store, f"v{number}", 0.1 * number, samples=6) for number in range(4)]
    for wanted in (runs[:2], runs):
        visit = Visit(browser, f"{server.url}/runs")
        for run in wanted:
            visit.page.locator(f"input[name=run][value='{run.id}']").check()
        visit.page.locator("form[action=review] button").click()
        visit.page.locator(".grid").wait_for()
        assert visit.page.locator(".grid thead kbd").count() == len(wanted)
        assert visit.page.locator(".answers article").count() == len(wanted)
        assert "fixes" in visit.page.inner_text(".verdict >> nth=0")
    visit.page.keyboard.press("2")
    visit.page.locator(".answers article.current [data-column='2']").wait_for()
    assert "column=2" in visit.page.url
    assert visit.complaints == []


@pytest.mark.parametrize("by_key", [True, False])
def test_ten_answers_are_labelled_by_ten_keys_or_clicks(
    store: Store, server: Server, browser: Any, by_key: bool
) -> None:
    run = add_run(store, "first", samples=12)
    visit = open_review(server, browser, run)
    for number in range(10):
        before = visit.page.inner_text(".panehead h2")
        key = "sncu"[number % 4]
        if by_key:
            visit.page.keyboard.press(key)
        else:
            visit.page.locator(
                f".labelling [data-label={'n' if key == 'c' else key}]"
            ).first.click()
        visit.page.wait_for_function("(old) => document.querySelector('.panehead h2').innerText !== old", arg=before)  # fmt: skip
    labels = load_labels(store, run=run.id, target="support")
    assert len(labels) == 10
    assert sum(label.value == 1 for label in labels) == 3
    assert sum(label.is_skip for label in labels) == 2
    assert visit.complaints == []


def test_a_claim_is_labelled_where_it_is_in_focus(
    store: Store, server: Server, browser: Any
) -> None:
    run = add_run(store, "first", samples=2)
    visit = open_review(server, browser, run)
    visit.page.locator("section.labelling summary").click()
    visit.page.locator(".labelling li [data-label=s]").first.focus()
    visit.page.keyboard.press("c")
    visit.page.locator(".labelling li .given").wait_for()
    visit.page.keyboard.press("n")
    visit.page.locator(".labelling li:nth-child(2) .given").wait_for()
    words = [label.word for label in load_labels(store, run=run.id, target="claim")]
    assert sorted(words) == ["contradicted", "not_found"]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_row_is_on_the_first_screen(
    store: Store, server: Server, browser: Any, width: int, height: int
) -> None:
    one, two = add_run(store, "first"), add_run(store, "second", 0.2)
    for runs in ((one,), (one, two)):
        visit = open_review(server, browser, *runs, viewport={"width": width, "height": height})
        box = visit.page.locator(".grid tbody tr").first.bounding_box()
        assert box["y"] + box["height"] <= height


def test_what_is_seen_is_shared_by_one_click_and_found_again(
    store: Store, server: Server, browser: Any
) -> None:
    run = add_run(store, "first", samples=6)
    visit = open_review(server, browser, run, more="&q=blue")
    visit.page.keyboard.press("j")
    visit.page.wait_for_url("**at=**")
    seen = read_current(visit)
    visit.page.locator("[data-copy]").click()
    visit.page.wait_for_function("() => document.querySelector('#keep output').textContent.includes('v?id=')")  # fmt: skip
    link = visit.page.inner_text("#keep output")
    assert len(link) < 60
    visit.page.goto(link)
    assert read_current(visit) == seen
    assert visit.page.locator(".grid tbody tr").count() == 3
    assert visit.complaints == []


def test_a_question_is_added_to_a_test_set_by_keys_alone(
    store: Store, server: Server, browser: Any
) -> None:
    run = add_run(store, "first", samples=4)
    visit = open_review(server, browser, run)
    seen = read_current(visit)
    visit.page.keyboard.press("t")
    visit.page.keyboard.type("gold")
    visit.page.keyboard.press("Enter")
    visit.page.locator(".state.good").wait_for()
    assert [item.row["question"] for item in load_items(store, "gold")] == [seen]
    assert read_current(visit) == seen
    assert visit.page.locator("#to-testset input[name=name]").input_value() == "gold"
    assert visit.complaints == []


def test_what_fits_is_exported_by_one_click(store: Store, server: Server, browser: Any) -> None:
    visit = open_review(server, browser, add_run(store, "first", samples=6), more="&q=blue")
    with visit.page.expect_download() as download:
        visit.page.locator(".exports a").first.click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.count("What is said of topic") == 3


def test_a_metric_over_time_is_one_click(store: Store, server: Server, browser: Any) -> None:
    for number in range(3):
        add_run(store, f"v{number}", 0.1 * number, samples=6)
    visit = Visit(browser, f"{server.url}/runs")
    visit.page.locator(".runs thead a").first.click()
    visit.page.locator("#trend .drawing").first.wait_for()
    for number in range(3):
        assert f"v{number}" in visit.page.locator("#trend .drawing").first.text_content()


def test_keys_are_listed_and_the_theme_is_kept(store: Store, server: Server, browser: Any) -> None:
    visit = open_review(server, browser, add_run(store, "first", samples=3))
    visit.page.keyboard.press("?")
    assert visit.page.locator("#keys kbd").count() >= 6
    visit.page.keyboard.press("Escape")
    visit.page.locator("#theme").click()
    dark = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.page.goto(f"{server.url}/runs")
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


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
    visit.page.goto(f"{server.url}/review?run={run.id}")
    visit.page.locator("input[type=search]").fill("blue")
    visit.page.locator(".toolbar .apply").click()
    assert visit.page.locator(".grid tbody tr").count() == 3
    visit.page.locator(".grid tbody a").nth(1).click()
    assert visit.page.locator(".pane .claim").count() == 4
    visit.page.locator(".labelling [data-label=s]").first.click()
    assert [label.value for label in load_labels(store, run=run.id, target="support")] == [1]
    assert visit.page.locator(".pane .said").count() >= 1


def press(visit: Visit, selector: str, key: str = "Enter") -> None:
    """A key on an element in focus, as after so many tabs."""
    target = visit.page.locator(selector).first
    target.focus()
    assert target.evaluate("(node) => node === document.activeElement && node.tabIndex >= 0")
    visit.page.keyboard.press(key)


def test_every_task_goes_by_keys_alone(store: Store, server: Server, browser: Any) -> None:
    runs = [add_run(store, f"v{number}", 0.1 * number, samples=8) for number in range(4)]
    for run in runs:
        fetch_whole(server, f"/review?run={run.id}")
    visit = Visit(browser, f"{server.url}/runs", viewport={"width": 1440, "height": 900})
    # the worst samples
    press(visit, ".runs th.name a")
    visit.page.locator(".grid").wait_for()
    assert read_current(visit) == visit.page.locator(".grid a[data-at]").first.inner_text()
    # a filter by score
    press(visit, ".menu summary")
    visit.page.locator("select[name=on]").select_option("recall")
    visit.page.locator("input[name=high]").focus()
    visit.page.keyboard.type("0.5")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**high=0.5**")
    values = visit.page.locator(".grid td.cell:nth-of-type(3)").all_inner_texts()
    assert set(values) <= {"0.000"}
    # export and share
    with visit.page.expect_download():
        press(visit, ".exports a")
    press(visit, "[data-copy]")
    visit.page.wait_for_function("() => document.querySelector('#keep output').textContent.includes('v?id=')")  # fmt: skip
    # two runs, then four, sample by sample
    for wanted in (runs[:2], runs):
        visit.page.goto(f"{server.url}/runs")
        for run in wanted:
            press(visit, f"input[name=run][value='{run.id}']", "Space")
        press(visit, "form[action=review] button")
        visit.page.locator(".grid thead kbd").nth(len(wanted) - 1).wait_for()
        visit.page.keyboard.press("j")
        visit.page.wait_for_url("**at=**")
        visit.page.keyboard.press(str(len(wanted)))
        visit.page.locator(f".answers .current [data-column='{len(wanted)}']").wait_for()
    # a metric over time
    visit.page.goto(f"{server.url}/runs")
    press(visit, ".runs thead a")
    visit.page.locator("#trend .drawing").first.wait_for()
    assert visit.complaints == []


@pytest.fixture
def traffic(store: Store) -> None:
    now = now_micros()
    asked = [
        Interaction(f"i{n}", now - n * 20 * MINUTE, "How?", answer="So.", latency=1.0 + n % 5)
        for n in range(60)
    ]
    Archive(store).add(asked).result()


MINUTE = 60_000_000


def test_a_chart_of_the_monitor_is_read_and_zoomed_by_mouse(
    server: Server, browser: Any, traffic: None
) -> None:
    visit = Visit(browser, f"{server.url}/monitor", viewport={"width": 1440, "height": 900})
    chart = visit.page.locator("svg[data-since]").first
    box = chart.bounding_box()
    assert box["y"] + box["height"] <= 900
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    shown = visit.page.locator(".readout").first
    first = shown.inner_text()
    assert re.search(r"\d\d:\d\d", first)
    visit.page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 40)
    assert shown.inner_text() != first
    visit.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 40)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 40)
    visit.page.mouse.up()
    visit.page.wait_for_url("**window=**until=**")
    minutes = int(re.search(r"window=(\d+)m", visit.page.url).group(1))  # type: ignore[union-attr]
    assert 0.2 * 24 * 60 < minutes < 0.5 * 24 * 60
    assert visit.page.locator("svg[data-since]").count() > 0
    assert visit.page.locator("p.warn[role=alert]").count() == 0
    assert visit.complaints == []


def test_a_chart_of_the_monitor_is_read_and_opened_by_keys(
    server: Server, browser: Any, traffic: None
) -> None:
    visit = Visit(browser, f"{server.url}/monitor")
    visit.page.locator("svg[data-since][tabindex]").first.focus()
    readings = set()
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
        readings.add(visit.page.locator(".readout").first.inner_text())
    assert len(readings) == 3
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**window=**until=**")
    assert visit.complaints == []


def test_a_point_of_a_trend_leads_to_its_run(store: Store, server: Server, browser: Any) -> None:
    runs = [add_run(store, f"v{number}", 0.1 * number, samples=6) for number in range(3)]
    visit = Visit(
        browser, f"{server.url}/runs?trend=recall", viewport={"width": 1440, "height": 900}
    )
    visit.page.locator("#trend .drawing.wide a").nth(1).click()
    visit.page.locator(".grid").wait_for()
    assert f"run={runs[1].id}" in visit.page.url
