"""Who is let in: hosts, origins, tokens, paths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from live import Server, in_thread
from ragstone.errors import RagstoneError
from ragstone.server import ServerSettings
from ragstone.server.guard import (
    SECURITY_HEADERS,
    build_session_value,
    equals_secret,
    is_known_host,
    is_same_site,
)
from ragstone.server.settings import check_settings
from ragstone.store import Store

TOKEN = "a-token-that-is-long-enough"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with in_thread(
        ServerSettings(names=("monitor.example.com",)), Store.open(tmp_path / "s.db")
    ) as one:
        yield one


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Server]:
    with in_thread(ServerSettings(token=TOKEN), Store.open(tmp_path / "s.db")) as one:
        yield one


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8321", "127.0.0.1:1", "127.8.9.1", "[::1]", "[::1]:99", "LocalHost",
     "monitor.example.com", "Monitor.Example.com:443"],
)  # fmt: skip
def test_our_own_names_are_known(server: Server, host: str) -> None:
    assert server.get("/healthz", Host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.com", "evil.com:8321", "localhost.evil.com", "127.0.0.1.evil.com", "192.168.1.2", "",
     "localhost@evil.com", "localhost/", "[::2]", "0x7f.1", "evil.com#localhost", "[::1", "a b",
     "localhost:999999", "monitor.example.com.evil.com"],
)  # fmt: skip
def test_a_foreign_name_pointed_at_us_is_refused_and_counted(server: Server, host: str) -> None:
    assert server.get("/v1/status", Host=host).status in (400, 403)


def test_two_hosts_are_none(server: Server) -> None:
    import socket

    with socket.create_connection((server.host, server.port)) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n")
        assert raw.recv(100).split()[1] in (b"400", b"403")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost", 200),
        ("https://localhost", 200),
        ("http://evil.com", 403),
        ("null", 403),
        ("http://localhost.evil.com", 403),
        ("http://localhost:1", 403),
        ("file://", 403),
        ("http://user@localhost", 403),
        ("http://[", 403),
        ("https://monitor.example.com", 200),
    ],
)
def test_pages_of_other_sites_may_neither_read_nor_write(
    server: Server, origin: str, status: int
) -> None:
    headers = {"Host": "localhost", "Origin": origin}
    assert server.get("/v1/status", **headers).status == status
    posted = server.post("/v1/interactions", {"question": "q"}, **headers)
    assert posted.status == status
    counters = server.get("/v1/status").json["counters"]
    assert counters.get("refused_origin", 0) == (2 if status == 403 else 0)


def test_what_a_browser_calls_cross_site_is_refused(server: Server) -> None:
    assert server.get("/v1/status", **{"Sec-Fetch-Site": "cross-site"}).status == 403
    assert server.get("/v1/status", **{"Sec-Fetch-Site": "same-origin"}).status == 200


def test_without_the_token_nothing_but_the_health_is_told(closed: Server) -> None:
    for path in ("/v1/status", "/v1/interactions", "/openapi.json", "/v1/summary", "/nothing"):
        answer = closed.get(path)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert closed.post("/v1/interactions", {"question": "q"}).status == 401
    assert closed.get("/healthz").status == 200


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        ("Bearer", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        ("Bearer \xe9", 401),
    ],
)
def test_the_token_must_be_the_token(closed: Server, header: str, status: int) -> None:
    assert closed.get("/v1/status", Authorization=header).status == status


def test_a_cookie_that_was_given_for_the_token_counts(closed: Server) -> None:
    cookie = f"ragstone_session={build_session_value(TOKEN)}"
    assert closed.get("/v1/status", Cookie=cookie).status == 200
    assert closed.get("/v1/status", Cookie="ragstone_session=guess").status == 401
    assert TOKEN not in cookie


def test_equal_takes_any_text() -> None:
    assert equals_secret("é\udcff", "é\udcff")
    assert not equals_secret("", "x")


@pytest.mark.parametrize(
    "path",
    ["/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd",
     "/v1/../../etc/passwd", "/static/..%5c..%5cwindows", "/v1/interactions/../../../etc/passwd",
     "/%00", "/v1/interactions/..%2f..%2f..%2fetc%2fpasswd"],
)  # fmt: skip
def test_no_path_leads_to_a_file(server: Server, path: str) -> None:
    answer = server.get(path)
    assert answer.status in (400, 404, 405)
    assert b"root:" not in answer.body


def test_every_reply_carries_the_headers(server: Server) -> None:
    answers = [
        server.get("/healthz"),
        server.get("/nothing"),
        server.get("/v1/status", Host="evil.com"),
        server.post("/v1/interactions", {}),
    ]
    for answer in answers:
        for name, value in SECURITY_HEADERS.items():
            assert answer.headers[name] == value
        assert answer.headers["Server"] == "ragstone"


def test_an_address_that_others_reach_needs_a_token() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.2", "monitor.example.com"):
        with pytest.raises(RagstoneError, match="RAGSTONE_MONITOR_TOKEN"):
            check_settings(ServerSettings(host=host))
        assert check_settings(ServerSettings(host=host, token=TOKEN)).token == TOKEN
    for host in ("127.0.0.1", "::1", "localhost"):
        assert check_settings(ServerSettings(host=host)).token is None
    with pytest.raises(RagstoneError, match="shorter than 16"):
        check_settings(ServerSettings(token="short"))
    with pytest.raises(RagstoneError, match="is not a path"):
        check_settings(ServerSettings(prefix="rag/"))


def test_beyond_loopback_a_host_is_an_address_or_a_name_that_was_given() -> None:
    wide = ServerSettings(host="0.0.0.0", token=TOKEN, names=("me.example",))
    assert is_known_host("10.0.0.5:8321", wide)
    assert is_known_host("me.example", wide)
    assert not is_known_host("evil.com", wide)
    assert not is_same_site("http://evil.com", "10.0.0.5", wide)


@pytest.mark.parametrize(
    "origin",
    [
        "ftp://10.0.0.5",
        "http://10.0.0.5/x",
        "http://10.0.0.5?x",
        "http://a@10.0.0.5",
        "http://[x",
        "null",
        "",
    ],
)
def test_an_origin_is_a_scheme_and_a_host_and_nothing_else(origin: str) -> None:
    assert is_same_site("https://10.0.0.5", "10.0.0.5", ServerSettings(names=()))
    assert not is_same_site(origin, "10.0.0.5", ServerSettings(names=("10.0.0.5",)))
