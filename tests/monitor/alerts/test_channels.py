"""Alerts on their way to receivers that are dead, slow, broken or elsewhere, with texts that would like to be more than texts."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ragstone.config.alerts import Channel
from ragstone.config.secrets import Secret
from ragstone.errors import MissingExtra
from ragstone.monitor.alert_text import format_alert, to_one_line
from ragstone.monitor.alerts import channels
from ragstone.monitor.alerts.channels import (
    MAX_SECTION_CHARS,
    DeliveryError,
    build_slack_message,
    format_line,
    send_message,
)
from ragstone.monitor.alerts.outbox import deliver_due, enqueue_message, list_unsent
from ragstone.monitor.archive import Archive
from ragstone.store import Store

NASTY = "<!channel> @here [win](http://evil.invalid) <http://evil.invalid|x>\x1b[2J\nFAKE [ok] & co"


def body(text: str = "faithfulness fell", examples: int = 1) -> dict[str, Any]:
    some = [{"id": f"{n} {text}", "question": text, "value": 0.0} for n in range(examples)]
    return {"state": "firing", "title": text, "facts": {"examples": some}}


@contextmanager
def receiver(answer: Callable[[socket.socket], None]) -> Iterator[Channel]:
    """A listener that answers each connection as it is told."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def work() -> None:
            try:
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65536)
                        answer(connection)
            except OSError:
                return  # the listener was closed, or the sender went away

        threading.Thread(target=work, daemon=True).start()
        yield Channel("webhook", Secret(f"http://127.0.0.1:{listener.getsockname()[1]}/hook"))


def fault(answer: bytes) -> str:
    with (
        receiver(lambda one: one.sendall(answer)) as channel,
        pytest.raises(DeliveryError) as caught,
    ):
        send_message(channel, body(), "key", False)
    return str(caught.value)


def test_a_receiver_that_fails_is_named_by_its_answer() -> None:
    assert fault(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n") == "the receiver answered 500"
    assert "cannot be reached" in fault(b"SSH-2.0-OpenSSH\r\n")


def test_a_redirection_is_not_followed_and_the_remedy_is_said() -> None:
    moved = b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    assert "not followed; configure the final address" in fault(moved)


def test_nobody_at_the_address_does_not_show_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(DeliveryError, match="cannot be reached") as caught:
        send_message(
            Channel("webhook", Secret(f"http://127.0.0.1:{port}/secret")), body(), "key", False
        )
    assert "secret" not in str(caught.value)


def test_a_receiver_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes before the socket's own limit: only the whole time ends it."""
    monkeypatch.setattr(channels, "MAX_REQUEST_SECONDS", 0.5)
    done = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not done.wait(0.05):
            connection.sendall(b"X")

    with receiver(drip) as channel, pytest.raises(DeliveryError, match=r"within 0\.5 s"):
        send_message(channel, body(), "key", False)
    done.set()


def test_one_channel_that_fails_does_not_hold_up_the_others(place: str) -> None:
    store = Store.open(place)
    archive = Archive(store)
    broken, absent, well = Channel("file", "broken"), Channel("file", "absent"), Channel("log")
    seen: list[str] = []

    def send(channel: Channel, *_: Any) -> None:
        seen.append(channel.name)
        if channel is broken:
            raise DeliveryError("the receiver answered 503")
        if channel is absent:
            raise MissingExtra("an apprise channel", "alerts")

    for number in range(3):
        about = f"a{number}"
        archive.run(lambda db, about=about: enqueue_message(db, (broken, absent, well), body(), about, 0)).result()  # type: ignore[misc]  # fmt: skip
    done = deliver_due(archive, [broken, absent, well], 1, send=send)
    assert (done.sent, done.failed) == (3, 2)
    assert seen.count(broken.name) == seen.count(absent.name) == 1
    assert len(list_unsent(archive)) == 6
    store.close()


# ── texts under test ──────────────────────────────────────────────────────────────────────


def test_slack_takes_the_message_whatever_is_in_it() -> None:
    for text in ("x" * 9000, "&" * 9000, "<" * 9000, "a" + "&" * 9000):
        sent = build_slack_message(body(text, examples=30))
        texts = [sent["text"], *(one["text"]["text"] for one in sent["blocks"])]
        assert all(0 < len(one) <= MAX_SECTION_CHARS + 1 < 3000 for one in texts)
        assert all(one.replace("&amp;", "").replace("&lt;", "").count("&") == 0 for one in texts)


def test_texts_mention_nobody_and_link_nowhere() -> None:
    sent = build_slack_message(body(NASTY))
    for text in (sent["text"], *(one["text"]["text"] for one in sent["blocks"])):
        assert "<" not in text
        assert "@here" not in text
        assert "](" not in text
    assert all(one["text"]["verbatim"] for one in sent["blocks"])


def test_a_log_line_stays_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ragstone.monitor"):
        send_message(Channel("log"), body(NASTY), "key", False)
    (record,) = caplog.records
    assert record.getMessage() == format_line(body(NASTY))
    assert record.getMessage().isprintable()


def test_names_and_values_of_fields_are_short_and_on_one_line_in_a_sentence() -> None:
    facts = {
        "phrase": "drop", "metric": "faithfulness", "field": NASTY, "value": "x" * 5000,
        "before": 0.8, "after": 0.7, "change": -0.1, "since": "now",
        "part": {"field": NASTY, "value": "y\n" * 500, "before": 0.8, "after": 0.1},
    }  # fmt: skip
    for language in ("en", "es"):
        said = format_alert(facts, language)
        assert said.isprintable()
        assert len(said) < 900
    assert to_one_line("a\x00b\u2028c\td") == "a b c d"


def test_a_mail_that_is_shown_as_html_gets_texts_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    apprise = pytest.importorskip("apprise", reason="needs ragstone[alerts]")
    seen: list[dict[str, Any]] = []

    def notify(self: Any, **given: Any) -> bool:
        seen.append(given)
        return True

    monkeypatch.setattr(apprise.Apprise, "notify", notify)
    send_message(Channel("apprise", Secret("json://127.0.0.1:1")), body(NASTY), "key", False)
    assert seen[0]["body_format"] == apprise.NotifyFormat.TEXT
    assert "\x1b" not in seen[0]["body"]
