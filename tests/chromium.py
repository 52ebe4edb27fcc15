"""A real Chromium for tests of pages: what it is asked to run, and a look at contrast."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from waiting import LIMIT_SECONDS

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs chromium-headless-shell or chromium"
)

PAYLOADS = (
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "\"><svg onload=window.hit=1>",
    "'><iframe srcdoc='<script>parent.hit=1</script>'>",
    "</style></title></textarea></script><script>window.hit=1</script>",
    "' onmouseover='window.hit=1' autofocus onfocus='window.hit=1' x='",
    "{{ 7*7 }}{% for x in [1] %}{% endfor %}",
    "<a href=javascript:window.hit=1>x</a><base href=//evil.invalid><link rel=stylesheet href=//evil.invalid>",
    "<meta http-equiv=refresh content='0;url=javascript:window.hit=1'><style>*{display:none}</style>",
    "<!-- ]]> --><details open ontoggle=window.hit=1>\u2028\u2029\x00",
)  # fmt: skip
"""Texts that would run something, or load it, if a page did not take them as text."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, started once for the tests of a file."""
    with playwright.sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield one
        one.close()


class Visit:
    """A page that was opened, with everything it asked for and complained about."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.page = browser.new_context(**options).new_page()
        # a page of a machine ten times as slow; what never comes still ends the test
        self.page.set_default_timeout(1000 * LIMIT_SECONDS)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(address)

    def shown(self) -> int:
        """Samples that can be seen."""
        return int(self.page.locator(".sample:visible").count())


CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.matches("i, script")) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.add(node.outerHTML.slice(0, 120));
  }
  return [...poor];
}"""
