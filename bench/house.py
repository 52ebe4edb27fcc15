"""How the source reads, in figures: names, complexity, size, imports, comments.

    python -m bench.house            this tree
    python -m bench.house OTHER/src  another one, to compare

Functions named by a past participle, variables that name nothing, functions of high cyclomatic complexity (counted
as radon does), class names with two meanings, imports inside functions. tests/test_house.py holds the bars."""

from __future__ import annotations

import ast
import collections
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

IRREGULAR = frozenset(
    [
        "begun",
        "bought",
        "bound",
        "broken",
        "brought",
        "built",
        "caught",
        "chosen",
        "done",
        "drawn",
        "felt",
        "found",
        "given",
        "gone",
        "heard",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "left",
        "lost",
        "made",
        "meant",
        "met",
        "paid",
        "said",
        "seen",
        "sent",
        "shown",
        "sold",
        "spent",
        "spoken",
        "stood",
        "stolen",
        "struck",
        "sworn",
        "taken",
        "taught",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "won",
        "worn",
        "woken",
        "written",
    ]
)
NOT_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed"}
CATCH_ALLS = ("one", "found", "kept", "left", "told", "said")
LIMIT = 15


def is_participle(name: str) -> bool:
    """Whether a function's first word is a past participle."""
    word = name.lstrip("_").split("_")[0]
    regular = word.endswith("ed") and len(word) > 4 and word not in NOT_PARTICIPLES
    return word in IRREGULAR or regular


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_metric(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("metric" in ast.unparse(decorator) for decorator in node.decorator_list)


def inner_imports(tree: ast.AST) -> int:
    return sum(
        isinstance(node, ast.Import | ast.ImportFrom)
        for function in functions(tree)
        for node in ast.walk(function)
    )


def measure_complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Cyclomatic complexity as radon counts it: with operators of conditions and comprehensions, without inner functions."""
    return 1 + sum(map(_count_branches, _walk_own(function.body)))


def _walk_own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from _walk_own(ast.iter_child_nodes(node))


def _count_branches(node: ast.AST) -> int:
    match node:
        case ast.Try():
            return len(node.handlers) + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.Match():
            return sum(not _is_catch_all(branch.pattern) for branch in node.cases)
        case ast.For() | ast.AsyncFor() | ast.While():
            return 1 + bool(node.orelse)
        case ast.comprehension():
            return 1 + len(node.ifs)
        case ast.If() | ast.IfExp() | ast.Assert():
            return 1
    return 0


def _is_catch_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def list_complex(source: Path) -> list[str]:
    """Every function above the limit with its place, the worst first."""
    rows = [
        (measure_complexity(node), f"{path.relative_to(source)}:{node.lineno} {node.name}")
        for path in sorted(source.rglob("*.py"))
        for node in functions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    return [f"{count} {name}" for count, name in sorted(rows, reverse=True) if count > LIMIT]


def main(source: Path) -> None:
    names: list[str] = []
    classes: collections.Counter[str] = collections.Counter()
    catch_alls: collections.Counter[str] = collections.Counter()
    lines = comments = imports_inside = imports_in_cli = 0
    by_room: collections.Counter[str] = collections.Counter()
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        lines += text.count("\n")
        comments += len(re.findall(r"^\s*#", text, re.M))
        inside = inner_imports(tree)
        imports_inside += inside
        imports_in_cli += inside if "cli" in path.relative_to(source).parts else 0
        classes.update(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                catch_alls[node.id] += node.id in CATCH_ALLS
        for node in functions(tree):
            if node.name.startswith("__") or is_metric(node):
                continue
            names.append(node.name)
            if is_participle(node.name):
                by_room[path.relative_to(source).parts[1]] += 1
    participles = [name for name in names if is_participle(name)]
    shared = sorted(
        name for name, count in classes.items() if count > 1 and not name.startswith("_")
    )
    print(f"source lines                          {lines}")
    print(f"comment lines                         {comments / lines:.1%}")
    print(
        f"functions named by a participle       {len(participles)} of {len(names)} = {len(participles) / len(names):.1%}"
    )
    print(f"  by room                             {dict(by_room.most_common(12))}")
    complex_functions = list_complex(source)
    print(f"functions of complexity over {LIMIT}    {len(complex_functions)}")
    for row in complex_functions:
        print(f"  {row}")
    print(
        f"variables that name nothing           {dict(sorted((+catch_alls).items(), key=lambda item: -item[1]))}"
    )
    print(f"imports inside functions              {imports_inside}, in cli {imports_in_cli}")
    print(f"class names with several meanings     {', '.join(shared) or 'none'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src")
