"""A store of any earlier version is brought up to date with what it holds.

`stores/` has stores as versions 5 (a row a sample) and 9 (blocks of samples) wrote them, and what is in them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragstone import cli
from ragstone.monitor import Archive, Interaction
from ragstone.monitor.windows.summary import summarise_between
from ragstone.store import NewRow, Store, StoredRun, database, postgres, sqlite
from ragstone.store.old_runs import TABLES
from ragstone.store.score_json import encode_scores
from ragstone.types import Score

STORES = Path(__file__).parent / "stores"
EXPECTED: dict[str, Any] = json.loads(gzip.decompress((STORES / "expected.json.gz").read_bytes()))


def unpack(version: str, folder: Path) -> Path:
    place = folder / f"{version}.db"
    place.write_bytes(gzip.decompress((STORES / f"{version}.db.gz").read_bytes()))
    return place


def copy_to_server(place: Path, url: str, version: int) -> None:
    """Make the tables of a version on a server and copy the rows of a file into them."""
    import psycopg

    steps = database.load_migrations(postgres.DIALECT)[:version]
    with closing(sqlite3.connect(place)) as source, psycopg.connect(url) as target:
        for step in steps:
            target.execute(step)
        target.execute("CREATE TABLE ragstone_version (version BIGINT)")
        target.execute("INSERT INTO ragstone_version VALUES (%s)", (version,))
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        for (table,) in list(source.execute(names)):
            rows = list(source.execute(f"SELECT * FROM {table}"))
            marks = ", ".join(["%s"] * len(rows[0])) if rows else ""
            for row in rows:
                target.execute(f"INSERT INTO {table} VALUES ({marks})", row)


def list_tables(store: Store) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    if store.is_server:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    return {name for (name,) in store.read(query)}


def read_run(run: StoredRun) -> tuple[list[Any], list[str | None]]:
    rows = [[r.position, r.id, r.row, json.loads(encode_scores(r.scores))] for r in run.rows()]
    return rows, [group for _, _, group, _ in run.scores()]


@pytest.mark.parametrize("version", sorted(EXPECTED))
def test_a_store_of_an_earlier_version_is_read_as_it_was(
    place: str, version: str, tmp_path: Path
) -> None:
    old = unpack(version, tmp_path)
    if "://" in place:
        copy_to_server(old, place, int(version.rpartition("-")[2]))
    store = Store.open(place if "://" in place else old)
    for name, expected in EXPECTED[version].items():
        run = store.run(name)
        assert run.count() == len(expected["rows"])
        assert read_run(run) == (expected["rows"], expected["groups"])
    left = {name for (name,) in store.read("SELECT id FROM runs WHERE layout = 'old'")}
    assert not left
    assert not list_tables(store) & set(TABLES)
    number = store.count("odd") + 1
    store.append("odd", [NewRow(number, "new", None, "{}", {"recall": Score(1.0)})]).result()
    archive = Archive(store)
    archive.add([Interaction("a", 1_780_000_000_000_000, "q")]).result()
    assert archive.get("a") is not None
    store.close()


def test_all_runs_are_moved_by_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = unpack("version-9", tmp_path)
    assert cli.run(["store", "upgrade", "--store", str(place)]) == 0
    assert "2 runs of earlier versions moved" in capsys.readouterr().out
    assert cli.run(["store", "check", "--store", str(place)]) == 0


def test_a_damaged_old_run_stays_as_it_is(tmp_path: Path) -> None:
    place = unpack("version-9", tmp_path)
    with closing(sqlite3.connect(place)) as db:
        db.execute("UPDATE score_blocks SET numbers = x'00' WHERE run = 2")
        db.commit()
    store = Store.open(place)
    with pytest.raises(Exception, match=r"run odd .* is damaged"):
        store.count("odd")
    assert store.read("SELECT layout FROM runs WHERE id = 'odd'") == [("old",)]
    store.close()


def test_roll_ups_of_version_10_are_made_anew(tmp_path: Path) -> None:
    place, at = tmp_path / "v10.db", 1_780_000_000_000_000
    with closing(sqlite3.connect(place)) as db:
        for step in database.load_migrations(sqlite.DIALECT)[:10]:
            db.executescript(step)
        db.execute("PRAGMA user_version = 10")
        db.execute(
            "INSERT INTO interactions (id, at, received, latency, failed, meta) VALUES ('a', ?, ?, 2.5, 0, '{}')",
            (at, at),
        )
        rollup = (300, at - at % 300_000_000, "", "sums", b"packed")
        db.execute("INSERT INTO monitor_rollups VALUES (?, ?, ?, ?, ?)", rollup)
        db.commit()
    archive = Archive(Store.open(place))
    window = summarise_between(archive, at - 86_400_000_000, at + 86_400_000_000).whole
    assert (window.interactions, window.latency and window.latency.mean) == (1, 2.5)
    archive.store.close()
