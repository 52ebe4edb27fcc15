"""JSON replies, and refusals that say what was wrong and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web


def reply(value: Any, status: int = 200) -> web.Response:
    """A JSON document."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text.encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


def refuse(
    status: int,
    why: str,
    *,
    rows: Sequence[tuple[int, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error as JSON: one sentence and, for rows, which and why."""
    body: dict[str, Any] = {"error": why}
    if rows:
        body["rows"] = [{"row": row, "why": reason} for row, reason in rows]
    answer = reply(body, status)
    answer.headers.update(headers or {})
    return answer


class Refused(Exception):
    """A request that is answered with an error; `counted` is the counter that notes it."""

    def __init__(
        self,
        status: int,
        why: str,
        counted: str,
        *,
        rows: Sequence[tuple[int, str]] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.counted = counted
        self.rows = rows
        self.retry_after = retry_after

    def response(self) -> web.Response:
        """As it is answered."""
        wait = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return refuse(self.status, self.why, rows=self.rows, headers=wait)
