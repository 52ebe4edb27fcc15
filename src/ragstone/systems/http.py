"""A system under test behind an HTTP endpoint: the request is a template, the reply is read by dotted paths."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

from ragstone.data.rows import get_path
from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.judges.secrets import is_loopback
from ragstone.locale.messages import compose
from ragstone.systems.protocol import (
    MEASURES,
    SystemFault,
    SystemReply,
    build_placeholders,
)
from ragstone.systems.replies import build_reply, parse_reply
from ragstone.systems.streams import StreamReader, iter_events
from ragstone.systems.templates import fill_template, has_history_placeholder
from ragstone.types import Ranked, Sample

if TYPE_CHECKING:
    import aiohttp

MAX_REPLY_BYTES = 16 << 20
"""Size limit of a reply."""
TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
"""Client errors after which a retry may help; so may one after every 5xx."""
REPLY_PATHS = ("answer", "contexts", "ids", *MEASURES)
"""Options that are a dotted path into the JSON reply (`choices.0.message.content`)."""
StreamKind = Literal["sse", "lines", "text"]
"""Server-sent events, one JSON value per line, or bare text."""
HTTP_OPTIONS = ("method", "body", "headers", "stream", *REPLY_PATHS)
"""Options that say how a request is built and its reply read; factory.py tells them from parameters by name."""
STREAM_TYPES: Mapping[str, StreamKind] = {
    "text/event-stream": "sse", "application/x-ndjson": "lines", "application/jsonl": "lines",
    "application/x-jsonlines": "lines", "application/stream+json": "lines", "text/plain": "text",
}  # fmt: skip
"""Content types of streams."""
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
"""`${NAME}` in a header: the value of an environment variable."""


@dataclass(frozen=True, slots=True)
class StreamedReply:
    """The fields of a reply that came in events, already under the names of REPLY_PATHS."""

    fields: Mapping[str, Any]


class HttpSystem:
    """A system that sends each question to a URL and reads the JSON reply."""

    warmup = 1

    def __init__(
        self,
        url: str,
        *,
        method: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        stream: StreamKind | None = None,
        parameters: Mapping[str, Any] | None = None,
        version: str = "",
        id_from: str | None = None,
        **paths: str | None,
    ) -> None:
        unknown = next((name for name in paths if name not in REPLY_PATHS), None)
        if unknown is not None:
            raise RagstoneError(
                f"an HTTP system has no {unknown!r}{suggest_nearest(unknown, HTTP_OPTIONS)}"
            )
        self._url, self._method = _check_url(url), (method or "POST").upper()
        if body is None and self._method != "GET":
            body = {"question": "{question}"}
        # the template, before secrets are filled in: it is part of the identity, which is stored
        self._body = body
        self._paths = {name: path for name, path in paths.items() if path}
        self._id_from, self._version = id_from, version
        if stream not in (None, "sse", "lines", "text"):
            raise RagstoneError(f"stream is {stream!r}; give sse, lines or text")
        self._stream = stream
        # on this machine, concurrent questions compete for its processors: each latency would
        # include time spent on the others
        self.concurrency = 1 if is_loopback(urlsplit(self._url).hostname or "") else 8
        self._parameters = dict(parameters or {})
        text = json.dumps([url, body])
        _check_placeholders(text, self._parameters)
        self.takes_contexts = "{contexts}" in text
        self.takes_history = has_history_placeholder(text)
        self._headers, self._secrets = _fill_headers(headers or {}, self._url)
        self._header_names = sorted(headers or {})
        self._session: tuple[asyncio.AbstractEventLoop, aiohttp.ClientSession] | None = None
        self.name = f"http:{urlsplit(self._url).netloc.rpartition('@')[2]}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values of the placeholders in url and body besides the question."""
        return self._parameters

    def identity(self) -> Mapping[str, Any]:
        """Identify the system by request and reply paths; header values may be secret and are not part of it."""
        return {
            "http": self._url,
            "method": self._method,
            "body": self._body,
            "headers": self._header_names,
            "paths": self._paths,
            **({"stream": self._stream} if self._stream else {}),
            "id_from": self._id_from,
            "parameters": self._parameters,
            "version": self._version,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """Id and language, if the template sends them."""
        text = json.dumps([self._url, self._body])
        return {
            name: getattr(sample, name) for name in ("id", "language") if "{" + name + "}" in text
        }

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Ask the endpoint."""
        values = build_placeholders(question, sample)
        return await self._ask_endpoint({**values, "contexts": None, "context_ids": None}, sample)

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """Ask the endpoint, sending the contexts along."""
        values = build_placeholders(question, sample)
        values |= {"contexts": contexts.texts, "context_ids": contexts.ids}
        reply = await self._ask_endpoint(values, sample)
        return replace(reply, contexts=contexts)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None and not self._session[1].closed:
            await self._session[1].close()
        self._session = None

    async def _ask_endpoint(self, values: dict[str, Any], sample: Sample | None) -> SystemReply:
        values["id"] = sample.id if sample is not None else ""
        values["language"] = sample.language if sample is not None else None
        values |= self._parameters
        # a question inside the URL is percent-encoded, in the body it is JSON
        quoted = {name: quote(_to_query(value), safe="") for name, value in values.items()}
        url = fill_template(self._url, quoted)
        data = None
        if self._body is not None:
            data = json.dumps(fill_template(self._body, values)).encode()
        reader = StreamReader()
        value = await self._send(url, data, reader)
        seconds = round(reader.seconds, 6)
        # the events of a stream were read by the paths in _map_event already
        is_mapped = isinstance(value, StreamedReply)
        reply = (
            parse_reply(value.fields if is_mapped else value, self._id_from)
            if is_mapped or not self._paths
            else self._read_paths(value)
        )
        return replace(
            reply,
            latency=seconds if reply.latency is None else reply.latency,
            first_token=reader.first_token if reply.first_token is None else reply.first_token,
        )

    def _read_paths(self, reply: Any) -> SystemReply:
        # a reply that is no mapping has no paths; the key only makes it show in the message
        row = reply if isinstance(reply, dict) else {"": reply}
        parts: dict[str, Any] = {}
        for name, path in self._paths.items():
            parts[name] = get_path(row, path) if isinstance(reply, dict) else None
            if parts[name] is None and name in ("answer", "contexts", "ids"):
                found = ", ".join(map(str, row)) or "nothing"
                raise SystemFault("reply_lacks_path", path=path, name=name, found=found)
        measured = {name: parts.get(name) for name in MEASURES}
        return build_reply(
            parts.get("answer"), parts.get("contexts"), parts.get("ids"), measured, self._id_from
        )

    async def _send(self, url: str, data: bytes | None, reader: StreamReader) -> Any:
        import aiohttp

        headers = {"Accept": "application/json, text/event-stream, */*;q=0.5", **self._headers}
        if data is not None:
            headers.setdefault("Content-Type", "application/json")
        try:
            async with self._open_session().request(
                self._method,
                url,
                data=data,
                headers=headers,
                # headers may hold secrets, which must not follow a redirect to another host
                allow_redirects=False,
            ) as response:
                kind = self._stream or STREAM_TYPES.get(response.content_type)
                if kind is not None and response.status < 300:
                    return await self._read_stream(response, kind, reader)
                text = await _read_text(response)
                status, wait = (
                    response.status,
                    _parse_retry_after(response.headers.get("Retry-After")),
                )
        except (aiohttp.ClientError, OSError) as broken:
            message = self._hide_secrets(f"{type(broken).__name__}: {broken}")
            raise SystemFault(message, is_transient=True) from None
        if status >= 300:
            self._raise_status(status, text, wait)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise SystemFault("system_not_json", text=self._hide_secrets(text)[:80]) from None

    async def _read_stream(
        self, response: aiohttp.ClientResponse, kind: StreamKind, reader: StreamReader
    ) -> Any:
        """Read the events of a stream; the reply that they make has the fields of the paths by name."""
        async for event in iter_events(_iter_body(response), kind):
            reader.add(self._map_event(event))
        fields = reader.merge()
        if kind == "text" and self._stream is None:  # some servers label JSON as plain text
            with suppress(ValueError, RecursionError):
                value = json.loads(fields.get("answer", ""))
                if isinstance(value, dict | list):
                    return value
        return StreamedReply(fields)

    def _map_event(self, event: Any) -> Any:
        if not self._paths or not isinstance(event, dict):
            return event
        mapped = {name: get_path(event, path) for name, path in self._paths.items()}
        # an event brings the next piece of the answer, which StreamReader expects as `token`
        mapped["token"] = mapped.pop("answer", None)
        return {name: value for name, value in mapped.items() if value is not None}

    def _raise_status(self, status: int, text: str, wait: float | None) -> None:
        message = " ".join(self._hide_secrets(text).split())[:200]
        if status == 422:
            # FastAPI's status when the fields of the body are not those it expects
            raise SystemFault(
                "http_fields_refused", text=message, body=json.dumps(self._body)[:200]
            )
        raise SystemFault(
            compose("http_status_said", status=status, text=message)
            if message
            else compose("http_status", status=status),
            is_transient=status in TRANSIENT_STATUSES or status >= 500,
            retry_seconds=wait,
        )

    def _hide_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _open_session(self) -> aiohttp.ClientSession:
        """Return the session of the running event loop; a system may be used in several loops."""
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._session[0] is not loop or self._session[1].closed:
            session = aiohttp.ClientSession(
                # no limits here: the runner bounds the questions in flight and the time of each
                connector=aiohttp.TCPConnector(limit=0),
                # no cookies: an answer must not depend on the questions asked before it
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
            )
            self._session = (loop, session)
        return self._session[1]


def _check_url(url: str) -> str:
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


def _to_query(value: Any) -> str:
    """A value inside the URL: lists as JSON, nothing as the empty text."""
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def _check_placeholders(text: str, parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if "{" + name + "}" not in text:
            raise RagstoneError(
                f"the parameter {name!r} stands nowhere in url or body; write {{{name}}} there"
            )
    if "{question}" not in text and "{messages}" not in text:
        raise RagstoneError("neither url nor body holds {question}; say where it goes")


def _fill_headers(headers: Mapping[str, str], url: str) -> tuple[dict[str, str], list[str]]:
    """Replace `${NAME}` in headers from the environment; also returns the secret values, longest first."""
    secrets: list[str] = []

    def insert_value(match: re.Match[str]) -> str:
        value = os.environ.get(match[1], "")
        if not value:
            raise RagstoneError(
                f"a header holds ${{{match[1]}}}, which is not set; export {match[1]}=..."
            )
        secrets.append(value)
        return value

    headers_with_values = {
        name: _VARIABLE.sub(insert_value, str(value)) for name, value in headers.items()
    }
    if secrets and not url.startswith("https:") and not is_loopback(urlsplit(url).hostname or ""):
        raise RagstoneError("the URL is not encrypted; secrets go over https or to this machine")
    # longest first: a secret that contains another is redacted as a whole
    return headers_with_values, sorted(secrets, key=len, reverse=True)


async def _read_text(response: aiohttp.ClientResponse) -> str:
    body = b"".join([part async for part in _iter_body(response)])
    return body.decode("utf-8", "replace")


async def _iter_body(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The parts of a body as they arrive, up to the size limit."""
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise SystemFault("system_reply_too_large", megabytes=MAX_REPLY_BYTES >> 20)
        yield part


def _parse_retry_after(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:  # an HTTP date: the default pause is used instead
        return None
