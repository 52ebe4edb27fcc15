"""A proxy on loopback that counts what is sent to a language model server and what the server had to evaluate."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TIMEOUT_SECONDS = 3_600


class TokenMeter(ThreadingHTTPServer):
    """Passes requests on and adds up their usage. `evaluated` leaves out what llama.cpp took from its prompt cache."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Relay)
        self.target = target.rstrip("/").removesuffix("/v1")
        self._counts = {"calls": 0, "sent": 0, "evaluated": 0, "written": 0}
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Base URL to talk to."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def read(self) -> dict[str, int]:
        """Counts so far."""
        with self._lock:
            return dict(self._counts)

    def add(self, reply: Any) -> None:
        """Count one completion."""
        usage = reply.get("usage") or {}
        sent = int(usage.get("prompt_tokens") or 0)
        cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
        evaluated = (reply.get("timings") or {}).get("prompt_n", sent - cached)
        with self._lock:
            self._counts["calls"] += 1
            self._counts["sent"] += sent
            self._counts["evaluated"] += int(evaluated)
            self._counts["written"] += int(usage.get("completion_tokens") or 0)

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        super().__exit__(*exc)


class _Relay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TokenMeter

    def log_message(self, *args: Any) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = urllib.request.Request(
            self.server.target + self.path, body, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                status, data = response.status, response.read()
            self.server.add(json.loads(data))
        except urllib.error.HTTPError as error:
            status, data = error.code, error.read()
        except OSError as error:  # nobody answers there
            status, data = 502, json.dumps({"error": str(error)}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
