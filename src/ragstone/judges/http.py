"""HTTP client for JSON APIs: retries transient faults within a deadline, limits the size of replies, redacts secrets."""

from __future__ import annotations

import asyncio
import json
import random
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from ragstone.asks.json_replies import ReplyFault
from ragstone.errors import JudgeFailed
from ragstone.judges.completion import Deadline
from ragstone.judges.connection_errors import explain_connection_error
from ragstone.judges.limits import Budget, ConcurrencyLimiter
from ragstone.judges.secrets import BaseUrl, Redactor
from ragstone.locale.messages import Message, compose
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

MAX_REPLY_BYTES = 16 * 2**20
"""Largest reply, after decompression."""
MAX_RETRY_AFTER_SECONDS = 120.0
"""Longest wait that a server may ask for with Retry-After."""
MAX_BACKOFF_SECONDS = 20.0
"""Longest wait where the server names none; the question's deadline may cut either."""
RETRIED_STATUSES = frozenset({408, 409, 429})
"""Retried besides all from 500 on."""
UNREACHABLE_SECONDS = 10.0
"""How long a host that was never reached, all retries spent, counts as unreachable for every question."""
_encode_json = json.JSONEncoder(ensure_ascii=False).encode


def _encode_body(body: Any) -> bytes:
    import msgspec  # here, since most commands send nothing

    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half a surrogate pair
        return _encode_json(body).encode("utf-8", "replace")


def _decode_body(body: bytes) -> Any:
    """What `json.loads` reads, several times as fast: vectors are long."""
    import msgspec

    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):  # a byte order mark, NaN, or no JSON at all
        return json.loads(body)


class HttpCall(NamedTuple):
    """One call of an API: what is sent where, and how its reply is read."""

    method: str
    path: str
    build_body: Callable[[], bytes] = bytes
    content_type: str = "application/json"
    decode: Callable[[bytes], Any] = _decode_body
    """Raises ValueError for a body that is to be asked for again."""
    max_bytes: int = MAX_REPLY_BYTES


