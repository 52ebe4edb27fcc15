"""Rows that are damaged in a file that SQLite finds whole: noticed, said in one sentence, and everything else is saved."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import ragstone
from ragstone import cli
from ragstone.asks import Reply
from ragstone.errors import StoreError
from ragstone.monitor import Archive
from ragstone.monitor.interactions import Interaction
from ragstone.store import Store
from ragstone.store.salvage import check_store, salvage_store
from ragstone.types import Usage

SAMPLES = 1100
"""Three blocks."""


def build_store(place: Path) -> str:
    """A store with two runs, replies and interactions; the id of the longer run."""
    rows = [{"id": f"s{n}", "answer": f"word{n}", "reference": "word1"} for n in range(SAMPLES)]
    data = place.with_suffix(".jsonl")
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = ragstone.evaluate(str(data), ["token_f1"], store=str(place))
    ragstone.evaluate(rows[:3], ["token_f1"], store=str(place), name="short")
    store = Store.open(place)
    for key in ("k1", "k2"):
        store.save_reply(key, Reply({"score": 3}, Usage(1)), run=run.id, kind="rate", judge="j")
    Archive(store).add([Interaction(id=name, at=1, question="q") for name in "ab"]).result()
    store.close()
    return run.id


def main(arguments: list[str]) -> int:
    """The exit code of a command."""
    try:
        return cli.main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def damage(place: Path, sql: str, change: Callable[[bytes], bytes]) -> None:
    """Change a value that `SELECT rowid, column FROM table …` names."""
    column, table = sql.split()[2], sql.split()[4]
    with closing(sqlite3.connect(place)) as db:
        row, value = db.execute(sql).fetchone()
        data = value.encode() if isinstance(value, str) else value
        changed = change(data)
        stored = changed.decode("utf-8", "replace") if isinstance(value, str) else changed
        stored = int(changed) if isinstance(value, int) else stored
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (stored, row))
        db.commit()


def change_digit(body: bytes) -> bytes:
    """Another digit in the middle: still JSON, but not what was written."""
    at = next(n for n in range(len(body) // 2, len(body)) if body[n : n + 1].isdigit())
    return body[:at] + (b"8" if body[at : at + 1] != b"8" else b"9") + body[at + 1 :]


DAMAGES = {
    "run": ("SELECT rowid, plan FROM runs WHERE id = ?", lambda body: body[:20]),
    "rows": ("SELECT rowid, body FROM sample_blocks WHERE first = 513", change_digit),
    "end of rows": ("SELECT rowid, body FROM sample_blocks WHERE first = 513", lambda body: body[: len(body) // 2]),
    "positions": ("SELECT rowid, last FROM score_blocks WHERE first = 513", lambda body: b"9999"),
    "keys": ("SELECT rowid, keys FROM score_blocks WHERE first = 513", change_digit),
    "numbers": ("SELECT rowid, numbers FROM score_blocks WHERE first = 513", lambda body: body[:9] + b"\0" + body[10:]),
    "reply": ("SELECT rowid, reply FROM replies WHERE key = 'k1'", change_digit),
    "interaction": ("SELECT rowid, body FROM interaction_texts WHERE number = 1", lambda body: body[:5]),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    place = tmp_path_factory.mktemp("salvage") / "s.db"
    return place, build_store(place)


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_one_sentence_is_listed_and_the_rest_is_saved(
    whole: tuple[Path, str], tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    original, run = whole
    place, saved = tmp_path / "s.db", tmp_path / "saved.db"
    place.write_bytes(original.read_bytes())
    sql, change = DAMAGES[kind]
    damage(place, sql.replace("?", f"'{run}'"), change)
    store = Store.open(place)

    def read_everything() -> None:
        for info in store.runs():
            for _ in store.run(info.id).rows():
                pass
        store.replies(["k1", "k2"])
        list(Archive(store).interactions())

    with pytest.raises(StoreError, match=r"damaged; `ragstone store check` lists"):
        read_everything()
    report = check_store(store)
    assert report.damages
    assert main(["store", "check", "--store", str(place)]) == 1
    assert "damaged: " in capsys.readouterr().out

    salvage_store(store, str(saved))
    store.close()
    store = Store.open(saved)
    read_everything()
    assert check_store(store).damages == []
    counts = {info.name: store.count(info.id) for info in store.runs()}
    assert counts["short"] == 3
    expected = {"run": None, "reply": SAMPLES, "interaction": SAMPLES}.get(kind, 512)
    assert counts.get("s") == expected
    if expected == 512:
        assert store.run(run).info.status == "running"
    store.close()


def test_a_salvaged_run_is_resumed_and_equals_the_first(
    whole: tuple[Path, str], tmp_path: Path
) -> None:
    original, run = whole
    place, saved = tmp_path / "s.db", tmp_path / "saved.db"
    place.write_bytes(original.read_bytes())
    sql, change = DAMAGES["keys"]
    damage(place, sql, change)
    assert main(["store", "salvage", str(saved), "--store", str(place)]) == 0
    assert main(["eval", "--resume", "--run", run, "--store", str(saved), "--quiet"]) == 0
    first, again = Store.open(original).run(run), Store.open(saved).run(run)
    assert list(first.values()) == list(again.values())


def test_a_whole_store_has_no_damage(
    whole: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["store", "check", "--store", str(whole[0])]) == 0
    assert "rows are whole" in capsys.readouterr().out


def test_salvage_never_writes_over_a_file(whole: tuple[Path, str], tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    there.write_text("mine")
    with pytest.raises(StoreError, match="exists; name a new file"):
        salvage_store(Store.open(whole[0]), str(there))
    assert there.read_text() == "mine"
