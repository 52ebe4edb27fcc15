"""The source of the package as syntax trees, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import ragstone

SOURCE = Path(ragstone.__file__).parent


@cache
def parse_sources() -> dict[Path, ast.Module]:
    """Parse every file of the package: its path within the package → its tree."""
    return {
        path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