class RequestRejected(Exception):
    """HTTP 400 or 422: the server rejects something in the request; the message may say what."""

    def __init__(self, status: int, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.parameter = parameter


class ResourceMissing(JudgeFailed):
    """HTTP 404: the server does not know the address, or no longer."""


class MalformedReply(ReplyFault):
    """The server's reply does not have the form its dialect promises."""


class _TransientFault(Exception):
    """A fault that a retry may cure."""

    def __init__(
        self,
        reason: str,
        retry_after: float | None = None,
        *,
        overloaded: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.overloaded = overloaded
        self.unreachable = unreachable
        """Whether no connection was made at all."""


class JsonClient:
    """Calls one host: with its key, within its concurrency limit and budget, retried within a deadline.

    `parse_error` takes the body of an error to its message and the parameter that it names, "" for none."""

    def __init__(
        self,
        base_url: BaseUrl,
        headers: Mapping[str, str],
        redact: Redactor,
        parse_error: Callable[[bytes], tuple[str, str]],
        *,
        concurrency: int,
        budget: Budget,
        max_retries: int = 5,
        timeout: float = 120.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.base_url = base_url
        self.limiter = ConcurrencyLimiter(concurrency)
        self.budget = budget
        self.redact = redact
        self._parse_error = parse_error
        self._headers = dict(headers)
        # replies are small: compression saves nothing and lets in decompression bombs
        self._headers["Accept-Encoding"] = "identity"
        self._max_retries = max_retries
        self._timeout = timeout
        self._sleep = sleep
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop that `limiter` serves."""
        self._other_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, ConcurrencyLimiter] = (
            WeakKeyDictionary()
        )
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
        """One for each event loop: a judge may outlive a loop, and serve several in as many threads."""
        self._urls: dict[str, Any] = {}
        self._denied: str | None = None
        """Why the host denies access; set by a first 401 or 403, so that it is not asked in vain."""
        self._has_succeeded = False
        self._unreachable: tuple[float, str] = (0.0, "")
        """Until when (monotonic clock) the host counts as unreachable, and why."""

    async def post(
        self,
        path: str,
        build_body: Callable[[], Any],
        parse: Callable[[Any], T],
        deadline: Deadline,
        estimate: float,
    ) -> T:
        """Post JSON; see `send`."""
        call = HttpCall("POST", path, lambda: _encode_body(build_body()))
        return await self.send(call, parse, deadline, estimate)

    async def send(
        self, call: HttpCall, parse: Callable[[Any], T], deadline: Deadline, estimate: float = 0.0
    ) -> T:
        """Return what `parse` makes of the reply; it raises MalformedReply for one to be asked for again. The caller settles the estimate (USD) with the budget.

        The body is built once there is a free slot: by then other calls may have learned what the server rejects."""
        async with self._find_limiter() as limiter:
            data = call.build_body()
            reason = ""
            for attempt in range(1 + self._max_retries):
                self._check_available()
                self._remaining(deadline, reason)  # raises when there is no time left
                await self.budget.admit(estimate)
                started = time.monotonic()
                try:
                    # again, since the budget may have made this call wait
                    seconds = min(self._timeout, self._remaining(deadline, reason))
                    result = parse(await self._send_once(call, data, seconds))
                except (_TransientFault, MalformedReply) as raised:
                    self.budget.settle(estimate, NO_USAGE)
                    fault = (
                        raised
                        if isinstance(raised, _TransientFault)
                        else _TransientFault(raised.reason)
                    )
                    reason = fault.reason
                    if fault.overloaded:
                        limiter.decrease(started)
                    if attempt < self._max_retries:
                        await self._back_off(attempt, fault, deadline)
                except BaseException:
                    self.budget.settle(estimate, NO_USAGE)
                    raise
                else:
                    self._has_succeeded = True
                    limiter.increase()
                    return result
        # every attempt failed, the last one with `fault`
        if fault.unreachable and not self._has_succeeded:
            self._unreachable = (time.monotonic() + UNREACHABLE_SECONDS, reason)
            raise JudgeFailed("transport", reason)
        if self._max_retries:
            raise JudgeFailed("transport", "after_tries", problem=reason, n=1 + self._max_retries)
        raise JudgeFailed("transport", reason)

    async def close(self) -> None:
        """Close the connections of this event loop and of those that have ended."""
        current = asyncio.get_running_loop()
        for loop in [loop for loop in self._sessions if loop is current or loop.is_closed()]:
            with suppress(RuntimeError):  # the connections of an ended loop are closed already
                await self._sessions.pop(loop).close()

    def _find_limiter(self) -> ConcurrencyLimiter:
        """Return the limiter of this event loop; futures cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                return self._other_limiters.setdefault(loop, ConcurrencyLimiter(self.limiter.limit))
            self._loop = loop
        return self.limiter

    def _check_available(self) -> None:
        """Fail at once where another call has just learned that trying is in vain."""
        if self._denied is not None:
            raise JudgeFailed("transport", self._denied)
        until, reason = self._unreachable
        if time.monotonic() < until:
            raise JudgeFailed("transport", reason)

    def _remaining(self, deadline: Deadline, reason: str) -> float:
        """Return the seconds left for the question and the run; raises when the question has none."""
        seconds = min(deadline.remaining_seconds(), self.budget.remaining_seconds())
        if seconds <= 0 and deadline.remaining_seconds() <= 0:
            if not reason:
                raise JudgeFailed("transport", "no_reply_within", seconds=deadline.seconds)
            raise JudgeFailed(
                "transport", "no_reply_within_last", seconds=deadline.seconds, problem=reason
            )
        return seconds

    async def _back_off(self, attempt: int, fault: _TransientFault, deadline: Deadline) -> None:
        if fault.retry_after is None:
            wait = random.uniform(0, min(MAX_BACKOFF_SECONDS, 0.5 * 2**attempt))  # full jitter
        else:
            wait = min(fault.retry_after, MAX_RETRY_AFTER_SECONDS) * random.uniform(1.0, 1.05)
        remaining = min(deadline.remaining_seconds(), self.budget.remaining_seconds())
        if fault.retry_after is not None and wait > remaining:
            raise JudgeFailed(
                "transport", "wait_too_long", problem=fault.reason, seconds=fault.retry_after
            )
        await self._sleep(max(0.0, min(wait, remaining)))

    async def _send_once(self, call: HttpCall, data: bytes, seconds: float) -> Any:
        import aiohttp

        headers: Mapping[str, str] = {**self._headers, "Content-Type": call.content_type}
        try:
            async with (
                asyncio.timeout(seconds),
                self._open_session().request(
                    call.method,
                    self._url(call.path),
                    data=data,
                    headers=headers,
                    allow_redirects=False,
                ) as response,
            ):
                body = await _read_body(response, call.max_bytes)
                status, headers = response.status, response.headers
        except TimeoutError:
            host = self.base_url.host
            raise _TransientFault(
                compose("incomplete_within", host=host, seconds=seconds)
                if seconds == self._timeout
                else compose("incomplete_before_deadline", host=host)
            ) from None
        except aiohttp.ClientConnectorCertificateError as error:
            # no retry: waiting does not make a certificate better
            raise JudgeFailed("transport", self._explain(error)) from None
        except ReplyFault as fault:
            raise _TransientFault(fault.reason) from None
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
            unreachable = isinstance(error, aiohttp.ClientConnectorError)
            raise _TransientFault(self._explain(error), unreachable=unreachable) from None
        if status == 200:
            try:
                return call.decode(body)
            except (ValueError, RecursionError):
                raise _TransientFault(compose("server_not_json")) from None
        raise self._to_exception(status, headers, body)

    def _to_exception(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        message, parameter = self._parse_error(body)
        public = self.redact(" ".join(message.split()))[:200]
        reason = describe_status(status, public)
        if status in RETRIED_STATUSES or status >= 500:
            overloaded = status in (429, 529)
            return _TransientFault(reason, parse_retry_after(headers), overloaded=overloaded)
        if status in (400, 422):
            return RequestRejected(status, public, parameter)
        if status in (401, 403) and not self._has_succeeded:
            self._denied = compose("key_refused", problem=reason, host=self.base_url.host)
        if status == 404:
            known = self._has_succeeded
            reason = reason if known else compose("address_unknown", problem=reason)
            return ResourceMissing("transport", reason)
        return JudgeFailed("transport", self._denied or reason)

    def _explain(self, error: Exception) -> str:
        return explain_connection_error(
            error, self.base_url, lambda text: self.redact(" ".join(text.split()))[:200]
        )

    def _url(self, path: str) -> Any:
        """Return the URL of a path, parsed once and sent exactly as written."""
        url = self._urls.get(path)
        if url is None:
            from yarl import URL

            url = self._urls[path] = URL(self.base_url.join(path), encoded=True)
        return url

    def _open_session(self) -> aiohttp.ClientSession:
        """Return the session of this event loop."""
        import aiohttp

        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None or session.closed:
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
            )
        return session


def describe_status(status: int, text: str) -> Message:
    """Return an HTTP status with what the server says of it, if anything."""
    if not text:
        return compose("http_status", status=status)
    return compose("http_status_said", status=status, text=text)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, given in milliseconds, in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _seconds_until(text, headers.get("Date"))
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _seconds_until(date: str, server_date: str | None) -> float:
    try:
        then = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return float("inf")
    now = time.time()
    try:
        server_now = parsedate_to_datetime(server_date).timestamp() if server_date else now
    except (ValueError, TypeError, OverflowError):
        server_now = now
    if abs(server_now - now) > MAX_CLOCK_SKEW_SECONDS:  # the date is meant by the server's clock
        now = server_now
    return max(0.0, then - now)


MAX_CLOCK_SKEW_SECONDS = 5.0


async def _read_body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """Read the body; raises ReplyFault when it is larger than `max_bytes`."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > max_bytes:
            raise ReplyFault("reply_too_large", bytes=max_bytes)
        parts.append(part)
    data = b"".join(parts)
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding in ("identity", ""):
        return data
    if encoding not in ("gzip", "deflate"):
        raise ReplyFault("reply_encoded", encoding=encoding[:20])
    return _decompress(data)


def _decompress(data: bytes) -> bytes:
    try:
        decompressor = zlib.decompressobj(wbits=47)  # gzip or zlib, by their headers
        plain = decompressor.decompress(data, MAX_REPLY_BYTES + 1)
    except zlib.error as error:
        raise ReplyFault("reply_not_unpacked", error=str(error)) from None
    if len(plain) > MAX_REPLY_BYTES:
        raise ReplyFault("reply_too_large_unpacked", bytes=MAX_REPLY_BYTES)
    return plain
