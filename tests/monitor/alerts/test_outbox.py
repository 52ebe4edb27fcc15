"""Messages leave once: through crashes, refusals and two senders at a time."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragstone.config.alerts import Channel
from ragstone.config.secrets import Secret
from ragstone.monitor.alerts.channels import (
    SIGNATURE_HEADER,
    DeliveryError,
    build_slack_message,
    is_valid_signature,
    send_message,
)
from ragstone.monitor.alerts.outbox import (
    FIRST_RETRY_MICROS,
    LEASE_MICROS,
    MAX_ATTEMPTS,
    deliver_due,
    enqueue_message,
    get_retry_delay,
    list_unsent,
)
from ragstone.monitor.archive import Archive
from ragstone.store import Store

BODY = {
    "id": "a1", "rule": "drop:faithfulness", "kind": "drop", "state": "firing", "metric": "faithfulness",
    "slice": {}, "title": "faithfulness fell <b>", "opened": "x", "changed": "x",
    "facts": {"examples": [{"id": "i1", "question": "<!channel> why?", "value": 0.0}]},
}  # fmt: skip
LOG = Channel("log")


@pytest.fixture
def archive(place: str) -> Iterator[Archive]:
    store = Store.open(place)
    yield Archive(store)
    store.close()


def enqueue(archive: Archive, *channels: Channel, about: str = "a1:firing", now: int = 0) -> None:
    archive.run(lambda db: enqueue_message(db, channels, BODY, about, now)).result()


class Sender:
    """Stands in for the world: notes what it is given and fails as often as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.failures, self.seen = failures, []  # type: ignore[var-annotated]

    def __call__(self, channel: Channel, body: Any, key: str, again: bool) -> None:
        self.seen.append((key, again))
        if len(self.seen) <= self.failures:
            raise DeliveryError("the receiver answered 503")


def test_a_message_leaves_once_however_often_it_is_put(archive: Archive) -> None:
    send = Sender()
    enqueue(archive, LOG)
    enqueue(archive, LOG)
    assert deliver_due(archive, [LOG], 1, send=send).sent == 1
    enqueue(archive, LOG)
    assert deliver_due(archive, [LOG], 10**12, send=send).sent == 0
    assert len(send.seen) == 1


def test_what_fails_is_tried_again_under_the_same_key_after_waits_that_double(
    archive: Archive,
) -> None:
    send = Sender(failures=2)
    enqueue(archive, LOG)
    assert deliver_due(archive, [LOG], 0, send=send).failed == 1
    assert list_unsent(archive)[0]["fault"] == "the receiver answered 503"
    assert deliver_due(archive, [LOG], FIRST_RETRY_MICROS - 1, send=send).failed == 0
    assert deliver_due(archive, [LOG], 2 * FIRST_RETRY_MICROS, send=send).failed == 1
    assert deliver_due(archive, [LOG], 20 * FIRST_RETRY_MICROS, send=send).sent == 1
    assert len({key for key, _ in send.seen}) == 1
    assert [again for _, again in send.seen] == [False, True, True]
    assert get_retry_delay("ffff", 3) > 1.9 * get_retry_delay("ffff", 2)
    assert get_retry_delay("ffff", 15) <= 1.5 * 3_600_000_000


def test_after_many_tries_it_is_given_up_and_stays_visible(archive: Archive) -> None:
    send = Sender(failures=99)
    enqueue(archive, LOG)
    results = [deliver_due(archive, [LOG], n * 10**11, send=send) for n in range(MAX_ATTEMPTS + 3)]
    assert sum(result.given_up for result in results) == 1
    assert len(send.seen) == MAX_ATTEMPTS
    assert len(list_unsent(archive)) == 1


def test_a_crash_in_the_midst_of_sending_neither_loses_nor_repeats(
    archive: Archive, tmp_path: Path
) -> None:
    file = tmp_path / "alerts.jsonl"
    channel = Channel("file", str(file))

    def dies_after_writing(*args: Any) -> None:
        send_message(*args)
        raise KeyboardInterrupt

    enqueue(archive, channel)
    with pytest.raises(KeyboardInterrupt):
        deliver_due(archive, [channel], 0, send=dies_after_writing)
    assert (
        deliver_due(archive, [channel], LEASE_MICROS - 1).sent == 0
    )  # perhaps the other one is still at it
    assert deliver_due(archive, [channel], LEASE_MICROS + 1).sent == 1
    (line,) = file.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["rule"] == "drop:faithfulness"


