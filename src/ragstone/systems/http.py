"""A system behind an HTTP endpoint: what is sent is a template, what comes back is found by dotted paths."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ragstone.data.rows import path_in
from ragstone.errors import RagstoneError, nearest
from ragstone.systems.frameworks import filled_in
from ragstone.systems.protocol import SystemFault, SystemReply
from ragstone.systems.reading import assemble, reply_of
from ragstone.types import Ranked, Sample

if TYPE_CHECKING:
    import aiohttp

LARGEST = 16 << 20
"""Bytes of a reply."""
PASSING = frozenset({408, 409, 425, 429})
PATHS = ("answer", "contexts", "ids", "latency", "tokens", "cost")
OPTIONS = ("url", "method", "body", "headers", "parameters", *PATHS)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_OWN = ("question", "contexts", "context_ids", "id", "language")
"""Placeholders besides the parameters."""


class HttpSystem:
    """Sends each question to a URL and reads the JSON that comes back."""

    concurrency = 8

    def __init__(
        self,
        url: str,
        *,
        method: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        version: str = "",
        id_from: str | None = None,
        **paths: str | None,
    ) -> None:
        unknown = next((name for name in paths if name not in PATHS), None)
        if unknown is not None:
            raise RagstoneError(f"an HTTP system has no {unknown!r}{nearest(unknown, OPTIONS)}")
        self._url, self._method = _checked(url), (method or "POST").upper()
        if body is None and self._method != "GET":
            body = {"question": "{question}"}
        self._body = body
        self._paths = {name: path for name, path in paths.items() if path}
        self._id_from, self._version = id_from, version
        self._parameters = dict(parameters or {})
        text = json.dumps([url, body])
        for name in self._parameters:
            if "{" + name + "}" not in text:
                raise RagstoneError(
                    f"the parameter {name!r} stands nowhere in url or body; write {{{name}}} there"
                )
        if "{question}" not in text:
            raise RagstoneError("neither url nor body holds {question}; say where it goes")
        self.takes_contexts = "{contexts}" in text
        self._headers, self._secrets = _headers(headers or {}, self._url)
        self._named = sorted(headers or {})
        self._session: tuple[asyncio.AbstractEventLoop, aiohttp.ClientSession] | None = None
        self.name = f"http:{urlsplit(self._url).netloc.rpartition('@')[2]}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is filled into url and body besides the question."""
        return self._parameters

    def identity(self) -> Mapping[str, Any]:
        """Where and what is sent, and where the answer is found; header values stay out of it."""
        return {
            "http": self._url,
            "method": self._method,
            "body": self._body,
            "headers": self._named,
            "paths": self._paths,
            "id_from": self._id_from,
            "parameters": self._parameters,
            "version": self._version,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """Id and language where the template sends them."""
        text = json.dumps([self._url, self._body])
        return {
            name: getattr(sample, name) for name in ("id", "language") if "{" + name + "}" in text
        }

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """What the endpoint replies to the question."""
        return await self._ask(
            {"question": question, "contexts": None, "context_ids": None}, sample
        )

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """What the endpoint replies when the contexts are sent along."""
        values = {
            "question": question,
            "contexts": contexts.texts,
            "context_ids": contexts.ids,
        }
        reply = await self._ask(values, sample)
        return SystemReply(reply.answer, contexts, reply.latency, reply.tokens, reply.cost)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None and not self._session[1].closed:
            await self._session[1].close()
        self._session = None

    async def _ask(self, values: dict[str, Any], sample: Sample | None) -> SystemReply:
        values["id"] = sample.id if sample is not None else ""
        values["language"] = sample.language if sample is not None else None
        values |= self._parameters
        quoted = {
            name: quote("" if value is None else str(value), safe="")
            for name, value in values.items()
        }
        url = filled_in(self._url, quoted)
        data = None
        if self._body is not None:
            data = json.dumps(filled_in(self._body, values)).encode()
        found = await self._sent(url, data)
        if not self._paths:
            return reply_of(found, self._id_from)
        return self._found(found)

    def _found(self, reply: Any) -> SystemReply:
        row = reply if isinstance(reply, dict) else {"": reply}
        parts: dict[str, Any] = {}
        for name, path in self._paths.items():
            parts[name] = path_in(row, path) if isinstance(reply, dict) else None
            if parts[name] is None and name in ("answer", "contexts", "ids"):
                shown = ", ".join(map(str, row)) or "nothing"
                raise SystemFault(f"the reply has nothing at {path!r} for {name} (found: {shown})")
        measured = {name: parts.get(name) for name in ("latency", "tokens", "cost")}
        return assemble(
            parts.get("answer"), parts.get("contexts"), parts.get("ids"), measured, self._id_from
        )

    async def _sent(self, url: str, data: bytes | None) -> Any:
        import aiohttp

        headers = {**self._headers, "Accept": "application/json"}
        if data is not None:
            headers.setdefault("Content-Type", "application/json")
        try:
            async with self._open().request(
                self._method, url, data=data, headers=headers, allow_redirects=False
            ) as response:
                text = await _text(response)
                status, wait = response.status, _wait(response.headers.get("Retry-After"))
        except (aiohttp.ClientError, OSError) as broken:
            said = self._redacted(f"{type(broken).__name__}: {broken}")
            raise SystemFault(said, passing=True) from None
        if status >= 400 or 300 <= status < 400:
            said = " ".join(self._redacted(text).split())[:200]
            raise SystemFault(
                f"HTTP {status}" + (f": {said}" if said else ""),
                passing=status in PASSING or status >= 500,
                wait=wait,
            )
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise SystemFault(f"the reply is not JSON: {self._redacted(text)[:80]!r}") from None

    def _redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _open(self) -> aiohttp.ClientSession:
        """The session of this event loop; a system may outlive a loop."""
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._session[0] is not loop or self._session[1].closed:
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
            )
            self._session = (loop, session)
        return self._session[1]


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RagstoneError(
            f"{parts.scheme}://{parts.hostname or ''} is not a URL; write https://host/path"
        )
    if parts.username or parts.password:
        raise RagstoneError(
            "the URL holds a user or password; send them in headers as ${NAME} instead"
        )
    return url


def _headers(headers: Mapping[str, str], url: str) -> tuple[dict[str, str], list[str]]:
    """The headers with `${NAME}` from the environment, and what must never be shown."""
    secrets: list[str] = []

    def fill(found: re.Match[str]) -> str:
        value = os.environ.get(found[1], "")
        if not value:
            raise RagstoneError(
                f"a header holds ${{{found[1]}}}, which is not set; export {found[1]}=..."
            )
        secrets.append(value)
        return value

    filled = {name: _VARIABLE.sub(fill, str(value)) for name, value in headers.items()}
    if secrets and not url.startswith("https:") and not _loopback(urlsplit(url).hostname or ""):
        raise RagstoneError("the URL is not encrypted; secrets go over https or to this machine")
    return filled, sorted(secrets, key=len, reverse=True)


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _text(response: aiohttp.ClientResponse) -> str:
    body = bytearray()
    async for part in response.content.iter_chunked(65536):
        body += part
        if len(body) > LARGEST:
            raise SystemFault(f"the reply is larger than {LARGEST >> 20} MB")
    return body.decode("utf-8", "replace")


def _wait(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:  # a date: our own pause will do
        return None
