"""The search of a run's texts: by FTS5 beside a SQLite file, by PostgreSQL itself, with the same answers."""

from __future__ import annotations

from ragstone.report.view.run_samples import RunSamples, SampleQuery
from ragstone.report.view.traits import write_traits
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


def search(samples: RunSamples, text: str) -> set[int]:
    return set(samples.page(SampleQuery(text)))


def open_samples(run: StoredRun) -> RunSamples:
    write_traits(run, 1, lambda done: True)
    return RunSamples(run)


def test_both_databases_find_the_same(place: str) -> None:
    store = Store.open(place)
    run = open_run(store)
    open_samples(add_run(store, "another"))  # whose samples must not be found with it
    samples = open_samples(run)
    assert {text: search(samples, text) for text in SEARCHES} == SEARCHES
    store.close()


def test_texts_are_written_anew_and_go_with_the_run(place: str) -> None:
    store = Store.open(place)
    run = open_run(store)
    open_samples(run)
    append_rows(run, [make_row(5, 0.0)])
    assert search(open_samples(run), "green") == {5}
    if store.is_server:
        ((definition,),) = store.read("SELECT indexdef FROM pg_indexes WHERE indexname = 'sample_texts_by_word'")  # fmt: skip
        assert "USING gin (words)" in definition
    store.delete(run.id)
    assert store.read("SELECT COUNT(*) FROM sample_texts") == [(0,)]
    store.close()
