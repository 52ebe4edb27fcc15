"""`ragstone doctor`: what can be used, what cannot, and nothing secret."""

from __future__ import annotations

import json
import socket
from datetime import date, timedelta
from pathlib import Path

import pytest

from ragstone.cli import doctor


def read_points(text: str) -> dict[str, tuple[str, str]]:
    return {point["about"]: (point["state"], point["fact"]) for point in json.loads(text)}


def test_all_well(call, tmp_path: Path) -> None:
    done = call("doctor", "--json")
    assert done.code == 0, done.out
    points = read_points(done.out)
    assert points["judge"] == ("ok", "offline 9")
    assert points["store"][0] == "absent"
    assert not (tmp_path / "store.db").exists(), "looking must not make a store"
    assert points["extra parquet"][0] in ("ok", "absent")
    assert all(state != "bad" for state, _ in points.values())


def test_a_store_is_counted_and_a_damaged_one_is_said(call, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"answer": "a", "reference": "a"}\n')
    assert call("eval", "a.jsonl", "-m", "exact_match", "-q").code == 0
    assert read_points(call("doctor", "--json").out)["store"][1].endswith("MB)")
    (tmp_path / "bad.db").write_bytes(b"no store" * 500)
    done = call("doctor", "--store", "bad.db")
    assert done.code == 1
    assert "✗ store" in done.out


def test_a_server_is_connected_to_and_asked_nothing(call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        done = call("doctor", "--judge", "openai:m", "--base-url", url, "--json")
        assert read_points(done.out)["server"][0] == "ok"
        connection, _ = server.accept()
        with connection:
            assert connection.recv(100) == b""
    done = call("doctor", "--judge", "openai:m", "--base-url", url, "--json")
    assert done.code == 1
    assert read_points(done.out)["server"][0] == "bad"


def test_no_key_is_shown(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-1234567890")
    url = "http://user:hidden-password@127.0.0.1:1/v1?token=hidden-token"
    done = call("doctor", "--judge", "openai:m", "--base-url", url)
    assert done.code == 1
    for secret in ("sk-secret", "hidden-password", "hidden-token"):
        assert secret not in done.out + done.err


def test_a_missing_key_names_its_variable(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("ragstone.cli.doctor.CONNECT_SECONDS", 0.01)
    done = call("doctor", "--judge", "openai:gpt-4o-mini", "--base-url", "https://127.0.0.1:1/v1")
    assert done.code == 1
    assert call("doctor", "--judge", "nonsense:x").code == 1


def test_old_prices_are_said(call, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, state in ((10, "ok"), (400, "old")):
        monkeypatch.setattr(doctor, "PRICES_DATE", date.today() - timedelta(days=age))
        done = call("doctor", "--json")
        assert done.code == 0
        found = read_points(done.out)["prices"]
        assert found[0] == state
        assert ("give the judge `prices:" in found[1]) == (state == "old")
