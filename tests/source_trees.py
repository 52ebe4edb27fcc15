"""The source of the package as syntax trees, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

import ragstone

SOURCE = Path(ragstone.__file__).parent


@cache
def parse_sources() -> dict[Path, ast.Module]:
    """Parse every file of the package: its path within the package → its tree."""
    trees = {
        path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    gc.freeze()  # a million nodes, which every collection of the later tests would look through
    return trees


@cache
def list_nodes() -> dict[Path, list[ast.AST]]:
    """Every node of every file, in the order of `ast.walk`."""
    return {path: list(ast.walk(tree)) for path, tree in parse_sources().items()}
