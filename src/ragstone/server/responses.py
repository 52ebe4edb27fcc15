"""JSON responses, and errors that say what was wrong and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web


def build_json_response(value: Any, status: int = 200) -> web.Response:
    """A JSON response."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # logged texts may hold lone surrogates, which are no UTF-8
    body = text.encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


def build_error_response(
    status: int,
    why: str,
    *,
    rows: Sequence[tuple[int, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error as JSON: one sentence and, for bad rows, which and why."""
    body: dict[str, Any] = {"error": why}
    if rows:
        body["rows"] = [{"row": row, "why": reason} for row, reason in rows]
    response = build_json_response(body, status)
    response.headers.update(headers or {})
    return response


class RequestError(Exception):
    """A request that is answered with an error; `counter` is the counter to increment, None: no counter."""

    def __init__(
        self,
        status: int,
        why: str,
        counter: str | None = None,
        *,
        rows: Sequence[tuple[int, str]] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.counter = counter
        self.rows = rows
        self.retry_after = retry_after

    def to_response(self) -> web.Response:
        """The HTTP response."""
        wait = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return build_error_response(self.status, self.why, rows=self.rows, headers=wait)
