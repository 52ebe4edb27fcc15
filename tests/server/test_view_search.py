"""The search of a run's texts: by FTS5 beside a SQLite file, by PostgreSQL itself, with the same answers."""

from __future__ import annotations

from pathlib import Path

from ragstone.report.view.index import RunIndex, SampleQuery
from ragstone.report.view.index_builder import build_index
from ragstone.store import Store, StoredRun
from viewed import add_run, append_rows, make_row

ROWS = (
    ("q-1", "Where is the Café of señor Núñez?", "At 12, rue_du lac."),
    ("q-2", "What costs shipping?", "Free, 100 % (sic); it's \x00 odd \ud800 text."),
    ("q-3", "what costs a return?", "shipping' | ! & <-> :* costs"),
    ("q-4", "無料 送料 ですか", "x" * 3000 + " shipyard"),
)
SEARCHES = {
    "shipping": {2, 3}, "SHIPPING costs": {2, 3}, '"costs shipping"': {2}, "ship*": {2, 3, 4}, "cafe nunez": {1},
    "CAFÉ": {1}, "rue lac": {1}, '"rue du lac"': {1}, "12": {1}, "q-2": {2}, '"shipping free"': set(), "nothing": set(),
    "' | ! & <-> :*": set(), "送料": {4}, "it's": {2}, "ragstone* shipping": set(),
}  # fmt: skip


def open_run(store: Store) -> StoredRun:
    made = []
    for id, question, answer in ROWS:
        row, scores = make_row(1, 0.0)
        made.append(({**row, "id": id, "question": question, "answer": answer, "reference": None}, scores))  # fmt: skip
    return add_run(store, "searched", rows=made)


def search(index: RunIndex, text: str) -> set[int]:
    return {int(at) + 1 for at in index.select(SampleQuery(text)).nonzero()[0]}


def index_run(run: StoredRun, folder: Path) -> RunIndex:
    build_index(run, folder, 1, lambda done: True)
    index = RunIndex.open(folder, run.store.open_texts(run.id))
    assert index is not None
    return index


def test_both_databases_find_the_same(place: str, tmp_path: Path) -> None:
    store = Store.open(place)
    run = open_run(store)
    add_run(store, "another")  # whose samples must not be found with it
    index = index_run(run, tmp_path / "r.index")
    assert {text: search(index, text) for text in SEARCHES} == SEARCHES
    store.close()


def test_postgresql_searches_by_an_index_of_its_own_and_forgets_with_the_run(
    postgres_url: str, tmp_path: Path
) -> None:
    store = Store.open(postgres_url.format("postgres"))
    run = open_run(store)
    index = index_run(run, tmp_path / "r.index")
    ((definition,),) = store.read("SELECT indexdef FROM pg_indexes WHERE indexname = 'sample_texts_by_word'")  # fmt: skip
    assert "USING gin (words)" in definition
    append_rows(run, [make_row(5, 0.0)])
    index_run(run, tmp_path / "later.index")
    assert search(index, "green") == set()  # the open index is of the run before it grew
    assert search(index_run(run, tmp_path / "later.index"), "green") == {5}
    store.delete(run.id)
    assert store.read("SELECT COUNT(*) FROM sample_texts") == [(0,)]
    store.close()
