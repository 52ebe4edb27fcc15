"""Notification channels of alerts: the log, a file, a signed webhook, Slack and compatible receivers, and apprise."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ragstone.config.alerts import Channel
from ragstone.config.secrets import Secret
from ragstone.errors import MissingExtra
from ragstone.monitor.alert_text import to_one_line
from ragstone.monitor.interactions import now_micros

SOCKET_TIMEOUT_SECONDS = 10
"""Seconds without a byte after which a receiver is given up."""
MAX_REQUEST_SECONDS = 30
"""Seconds for the whole request, for a receiver that keeps sending a byte now and then."""
MAX_SECTION_CHARS = 2900
"""Characters of a Slack section, which takes 3,000."""
SIGNATURE_HEADER = "X-Ragstone-Signature"
log = logging.getLogger("ragstone.monitor")

_WARNING_STATES = ("firing", "no_data", "judge_failing")
"""States of an alert that asks for attention; the others are good news."""


class DeliveryError(Exception):
    """A message did not arrive; it is sent again later."""


def send_message(channel: Channel, body: Mapping[str, Any], key: str, again: bool) -> None:
    """Send a message, the JSON of `build_message`; DeliveryError when it did not arrive.

    `key` identifies the message for its receiver; `again` says that an earlier attempt may have arrived."""
    target = channel.target.reveal() if isinstance(channel.target, Secret) else channel.target
    match channel.kind:
        case "log":
            level = logging.WARNING if body["state"] in _WARNING_STATES else logging.INFO
            log.log(level, "%s", format_line(body))
        case "file":
            _append_to_file(Path(target), body, key, again)
        case "webhook":
            secret = channel.secret.reveal() if channel.secret is not None else None
            _post_message(target, json.dumps(body, ensure_ascii=False), key, secret)
        case "slack":
            _post_message(
                target, json.dumps(build_slack_message(body), ensure_ascii=False), key, None
            )
        case "apprise":
            _notify_apprise(target, body)


def format_line(body: Mapping[str, Any]) -> str:
    """A message on one line, without control characters."""
    return f"[{body['state']}] {to_one_line(str(body['title']))}"


def build_slack_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """A message in Slack's format, also read by Mattermost and Discord (/slack): text, and blocks where supported."""
    title = to_one_line(str(body["title"]))
    blocks = [
        _build_section(f"*{_escape_text(str(body['state']).upper())}*  {_escape_text(title)}")
    ]
    details = format_details(body)
    if details:
        blocks.append(_build_section("\n".join(map(_escape_text, details))))
    return {"text": _truncate_escaped(_escape_text(format_line(body))), "blocks": blocks}


def format_details(body: Mapping[str, Any]) -> list[str]:
    """Examples and advice of a message, each on a line."""
    facts = body.get("facts", {})
    details = [
        f"• {to_one_line(str(example['id']))}: {to_one_line(str(example.get('question', '')))}"
        + (f" ({example['value']:.2f})" if isinstance(example.get("value"), float) else "")
        for example in facts.get("examples", ())
    ]
    for symptom in facts.get("advice", ())[:2]:
        for cause in symptom["causes"][:2]:
            details.append(f"→ {cause['advice'].get('en', '')}")
    return details


def sign_body(secret: str, at: int, text: str) -> str:
    """`t=SECONDS,v1=HEX`: HMAC-SHA256 of the time, a full stop and the body. The time prevents replays."""
    digest = hmac.new(secret.encode(), f"{at}.{text}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def is_valid_signature(
    secret: str, header: str, text: str, now: float, tolerance: float = 300
) -> bool:
    """Whether a received body has a valid signature that is at most `tolerance` seconds old."""
    fields = dict(part.partition("=")[::2] for part in header.split(","))
    if not fields.get("t", "").isdigit() or abs(now - int(fields["t"])) > tolerance:
        return False
    # compare_digest takes the same time wherever the texts differ, so nobody can guess a signature
    # byte by byte
    return hmac.compare_digest(sign_body(secret, int(fields["t"]), text), header)


