"""Ways out for alerts: the log, a file, a signed webhook, Slack and its like, and whatever apprise reaches."""

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
from ragstone.monitor.interactions import micros
from ragstone.monitor.wording import one_line

TIMEOUT = 10
"""Seconds of silence after which a receiver is given up."""
LONGEST = 30
"""Seconds after which it is given up even if it goes on sending a byte now and then."""
MOST_TEXT = 2900
"""Characters of a Slack section, which takes 3,000."""
SIGNATURE = "X-Ragstone-Signature"
log = logging.getLogger("ragstone.monitor")

_GRAVE = ("firing", "no_data", "judge_failing")


class Undelivered(Exception):
    """A message did not arrive; it is tried again."""


def send(channel: Channel, body: Mapping[str, Any], key: str, again: bool) -> None:
    """Send a message; `again` says that an earlier attempt may have arrived."""
    target = channel.target.reveal() if isinstance(channel.target, Secret) else channel.target
    match channel.kind:
        case "log":
            log.log(logging.WARNING if body["state"] in _GRAVE else logging.INFO, "%s", line(body))
        case "file":
            _append(Path(target), body, key, again)
        case "webhook":
            secret = channel.secret.reveal() if channel.secret is not None else None
            _post(target, json.dumps(body, ensure_ascii=False), key, secret)
        case "slack":
            _post(target, json.dumps(slack(body), ensure_ascii=False), key, None)
        case "apprise":
            _apprise(target, body)


def line(body: Mapping[str, Any]) -> str:
    """A message on one line, whatever is in its texts."""
    return f"[{body['state']}] {one_line(str(body['title']))}"


def slack(body: Mapping[str, Any]) -> dict[str, Any]:
    """A message as Slack, Mattermost, Discord (/slack) and others take it: text, and blocks for those that show them."""
    title = one_line(str(body["title"]))
    parts = [_section(f"*{_plain(str(body['state']).upper())}*  {_plain(title)}")]
    details = lines(body)
    if details:
        parts.append(_section("\n".join(_plain(one) for one in details)))
    return {"text": _cut(_plain(line(body))), "blocks": parts}


def lines(body: Mapping[str, Any]) -> list[str]:
    """Examples and advice of a message, each on a line."""
    facts = body.get("facts", {})
    found = [
        f"• {one_line(str(one['id']))}: {one_line(str(one.get('question', '')))}"
        + (f" ({one['value']:.2f})" if isinstance(one.get("value"), float) else "")
        for one in facts.get("examples", ())
    ]
    for one in facts.get("advice", ())[:2]:
        for cause in one["causes"][:2]:
            found.append(f"→ {cause['advice'].get('en', '')}")
    return found


def signature(secret: str, at: int, text: str) -> str:
    """`t=SECONDS,v1=HEX`: HMAC-SHA256 of the time, a full stop and the body, so that an old message cannot be sent again."""
    mark = hmac.new(secret.encode(), f"{at}.{text}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={mark}"


def verified(secret: str, header: str, text: str, now: float, tolerance: float = 300) -> bool:
    """Whether a received body bears a true signature that is not older than `tolerance` seconds."""
    fields = dict(part.partition("=")[::2] for part in header.split(","))
    if not fields.get("t", "").isdigit() or abs(now - int(fields["t"])) > tolerance:
        return False
    return hmac.compare_digest(signature(secret, int(fields["t"]), text), header)


def _append(path: Path, body: Mapping[str, Any], key: str, again: bool) -> None:
    record = json.dumps({"key": key, **body}, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if again and path.exists() and _holds(path, key):
            return
        # One write to an appended file: lines of two processes never mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, record.encode("utf-8", "surrogatepass"))
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as bad:
        raise Undelivered(f"cannot write {str(path)!r}: {bad.strerror or bad}") from None


def _holds(path: Path, key: str) -> bool:
    wanted = f'{{"key": "{key}"'.encode()
    with path.open("rb") as file:
        return any(row.startswith(wanted) for row in file)


def _post(address: str, text: str, key: str, secret: str | None) -> None:
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": key,
        "User-Agent": "ragstone",
    }
    if secret is not None:
        headers[SIGNATURE] = signature(secret, micros() // 1_000_000, text)
    request = urllib.request.Request(address, text.encode("utf-8", "replace"), headers)  # noqa: S310
    answer: Future[int] = Future()
    # A thread of its own: sockets know a longest silence but no longest time.
    threading.Thread(target=_ask, args=(request, answer), daemon=True).start()
    try:
        status = answer.result(LONGEST)
    except TimeoutError:
        raise Undelivered(f"the receiver did not answer within {LONGEST} s") from None
    if 300 <= status < 400:
        raise Undelivered(
            f"the receiver answered {status}, a redirection, which is not followed; configure the final address"
        )
    if not 200 <= status < 300:
        raise Undelivered(f"the receiver answered {status}")


def _ask(request: urllib.request.Request, answer: Future[int]) -> None:
    try:
        with _opener().open(request, timeout=TIMEOUT) as reply:
            answer.set_result(reply.status)
    except urllib.error.HTTPError as bad:
        answer.set_result(bad.code)
        bad.close()
    except (OSError, ValueError, http.client.HTTPException) as bad:
        # the address itself may be a secret and is not repeated
        reason = type(getattr(bad, "reason", bad)).__name__
        answer.set_exception(Undelivered(f"the receiver cannot be reached ({reason})"))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A signed message goes to the address that was configured and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirects)


def _apprise(address: str, body: Mapping[str, Any]) -> None:
    try:
        import apprise
    except ImportError:
        raise MissingExtra("an apprise channel", "alerts") from None
    box = apprise.Apprise()
    if not box.add(address):
        raise Undelivered("apprise does not know this kind of address")
    kind = apprise.NotifyType.WARNING if body["state"] in _GRAVE else apprise.NotifyType.SUCCESS
    text = "\n".join([one_line(str(body["title"])), *lines(body)])
    # Said to be text, so that a receiver that shows HTML gets it escaped.
    plain = apprise.NotifyFormat.TEXT
    title = f"ragstone: {body['state']}"
    if not box.notify(body=text, title=title, notify_type=kind, body_format=plain):
        raise Undelivered("apprise could not deliver it")


def _section(text: str) -> dict[str, Any]:
    # verbatim: an address in a text under test does not become a link
    return {"type": "section", "text": {"type": "mrkdwn", "text": _cut(text), "verbatim": True}}


def _plain(text: str) -> str:
    """Text under test can neither mention anyone nor make a link, in Slack's way of writing or in Mattermost's."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace("@", "@\u200b").replace("](", "]\u200b(")


def _cut(text: str) -> str:
    """The start of an escaped text, never ending within an escape."""
    if len(text) <= MOST_TEXT:
        return text
    start = text[: MOST_TEXT - 1]
    name = start[start.rfind("&") :] if "&" in start else ""
    if name and ";" not in name and len(name) < len("&amp;"):
        start = start[: -len(name)]
    return start + "…"
