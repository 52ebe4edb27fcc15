"""API keys: found in the environment, sent to their own host only, redacted from everything a server sends back."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from ragstone.errors import RagstoneError


class MissingKey(RagstoneError):
    """The judge's host requires a key and none was found, or the key may not be sent there."""


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """The base URL of an API, with its secret parts separated."""

    url: str
    """Scheme, host and path, to which a dialect appends its own; safe to show."""
    query: str = field(default="", repr=False)
    """Query string, sent with each call; may hold a secret."""
    credentials: str = field(default="", repr=False)
    """`user:password` of the URL, sent as basic authentication."""

    @property
    def host(self) -> str:
        """Host name without port."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_secure(self) -> bool:
        """Whether a key may be sent there: encrypted, or on this machine."""
        return self.url.startswith("https://") or is_loopback(self.host)

    def hash_hidden(self) -> str:
        """Return a short hash of query and credentials, which may lead to another model; empty without any."""
        if not self.query and not self.credentials:
            return ""
        text = f"{self.url}?{self.query} {self.credentials}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def join(self, path: str) -> str:
        """Return the full URL of a call."""
        return f"{self.url}{path}" + (f"?{self.query}" if self.query else "")


def parse_base_url(url: str) -> BaseUrl:
    """Split a base URL into what can be shown and what is secret."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = urlunsplit((parts.scheme, parts.hostname or "", parts.path, "", ""))
        raise RagstoneError(f"base_url {shown!r} is not a URL; write https://host/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    login = unquote(f"{parts.username or ''}:{parts.password or ''}") if parts.username else ""
    bare = urlunsplit((parts.scheme, host + port, parts.path.rstrip("/"), "", ""))
    return BaseUrl(bare, parts.query, login)


def find_key(
    base_url: BaseUrl, given: str | None, key_env: str | None, variables: Sequence[str]
) -> str | None:
    """Return the key for a host: from the config, from the variable the config names, or from the host's own variables."""
    if given or key_env:
        key = given or os.environ.get(str(key_env), "")
        if not key:
            raise MissingKey(f"key_env names {key_env!r}, which is not set; export {key_env}=...")
    else:
        key = next((os.environ[name] for name in variables if os.environ.get(name)), "")
        if variables and not key:
            raise MissingKey(f"{base_url.host} wants a key; export {variables[0]}=...")
    if not key:
        return None
    if not base_url.is_secure:
        raise MissingKey(
            f"{base_url.url!r} is not encrypted; a key is sent over https or to this machine"
        )
    return key.strip()


def format_basic_auth(credentials: str) -> str:
    """Return the Authorization header for `user:password`."""
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"


def is_loopback(host: str) -> bool:
    """Return whether a host name or address, as URLs write it, means this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Redactor:
    """Replaces secrets in texts, in the encodings in which servers echo them."""

    def __init__(self, *secrets: str) -> None:
        spellings: set[str] = set()
        for secret in secrets:
            for part in {secret, *re.split(r"[:&=?\s]", secret)}:
                if len(part) >= _MIN_SECRET_CHARS:
                    encoded = base64.b64encode(part.encode()).decode().rstrip("=")
                    spellings |= {part, quote(part, safe=""), encoded}
        ordered = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        """Return the text with `***` for each secret and for anything else that looks like a key."""
        clean = self._pattern.sub("***", text) if self._pattern else text
        return _LIKE_A_KEY.sub("***", clean)


_MIN_SECRET_CHARS = 6
"""Shorter parts of a URL are words, not secrets; replacing them would garble every message."""
_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key)-[\w-]{8,}|\bAIza[\w-]{10,}|(?i:bearer) [\w.-]{8,}"
)
