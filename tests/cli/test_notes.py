"""Lines on stderr: every one has its Spanish, with the same values; counts are written as each language does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ragstone.cli.actions
from ragstone.cli.actions.messages import Count, format_count, note
from ragstone.judges.local.catalogue import MODELS, PUBLISHED_MODELS
from ragstone.locale.catalogue import load_phrases

ACTIONS = Path(ragstone.cli.actions.__file__).parent
DATA = ACTIONS.parents[1] / "data"


def list_texts(node: ast.expr) -> list[str]:
    """The texts that an argument of `note` may be; none for one that comes translated from elsewhere."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return [*list_texts(node.body), *list_texts(node.orelse)]
    assert not isinstance(node, ast.JoinedStr), f"no f-string: {ast.unparse(node)}"
    return []


def list_calls(name: str, folder: Path = ACTIONS) -> list[ast.Call]:
    return [
        node
        for file in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def test_every_note_has_its_spanish_and_no_translation_is_left_over() -> None:
    calls = [*list_calls("note"), *list_calls("translate"), *list_calls("SourceNote", DATA)]
    texts = {text for call in calls for text in list_texts(call.args[0])}
    texts |= {text for model in MODELS for text in (model.languages, model.measured)}
    texts |= {
        text
        for model in PUBLISHED_MODELS
        for text in (model.languages, model.published, model.source)
    }
    nouns = {
        noun
        for call in list_calls("Count")
        for thing in list_texts(call.args[1])
        for noun in (f"1 {thing}", f"{thing}s")
    }
    assert texts | nouns == set(load_phrases("es", "notes"))


@pytest.mark.parametrize(("english", "spanish"), load_phrases("es", "notes").items())
def test_a_translation_has_the_same_values(english: str, spanish: str) -> None:
    assert set(re.findall(r"\{\w+", english)) == set(re.findall(r"\{\w+", spanish))


def test_counts_in_each_language() -> None:
    assert format_count(1, "sample") == "1 sample"
    assert format_count(1200, "sample") == "1,200 samples"
    assert format_count(1, "sample", "es") == "1 muestra"
    assert format_count(1200, "bad row", "es") == "1.200 filas erróneas"


def test_a_note_in_the_language_of_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", "es")
    note("read {samples} as {format}", samples=Count(2, "sample"), format="TREC")
    note("{braces} of a user stay")
    assert capsys.readouterr().err == "leído como TREC: 2 muestras\n{braces} of a user stay\n"
