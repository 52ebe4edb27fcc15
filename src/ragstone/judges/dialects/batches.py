"""Batch APIs: many requests sent as one job, which the provider answers within a day at half the price."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from secrets import token_hex
from typing import Any, Literal, NamedTuple

from ragstone.errors import JudgeFailed
from ragstone.judges.completion import Deadline
from ragstone.judges.dialects.dialect import Dialect, as_object
from ragstone.judges.http import HttpCall, JsonClient

CALL_SECONDS = 600.0
"""Time limit of one call, retries included: files are large."""
MAX_RESULT_BYTES = 256 * 2**20

JobStatus = Literal["waiting", "ended", "failed", "cancelled"]
"""`ended`: there are results, though perhaps not for every request, as for `cancelled`; `failed`: there are none."""


class JobState(NamedTuple):
    """What the provider says of a job."""

    status: JobStatus
    message: str = ""
    """Why it failed."""
    files: tuple[str, ...] = ()
    """Ids of the files with the results, where results are files."""


class JobResult(NamedTuple):
    """What became of one request of a job: a reply, or the status and message of its failure."""

    reply: Any = None
    status: int = 200
    """HTTP status of the request; 0 when it was never tried."""
    message: str = ""
    parameter: str = ""
    """The parameter that the failure names, if any."""


class BatchApi(ABC):
    """The batch API of one dialect."""

    price_factor = 0.5
    """Price of a request in a job, as a share of the price of the same request alone."""

    def __init__(self, dialect: Dialect, client: JsonClient) -> None:
        self.dialect = dialect
        self.client = client

    @abstractmethod
    async def submit(self, bodies: Mapping[str, Any]) -> str:
        """Send the bodies of requests by their keys as one job; returns its id."""

    @abstractmethod
    async def look_up(self, job: str) -> JobState:
        """Return the state of a job."""

    @abstractmethod
    async def fetch(self, job: str, state: JobState) -> dict[str, JobResult]:
        """Return the results of an ended job by key; requests without a result are missing."""

    async def _send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")  # fmt: skip
        return await self._call(HttpCall(method, path, lambda: data))

    async def _call(self, call: HttpCall) -> dict[str, Any]:
        return await self.client.send(call, as_object, Deadline(CALL_SECONDS))

    async def _download(self, path: str) -> list[Any]:
        call = HttpCall("GET", path, decode=_decode_lines, max_bytes=MAX_RESULT_BYTES)
        return await self.client.send(call, list, Deadline(CALL_SECONDS))


class OpenAIBatches(BatchApi):
    """OpenAI's: a file of requests is uploaded, then a job is made of it; results and errors are files too."""

    async def submit(self, bodies: Mapping[str, Any]) -> str:
        lines = [
            {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
            for key, body in bodies.items()
        ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        boundary = token_hex(16)
        form = _build_form(boundary, {"purpose": "batch"}, text.encode("utf-8", "replace"))
        upload = HttpCall(
            "POST", "/files", lambda: form, f"multipart/form-data; boundary={boundary}"
        )
        file = _read_id(await self._call(upload))
        job = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
        return _read_id(await self._send("POST", "/batches", job))

    async def look_up(self, job: str) -> JobState:
        reply = await self._send("GET", f"/batches/{job}")
        names = ("output_file_id", "error_file_id")
        files = tuple(_check_id(reply[name]) for name in names if reply.get(name))
        status = str(reply.get("status"))
        errors = as_object(reply.get("errors")).get("data") or []
        message = "; ".join(str(as_object(row).get("message") or row) for row in errors[:3])
        return JobState(_OPENAI_STATUSES.get(status, "waiting"), message, files)

    async def fetch(self, job: str, state: JobState) -> dict[str, JobResult]:
        results: dict[str, JobResult] = {}
        for file in state.files:
            for line in await self._download(f"/files/{file}/content"):
                results[str(line.get("custom_id"))] = self._read_line(line)
        return results

    def _read_line(self, line: Mapping[str, Any]) -> JobResult:
        response, error = as_object(line.get("response")), as_object(line.get("error"))
        status = response.get("status_code")
        if status == 200:
            return JobResult(response.get("body"))
        if isinstance(status, int):
            body = json.dumps(response.get("body")).encode()
            return JobResult(None, status, *self.dialect.parse_error(body))
        return JobResult(None, 0, str(error.get("message") or error.get("code") or ""))


class AnthropicBatches(BatchApi):
    """Anthropic's message batches: one call sends all requests, one streams all results."""

    async def submit(self, bodies: Mapping[str, Any]) -> str:
        requests = [{"custom_id": key, "params": body} for key, body in bodies.items()]
        return _read_id(await self._send("POST", "/messages/batches", {"requests": requests}))

    async def look_up(self, job: str) -> JobState:
        reply = await self._send("GET", f"/messages/batches/{job}")
        return JobState("ended" if reply.get("processing_status") == "ended" else "waiting")

    async def fetch(self, job: str, state: JobState) -> dict[str, JobResult]:
        # not the `results_url` of the reply: the key goes to no address that a server names
        lines = await self._download(f"/messages/batches/{job}/results")
        return {str(line.get("custom_id")): self._read_line(line) for line in lines}

    def _read_line(self, line: Mapping[str, Any]) -> JobResult:
        result = as_object(line.get("result"))
        kind = str(result.get("type"))
        if kind == "succeeded":
            return JobResult(result.get("message"))
        if kind == "errored":
            error = as_object(result.get("error"))
            error = as_object(error.get("error")) or error
            status = _ANTHROPIC_STATUSES.get(str(error.get("type")), 500)
            return JobResult(None, status, str(error.get("message") or error.get("type")))
        return JobResult(None, 0, kind)


BATCH_APIS: dict[str, type[BatchApi]] = {"openai": OpenAIBatches, "anthropic": AnthropicBatches}
"""Batch APIs by dialect."""

ENDPOINT = "/v1/chat/completions"
"""As OpenAI's API names it, whatever the base URL."""
_OPENAI_STATUSES: dict[str, JobStatus] = {
    "completed": "ended",
    "expired": "ended",  # with the results that it had until then
    "failed": "failed",
    "cancelled": "cancelled",
}
_ANTHROPIC_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}
_ID = re.compile(r"[\w.-]{1,200}", re.ASCII)


def _read_id(reply: Mapping[str, Any]) -> str:
    return _check_id(reply.get("id"))


def _check_id(value: Any) -> str:
    """An id becomes part of a path: nothing else may."""
    if not isinstance(value, str) or not _ID.fullmatch(value) or value.startswith("."):
        raise JudgeFailed("unparseable", "server_without_part", name="id")
    return value


def _build_form(boundary: str, fields: Mapping[str, str], file: bytes) -> bytes:
    """A form with the file, as multipart/form-data."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="ragstone.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    return "".join([*parts, head]).encode() + file + f"\r\n--{boundary}--\r\n".encode()


def _decode_lines(body: bytes) -> list[Any]:
    return [as_object(json.loads(line)) for line in body.splitlines() if line.strip()]
