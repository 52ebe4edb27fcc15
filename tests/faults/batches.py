"""A server with the batch APIs of OpenAI and Anthropic, as their references describe them, on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from faults import honest

Spoil = Callable[[dict[str, Any]], tuple[int, str] | None]
"""Takes the body of a request to the status and message of its failure; status 0 leaves it to expire."""


class BatchServer:
    """Jobs end as soon as `released` is set; requests are answered honestly unless `spoil` says otherwise."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.released.set()
        self.spoil: Spoil = lambda body: None
        self.failure = ""
        """Why every job fails, if it does."""
        self.jobs: dict[str, list[dict[str, Any]]] = {}
        """Job → its requests, as {"custom_id", "body"}."""
        self.files: dict[str, bytes] = {}
        self.single_calls = 0
        self.lookups = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self._reply(*server.post(self.path, self._read(), dict(self.headers)))

            def do_GET(self) -> None:
                self._reply(*server.get(self.path))

            def _read(self) -> bytes:
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))

            def _reply(self, status: int, body: Any) -> None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Tests print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def request_count(self) -> int:
        return sum(map(len, self.jobs.values()))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def post(self, path: str, raw: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        if path == "/v1/files":
            form = message_from_bytes(
                f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + raw
            )
            parts = {
                str(part.get_param("name", header="Content-Disposition")): part.get_payload(decode=True)
                for part in form.get_payload()
            }  # fmt: skip
            if parts.get("purpose") != b"batch":
                return 400, {"error": {"message": "purpose must be batch", "param": "purpose"}}
            name = f"file-{len(self.files)}"
            self.files[name] = parts["file"]
            return 200, {"id": name, "object": "file", "bytes": len(parts["file"]), "created_at": 1,
                         "filename": "x.jsonl", "purpose": "batch", "status": "processed"}  # fmt: skip
        body = json.loads(raw)
        if path == "/v1/batches":
            assert body["endpoint"] == "/v1/chat/completions"
            assert body["completion_window"] == "24h"
            lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
            assert all(
                line["method"] == "POST" and line["url"] == body["endpoint"] for line in lines
            )
            return 200, self._describe_openai(self._add(f"batch_{len(self.jobs)}", lines))
        if path == "/v1/messages/batches":
            lines = [{**row, "body": row["params"]} for row in body["requests"]]
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", line["custom_id"]) for line in lines)
            return 200, self._describe_anthropic(self._add(f"msgbatch_{len(self.jobs)}", lines))
        self.single_calls += 1
        return 404, {"error": {"message": "only jobs here"}}

    def get(self, path: str) -> tuple[int, Any]:
        parts = path.split("/")[2:]
        if parts[0] == "files":
            return 200, self.files[parts[1]]
        self.lookups += 1
        job = parts[2 if parts[0] == "messages" else 1]
        if job not in self.jobs:
            return 404, {"error": {"message": f"no job {job}"}}
        if parts[0] == "batches":
            return 200, self._describe_openai(job)
        if parts[-1] == "results":
            lines = [self._to_anthropic_line(row) for row in self.jobs[job]]
            return 200, b"".join(json.dumps(line).encode() + b"\n" for line in reversed(lines))
        return 200, self._describe_anthropic(job)

    def _add(self, job: str, lines: list[dict[str, Any]]) -> str:
        ids = [line["custom_id"] for line in lines]
        assert len(set(ids)) == len(ids)
        self.jobs[job] = lines
        return job

    def _describe_openai(self, job: str) -> dict[str, Any]:
        status = "completed" if self.released.is_set() else "in_progress"
        state: dict[str, Any] = {
            "id": job, "object": "batch", "endpoint": "/v1/chat/completions", "errors": None,
            "input_file_id": "file-0", "completion_window": "24h", "status": status,
            "output_file_id": None, "error_file_id": None, "created_at": 1,
        }  # fmt: skip
        if self.failure and status == "completed":
            errors = {"object": "list", "data": [{"code": "invalid", "message": self.failure, "line": None, "param": None}]}  # fmt: skip
            return state | {"status": "failed", "errors": errors}
        if status == "completed":
            lines = [self._to_openai_line(row) for row in self.jobs[job]]
            good = [line for line in lines if line["error"] is None and line["response"]["status_code"] == 200]  # fmt: skip
            for name, rows in (("output", good), ("error", [x for x in lines if x not in good])):
                if rows:
                    self.files[f"{job}-{name}"] = "".join(json.dumps(row) + "\n" for row in reversed(rows)).encode()  # fmt: skip
                    state[f"{name}_file_id"] = f"{job}-{name}"
        return state

    def _to_openai_line(self, row: dict[str, Any]) -> dict[str, Any]:
        spoiled = self.spoil(row["body"])
        line = {"id": "x", "custom_id": row["custom_id"], "response": None, "error": None}
        if spoiled is None:
            system, user = (message["content"] for message in row["body"]["messages"])
            message = {"role": "assistant", "content": json.dumps(honest.reply(system, user))}
            body: Any = {
                "id": "c", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
            }  # fmt: skip
            return line | {"response": {"status_code": 200, "request_id": "r", "body": body}}
        status, text = spoiled
        if not status:
            return line | {"error": {"code": "batch_expired", "message": text}}
        body = {"error": {"message": text, "type": "invalid_request_error", "param": None}}
        return line | {"response": {"status_code": status, "request_id": "r", "body": body}}

    def _describe_anthropic(self, job: str) -> dict[str, Any]:
        ended = self.released.is_set()
        count = len(self.jobs[job])
        return {
            "id": job, "type": "message_batch", "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else count, "succeeded": count if ended else 0,
                               "errored": 0, "canceled": 0, "expired": 0},
            "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z", "ended_at": None,
            "archived_at": None, "cancel_initiated_at": None,
            "results_url": f"{self.url}/messages/batches/{job}/results" if ended else None,
        }  # fmt: skip

    def _to_anthropic_line(self, row: dict[str, Any]) -> dict[str, Any]:
        spoiled = self.spoil(row["body"])
        if spoiled is None:
            text = json.dumps(
                honest.reply(row["body"]["system"], row["body"]["messages"][0]["content"])
            )
            message = {
                "id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                "stop_sequence": None, "usage": {"input_tokens": 1000, "output_tokens": 100},
            }  # fmt: skip
            result: dict[str, Any] = {"type": "succeeded", "message": message}
        elif not spoiled[0]:
            result = {"type": "expired"}
        else:
            kind = "invalid_request_error" if spoiled[0] == 400 else "api_error"
            error = {"type": "error", "error": {"type": kind, "message": spoiled[1]}}
            result = {"type": "errored", "error": error}
        return {"custom_id": row["custom_id"], "result": result}


@contextmanager
def serve_batches() -> Iterator[BatchServer]:
    """A server that stops with the block."""
    server = BatchServer()
    try:
        yield server
    finally:
        server.close()