def _append_to_file(path: Path, body: Mapping[str, Any], key: str, again: bool) -> None:
    record = json.dumps({"key": key, **body}, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if again and path.exists() and _contains_key(path, key):
            return
        # A single write with O_APPEND: lines of two processes never interleave.
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, record.encode("utf-8", "surrogatepass"))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DeliveryError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _contains_key(path: Path, key: str) -> bool:
    # what `_append_to_file` writes at the start of a line
    prefix = f'{{"key": "{key}"'.encode()
    with path.open("rb") as file:
        return any(line.startswith(prefix) for line in file)


def _post_message(address: str, text: str, key: str, secret: str | None) -> None:
    headers = {"Content-Type": "application/json", "Idempotency-Key": key, "User-Agent": "ragstone"}
    if secret is not None:
        headers[SIGNATURE_HEADER] = sign_body(secret, now_micros() // 1_000_000, text)
    request = urllib.request.Request(address, text.encode("utf-8", "replace"), headers)  # noqa: S310
    answer: Future[int] = Future()
    # In a thread, because a socket timeout limits each read but not the whole request.
    threading.Thread(target=_send_request, args=(request, answer), daemon=True).start()
    try:
        status = answer.result(MAX_REQUEST_SECONDS)
    except TimeoutError:
        raise DeliveryError(f"the receiver did not answer within {MAX_REQUEST_SECONDS} s") from None
    if 300 <= status < 400:
        raise DeliveryError(
            f"the receiver answered {status}, a redirection, which is not followed; configure the final address"
        )
    if not 200 <= status < 300:
        raise DeliveryError(f"the receiver answered {status}")


def _send_request(request: urllib.request.Request, answer: Future[int]) -> None:
    try:
        with _build_opener().open(request, timeout=SOCKET_TIMEOUT_SECONDS) as response:
            answer.set_result(response.status)
    except urllib.error.HTTPError as error:
        answer.set_result(error.code)
        error.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        # The address may itself be a secret, so the message names only the kind of error.
        reason = type(getattr(error, "reason", error)).__name__
        answer.set_exception(DeliveryError(f"the receiver cannot be reached ({reason})"))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a signed message goes only to the configured address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _build_opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirects)


def _notify_apprise(address: str, body: Mapping[str, Any]) -> None:
    try:
        import apprise
    except ImportError:
        raise MissingExtra("an apprise channel", "alerts") from None
    notifier = apprise.Apprise()
    if not notifier.add(address):
        raise DeliveryError("apprise does not know this kind of address")
    is_warning = body["state"] in _WARNING_STATES
    kind = apprise.NotifyType.WARNING if is_warning else apprise.NotifyType.SUCCESS
    text = "\n".join([to_one_line(str(body["title"])), *format_details(body)])
    # Declared as text, so that a receiver that shows HTML gets it escaped.
    plain = apprise.NotifyFormat.TEXT
    title = f"ragstone: {body['state']}"
    if not notifier.notify(body=text, title=title, notify_type=kind, body_format=plain):
        raise DeliveryError("apprise could not deliver it")


def _build_section(text: str) -> dict[str, Any]:
    # verbatim: an address inside a logged text does not become a link
    content = {"type": "mrkdwn", "text": _truncate_escaped(text), "verbatim": True}
    return {"type": "section", "text": content}


def _escape_text(text: str) -> str:
    """Logged text in which neither mentions nor links work, in Slack's syntax or Mattermost's."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace("@", "@\u200b").replace("](", "]\u200b(")


def _truncate_escaped(text: str) -> str:
    """The start of an escaped text, never ending within an escape sequence."""
    if len(text) <= MAX_SECTION_CHARS:
        return text
    start = text[: MAX_SECTION_CHARS - 1]
    # `_escape_text` writes &amp; &lt; and &gt; only: a longer tail cannot be a cut escape
    tail = start[start.rfind("&") :] if "&" in start else ""
    if tail and ";" not in tail and len(tail) < len("&amp;"):
        start = start[: -len(tail)]
    return start + "…"
