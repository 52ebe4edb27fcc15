"""The viewer's pages over HTTP: runs, a run's samples, notes, export; and who may see and change what."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from live import Server, in_thread
from ragstone.analysis.compare import compare
from ragstone.asks import Ask, Reply
from ragstone.engine.replay import JudgeCall
from ragstone.labels import LabelSession, load_labels
from ragstone.report.comparison.samples import mark_differences
from ragstone.report.translator import load_translator
from ragstone.report.view.review_pane import _view_call
from ragstone.server import ServerSettings
from ragstone.store import Store, StoredReply, StoredRun
from ragstone.store.run_notes import load_run_notes
from ragstone.types import Usage
from viewed import add_run, append_rows, fetch_whole, fill_store, make_row
from waiting import wait_until

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store.open(tmp_path_factory.mktemp("view") / "runs.db")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def runs(store: Store) -> dict[str, StoredRun]:
    return fill_store(store)


@pytest.fixture(scope="module")
def server(store: Store, runs: dict[str, StoredRun]) -> Iterator[Server]:
    settings = ServerSettings(home="runs", ingest=False, editing=True, author="ana")
    with in_thread(settings, store) as running:
        yield running


def read_page(server: Server, path: str, **query: object) -> str:
    """A page that is there, as text; the index of a run is waited for."""
    address = f"{path}?{urlencode(query, doseq=True)}" if query else path
    answer = fetch_whole(server, address)
    assert answer.status == 200, answer.body.decode()[:400]
    return answer.body.decode()


def post(server: Server, path: str, **fields: str) -> int:
    return server.ask("POST", path, raw=urlencode(fields).encode(), headers=FORM).status


def list_titles(text: str) -> list[str]:
    return re.findall(r'<a href="review[^"]*" data-at="\d+" dir="auto"[^>]*>([^<]*)</a>', text)


def test_the_home_of_a_viewer_is_the_list_of_runs(server: Server) -> None:
    answer = server.get("/")
    assert (answer.status, answer.headers["Location"]) == (303, "runs")


def test_runs_stand_under_their_data_set_with_figures_and_courses(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    text = read_page(server, "/runs")
    assert text.index("other.jsonl") > 0 < text.index("shop.jsonl")
    for name, run in runs.items():
        assert f'<a href="review?run={run.id}" dir="auto">{name}</a>' in text
    assert (
        text.count('class="drawing spark"') == 9
    )  # three later runs of one data set, three metrics
    assert "offline 8" in text


def test_runs_are_filtered_and_sorted(server: Server) -> None:
    text = read_page(server, "/runs", q="better")
    assert ">better</a>" in text
    assert ">first</a>" not in text
    risen = read_page(server, "/runs", sort="faithfulness", dir="up")
    names = re.findall(r'dir="auto">(\w+)</a>', risen)
    assert [name for name in names if name != "elsewhere"] == ["first", "fifth", "better", "third"]


def test_the_trend_has_the_words_of_compare(server: Server) -> None:
    text = read_page(server, "/runs", trend="recall", data="shop.jsonl")
    assert "recall over the runs of shop.jsonl" in text
    assert "better by" in text
    assert "cannot tell" in text
    failing = read_page(server, "/runs", trend="faithfulness", data="shop.jsonl")
    assert "withheld" in failing  # a seventh of the judgements failed
    assert "No finished run has nonsense." in read_page(server, "/runs", trend="nonsense")


def test_all_samples_of_a_run_are_listed_the_worst_first(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    text = read_page(server, "/review", run=runs["first"].id)
    assert len(list_titles(text)) == 30
    values = [row.scores["faithfulness"].value for row in runs["first"].rows()]
    worst = min((value, at) for at, value in enumerate(values, 1) if value is not None)[1]
    assert list_titles(text)[0] == f"What is said of topic {worst}?"


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ({"range": "faithfulness:0.2:0.5"}, lambda row: (row.scores["faithfulness"].value or 9) <= 0.5 and (row.scores["faithfulness"].value or 0) >= 0.2),
        ({"on": "faithfulness", "high": "0.5"}, lambda row: row.scores["faithfulness"].value is not None and row.scores["faithfulness"].value <= 0.5),
        ({"is": "verdict:contradicted"}, lambda row: any(f.verdict == "contradicted" for f in row.scores["faithfulness"].findings)),
        ({"is": "outcome.faithfulness:judge_error"}, lambda row: not row.scores["faithfulness"].ok),
        ({"is": ["language:es", "meta.topic:billing"]}, lambda row: row.sample.language == "es" and row.sample.meta["topic"] == "billing"),
        ({"q": "blue"}, lambda row: "blue" in row.sample.answer),
        ({"q": '"topic 7"'}, lambda row: row.id == "q007"),
        ({"q": "q00*"}, lambda row: row.id.startswith("q00")),
        ({"q": "nowhere"}, lambda row: False),
        ({"is": "meta.topic:unheard"}, lambda row: False),
        ({"is": "meta.a%3Ab %25/&:x:y/1"}, lambda row: int(row.id[1:]) % 4 == 0),
    ],
)  # fmt: skip
def test_filters_admit_what_they_say(
    server: Server, runs: dict[str, StoredRun], query: dict[str, object], fits: object
) -> None:
    text = read_page(server, "/review", run=runs["first"].id, **query)
    expected = {row.sample.question for row in runs["first"].rows() if fits(row)}  # type: ignore[operator]
    assert set(list_titles(text)) == expected
    exported = server.get(f"/export?{urlencode({'run': runs['first'].id, 'format': 'jsonl', **query}, doseq=True)}")  # fmt: skip
    rows = [json.loads(line) for line in exported.body.decode().splitlines()]
    assert {row["question"] for row in rows} == expected


def test_a_bar_leads_to_as_many_samples_as_it_says(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    text = read_page(server, "/review", run=runs["better"].id)
    bars = re.findall(r'<a href="([^"]+)" aria-label="([^"]+)"><rect class="d-bar"', text)
    assert len(bars) > 5
    for href, title in bars:
        count = int(re.search(r"(\d+) samples?$", title).group(1))  # type: ignore[union-attr]
        page = read_page(server, "/" + href.replace("&amp;", "&"))
        assert len(list_titles(page)) == count, title


def test_an_address_that_cannot_be_read_says_so(server: Server, runs: dict[str, StoredRun]) -> None:
    text = read_page(
        server, "/review", run=runs["first"].id, range=["faithfulness:x:y", "none:0:1"], sort="<b>"
    )
    assert text.count("could not be read") == 3
    assert len(list_titles(text)) == 30


def test_the_export_of_a_table_keeps_the_order_of_the_list(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    query = urlencode({"run": runs["first"].id, "is": "verdict:contradicted", "format": "csv"})
    answer = server.get(f"/export?{query}")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="ragstone-{runs["first"].id}.csv"'  # fmt: skip
    values = [float(row["faithfulness"]) for row in csv.DictReader(io.StringIO(answer.body.decode()))]  # fmt: skip
    assert values == sorted(values)
    assert server.get(f"/export?run={runs['first'].id}&format=exe").status == 422


def test_spanish(server: Server, runs: dict[str, StoredRun]) -> None:
    text = read_page(server, "/review", run=runs["first"].id, lang="es")
    assert 'lang="es"' in text
    assert "Exportar las muestras" in text
    assert f"review?run={runs['first'].id}" in text
    assert "lang=es" in text


def test_an_unfinished_run_is_partial_and_advances(store: Store, server: Server) -> None:
    run = add_run(store, "growing", samples=4, source="live.jsonl", is_done=False)
    assert "unfinished" in read_page(server, "/runs", q="growing")
    assert len(list_titles(read_page(server, "/review", run=run.id))) == 4
    append_rows(run, [make_row(number, 0.0) for number in range(5, 9)])
    assert len(list_titles(read_page(server, "/review", run=run.id))) == 8
    store.finish(run.id, total=8, bad_count=0, bad=())
    text = read_page(server, "/review", run=run.id)
    assert "This run is unfinished" not in text
    post(server, "/notes", run=run.id, do="bin")


def test_scores_that_change_after_the_end_are_read_again(store: Store, server: Server) -> None:
    run = add_run(store, "changing", samples=3, source="change.jsonl")
    read_page(server, "/review", run=run.id)
    _, scores = make_row(50, 0.0)
    store.rescore(run.id, 1, scores).result()
    store.finish(run.id, total=3, bad_count=0, bad=())
    text = read_page(server, "/review", run=run.id, sort="position")
    assert f">{scores['faithfulness'].value:.3f}<" in text
    post(server, "/notes", run=run.id, do="bin")


def test_tags_note_and_baseline(store: Store, server: Server, runs: dict[str, StoredRun]) -> None:
    run = runs["better"].id
    assert post(server, "/notes", run=run, do="save", tags="nightly, , nightly,v2", note="a\x00b") == 303  # fmt: skip
    assert post(server, "/notes", run=runs["first"].id, do="mark") == 303
    assert post(server, "/notes", run=run, do="mark") == 303
    notes = load_run_notes(store)
    assert (notes[run].tags, notes[run].note) == (("nightly", "v2"), "ab")
    assert [name for name, stored in runs.items() if notes.get(stored.id) and notes[stored.id].is_baseline] == ["better"]  # fmt: skip
    assert ">better</a>" in read_page(server, "/runs", tag="v2")
    assert ">first</a>" not in read_page(server, "/runs", tag="v2")


def test_a_binned_run_is_listed_nowhere_and_comes_back(store: Store, server: Server) -> None:
    run = add_run(store, "doomed", samples=2, source="doom.jsonl")
    assert post(server, "/notes", run=run.id, do="erase") == 422  # only from the bin
    assert post(server, "/notes", run=run.id, do="bin") == 303
    assert run.id not in [info.id for info in store.runs()]
    text = read_page(server, "/runs")
    assert f'name="run" value="{run.id}"><input type="hidden" name="lang"' in text
    assert ">doomed</a>" not in text
    assert post(server, "/notes", run=run.id, do="restore") == 303
    assert ">doomed</a>" in read_page(server, "/runs")
    read_page(server, "/review", run=run.id)
    assert store.read("SELECT 1 FROM sample_texts WHERE sample_texts MATCH 'what'")
    assert post(server, "/notes", run=run.id, do="bin") == 303
    assert post(server, "/notes", run=run.id, do="erase") == 303
    number = store.read("SELECT 1 FROM runs WHERE id = ?", (run.id,))
    assert number == []
    assert post(server, "/notes", run=run.id, do="restore") == 404


def test_forms_are_refused_from_elsewhere_and_where_nothing_may_be_changed(
    store: Store, server: Server, runs: dict[str, StoredRun]
) -> None:
    raw = urlencode({"run": runs["first"].id, "do": "bin"}).encode()
    foreign = {**FORM, "Origin": "https://evil.example"}
    assert server.ask("POST", "/notes", raw=raw, headers=foreign).status == 403
    assert post(server, "/notes", run=runs["first"].id, do="dance") == 422
    assert post(server, "/notes", run="first", do="bin") == 422  # a name could mean another run
    assert server.post("/v1/interactions", {"question": "?"}).status in (404, 405)
    with in_thread(ServerSettings(home="runs", ingest=False), store) as reading:
        assert reading.ask("POST", "/notes", raw=raw, headers=FORM).status == 403


def test_behind_a_token_every_page_asks_for_it(store: Store, runs: dict[str, StoredRun]) -> None:
    token = "t" * 20
    settings = ServerSettings(home="runs", ingest=False, editing=True, token=token, prefix="/rag")
    with in_thread(settings, store) as guarded:
        for path in ("/runs", f"/review?run={runs['first'].id}", f"/export?run={runs['first'].id}", "/monitor"):  # fmt: skip
            for prefix in ("", "/rag"):
                answer = guarded.get(prefix + path)
                assert answer.status == 401
                assert b"What is said" not in answer.body
        raw = urlencode({"run": runs["first"].id, "do": "bin"}).encode()
        assert guarded.ask("POST", "/notes", raw=raw, headers=FORM).status == 401
        shown = guarded.get("/rag/runs", Authorization=f"Bearer {token}")
        assert shown.status == 200
        assert "default-src 'none'" in shown.headers["Content-Security-Policy"]


def test_a_run_that_is_not_there(server: Server) -> None:
    assert server.get("/review?run=nobody").status == 404
    assert server.get("/export?run=nobody").status == 404


def test_the_monitor_is_a_page_of_the_viewer(server: Server) -> None:
    text = read_page(server, "/monitor")
    assert '<a href="runs">Runs</a>' in text
    assert 'action="monitor"' in text


def test_a_sample_with_its_evidence_its_neighbours_and_other_runs(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    run = runs["first"]
    listed = read_page(server, "/review", run=run.id, q="blue", sort="position")
    hrefs = re.findall(r'<th scope="row"><a href="(review[^"]*)" data-at', listed)
    assert len(hrefs) == 15
    text = read_page(server, "/" + hrefs[1].replace("&amp;", "&"))
    steps = dict(re.findall(r'<a rel="(prev|next)" href="([^"]*)"', text))
    assert steps == {"prev": hrefs[0], "next": hrefs[2]}
    assert "2 of 15 in this order" in text
    assert text.count('class="chunk') == 2
    assert '<mark class="' in text
    assert f"review?run={runs['better'].id}&amp;at=4" in text
    assert "No calls are stored" in read_page(server, "/calls", run=run.id, at=4)
    assert server.get(f"/review?run={run.id}&id=q004").status == 200
    assert server.get(f"/review?run={run.id}&id=q999").status == 404
    fragment = server.get(f"/pane?run={run.id}&at=4").body.decode()
    assert "<html" not in fragment
    assert "What is said of topic 4?" in fragment


def cut_grid(text: str) -> list[str]:
    """The rows of the list."""
    table = text[text.index('<table class="grid') :]
    return table[: table.index("</table>")].split("<tr")[2:]


def list_cells(text: str) -> list[list[str]]:
    """The texts of the cells, row by row."""
    return [re.findall(r'<td class="cell [^"]*"[^>]*>([^<]*)', row) for row in cut_grid(text)]


def list_ids(text: str) -> list[str]:
    """The id of the sample of each row."""
    return re.findall(r'<span class="mono">(q\d+)</span>', "".join(cut_grid(text)))


def test_several_runs_stand_side_by_side_and_what_differs_most_comes_first(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    three = [runs[name] for name in ("first", "fifth", "better")]
    text = read_page(server, "/review", run=[run.id for run in three], metric="recall")
    cells = list_cells(text)
    assert {len(row) for row in cells} == {3}
    spreads = [max(map(float, row)) - min(map(float, row)) for row in cells]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > spreads[-1]
    stored = [{row.id: row.scores["recall"].value for row in run.rows()} for run in three]
    ids = list_ids(text)
    shown = dict(zip(ids, cells, strict=False))
    # columns: the marked baseline first, then by age
    order = [2, 0, 1] if load_run_notes(runs["first"].store)[three[2].id].is_baseline else [0, 1, 2]
    assert all(
        [float(value) for value in shown[id]] == [stored[at][id] for at in order] for id in ids
    )


def test_the_verdict_on_a_selection_is_that_of_compare(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    pair = [runs["better"], runs["elsewhere"]]  # the first is marked as the baseline
    difference = compare(pair, metrics=["recall"], samples=0).versus[0]["recall"]
    text = read_page(server, "/review", run=[run.id for run in pair], metric="recall")
    assert f"fixes {difference.improved}, breaks {difference.worsened} in recall: worse by" in text
    worse = read_page(server, "/review", run=[run.id for run in pair], metric="recall", **{"is": "change:worse"})  # fmt: skip
    assert len(list_titles(worse)) == difference.worsened
    assert all(before > after for before, after in list_cells(worse))
    chosen = [row.id for row in pair[0].rows() if row.sample.meta["topic"] == "billing"]
    selected = read_page(server, "/review", run=[run.id for run in pair], metric="recall", **{"is": "meta.topic:billing"})  # fmt: skip
    values = [{row.id: row.scores["recall"].value or 0.0 for row in run.rows()} for run in pair]
    fixed = sum(values[1][id] > values[0][id] for id in chosen)
    broken = sum(values[1][id] < values[0][id] for id in chosen)
    assert f"fixes {fixed}, breaks {broken} in recall" in selected


def test_runs_with_other_questions_are_matched_by_id(store: Store, server: Server) -> None:
    rows = [make_row(number, 0.0) for number in range(1, 9)]
    old = add_run(store, "old", source="part.jsonl", rows=rows[:6])
    new = add_run(store, "new", source="part.jsonl", rows=rows[:1:-1])  # q008 … q003
    text = read_page(server, "/review", run=[old.id, new.id], metric="recall")
    ids = list_ids(text)
    shown = dict(zip(ids, list_cells(text), strict=False))
    assert set(shown) == {f"q{number:03d}" for number in range(3, 9)}
    assert all(before == after for id, (before, after) in shown.items() if id < "q007")
    assert {before for id, (before, _) in shown.items() if id >= "q007"} == {"–"}
    pane = read_page(server, "/review", run=[old.id, new.id], of=new.id, id="q008")
    assert "does not have the question" in pane
    for run in (old, new):
        post(server, "/notes", run=run.id, do="bin")


def test_many_runs_are_a_heat_map_of_twenty_columns_at_most(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "many.db")) as own:
        made = [add_run(own, f"v{n}", n / 50, samples=5, source="many.jsonl") for n in range(22)]
        with in_thread(ServerSettings(home="runs", ingest=False), own) as running:
            address = f"/review?{urlencode({'run': [run.id for run in made]}, doseq=True)}"
            text = fetch_whole(running, address).body.decode()
    assert '<table class="grid heat">' in text
    assert {len(row) for row in list_cells(text)} == {20}
    assert text.count(' class="verdict') == 1  # of many runs only the listed one has its sentence
    assert text.count('<span class="badge ') >= 19  # each has its verdict in the head of its column


def test_columns_are_kept_for_the_next_visit(server: Server, runs: dict[str, StoredRun]) -> None:
    address = f"/review?run={runs['first'].id}"
    chosen = server.get(f"{address}&cols=recall&cols=meta.topic")
    cookie = chosen.headers["Set-Cookie"].partition(";")[0]
    again = server.get(address, Cookie=cookie).body.decode()
    assert [row[1] for row in list_cells(again)][:2]
    assert {len(row) for row in list_cells(again)} == {2}
    assert {row[1] for row in list_cells(again)} <= {"billing", "delivery"}


def test_a_view_is_kept_under_a_name_and_by_a_short_link(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    address = f"review?run={runs['first'].id}&q=%3Cb%3E"
    assert post(server, "/views", do="save", address=address, name=" worst  <b>") == 303
    listed = read_page(server, "/runs")
    assert ">worst &lt;b&gt;</a>" in listed
    id = re.search(r'name="id" value="(\w+)"', listed).group(1)  # type: ignore[union-attr]
    answer = server.get(f"/v?id={id}")
    assert (answer.status, answer.headers["Location"]) == (303, address)
    shared = server.ask("POST", "/views", raw=urlencode({"do": "share", "address": address}).encode(), headers=FORM)  # fmt: skip
    assert shared.headers["Location"] == f"{address}&shared={id}"
    assert ">worst &lt;b&gt;</a>" in read_page(server, "/runs")  # a link alone takes no name away
    assert post(server, "/views", do="forget", id=id) == 303
    assert "worst &lt;b&gt;" not in read_page(server, "/runs")
    assert server.get(f"/v?id={id}").status == 303
    assert server.get("/v?id=nothing").status == 404
    for bad in ("//evil.example", "https://evil.example/review", "notes?x=1", ""):
        assert post(server, "/views", do="save", address=bad, name="x") == 422
    assert post(server, "/views", do="save", address=address, name=" ") == 422


def test_columns_of_the_runs_are_chosen_and_kept(server: Server) -> None:
    chosen = server.get("/runs?cols=recall&cols=tags")
    text = chosen.body.decode()
    assert "<code>recall</code>" in text
    assert "<code>faithfulness</code>" not in text
    cookie = chosen.headers["Set-Cookie"].partition(";")[0]
    assert "<code>faithfulness</code>" not in server.get("/runs", Cookie=cookie).body.decode()
    assert "<code>faithfulness</code>" in read_page(server, "/runs")


def test_addresses_of_earlier_versions_lead_to_the_review_page(
    server: Server, runs: dict[str, StoredRun]
) -> None:
    run = runs["first"].id
    for old, new in (
        (f"/run?run={run}&q=blue", f"review?run={run}&q=blue"),
        (f"/run?run={run}&metric=recall&low=0.5", f"review?run={run}&on=recall&low=0.5"),
        (f"/sample?run={run}&at=4", f"review?run={run}&at=4"),
        (f"/compare?run={run}&run=x", f"review?run={run}&run=x"),
        ("/compare", "runs"),
        (f"/diagnosis?run={run}", f"figures?run={run}"),
    ):
        answer = server.get(old)
        assert (answer.status, answer.headers["Location"]) == (303, new)


def test_figures_are_those_of_the_reports(server: Server, runs: dict[str, StoredRun]) -> None:
    one = read_page(server, "/figures", run=runs["first"].id)
    assert 'id="figures"' in one or 'id="h-figures"' in one
    assert 'id="diagnosis"' in one
    ids = [runs[name].id for name in ("better", "elsewhere", "fifth")]
    assert 'class="league"' in read_page(server, "/figures", run=ids)
    assert "worse by" in read_page(server, "/figures", run=ids[:2])


def test_a_call_says_when_it_was_asked_and_what_it_took() -> None:
    ask = Ask("claims", {"text": "It is."}, {})
    for usage, said in ((Usage(2, 30, 4, 0.5), "2 attempts"), (Usage(1), "answered in 0.250 s"), (Usage(), "took no call of the model")):  # fmt: skip
        stored = StoredReply(Reply({"claims": []}, usage, seconds=0.25), "r1", "openai:m", "2026-05-01T10:00:00+00:00", usage)  # fmt: skip
        facts = _view_call(
            JudgeCall(ask, ("be fair", "split"), stored, True), load_translator("en")
        ).facts
        assert facts[:2] == ("openai:m", "2026-05-01 10:00:00 UTC")
        assert said in facts


def test_an_empty_store_says_how_to_begin_on_every_page(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "empty.db")) as own, in_thread(ServerSettings(home="runs", ingest=False, editing=True, author="ana"), own) as running:  # fmt: skip
        for page in ("/runs", "/label"):
            assert b"ragstone demo" in running.get(page).body, page
        assert b"ragstone bench" in running.get("/experiments").body
        shown = running.get("/monitor").body  # a viewer takes no interactions
        assert b"ragstone monitor serve" in shown
        assert b"v1/interactions" not in shown


def test_differences_of_answers_are_marked() -> None:
    before, after = mark_differences("it takes 5 days", "it takes 15 days")
    assert before == (("it takes", False), (" 5", True), (" days", False))
    assert after == (("it takes", False), (" 15", True), (" days", False))
    apart = mark_differences("yes", "the shop is open on Monday")
    assert apart == ((("yes", False),), (("the shop is open on Monday", False),))


def fill_form(text: str, action: str = "labels") -> dict[str, str]:
    """The hidden fields of the first form of a page that posts labels of the queue."""
    form = re.search(rf'<form class="panel answers" method="post" action="{action}">(.*?)</form>', text, re.DOTALL)  # fmt: skip
    assert form is not None
    return {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[1])}  # fmt: skip


def test_the_queue_of_label_is_worked_through_and_taken_back(
    store: Store, server: Server, runs: dict[str, StoredRun]
) -> None:
    run = runs["third"]
    expected = LabelSession(run, "claim", "ana").choose_next(2)
    first = fill_form(read_page(server, "/label", run=run.id, on="claim"))
    assert (first["item"], first["at"]) == (expected[0].unit.item, str(expected[0].unit.position))
    assert post(server, "/labels", **first, value="contradicted") == 303
    (label,) = load_labels(store, run=run.id, target="claim")
    assert (label.word, label.author, label.origin) == ("contradicted", "ana", expected[0].origin)
    assert label.sampling_probability is not None
    page = read_page(server, "/label", run=run.id, on="claim")
    assert "1 labelled, 0 skipped" in page
    undo = {"run": run.id, "on": "claim", "do": "undo", "number": str(label.number)}
    assert post(server, "/labels", **undo) == 303
    assert load_labels(store, run=run.id, target="claim") == []
    assert fill_form(read_page(server, "/label", run=run.id, on="claim")) == first


def test_two_people_label_the_same_unit(store: Store, server: Server, runs: dict[str, StoredRun]) -> None:  # fmt: skip
    run = runs["fifth"]
    form = fill_form(read_page(server, "/label", run=run.id, on="chunk"))
    for name, value in (("Ana Núñez", "1"), ("Bo", "0.5"), ("Bo", "0")):
        raw = urlencode({**form, "value": value}).encode()
        cookie = {**FORM, "Cookie": f"ragstone_author={quote(name)}"}
        assert server.ask("POST", "/labels", raw=raw, headers=cookie).status == 303
    labels = {label.author: label.value for label in load_labels(store, run=run.id, target="chunk")}
    assert labels == {"Ana Núñez": 1.0, "Bo": 0.0}


def test_a_sample_is_labelled_in_every_way(store: Store, server: Server, runs: dict[str, StoredRun]) -> None:  # fmt: skip
    run = runs["first"]
    page = read_page(server, "/label", run=run.id, at="4")
    assert page.count("<legend>") == 2 + 2 + 4  # claims, chunks, grades of the answer
    base = {"run": run.id, "at": "4", "item": ""}
    for on, value in (("support", "1"), ("correctness", "0"), ("note", "odd <b>claim</b>")):
        assert post(server, "/labels", **base, on=on, value=value) == 303
    assert post(server, "/labels", run=run.id, at="4", on="claim", item="Number 4 agrees.", value="supported", comment="c") == 303  # fmt: skip
    shown = read_page(server, "/review", run=run.id, at="4")
    assert "odd &lt;b&gt;claim&lt;/b&gt;" in shown
    assert '<q dir="auto">c</q>' in shown
    listed = read_page(server, "/review", run=run.id, **{"is": "labelled:yes"})
    assert "What is said of topic 4?" in list_titles(listed)
    assert len(list_titles(listed)) < 30
    for bad in ({"on": "claim", "value": "maybe"}, {"on": "dance", "value": "1"}, {"on": "support", "value": "7"}):  # fmt: skip
        assert post(server, "/labels", **base, **bad) == 422
    assert post(server, "/labels", run=run.id, at="999", on="support", item="", value="1") == 404


def test_a_preference_is_asked_without_names_and_kept_by_run(
    store: Store, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [make_row(number, 0.0) for number in range(1, 5)]
    one = add_run(store, "old answers", source="pair.jsonl", rows=rows)
    new = [({**row, "answer": "Another answer."}, scores) for row, scores in rows]
    two = add_run(store, "new answers", source="pair.jsonl", rows=new)
    page = read_page(server, "/label", run=one.id, against=two.id, on="preference")
    assert "old answers" not in page
    is_left = page.index("Another answer.") < page.index("It is said to be green.")
    form = fill_form(page)
    assert post(server, "/labels", **form, value="left" if is_left else "right") == 303
    (label,) = load_labels(store, run=one.id, target="preference")
    assert (label.item, label.word) == (two.id, "second")
    for run in (one, two):
        post(server, "/notes", run=run.id, do="bin")


def test_failures_lead_to_their_samples(server: Server, runs: dict[str, StoredRun]) -> None:
    text = read_page(server, "/review", run=runs["first"].id)
    chips = re.findall(r'<a href="([^"]*is=class[^"]*)" class="chip [^"]*">[^<]*<b>(\d+)</b>', text)
    assert chips
    for href, count in chips:
        listed = list_titles(read_page(server, "/" + href.replace("&amp;", "&")))
        assert len(listed) == int(count) > 0


def count_derived(path: Path) -> int:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT COUNT(*) FROM run_derived").fetchone()[0])


def test_a_store_that_is_gone_is_said_on_the_page_and_back_when_it_is(tmp_path: Path) -> None:
    path = tmp_path / "gone.db"
    with closing(Store.open(path)) as own:
        run = add_run(own, "first", samples=2)
        with in_thread(ServerSettings(home="runs", ingest=False), own) as running:
            assert running.get("/runs").status == 200
            # what the page has summed up in the background would be written to a new file
            wait_until(lambda: count_derived(path) > 0, "the run is summed up")
            moved = [(file, tmp_path / f"away-{file.name}") for file in tmp_path.glob("gone.db*") if file.is_file()]  # fmt: skip
            for file, away in moved:
                file.rename(away)
            for page in ("/runs", f"/review?run={run.id}"):
                answer = running.get(page)
                assert (answer.status, answer.headers.get("Retry-After")) == (503, "5")
                assert b"removed or moved away" in answer.body
            for file, away in moved:
                away.rename(file)
            assert running.get("/runs").status == 200
