"""The promises: one file each in tests/promises, and a table of them after a run."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parent.parent
FOLDER = REPOSITORY / "tests" / "promises"


@dataclass(frozen=True)
class Promise:
    """A promise as its test file states it."""

    number: str
    file: str
    sentence: str
    tried: str


def list_promises() -> list[Promise]:
    """Read the promises from the docstrings of their files."""
    promises = []
    for path in sorted(FOLDER.glob("test_[0-9][0-9]_*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sentence, _, tried = text.partition("\n\n")
        promises.append(Promise(path.name[5:7], path.name, sentence, " ".join(tried.split())))
    return promises


def drop_copies(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run a test that a promise uses there alone, when its own file is collected too."""
    used = {_locate(item) for item in items if _is_promised(item.nodeid)}
    copies = [item for item in items if not _is_promised(item.nodeid) and _locate(item) in used]
    if copies:
        dropped = set(map(id, copies))
        items[:] = [item for item in items if id(item) not in dropped]
        config.hook.pytest_deselected(items=copies)


def _is_promised(nodeid: str) -> bool:
    return "promises/test_" in nodeid


def _locate(item: pytest.Item) -> object:
    """Where a test stands in the source, which an import into another file does not change."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    return item.nodeid if code is None else (code.co_filename, code.co_firstlineno)


def write_table(reporter: Any) -> None:
    """Print what each promise was put to, when more than one was."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in reporter.stats.get(outcome, ()):
            if _is_promised(getattr(report, "nodeid", "")):
                file = report.nodeid.partition("::")[0].rpartition("/")[2]
                counts.setdefault(file, Counter())[outcome] += 1
    if len(counts) < 2:
        return
    reporter.section("promises")
    for promise in list_promises():
        count = counts.get(promise.file, Counter())
        broken = count["failed"] + count["error"]
        state = "BROKEN" if broken else "held" if count["passed"] else "not run"
        skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
        checks = f"{count['passed'] + broken} checks{skipped}"
        reporter.write_line(f"{promise.number}  {state:8} {checks:24} {promise.sentence}")
