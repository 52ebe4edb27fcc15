"""The bars that keep the source readable; `python -m bench.house` shows the figures."""

from __future__ import annotations

import ast
import re

import pytest
from bench.house import functions, is_metric, is_participle, list_complex

from source_trees import SOURCE, list_nodes, parse_sources

MAX_COMPLEX_FUNCTIONS = 0
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
    for path, nodes in list_nodes().items():
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(str(path))
    shared = {name: sorted(places) for name, places in homes.items() if len(places) > 1}
    assert not shared


VERSIONS = {
    "text/[!_]*.py": r"\w*VERSION in judges/",
    "text/quantities/*.py": "VERSION in judges/offline",
    "judges/offline/[!_]*.py": "VERSION in judges/offline",
    "judges/specs/*.py": "PROTOCOL_VERSION in judges/model_judge.py",
    "judges/hybrid/[!_]*.py": "ROUTE_VERSION in judges/hybrid",
    "systems/pipeline/[!_p]*.py": "REPLY_VERSION in systems/pipeline/pipeline.py",
}


@pytest.mark.parametrize("files", VERSIONS)
def test_a_file_that_decides_stored_replies_says_which_version_goes_up(files: str) -> None:
    """Stored replies are known by these numbers: who changes a rule and not the number gets the old ones."""
    # the figures of quality.py are about the judge, and in no reply
    paths = [path for path in SOURCE.glob(files) if path.stem != "quality"]
    said = re.compile(f"Versioned by {VERSIONS[files]}")
    docs = [ast.get_docstring(parse_sources()[path.relative_to(SOURCE)]) for path in paths]
    assert len(paths) >= 3
    assert [path for path, doc in zip(paths, docs, strict=True) if not said.search(doc or "")] == []
