"""The bars that keep the source readable; `python -m bench.house` shows the figures."""

from __future__ import annotations

import ast

from bench.house import functions, is_metric, is_participle, list_complex

from source_trees import SOURCE, parse_sources

MAX_COMPLEX_FUNCTIONS = 2
MAX_PARTICIPLE_SHARE = 0.02
MIN_COMMENT_SHARE = 0.012


def test_few_functions_are_complex() -> None:
    assert len(list_complex(SOURCE)) <= MAX_COMPLEX_FUNCTIONS, list_complex(SOURCE)


def test_functions_are_named_by_verbs() -> None:
    names = [
        node.name
        for tree in parse_sources().values()
        for node in functions(tree)
        if not node.name.startswith("__") and not is_metric(node)
    ]
    participles = [name for name in names if is_participle(name)]
    assert len(participles) <= MAX_PARTICIPLE_SHARE * len(names), participles


def test_comments_say_why() -> None:
    lines = [
        line.strip()
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert sum(line.startswith("#") for line in lines) >= MIN_COMMENT_SHARE * len(lines)


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, set[str]] = {}
    for path, tree in parse_sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(str(path))
    shared = {name: sorted(places) for name, places in homes.items() if len(places) > 1}
    assert not shared
