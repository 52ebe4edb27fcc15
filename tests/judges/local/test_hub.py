"""`ragstone judge get` against a loopback server that speaks the hub's protocol, and `judge: local`."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.judge import command
from ragstone.errors import RagstoneError
from ragstone.judges.factory import make_judge
from ragstone.judges.local import hub
from ragstone.judges.local.catalogue import MODELS, LocalModelMissing, find_fetched, find_folder
from ragstone.judges.local.hub import FetchFailed, fetch_model
from waiting import wait_until

MODEL = MODELS[0]
CONTENT = b"GGUF" + random.Random(1).randbytes(3_000_000)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class LoopbackHub:
    """Metadata, a redirect to another host name, and a file that may break off."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.sha256 = hashlib.sha256(CONTENT).hexdigest()
        self.breaks: list[int] = []
        """Bytes after which each coming transfer breaks off; then they are whole."""
        self.takes_ranges = True
        self.status = 200
        self.requests: list[tuple[str, str, str]] = []
        """Path, Range and Authorization of each request."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *arguments: Any) -> None:
                """Nothing is written to the terminal."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.split("?")[0]
        headers = request.headers
        self.requests.append((path, headers.get("Range", ""), headers.get("Authorization", "")))
        if path == f"/api/models/{MODEL.repository}":
            self.send(request, self.status, json.dumps(self.describe()).encode())
        elif path == f"/{MODEL.repository}/resolve/{COMMIT}/{MODEL.file}":
            request.send_response(302)
            request.send_header("Location", f"http://localhost:{self.port}/cdn")
            request.send_header("Content-Length", "0")
            request.end_headers()
        elif path == "/cdn":
            self.send_file(request)
        else:
            self.send(request, 404, b"{}")

    def describe(self) -> dict[str, Any]:
        lfs = {"sha256": self.sha256, "size": len(self.content), "pointerSize": 135}
        sibling = {"rfilename": MODEL.file, "size": len(self.content), "blobId": "b", "lfs": lfs}
        return {
            "id": MODEL.repository,
            "sha": COMMIT,
            "siblings": [sibling],
            "tags": [],
            "private": False,
        }

    def send(self, request: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def send_file(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range", "")
        start = int(asked.removeprefix("bytes=").rstrip("-") or 0) if self.takes_ranges else 0
        body = self.content[start:]
        request.send_response(206 if self.takes_ranges else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if self.breaks:
            request.wfile.write(body[: self.breaks.pop(0)])
            request.close_connection = True
            request.connection.close()
        else:
            request.wfile.write(body)

    @property
    def ranges(self) -> list[str]:
        return [asked for path, asked, _ in self.requests if path == "/cdn"]


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A hub on loopback, and a cache of the test's own."""
    pytest.importorskip("huggingface_hub", reason="the extra `local` is not installed")
    server = LoopbackHub()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.port}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr(hub, "BACKOFF_SECONDS", 0.0)
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_a_model_is_fetched_checked_and_used(mirror: LoopbackHub) -> None:
    seen: list[tuple[int, int]] = []
    fetched = fetch_model(MODEL, lambda done, total: seen.append((done, total)))
    assert fetched.path.read_bytes() == CONTENT
    assert (fetched.revision, fetched.size) == (COMMIT, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert find_fetched(MODEL.name) == fetched
    judge = make_judge("local")
    assert judge.name == make_judge(f"gguf:{fetched.path}").name
    assert make_judge({"model": f"local:{MODEL.name}", "threads": 1}).name == judge.name


def test_a_model_that_is_here_is_not_asked_for_again(mirror: LoopbackHub) -> None:
    fetch_model(MODEL)
    count = len(mirror.requests)
    fetch_model(MODEL)
    assert len(mirror.requests) == count


def test_of_two_that_fetch_one_model_the_second_waits_and_takes_the_result(
    mirror: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LOCK_POLL_SECONDS", 0.01)
    waits = threading.Event()
    send_file = mirror.send_file

    def send_late(request: BaseHTTPRequestHandler) -> None:
        waits.wait(60)  # the first transfer ends only once the other process waits for it
        send_file(request)

    monkeypatch.setattr(mirror, "send_file", send_late)
    program = "import sys\nfrom ragstone.judges.local import hub\nfrom ragstone.judges.local.catalogue import MODELS\nprint(hub.fetch_model(MODELS[0]).sha256)"  # fmt: skip
    other = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: mirror.ranges, "the other process fetches")
        fetched = fetch_model(MODEL, lambda done, total: waits.set())
        output, _ = other.communicate(timeout=120)
    finally:
        other.kill()
        other.wait()
    assert output.strip() == fetched.sha256 == mirror.sha256
    assert fetched.path.read_bytes() == CONTENT
    assert len(mirror.ranges) == 1


def test_a_broken_transfer_goes_on_where_it_was(mirror: LoopbackHub) -> None:
    mirror.breaks = [1_000_000, 500_000]
    fetched = fetch_model(MODEL)
    assert fetched.path.read_bytes() == CONTENT
    offsets = [int(asked[6:-1]) for asked in mirror.ranges]
    assert offsets == sorted(offsets)
    assert offsets[0] == 0
    assert 0 < offsets[1] <= 1_000_000 < offsets[2] <= 1_500_000


def test_a_download_that_was_given_up_is_resumed_by_the_next_command(mirror: LoopbackHub) -> None:
    mirror.breaks = [1_000_000, *[0] * hub.MAX_BREAKS]
    with pytest.raises(
        FetchFailed, match=r"broke off after [\d,]+ of 3,000,004 bytes.*run it again"
    ):
        fetch_model(MODEL)
    assert find_fetched(MODEL.name) is None
    begun = (find_folder(MODEL.name) / f"{MODEL.file}.part").stat().st_size
    assert begun > 0
    mirror.requests.clear()
    assert fetch_model(MODEL).path.read_bytes() == CONTENT
    assert mirror.ranges == [f"bytes={begun}-"]


def test_a_server_that_cannot_begin_in_the_middle_begins_anew(mirror: LoopbackHub) -> None:
    mirror.takes_ranges, mirror.breaks = False, [1_000_000]
    assert fetch_model(MODEL).path.read_bytes() == CONTENT


def test_a_file_with_another_hash_is_deleted(mirror: LoopbackHub) -> None:
    mirror.content = CONTENT[:-1] + b"!"
    with pytest.raises(FetchFailed, match=r"another hash.*deleted"):
        fetch_model(MODEL)
    assert list(find_folder(MODEL.name).iterdir()) == []
    with pytest.raises(LocalModelMissing):
        make_judge("local")


def test_more_bytes_than_the_hub_names_are_refused(mirror: LoopbackHub) -> None:
    described = mirror.describe()
    mirror.describe = lambda: described  # type: ignore[method-assign]
    mirror.content = CONTENT + b"more"
    with pytest.raises(FetchFailed, match=r"more than 3,000,004 bytes"):
        fetch_model(MODEL)


def test_a_token_is_not_sent_to_the_host_of_the_files(
    mirror: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_sometokenoftests")
    fetch_model(MODEL)
    sent = {path: bool(token) for path, _, token in mirror.requests}
    assert sent["/cdn"] is False
    assert sent[f"/api/models/{MODEL.repository}"] is True


def test_a_full_disk_is_seen_before_anything_is_sent(
    mirror: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda path: usage(10, 9, 1))
    with pytest.raises(FetchFailed, match=r"no room in .*0\.00 GB are needed"):
        fetch_model(MODEL)
    assert mirror.ranges == []


@pytest.mark.parametrize("status", [401, 404, 500])
def test_what_the_hub_refuses_is_one_sentence(mirror: LoopbackHub, status: int) -> None:
    mirror.status = status
    with pytest.raises(FetchFailed, match="refuses") as raised:
        fetch_model(MODEL)
    assert "\n" not in str(raised.value)


def test_without_a_network_the_sentence_names_the_mirror(
    mirror: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(FetchFailed, match=r"cannot be reached.*HF_ENDPOINT"):
        fetch_model(MODEL)


def test_without_the_extra_the_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(FetchFailed, match=r"pip install 'ragstone\[local\]'"):
        fetch_model(MODEL)


def test_the_judge_local_fetches_nothing(mirror: LoopbackHub) -> None:
    with pytest.raises(LocalModelMissing, match=f"ragstone judge get {MODEL.name}"):
        make_judge("local")
    assert mirror.requests == []


def test_a_model_cut_off_on_disk_is_not_used(mirror: LoopbackHub) -> None:
    fetched = fetch_model(MODEL)
    fetched.path.write_bytes(CONTENT[:100])
    assert find_fetched(MODEL.name) is None


def test_the_command_lists_and_fetches(mirror: LoopbackHub) -> None:
    listed = CliRunner().invoke(command, ["get"])
    assert mirror.requests == []
    for fact in (MODEL.licence, MODEL.repository, MODEL.measured, f"judge get {MODEL.name}"):
        assert fact in listed.output
    fetched = CliRunner().invoke(command, ["get", MODEL.name])
    assert fetched.exit_code == 0, fetched.exception
    assert "--judge local" in fetched.output
    assert "not the file that we measured" in fetched.output  # the loopback hub serves other bytes
    assert "here: " in CliRunner().invoke(command, ["get"]).output


def test_a_model_that_we_did_not_measure_is_not_fetched() -> None:
    with pytest.raises(RagstoneError, match=r"qwen2\.5-coder"):
        CliRunner().invoke(
            command, ["get", "qwen2.5"], catch_exceptions=False, standalone_mode=False
        )
