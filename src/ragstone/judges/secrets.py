"""Keys: read from the environment, bound to their host, struck out of everything that comes back."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from ragstone.errors import RagstoneError

KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "api.openai.com": ("OPENAI_API_KEY",),
    "api.anthropic.com": ("ANTHROPIC_API_KEY",),
    "generativelanguage.googleapis.com": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter.ai": ("OPENROUTER_API_KEY",),
    "api.mistral.ai": ("MISTRAL_API_KEY",),
    "api.deepseek.com": ("DEEPSEEK_API_KEY",),
    "api.groq.com": ("GROQ_API_KEY",),
    "api.together.xyz": ("TOGETHER_API_KEY",),
    "api.x.ai": ("XAI_API_KEY",),
}
"""Whose key lies in which environment variable; it is sent to no other host."""


class MissingKey(RagstoneError):
    """The judge's host wants a key and none was found."""


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """Where a judge lives; what is secret in its URL is kept apart."""

    url: str
    """Scheme, host and path, to which dialects add theirs; safe to show."""
    query: str = field(default="", repr=False)
    """The rest of the URL as given, sent with each call; may hold a secret."""
    credentials: str = field(default="", repr=False)
    """`user:password` of the URL, sent as basic authorization."""

    @property
    def host(self) -> str:
        """Host name, without port."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_secure(self) -> bool:
        """Whether a key may travel there: encrypted, or not leaving this machine."""
        return self.url.startswith("https://") or is_loopback(self.host)

    def join(self, path: str) -> str:
        """The full URL of a call."""
        return f"{self.url}{path}" + (f"?{self.query}" if self.query else "")


def parse_base_url(url: str) -> BaseUrl:
    """A base URL taken apart."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = urlunsplit((parts.scheme, parts.hostname or "", parts.path, "", ""))
        raise RagstoneError(f"base_url {shown!r} is not a URL; write https://host/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    login = unquote(f"{parts.username or ''}:{parts.password or ''}") if parts.username else ""
    bare = urlunsplit((parts.scheme, host + port, parts.path.rstrip("/"), "", ""))
    return BaseUrl(bare, parts.query, login)


def find_key(place: BaseUrl, given: str | None, named: str | None) -> str | None:
    """The key for a host: given by the config, in the variable the config names, or in the host's own."""
    if given or named:
        key = given or os.environ.get(str(named), "")
        if not key:
            raise MissingKey(f"key_env names {named!r}, which is not set; export {named}=...")
    else:
        variables = KEY_VARIABLES.get(place.host, ())
        key = next((os.environ[name] for name in variables if os.environ.get(name)), "")
        if variables and not key:
            raise MissingKey(f"{place.host} wants a key; export {variables[0]}=...")
    if not key:
        return None
    if not place.is_secure:
        raise MissingKey(
            f"{place.url!r} is not encrypted; a key is sent over https or to this machine"
        )
    return key.strip()


def format_basic_auth(login: str) -> str:
    """The header value for `user:password`."""
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Redactor:
    """Strikes secrets out of texts, in the spellings in which servers echo them."""

    def __init__(self, *secrets: str) -> None:
        spellings: set[str] = set()
        for secret in secrets:
            for one in {secret, *re.split(r"[:&=?\s]", secret)}:
                if len(one) >= _SHORTEST:
                    encoded = base64.b64encode(one.encode()).decode().rstrip("=")
                    spellings |= {one, quote(one, safe=""), encoded}
        ordered = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        """The text with `***` for each secret, and for anything else that looks like a key."""
        clean = self._pattern.sub("***", text) if self._pattern else text
        return _LIKE_A_KEY.sub("***", clean)


_SHORTEST = 6
"""Shorter parts of a URL are words, not secrets, and striking them out would garble every message."""
_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key)-[\w-]{8,}|\bAIza[\w-]{10,}|(?i:bearer) [\w.-]{8,}"
)
