"""Calls over HTTP: retried when that can help, never for longer than the deadline, never larger than the cap."""

from __future__ import annotations

import asyncio
import json
import random
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from ragstone.errors import JudgeFailed
from ragstone.judges.connection_errors import explain_connection_error
from ragstone.judges.limits import Budget, ConcurrencyLimiter
from ragstone.judges.model_judge import Deadline
from ragstone.judges.secrets import BaseUrl, Redactor
from ragstone.types import NOTHING_USED

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

MAX_REPLY_BYTES = 16 * 2**20
"""Bytes of a reply, after decompression."""
MAX_RETRY_AFTER_SECONDS = 120.0
"""Seconds that a server may make us wait with Retry-After."""
RETRIED_STATUSES = frozenset({408, 409, 429})
_written = json.JSONEncoder(ensure_ascii=False).encode
UNREACHABLE_SECONDS = 10.0
"""How long a host that was never reached, all retries spent, is taken to be away for every question."""


class RequestRejected(Exception):
    """HTTP 400 or 422: something in the request is not liked; the message may say what."""

    def __init__(self, status: int, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.parameter = parameter


class MalformedReply(Exception):
    """The server's reply is not of the form its dialect promises."""


class _Passing(Exception):
    """A fault that may be gone next time."""

    def __init__(
        self,
        reason: str,
        wait: float | None = None,
        *,
        crowded: bool = False,
        unreached: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait
        self.crowded = crowded
        self.unreached = unreached
        """Whether no connection came about at all."""


class JsonClient:
    """Posts JSON to one host, with its key, in its lanes, on its budget."""

    def __init__(
        self,
        place: BaseUrl,
        headers: Mapping[str, str],
        redact: Redactor,
        *,
        concurrency: int,
        budget: Budget,
        max_retries: int = 5,
        timeout: float = 120.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.place = place
        self.limiter = ConcurrencyLimiter(concurrency)
        self.budget = budget
        self.redact = redact
        self._headers = {**headers, "Content-Type": "application/json"}
        # replies are small: compression saves nothing and opens the door to bombs
        self._headers["Accept-Encoding"] = "identity"
        self._max_retries = max_retries
        self._timeout = timeout
        self._sleep = sleep
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop that `lanes` serve."""
        self._others: WeakKeyDictionary[asyncio.AbstractEventLoop, ConcurrencyLimiter] = (
            WeakKeyDictionary()
        )
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
        """One for each event loop: a judge may outlive a loop, and serve several in as many threads."""
        self._urls: dict[str, Any] = {}
        self._locked: str | None = None
        """Why the host lets nobody in; set by a first 401 or 403, so that it is not asked in vain."""
        self._welcome = False
        self._gone: tuple[float, str] = (0.0, "")
        """Until when nobody need try to reach the host, and why."""

    async def post(
        self,
        path: str,
        body: Callable[[], Any],
        read: Callable[[Any], T],
        deadline: Deadline,
        estimate: float,
    ) -> T:
        """What `read` makes of the reply. The caller settles the estimate with the budget.

        The body is made when there is a lane: by then others may have learned what the server refuses."""
        async with self._lanes() as lanes:
            data = _written(body()).encode("utf-8", "replace")
            reason = ""
            for attempt in range(1 + self._max_retries):
                self._check_open()
                self._left(deadline, reason)
                await self.budget.admit(estimate)
                started = time.monotonic()
                try:
                    left = self._left(deadline, reason)
                    result = read(await self._once(path, data, min(self._timeout, left)))
                except (_Passing, MalformedReply) as fault:
                    self.budget.settle(estimate, NOTHING_USED)
                    passing = fault if isinstance(fault, _Passing) else _Passing(str(fault))
                    reason = passing.reason
                    if passing.crowded:
                        lanes.decrease(started)
                    if attempt < self._max_retries:
                        await self._pause(attempt, passing, deadline)
                except BaseException:
                    self.budget.settle(estimate, NOTHING_USED)
                    raise
                else:
                    self._welcome = True
                    lanes.increase()
                    return result
        if passing.unreached and not self._welcome:
            self._gone = (time.monotonic() + UNREACHABLE_SECONDS, reason)
            raise JudgeFailed("transport", reason)
        tries = f" ({1 + self._max_retries} tries)" if self._max_retries else ""
        raise JudgeFailed("transport", f"{reason}{tries}")

    async def close(self) -> None:
        """Close the connections of this event loop and of those that have ended."""
        here = asyncio.get_running_loop()
        for loop in [one for one in self._sessions if one is here or one.is_closed()]:
            with suppress(RuntimeError):  # where the loop has ended, so have its connections
                await self._sessions.pop(loop).close()

    def _lanes(self) -> ConcurrencyLimiter:
        """The lanes of this event loop; waiting places cannot be passed from one to another."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                return self._others.setdefault(loop, ConcurrencyLimiter(self.limiter.limit))
            self._loop = loop
        return self.limiter

    def _check_open(self) -> None:
        """Fail at once where others have just found that trying is in vain."""
        if self._locked is not None:
            raise JudgeFailed("transport", self._locked)
        until, reason = self._gone
        if time.monotonic() < until:
            raise JudgeFailed("transport", reason)

    def _left(self, deadline: Deadline, reason: str) -> float:
        left = min(deadline.remaining_seconds(), self.budget.remaining_seconds())
        if left <= 0 and deadline.remaining_seconds() <= 0:
            after = f"; last: {reason}" if reason else ""
            raise JudgeFailed("transport", f"no reply within {deadline.seconds:g} s{after}")
        return left

    async def _pause(self, attempt: int, fault: _Passing, deadline: Deadline) -> None:
        if fault.wait is None:
            wait = random.uniform(0, min(20.0, 0.5 * 2**attempt))  # full jitter
        else:
            wait = min(fault.wait, MAX_RETRY_AFTER_SECONDS) * random.uniform(1.0, 1.05)
        left = min(deadline.remaining_seconds(), self.budget.remaining_seconds())
        if fault.wait is not None and wait > left:
            raise JudgeFailed(
                "transport",
                f"{fault.reason}; the server asks for {fault.wait:g} s of patience, more than the deadline leaves",
            )
        await self._sleep(max(0.0, min(wait, left)))

    async def _once(self, path: str, data: bytes, seconds: float) -> Any:
        import aiohttp

        try:
            async with (
                asyncio.timeout(seconds),
                self._open().post(
                    self._url(path), data=data, headers=self._headers, allow_redirects=False
                ) as response,
            ):
                body = await _body(response)
                status, headers = response.status, response.headers
        except TimeoutError:
            cut = f"within {seconds:g} s" if seconds == self._timeout else "before the deadline"
            raise _Passing(f"no complete reply from {self.place.host} {cut}") from None
        except aiohttp.ClientConnectorCertificateError as broken:
            # waiting does not make a certificate better
            raise JudgeFailed("transport", self._said(broken)) from None
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as broken:
            unreached = isinstance(broken, aiohttp.ClientConnectorError)
            raise _Passing(self._said(broken), unreached=unreached) from None
        if status == 200:
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                raise _Passing("the server's reply is not JSON") from None
        raise self._failure(status, headers, body)

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        message, parameter = _error(body)
        shown = self.redact(" ".join(message.split()))[:200]
        said = f"HTTP {status}" + (f": {shown}" if shown else "")
        if status in RETRIED_STATUSES or status >= 500:
            return _Passing(said, parse_retry_after(headers), crowded=status in (429, 529))
        if status in (400, 422):
            return RequestRejected(status, shown, parameter)
        if status in (401, 403) and not self._welcome:
            self._locked = f"{said}; {self.place.host} refuses the key or the model"
        if status == 404 and not self._welcome:
            said = f"{said}; check base_url, which often ends in /v1, and the model's name"
        return JudgeFailed("transport", self._locked or said)

    def _said(self, broken: Exception) -> str:
        return self.redact(" ".join(explain_connection_error(broken, self.place).split()))[:300]

    def _url(self, path: str) -> Any:
        """The URL of a path, taken apart once and sent as it is written."""
        known = self._urls.get(path)
        if known is None:
            from yarl import URL

            known = self._urls[path] = URL(self.place.join(path), encoded=True)
        return known

    def _open(self) -> aiohttp.ClientSession:
        """The session of this event loop."""
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


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: in milliseconds, in seconds, or until a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _until(text, headers.get("Date"))
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(text: str, server_now: str | None) -> float:
    try:
        then = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return float("inf")
    now = time.time()
    try:
        server = parsedate_to_datetime(server_now).timestamp() if server_now else now
    except (ValueError, TypeError, OverflowError):
        server = now
    if abs(server - now) > _SKEW:  # the server's clock decides what its date means
        now = server
    return max(0.0, then - now)


_SKEW = 5.0


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """The reply, as long as it is not larger than the cap."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise ValueError(f"the reply is larger than {MAX_REPLY_BYTES} bytes")
        parts.append(part)
    data = b"".join(parts)
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding in ("identity", ""):
        return data
    if encoding not in ("gzip", "deflate"):
        raise ValueError(f"the reply is encoded as {encoding[:20]!r}, which was not asked for")
    return _inflated(data)


def _inflated(data: bytes) -> bytes:
    try:
        unpacker = zlib.decompressobj(wbits=47)  # gzip or zlib, by their headers
        plain = unpacker.decompress(data, MAX_REPLY_BYTES + 1)
    except zlib.error as broken:
        raise ValueError(f"the reply cannot be decompressed: {broken}") from None
    if len(plain) > MAX_REPLY_BYTES:
        raise ValueError(f"the reply is larger than {MAX_REPLY_BYTES} bytes once decompressed")
    return plain


def _error(body: bytes) -> tuple[str, str]:
    """The message in an error reply, and the parameter it names."""
    text = body[:20_000].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return str(error), ""
    message = error.get("message") or error.get("detail") or json.dumps(error)
    return str(message), str(error.get("param") or "")