def test_two_senders_at_a_time_send_it_once(archive: Archive) -> None:
    send, both = Sender(), threading.Barrier(2)
    enqueue(archive, *[Channel("file", str(n)) for n in range(10)])

    def work() -> None:
        both.wait()
        deliver_due(archive, [Channel("file", str(n)) for n in range(10)], 1, send=send)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(send.seen) == len({key for key, _ in send.seen}) == 10


# ── the channels themselves ───────────────────────────────────────────────────────────────


@pytest.fixture
def receiver() -> Iterator[Any]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            server.got.append((dict(self.headers), text))  # type: ignore[attr-defined]
            self.send_response(server.answer)  # type: ignore[attr-defined]
            if server.answer == 302:  # type: ignore[attr-defined]
                self.send_header("Location", f"http://127.0.0.1:{server.server_port}/other")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server: Any = HTTPServer(("127.0.0.1", 0), Handler)
    server.got, server.answer = [], 200
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def hook(server: Any, **more: Any) -> Channel:
    return Channel("webhook", Secret(f"http://127.0.0.1:{server.server_port}/hook"), **more)


def test_a_webhook_is_signed_and_names_its_key(receiver: Any) -> None:
    send_message(hook(receiver, secret=Secret("s3cret")), BODY, "k1", False)
    headers, text = receiver.got[0]
    assert headers["Idempotency-Key"] == "k1"
    at = float(headers[SIGNATURE_HEADER].split(",")[0][2:])
    assert is_valid_signature("s3cret", headers[SIGNATURE_HEADER], text, at)
    assert not is_valid_signature("other", headers[SIGNATURE_HEADER], text, at)
    assert not is_valid_signature("s3cret", headers[SIGNATURE_HEADER], text + " ", at)
    assert not is_valid_signature("s3cret", headers[SIGNATURE_HEADER], text, at + 1000)
    assert not is_valid_signature("s3cret", "t=x,v1=0", text, at)
    assert json.loads(text)["title"] == "faithfulness fell <b>"


@pytest.mark.parametrize("answer", [302, 404, 500])
def test_any_answer_but_2xx_is_a_failure_and_no_redirect_is_followed(
    receiver: Any, answer: int
) -> None:
    receiver.answer = answer
    with pytest.raises(DeliveryError, match=str(answer)):
        send_message(hook(receiver), BODY, "k1", False)
    assert len(receiver.got) == 1


def test_a_receiver_that_is_not_there_is_a_failure_that_does_not_tell_the_address() -> None:
    with pytest.raises(DeliveryError) as bad:
        send_message(Channel("webhook", Secret("http://127.0.0.1:9/T0K3N")), BODY, "k", False)
    assert "T0K3N" not in str(bad.value)


def test_slack_gets_text_that_can_mention_nobody(receiver: Any) -> None:
    send_message(
        Channel("slack", Secret(f"http://127.0.0.1:{receiver.server_port}/s")), BODY, "k", False
    )
    got = json.loads(receiver.got[0][1])
    assert got == build_slack_message(BODY)
    assert "<!channel>" not in json.dumps(got)
    assert "&lt;!channel&gt;" in got["blocks"][1]["text"]["text"]


def test_apprise_reaches_what_it_knows(receiver: Any) -> None:
    pytest.importorskip("apprise")
    send_message(
        Channel("apprise", Secret(f"json://127.0.0.1:{receiver.server_port}/a")), BODY, "k", False
    )
    assert "faithfulness fell" in receiver.got[0][1]
    with pytest.raises(DeliveryError, match="does not know"):
        send_message(Channel("apprise", Secret("nonsense")), BODY, "k", False)


def test_a_file_that_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(DeliveryError, match="cannot write"):
        send_message(Channel("file", str(tmp_path / "a" / "b.jsonl")), BODY, "k", False)


def test_a_channel_does_not_show_its_secrets() -> None:
    channel = Channel("webhook", Secret("https://h/T0K3N"), Secret("s3cret"))
    assert "T0K3N" not in repr(channel) + channel.name
    assert "s3cret" not in repr(channel)
