"""A store of any earlier version is brought up to date with what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.config import Plan
from ragstone.monitor import Archive, Interaction
from ragstone.store import NewRow, RunInfo, Store, database, postgres, sqlite
from ragstone.types import Score

SCORES = {"recall": Score(0.5)}
VERSIONS = len(database.load_migrations(""))


def cut(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """As if only the migrations up to this version had been written."""
    every = database.load_migrations

    def some(counter: str) -> tuple[str, ...]:
        return every(counter)[:version]

    for module in (sqlite, postgres):
        monkeypatch.setattr(module, "load_migrations", some)


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
        old = Store.open(place)
        old.create(
            RunInfo("r1", "demo", "2026-01-01T00:00:00+00:00", "running", Plan(), {}, "", "", ())
        )
        old.append("r1", [NewRow(n, f"s{n}", None, "{}", SCORES) for n in (1, 2, 3)]).result()
        old.close()
    store = Store.open(place)
    assert store.count("r1") == 3
    assert next(store.run("r1").scores())[3] == SCORES
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
