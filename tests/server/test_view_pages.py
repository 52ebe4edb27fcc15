"""Every page of the viewer on a store with all there is: axe finds nothing, nothing sticks out, and no address breaks it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from chromium import Visit, browser, needs_chromium
from live import Server, in_thread
from ragstone.labels import load_labels
from ragstone.monitor import Archive, Interaction
from ragstone.report.view.testset_page import to_item
from ragstone.server import ServerSettings
from ragstone.store import Store, StoredRun
from ragstone.store.experiments import save_experiment
from ragstone.store.testsets import save_items
from viewed import add_run, fetch_whole, fill_store

__all__ = ["browser"]

BENCH = {"baseline": 0, "primary": "recall", "margin": 0.02, "correction": "bonferroni"}
PAGES = {
    "runs": "runs", "trend": "runs?trend=recall&data=shop.jsonl", "runs in Spanish": "runs?lang=es", "review": "review?run={first}",
    "filtered": "review?run={first}&range=faithfulness:0:0.5&is=language:en&q=said", "sample": "review?run={first}&at=4",
    "no such run": "review?run=nobody", "several runs": "review?run={first}&run={better}&run={fifth}&at=4",
    "figures": "figures?run={first}", "figures of several": "figures?run={first}&run={better}&run={fifth}", "calls": "calls?run={first}&at=4",
    "labels": "label", "test sets": "testsets", "test set": "testset?name=gold", "all columns": "runs?cols=recall&cols=judge&cols=tags", "queue": "label?run={first}&on=claim", "labels of a sample": "label?run={first}&at=4",
    "preference": "label?run={first}&on=preference&against={answers}",
    "experiments": "experiments", "experiment": "experiment?id={bench}", "monitor": "monitor", "interaction": "interaction?id=i1",
    "traffic": "traffic",
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store.open(tmp_path_factory.mktemp("pages") / "runs.db")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def runs(store: Store) -> dict[str, StoredRun]:
    made = fill_store(store)
    rows = [({**_read(row), "answer": "Another answer."}, row.scores) for row in made["first"].rows()]  # fmt: skip
    made["answers"] = add_run(store, "answers", rows=rows)
    at = 1_780_000_000_000_000
    asked = [Interaction(f"i{number}", at, "How?", answer="So.", feedback=1.0) for number in range(3)]  # fmt: skip
    Archive(store).add(asked).result()
    items = [to_item(row.sample) for row in made["first"].rows()]
    save_items(store, "gold", items[:5], origin="", author="ana")
    return made


def _read(row: Any) -> dict[str, Any]:
    import json

    return dict(json.loads(row.row))


@pytest.fixture(scope="module")
def bench(store: Store, runs: dict[str, StoredRun]) -> str:
    ids = [runs[name].id for name in ("first", "better", "fifth")]
    return save_experiment(store, "bench", "shop.jsonl", ids, BENCH)


@pytest.fixture(scope="module")
def server(store: Store, bench: str) -> Iterator[Server]:
    settings = ServerSettings(home="runs", ingest=False, editing=True, author="ana")
    with in_thread(settings, store) as running:
        yield running


@pytest.fixture(scope="module")
def axe() -> str:
    """The accessibility checker, as its package for Python brings it."""
    pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@needs_chromium
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("scheme", "width"),
    [("dark", 390), *(pytest.param(*look, marks=pytest.mark.slow) for look in (("light", 1280), ("light", 390), ("dark", 1280)))],
)  # fmt: skip
def test_axe_finds_nothing_and_nothing_sticks_out(
    browser: Any, server: Server, runs: dict[str, StoredRun], bench: str, axe: str, page: str, scheme: str, width: int
) -> None:  # fmt: skip
    names = {name: run.id for name, run in runs.items()}
    address = f"{server.url}/{PAGES[page].format(**names, bench=bench)}"
    size = {"width": width, "height": 900}
    visit = Visit(browser, address, viewport=size, color_scheme=scheme)
    visit.page.wait_for_function("!document.querySelector('progress')")
    visit.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    visit.page.evaluate(f"{axe}; undefined")
    found = visit.page.evaluate("axe.run(document)")["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    expected = ["status of 404"] if page == "no such run" else []
    assert [text for text in visit.complaints if not any(part in text for part in expected)] == []
    visit.page.context.close()


@needs_chromium
def test_a_sample_is_labelled_by_keyboard_and_the_filter_is_still_there(
    browser: Any, server: Server, store: Store, runs: dict[str, StoredRun]
) -> None:
    run = runs["third"]
    visit = Visit(browser, f"{server.url}/review?run={run.id}&at=4&is=meta.topic%3Abilling")
    page = visit.page
    page.locator(".one").wait_for()
    order = page.inner_text(".steps span")
    page.locator(".labelling .links a").click()
    page.locator("#u1.current").wait_for()
    for key, unit in (("c", 2), ("ArrowDown", 3), ("2", 4)):  # a claim, past one, a chunk
        page.keyboard.press(key)
        page.locator(f"#u{unit}.current").wait_for()
    page.keyboard.press("Escape")
    page.locator(".one").wait_for()
    assert page.inner_text(".steps span") == order
    assert page.locator(".badge.person").all_inner_texts() == ["ana: contradicted", "ana: 1.00"]
    labels = [label for label in load_labels(store) if label.sample == "q004" and label.author == "ana"]  # fmt: skip
    assert [(label.target, label.word or label.value) for label in labels] == [("claim", "contradicted"), ("chunk", 1.0)]  # fmt: skip
    assert visit.complaints == []


@needs_chromium
def test_two_people_work_through_one_queue_at_once(
    browser: Any, server: Server, store: Store, runs: dict[str, StoredRun]
) -> None:
    run = runs["elsewhere"]
    visits = []
    for name in ("Ana", "Bo"):
        visit = Visit(browser, f"{server.url}/label")
        visit.page.locator("input[name=author]").fill(name)
        visit.page.locator("form button").first.click()
        visit.page.wait_for_load_state()
        visit.page.goto(f"{server.url}/label?run={run.id}&on=claim")
        visits.append(visit)
    for key in ("s", "n", "s"):
        before = [visit.page.inner_text(".sub") for visit in visits]
        for visit in visits:
            visit.page.keyboard.press(key)
        for visit, old in zip(visits, before, strict=True):
            visit.page.wait_for_function("(old) => document.querySelector('.sub')?.innerText !== old", arg=old)  # fmt: skip
    labels = load_labels(store, run=run.id, target="claim")
    words = {name: [label.word for label in labels if label.author == name] for name in ("Ana", "Bo")}  # fmt: skip
    assert words == {"Ana": ["supported", "not_found", "supported"], "Bo": ["supported", "not_found", "supported"]}  # fmt: skip


def test_a_busy_store_is_read_and_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "busy.db"
    store = Store.open(path)
    run = add_run(store, "first", samples=3)
    settings = ServerSettings(home="runs", ingest=False, editing=True, author="ana")
    with in_thread(settings, store) as server:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # as a long import of another process
        assert server.get("/runs").status == 200
        assert fetch_whole(server, f"/review?run={run.id}&at=1").status == 200
        other.execute("ROLLBACK")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        raw = f"run={run.id}&do=save&tags=a&note=".encode()
        assert server.ask("POST", "/notes", raw=raw, headers=form).status == 303
        other.close()
    store.close()


def test_the_viewer_is_the_same_on_every_store(place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = Store.open(place)
    runs = fill_store(store)
    runs["shorter"] = add_run(store, "shorter", 0.2, samples=9)  # matched by id
    with in_thread(ServerSettings(home="runs", ingest=False), store) as server:
        first = runs["first"].id
        for address, said in (
            ("/runs?trend=recall&data=shop.jsonl", b"better by"),
            (f"/review?run={first}&q=%22topic+7%22", b"What is said of topic 7?"),
            (f"/review?run={first}&at=4", b"The same sample in other runs"),
            (f"/review?run={first}&run={runs['better'].id}&sort=recall", b"fixes"),
            (
                f"/review?run={first}&run={runs['better'].id}&is=change:better",
                b"disagreements first",
            ),
            (
                f"/review?run={first}&run={runs['shorter'].id}&is=change:better",
                b"disagreements first",
            ),
        ):
            answer = fetch_whole(server, address)
            assert answer.status == 200
            assert said in answer.body, address
    store.close()


TEXTS = {"type": "string", "maxLength": 40}
ADDRESSES: dict[str, tuple[str, ...]] = {
    "/runs": ("q", "data", "tag", "sort", "dir", "page", "trend", "status", "trials", "lang", "done"),
    "/review": ("q", "range", "is", "sort", "dir", "order", "page", "on", "metric", "low", "high", "of", "at", "id", "column", "cols", "lang"),
    "/pane": ("at", "id", "q", "sort", "column"), "/export": ("format", "q", "range", "is"), "/figures": ("lang",), "/calls": ("at",),
    "/label": ("on", "at", "unit", "against", "state"), "/experiments": ("lang",), "/experiment": ("id",),
    "/testsets": ("lang",), "/testset": ("name", "page"), "/testset.jsonl": ("name",), "/v": ("id",),
}  # fmt: skip
FORMS = {
    "/views": ("do", "address", "name", "id"), "/testset": ("do", "run", "at", "name", "id", "ids", "reference", "relevant", "address"),
    "/notes": ("run", "do", "tags", "note", "lang"),
    "/labels": ("run", "at", "on", "item", "value", "comment", "queue", "do", "number", "unit", "state", "review", "author", "lang"),
}  # fmt: skip


def describe_addresses(runs: dict[str, StoredRun]) -> dict[str, Any]:
    """The pages as OpenAPI describes them: any text in any parameter, and a run that is there or not."""
    run = {"anyOf": [{"enum": [run.id for run in runs.values()]}, TEXTS]}
    paths: dict[str, Any] = {}
    for path, names in ADDRESSES.items():
        shapes = {"run": {"type": "array", "items": run, "maxItems": 4}} if path in ("/review", "/pane", "/figures") else {"run": run}  # fmt: skip
        shapes |= {name: {"anyOf": [TEXTS, {"type": "integer"}]} for name in names}
        parameters = [{"name": name, "in": "query", "schema": shape} for name, shape in shapes.items()]  # fmt: skip
        paths[path] = {"get": {"parameters": parameters, "responses": {"default": {"description": ""}}}}  # fmt: skip
    for path, names in FORMS.items():
        known = {"do": ["save", "mark", "bin", "restore", "erase", "undo", "name", "share", "forget", "add", "add_all", "add_interactions", "edit", "remove"], "on": ["claim", "chunk", "support", "note", "preference"]}  # fmt: skip
        fields = {name: run if name == "run" else {"anyOf": [TEXTS, {"enum": known.get(name, ["1", "2"])}]} for name in names}  # fmt: skip
        body = {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": fields}}}}  # fmt: skip
        paths.setdefault(path, {})["post"] = {
            "requestBody": body,
            "responses": {"default": {"description": ""}},
        }
    return {"openapi": "3.0.3", "info": {"title": "viewer", "version": "1"}, "paths": paths}


@pytest.mark.parametrize("examples", [8, pytest.param(300, marks=pytest.mark.slow)])
def test_no_address_and_no_form_breaks_the_viewer(tmp_path: Path, examples: int) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error

    store = Store.open(tmp_path / "fuzzed.db")
    runs = {"first": add_run(store, "first", samples=6), "better": add_run(store, "better", 0.3, samples=6)}  # fmt: skip
    viewer = ServerSettings(home="runs", ingest=False, editing=True, author="ana")
    tried = 0
    with in_thread(viewer, store) as server:
        schema = schemathesis.openapi.from_dict(describe_addresses(runs))
        schema.config.update(base_url=server.url)
        for found in schema.get_all_operations():
            strategy = found.ok().as_strategy()

            @given(case=strategy)
            @settings(
                max_examples=examples, deadline=None, database=None, derandomize=True,
                phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            def try_it(case: Any) -> None:
                nonlocal tried
                tried += 1
                case.call_and_validate(checks=[not_a_server_error])

            try_it()
        assert tried >= examples * (len(ADDRESSES) + len(FORMS)) * 0.8
        assert server.get("/healthz").status == 200
    store.close()
