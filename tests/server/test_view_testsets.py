"""From production and failures to a test set of the store: added, edited with history, exported and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from live import Server, in_thread
from ragstone.cli import run as run_command
from ragstone.data import read
from ragstone.monitor import Archive, Interaction
from ragstone.server import ServerSettings
from ragstone.store import Store, StoredRun
from ragstone.store.testsets import list_testsets, load_history, load_items
from viewed import add_run, fetch_whole, make_row

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "runs.db")
    yield opened
    opened.close()


@pytest.fixture
def run(store: Store) -> StoredRun:
    rows = [make_row(number, 0.0) for number in range(1, 9)]
    del rows[2][0]["reference"]
    return add_run(store, "first", rows=rows)


@pytest.fixture
def server(store: Store, run: StoredRun) -> Iterator[Server]:
    settings = ServerSettings(home="runs", ingest=False, editing=True, author="ana")
    with in_thread(settings, store) as running:
        fetch_whole(running, f"/review?run={run.id}")
        yield running


def post(server: Server, **fields: str) -> int:
    return server.ask("POST", "/testset", raw=urlencode(fields).encode(), headers=FORM).status


def test_a_sample_becomes_an_item_and_its_answer_a_candidate(
    server: Server, store: Store, run: StoredRun
) -> None:
    assert post(server, do="add", run=run.id, at="1", name=" gold  set", reference="Teal.") == 303
    assert post(server, do="add", run=run.id, at="2", name="gold set", reference="") == 303
    assert post(server, do="add", run=run.id, at="3", name="gold set", reference="") == 303
    edited, own, candidate = (item.row for item in load_items(store, "gold set"))
    assert (edited["reference"], edited["relevant"]) == ("Teal.", {"d1": 1})
    assert own["reference"] == "It is green, number 2."
    assert candidate["reference"] == run.row(3).sample.answer
    assert candidate["meta"]["reference"] == "candidate"
    assert candidate["contexts"][0]["id"] == "d3"
    page = server.get("/testset?name=gold+set").body.decode()
    assert page.count("the reference is an answer of the system") == 1


def test_what_fits_a_filter_is_added_at_once(server: Server, store: Store, run: StoredRun) -> None:
    address = f"review?{urlencode({'run': run.id, 'q': 'blue'})}"
    assert post(server, do="add_all", address=address, name="blue") == 303
    assert [item.id for item in load_items(store, "blue")] == ["q002", "q004", "q006", "q008"]


def test_an_interaction_with_feedback_becomes_an_item(server: Server, store: Store) -> None:
    at = 1_780_000_000_000_000
    asked = Interaction("i1", at, "How much?", answer="Five.", feedback=0.0)
    Archive(store).add([asked]).result()
    assert 'value="i1"' in server.get("/interaction?id=i1").body.decode()
    assert post(server, do="add_interactions", ids="i1 nobody", name="live") == 303
    (item,) = load_items(store, "live")
    assert (item.row["reference"], item.row["meta"]["feedback"], item.origin) == (
        "Five.",
        0.0,
        "monitor",
    )
    assert post(server, do="add_interactions", ids="nobody", name="live") == 404


def test_an_item_is_edited_with_history_and_taken_out(
    server: Server, store: Store, run: StoredRun
) -> None:
    post(server, do="add", run=run.id, at="1", name="gold", reference="")
    edit = {
        "do": "edit",
        "name": "gold",
        "id": "q001",
        "reference": "Teal.",
        "relevant": "d1\r\nd7",
    }
    assert post(server, **edit) == 303
    assert post(server, **edit) == 303  # the same again is no revision
    revisions = load_history(store, "gold", "q001")
    assert [revision.row["reference"] for revision in revisions] == [
        "Teal.",
        "It is green, number 1.",
    ]
    assert revisions[0].row["relevant"] == {"d1": 1, "d7": 1}
    assert revisions[0].author == "ana"
    assert run.row(1).sample.reference == "It is green, number 1."  # the run stays as it was
    assert "1 earlier state" in server.get("/testset?name=gold").body.decode()
    assert post(server, do="remove", name="gold", id="q001") == 303
    assert load_items(store, "gold") == []
    assert list_testsets(store) == []
    assert post(server, **edit) == 404


def test_a_stored_set_is_a_file_that_is_read_and_checked(
    server: Server, store: Store, run: StoredRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    post(server, do="add_all", address=f"review?run={run.id}", name="gold")
    body = server.get("/testset.jsonl?name=gold").body
    assert len(body.splitlines()) == 8
    target = tmp_path / "gold.jsonl"
    place = str(tmp_path / "runs.db")
    assert run_command(["testset", "export", "gold", str(target), "--store", place]) == 0
    assert target.read_bytes() == body
    samples = [record.sample for record in read(str(target))]
    assert samples[0].relevant == {"d1": 1.0}
    capsys.readouterr()
    run_command(["testset", "check", "gold", "--stored", "--json", "--store", place])
    assert json.loads(capsys.readouterr().out)["total"] == 8
    assert run_command(["testset", "check", "golf", "--stored", "--store", place]) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"do": "add", "at": "1", "name": " "},
        {"do": "add", "at": "x", "name": "a"},
        {"do": "dance", "name": "a"},
    ],
)
def test_a_form_that_says_too_little_is_refused(
    server: Server, run: StoredRun, fields: dict[str, str]
) -> None:
    assert post(server, run=run.id, **fields) == 422


def test_nothing_is_added_where_nothing_may_be_changed(store: Store, run: StoredRun) -> None:
    with in_thread(ServerSettings(home="runs", ingest=False), store) as server:
        assert post(server, do="add", run=run.id, at="1", name="a") == 403
        page = fetch_whole(server, f"/review?run={run.id}").body.decode()
        assert not re.search('action="testset"', page)
