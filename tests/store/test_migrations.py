"""A store of any earlier version is brought up to date with what it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.config import Plan
from ragstone.monitor import Archive, Interaction
from ragstone.store import NewRow, RunInfo, Store, database, encode_scores, postgres, sqlite
from ragstone.types import Finding, Score, Usage

SCORES = {
    "recall": Score(0.5),
    "faithfulness": Score(0.1, findings=(Finding("é", "supported"),), usage=Usage(1, 2)),
    "rubric": Score(outcome="judge_error", kind="refusal", reason="no"),
}
ROWS = [
    (n, f"s{n}", "g" if n == 2 else None, json.dumps({"id": f"s{n}", "é": n}, ensure_ascii=False))
    for n in range(1, 1100)
]
"""More than two blocks."""
VERSIONS = len(database.load_migrations(""))


def cut(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """As if only the migrations up to this version had been written."""
    every = database.load_migrations

    def some(counter: str) -> tuple[str, ...]:
        return every(counter)[:version]

    for module in (sqlite, postgres):
        monkeypatch.setattr(module, "load_migrations", some)


def insert_rows(db: database.Connection) -> None:
    """Insert the samples as versions 1 to 5 did: a row each."""
    db.execute_many("INSERT INTO samples VALUES (1, ?, ?)", [(n, row) for n, *_, row in ROWS])
    scores = encode_scores(SCORES)
    db.execute_many(
        "INSERT INTO scores VALUES (1, ?, ?, ?, ?)",
        [(n, name, group, scores) for n, name, group, _ in ROWS],
    )


def tables(store: Store) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    if "://" in store.place:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    return {name for (name,) in store.read(query)} - {"ragstone_version"}


@pytest.mark.parametrize("version", range(1, VERSIONS + 1))
def test_from_each_earlier_version(
    place: str, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as then:
        cut(then, version)
        # reading a run uses tables of later versions
        then.setattr(Store, "run", lambda store, name: None)
        old = Store.open(place)
        old.create(
            RunInfo("r1", "demo", "2026-01-01T00:00:00+00:00", "running", Plan(), {}, "", "", ())
        )
        if version < 6:
            old.write(insert_rows).result()
        else:
            old.append("r1", [NewRow(n, *fields, SCORES) for n, *fields in ROWS]).result()
        old.close()
    store = Store.open(place)
    assert store.count("r1") == len(ROWS)
    run = store.run("r1")
    assert list(run.scores()) == [(n, name, group, SCORES) for n, name, group, _ in ROWS]
    assert list(store.input_rows("r1")) == [row for *_, row in ROWS]
    store.append("r1", [NewRow(len(ROWS) + 1, "new", None, "{}", SCORES)]).result()
    archive = Archive(store)
    archive.add([Interaction("a", 1_780_000_000_000_000, "q")]).result()
    assert archive.get("a") is not None
    assert tables(store) == tables(Store.open(tmp_path / "new.db"))


def test_roll_ups_of_an_earlier_version_are_made_anew(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragstone.monitor.windows.summary import summarise_between

    at = 1_780_000_000_000_000
    with monkeypatch.context() as then:
        cut(then, 2)
        old = Store.open(place)
        Archive(old).add([Interaction(f"i{n}", at + n, "q") for n in range(7)]).result()
        old.write(
            lambda db: db.execute(  # type: ignore[arg-type]
                "INSERT INTO monitor_rollups VALUES (300, 1779999900000000, '', '', '', '{}')"
            )
        ).result()
        old.write(lambda db: db.execute("DELETE FROM monitor_dirty")).result()  # type: ignore[arg-type]
        old.close()
    archive = Archive(Store.open(place))
    assert summarise_between(archive, at, at + 3_600_000_000).whole.interactions == 7
