"""The built site, looked at by axe in a real Chromium: no violation, in both languages, light and dark."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chromium import browser as browser
from chromium import needs_chromium

ROOT = Path(__file__).parents[1]


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Both sites, built and served on loopback."""
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    for config, target in (("mkdocs.yml", folder), ("mkdocs.es.yml", folder / "es")):
        command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", config, "-d", str(target)]
        env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@needs_chromium
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(site: tuple[Path, str], browser: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python")
    (script,) = Path(axe.__file__).parent.rglob("axe.min.js")
    folder, address = site
    page = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
    violations: dict[str, str] = {}
    pages = sorted(path.relative_to(folder) for path in folder.rglob("*.html"))
    assert pages
    for path in pages:
        page.goto(f"{address}/{path}")
        page.evaluate(script.read_text(encoding="utf-8"))
        for found in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]:
            node = found["nodes"][0]
            violations.setdefault(found["id"], f"{path}: {node['html']} {node['failureSummary']}")
    assert not violations
