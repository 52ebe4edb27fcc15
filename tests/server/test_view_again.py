"""One sample is asked again where the run's system is known and the viewer may: a new run, the old one stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest

from live import Answer, Server, in_thread
from ragstone import evaluate
from ragstone.server import ServerSettings
from ragstone.store import Store, StoredRun
from ragstone.store.run_notes import load_run_notes
from viewed import add_run

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SYSTEM = """
import time

def answer(question):
    return f"Answer {time.time_ns()}."
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "runs.db")
    yield opened
    opened.close()


@pytest.fixture
def run(store: Store, tmp_path: Path) -> StoredRun:
    (tmp_path / "shop.py").write_text(SYSTEM)
    rows = [
        {"id": f"q{n}", "question": f"How much is {n}?", "reference": "Answer 4."} for n in range(3)
    ]
    return evaluate(
        rows, ["exact_match"], system=f"{tmp_path / 'shop.py'}:answer", store=store, name="shop"
    ).stored


def ask(server: Server, **fields: str) -> Answer:
    return server.ask("POST", "/again", raw=urlencode(fields).encode(), headers=FORM)


def test_a_sample_is_asked_again_as_a_new_run(store: Store, run: StoredRun) -> None:
    settings = ServerSettings(home="runs", ingest=False, editing=True, allow_run=True)
    before = [row.sample.answer for row in run.rows()]
    with in_thread(settings, store) as server:
        assert "Ask the system again" in server.get(f"/review?run={run.id}&at=2").body.decode()
        reply = ask(server, run=run.id, at="2")
        assert reply.status == 303
        query = parse_qs(reply.headers["Location"].partition("?")[2])
        assert (query["run"][0], query["id"]) == (run.id, ["q1"])
        (row,) = store.run(query["run"][1]).rows()
        assert (row.id, row.sample.question) == ("q1", "How much is 1?")
        assert row.sample.answer not in (None, before[1])
        assert row.scores["exact_match"].value is not None
        assert [row.sample.answer for row in run.rows()] == before
        notes = load_run_notes(store)[query["run"][1]]
        assert (notes.tags, notes.note) == (("again",), f"q1 of {run.id}")
        assert server.get("/" + reply.headers["Location"]).status == 200


def test_no_system_is_asked_unless_the_viewer_may_and_the_plan_names_it(
    store: Store, run: StoredRun
) -> None:
    settings = ServerSettings(home="runs", ingest=False, editing=True)
    with in_thread(settings, store) as server:
        assert ask(server, run=run.id, at="2").status == 403
        assert "Ask the system again" not in server.get(f"/review?run={run.id}").body.decode()
    given = add_run(store, "given", samples=2)
    allowed = ServerSettings(home="runs", ingest=False, editing=True, allow_run=True)
    with in_thread(allowed, store) as server:
        assert ask(server, run=given.id, at="1").status == 422
        assert ask(server, run="nobody", at="1").status == 404
        assert "Ask the system again" not in server.get(f"/review?run={given.id}").body.decode()
    assert len(store.runs()) == 2
