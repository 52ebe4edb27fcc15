"""`ragstone store check`: damage that SQLite, a count or a document shows; a whole store has none."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import ragstone
from ragstone import cli
from ragstone.asks import Reply
from ragstone.monitor import Archive
from ragstone.monitor.interactions import Interaction
from ragstone.store import Store
from ragstone.types import Usage


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("check") / "s.db"
    rows = [
        {"id": f"s{n}", "question": "When?", "answer": "At nine.", "contexts": ["It opens at nine."]}
        for n in range(20)
    ]  # fmt: skip
    store = Store.open(place)
    run = ragstone.evaluate(rows, ["faithfulness"], store=store)
    store.save_reply("k1", Reply({"score": 3}, Usage(1)), run=run.id, kind="rate", judge="j")
    Archive(store).add([Interaction(id="a", at=1, question="q")]).result()
    store.close()
    return place


def run_command(arguments: list[str]) -> int:
    """The exit code of a command."""
    try:
        return cli.run(arguments)
    except SystemExit as end:
        return int(end.code or 0)


DAMAGES = {
    "plan": "UPDATE runs SET plan = substr(plan, 1, 20)",
    "a sample in the middle": "DELETE FROM samples WHERE position = 7",
    "the last rows": "DELETE FROM sample_inputs WHERE position > 15",
    "scores": "DELETE FROM scores WHERE position = 3",
    "a row": "UPDATE sample_inputs SET input = substr(input, 1, 9) WHERE position = 2",
    "details of a finding": "UPDATE findings SET details = '{' WHERE position = 2",
    "a digit of a reply": "UPDATE replies SET reply = replace(reply, '3', '4')",
    "an interaction": "UPDATE interaction_texts SET body = '['",
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_listed(
    whole: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "s.db"
    place.write_bytes(whole.read_bytes())
    with closing(sqlite3.connect(place)) as db:
        assert db.execute(DAMAGES[kind]).rowcount
        db.commit()
    assert run_command(["store", "check", "--store", str(place), "--json"]) == 1
    damages = json.loads(capsys.readouterr().out)["damages"]
    assert 1 <= len(damages) <= 20
    assert run_command(["store", "check", "--store", str(place)]) == 1
    printed = capsys.readouterr()
    assert f"damaged: {damages[0]}" in printed.out
    assert ".recover" in printed.err


def test_a_whole_store_has_no_damage(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["store", "check", "--store", str(whole)]) == 0
    assert "none damaged" in capsys.readouterr().out
