from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from live import Server, in_thread
from ragstone.monitor import Archive, ScoredInteraction
from ragstone.server import ServerSettings
from ragstone.store import Store
from ragstone.types import Finding, Score
from waiting import wait_until


@pytest.fixture
def store(place: str) -> Store:
    return Store.open(place)


@pytest.fixture
def server(store: Store) -> Iterator[Server]:
    with in_thread(ServerSettings(), store) as server:
        yield server


@pytest.fixture
def start(tmp_path: Any) -> Iterator[Any]:
    """Servers with settings of their own, on SQLite."""
    with ExitStack() as stack:

        def started(**settings: Any) -> tuple[Server, Archive]:
            store = Store.open(tmp_path / "own.db")
            server = stack.enter_context(in_thread(ServerSettings(**settings), store))
            return server, Archive(store)

        yield started


def event(id: str = "a", **more: Any) -> dict[str, Any]:
    return {"id": id, "question": "q", "contexts": ["c"], "answer": "a", **more}


def test_what_is_accepted_is_stored_and_sent_again_is_not_stored_again(
    server: Server, store: Store
) -> None:
    one = server.post("/v1/interactions", event("a", meta={"model": "m"}, feedback="up"))
    many = server.post("/v1/interactions", [event("a"), event("b"), event("c")])
    assert (one.status, one.json) == (200, {"accepted": 1, "repeated": 0, "ids": ["a"]})
    assert many.json == {"accepted": 2, "repeated": 1, "ids": ["a", "b", "c"]}
    found = {interaction.id: interaction for interaction in Archive(store).interactions()}
    assert set(found) == {"a", "b", "c"}
    assert found["a"].meta == {"model": "m"}
    assert found["a"].feedback == 1.0


def test_an_id_is_made_when_none_is_given(server: Server) -> None:
    (made,) = server.post("/v1/interactions", {"question": "q"}).json["ids"]
    assert server.get(f"/v1/interactions/{made}").json["question"] == "q"


def test_feedback_for_interactions_that_are_known_or_not_yet(server: Server) -> None:
    server.post("/v1/interactions", event("a"))
    said = [{"id": "a", "feedback": 0.25}, {"id": "b", "feedback": "down", "comment": "bad"}]
    assert server.post("/v1/feedback", said).json == {"accepted": 2}
    server.post("/v1/interactions", event("b"))
    assert server.get("/v1/interactions/a").json["feedback"] == 0.25
    assert server.get("/v1/interactions/b").json["comment"] == "bad"


def test_a_bad_row_is_named_and_nothing_of_its_request_is_stored(
    server: Server, store: Store
) -> None:
    answer = server.post("/v1/interactions", [event("a"), {"id": 1.5}, event("b", tokens=-1)])
    assert answer.status == 422
    assert [row["row"] for row in answer.json["rows"]] == [1, 2]
    assert '"tokens" is' in answer.json["rows"][1]["why"]
    assert list(Archive(store).interactions()) == []


@pytest.mark.parametrize(
    "odd",
    [
        {"meta": {"n": 10**400}},
        {"cost": 10**400},
        {"tokens": 10**400},
        {"latency": 10**400},
        {"feedback": 10**400},
        {"at": 10**400},
    ],
)
def test_a_number_beyond_every_float_is_a_bad_row_like_any_other(
    start: Any, odd: dict[str, Any]
) -> None:
    server, _archive = start()
    assert server.post("/v1/interactions", [event("a"), event("b", **odd)]).status == 422


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"question": NaN}', 400),
        (b"\xff\xfe", 400),
        (b"[" * 200 + b"]" * 200, 400),
        (b'{"question": "q", "question": "q"}', 400),
        (b"[]", 422),
        (b"null", 422),
        (json.dumps([{"question": "q"}] * 1001).encode(), 422),
    ],
)
def test_a_body_that_is_no_list_of_interactions_is_refused(
    start: Any, body: bytes, status: int
) -> None:
    server, _archive = start()
    json_type = {"Content-Type": "application/json"}
    answer = server.ask("POST", "/v1/interactions", headers=json_type, raw=body)
    assert answer.status == status
    assert answer.json["error"]
    assert server.get("/v1/status").json["counters"] == {"refused_invalid": 1}


def test_packed_bodies(start: Any) -> None:
    server, archive = start()
    for number, (name, packed) in enumerate(
        [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)]
    ):
        body = packed(json.dumps(event(str(number), answer="x" * 100_000)).encode())
        headers = {"Content-Type": "application/json", "Content-Encoding": name}
        assert server.ask("POST", "/v1/interactions", headers=headers, raw=body).status == 200
    assert all(len(interaction.answer or "") == 100_000 for interaction in archive.interactions())
    for name, body, status in [
        ("gzip", b"not gzip", 400),
        ("gzip", gzip.compress(b"{}" * 1000)[:20], 400),
        ("br", b"{}", 415),
        ("gzip", gzip.compress(b" " * 100_000_000), 413),
    ]:
        headers = {"Content-Type": "application/json", "Content-Encoding": name}
        assert server.ask("POST", "/v1/interactions", headers=headers, raw=body).status == status


