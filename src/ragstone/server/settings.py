"""Settings of the monitor's server, validated before it listens."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal

from ragstone.errors import RagstoneError
from ragstone.judges.secrets import is_loopback
from ragstone.monitor.ingest.redaction import RedactionHook
from ragstone.monitor.windows.calendars import get_time_zone

MAX_LISTED = 500
"""Interactions in one response at most."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where to listen, who has access, and limits."""

    host: str = "127.0.0.1"
    port: int = 8321
    prefix: str = ""
    """Path under which a reverse proxy serves it: `/ragstone`."""
    token: str | None = None
    """Token that a request must send as `Authorization: Bearer …`; required on any address but loopback."""
    names: tuple[str, ...] = ()
    """Host names that a request may use in its Host header, besides loopback and IP addresses."""
    zone: str = "UTC"
    """Time zone that the page shows times in unless its address names another."""
    home: Literal["monitor", "runs"] = "monitor"
    """Which page `/` shows."""
    ingest: bool = True
    """Whether interactions, feedback and traces are taken; a viewer takes none."""
    editing: bool = False
    """Whether the viewer's pages take labels, tags and notes."""
    allow_run: bool = False
    """Whether the system of a run may be asked again from its page, which runs what its plan names."""
    author: str = ""
    """Who labels unless they say otherwise."""
    redact: RedactionHook | None = None
    """Applied to every text before it is stored."""
    retention: int | None = None
    """Microseconds after which interactions are deleted; None: never."""
    body_bytes: int = 4_000_000
    """Largest request body, decompressed."""
    batch: int = 1000
    """Rows in one request at most."""
    queue_events: int = 4000
    """Rows that may wait for the disk; more are answered with 429."""
    queue_bytes: int = 16_000_000
    """Bytes of requests in progress; more are answered with 429."""
    queue_requests: int = 400
    """Write requests in progress at once; more are answered with 429."""
    connections: int = 1000
    """Connections open at once; fewer where the process may not open that many files."""
    header_seconds: float = 10.0
    """Seconds within which the headers of a connection's first request must arrive."""
    body_seconds: float = 60.0
    """Seconds within which the body of a request must arrive; later it is answered with 408."""
    response_seconds: float = 60.0
    """Seconds within which a client must read a response, or each block of a long one; later the connection is dropped."""
    grace: float = 2.0
    """Seconds that a trace waits for further spans after its root ended."""
    timeout: float = 30.0
    """Seconds without a span after which a trace without a root is complete."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)


def check_settings(settings: ServerSettings) -> ServerSettings:
    """The settings; RagstoneError says what is wrong with them."""
    if settings.prefix and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", settings.prefix):
        raise RagstoneError(
            f"the prefix {settings.prefix!r} is not a path; write /ragstone without a slash at its end"
        )
    if not settings.is_loopback and not settings.token:
        raise RagstoneError(
            f"the address {settings.host!r} can be reached by others; set a token in "
            "RAGSTONE_MONITOR_TOKEN, or listen on 127.0.0.1"
        )
    if settings.token is not None and (
        # visible ASCII only: other characters do not survive every HTTP client's header
        len(settings.token) < 16 or not re.fullmatch(r"[\x21-\x7e]+", settings.token)
    ):
        raise RagstoneError(
            "the token in RAGSTONE_MONITOR_TOKEN is shorter than 16 characters or has odd ones; make one "
            "with `python -c 'import secrets; print(secrets.token_urlsafe())'`"
        )
    get_time_zone(settings.zone)  # raises for an unknown zone
    return settings


def is_address(host: str) -> bool:
    """Whether a host is written as an IP address: unlike a name, it cannot be rebound to this server by an attacker's DNS."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