def test_a_body_that_is_too_large_is_refused_and_counted(start: Any) -> None:
    server, _archive = start(body_bytes=1000)
    assert server.post("/v1/interactions", event(answer="x" * 1000)).status == 413
    assert server.post("/v1/interactions", event()).status == 200
    assert server.get("/v1/status").json["counters"]["refused_too_large"] == 1


def test_only_json_is_taken_so_no_form_of_another_site_can_post(start: Any) -> None:
    server, _ = start()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {"Content-Type": kind}
        answer = server.ask("POST", "/v1/interactions", headers=headers, raw=b'{"question":"q"}')
        assert answer.status == 415


def test_looking_by_time_slice_and_order(server: Server) -> None:
    server.post(
        "/v1/interactions",
        [event(str(n), at=1_780_000_000 + n, meta={"model": "ab"[n % 2]}) for n in range(6)],
    )

    def ids(query: str) -> str:
        found = server.get(f"/v1/interactions?{query}")
        assert found.status == 200, found.body
        return "".join(row["id"] for row in found.json["interactions"])

    assert ids("") == "543210"
    assert ids("order=oldest&limit=2") == "01"
    assert ids("slice=model:a") == "420"
    assert ids("since=2026-05-28T20:26:42Z&until=1780000004") == "32"


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=x",
        "order=up",
        "since=soon",
        "slice=x",
        "sinc=1",
        "window=1h",
        "slice=%00:",
    ],
)
def test_a_bad_parameter_is_named(start: Any, query: str) -> None:
    server, _ = start()
    answer = server.get(f"/v1/interactions?{query}")
    assert answer.status == 422
    assert answer.json["error"]


def test_one_interaction_comes_with_its_evidence(server: Server, store: Store) -> None:
    server.post("/v1/interactions", event("a/b?c"))
    score = Score(0.5, findings=(Finding("claim", "supported", quote="c"),))
    Archive(store).save_scores([ScoredInteraction("a/b?c", {"faithfulness": score})]).result()
    found = server.get("/v1/interactions/a%2Fb%3Fc")
    assert found.json["scores"]["faithfulness"]["value"] == 0.5
    assert found.json["scores"]["faithfulness"]["findings"][0]["quote"] == "c"
    assert server.get("/v1/interactions/none").status == 404
    assert server.get("/v1/interactions/%00").status == 404


def test_a_window_in_figures(server: Server) -> None:
    server.post("/v1/interactions", [event(str(n), meta={"model": "m"}) for n in range(3)])
    found = server.get("/v1/summary?window=1h&by=model").json
    assert found["whole"]["interactions"] == 3
    assert [one["value"] for one in found["slices"]] == ["m"]
    assert server.get("/v1/summary?window=soon").status == 422


def test_everything_is_there_under_the_prefix_and_without(start: Any) -> None:
    server, _ = start(prefix="/rag/stone")
    for prefix in ("", "/rag/stone"):
        assert server.get(f"{prefix}/healthz").json == {"ok": True}
        assert server.post(f"{prefix}/v1/interactions", event(f"x{len(prefix)}")).status == 200
    assert server.get("/openapi.json").json["servers"] == [{"url": "/rag/stone"}]
    assert server.get("/rag/healthz").status == 404


def test_texts_are_redacted_before_they_are_stored_and_a_failing_hook_stores_nothing(
    start: Any,
) -> None:
    def hook(text: str, field: str) -> str:
        if text == "crash":
            raise ValueError(text)
        return text.replace("secret", "***")

    server, archive = start(redact=hook)
    server.post("/v1/interactions", event("a", question="secret", comment="secret"))
    server.post("/v1/feedback", {"id": "b", "comment": "secret"})
    assert server.post("/v1/interactions", event("c", question="crash")).status == 500
    assert [interaction.id for interaction in archive.interactions()] == ["a"]
    (found,) = archive.interactions()
    assert (found.question, found.comment) == ("***", "***")
    assert archive.store.read("SELECT comment FROM feedback WHERE interaction = 'b'") == [
        ('"***"',)
    ]


def test_too_many_rows_at_once_are_turned_away_with_a_time_to_come_back(start: Any) -> None:
    server, _ = start(queue_requests=0)
    answer = server.post("/v1/interactions", event())
    assert answer.status == 429
    assert int(answer.headers["Retry-After"]) >= 1
    assert server.get("/v1/status").json["counters"] == {"refused_overload": 1}


def test_what_is_older_than_the_retention_is_forgotten(start: Any) -> None:
    server, archive = start()
    server.post("/v1/interactions", [event("old", at=1_780_000_000), event("new")])
    again, _ = start(retention=86_400_000_000)
    wait_until(lambda: archive.get("old") is None, "the old interaction is forgotten")
    assert [interaction.id for interaction in archive.interactions()] == ["new"]
    assert again.get("/healthz").status == 200


def test_unknown_paths_and_methods_are_json_too(start: Any) -> None:
    server, _ = start()
    assert (server.get("/v1/nothing").status, server.get("/v1/nothing").json) == (
        404,
        {"error": "Not Found"},
    )
    answer = server.ask("DELETE", "/v1/interactions")
    assert answer.status == 405
    assert "POST" in answer.headers["Allow"]
