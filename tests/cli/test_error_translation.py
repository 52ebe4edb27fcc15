"""Errors in Spanish: every sentence that can end in an error is in the catalogue, and the terminal shows it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from ragstone.cli import run
from ragstone.cli.error_translation import load_sentences, recognise, translate_error
from ragstone.locale.catalogue import load_phrases
from source_trees import list_nodes

SPANISH = load_phrases("es", "errors")
LAST_ARGUMENT = {"complain", "append", "ValueError", "SendError"}
"""What a complaint is given to, besides the errors themselves."""
ROOMS = (
    "analysis", "config", "data", "engine", "errors.py", "experiments", "judges", "labels", "metrics", "prompts",
    "rankings", "registry", "scale", "store", "systems", "testset", "types.py",
)  # fmt: skip
"""Where a text of the form `problem; remedy` ends in an error."""
NO_ERRORS = (
    "analysis/stats.py", "judges/dialects/batches.py", "judges/json_replies.py", "judges/remote.py",
    "judges/specs/support.py", "scale/shards.py", "store/salvage.py", "store/writer.py", "systems/pipeline/extraction.py", "testset/index.py", "testset/items.py",
    "testset/summary_text.py", "types.py",
)  # fmt: skip
"""Files whose texts go elsewhere: into requests, reports, prompts, the log, or are caught where they are raised."""
NO_SENTENCE = re.compile(r"# |export |until |  kill ")
"""Lines of the shell in launchers."""


def fill(node: ast.expr) -> tuple[str, int]:
    """A text with a quoted value for every placeholder, nothing for a hint; and how long its own words are."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, len(node.value)
    if not isinstance(node, ast.JoinedStr):
        return "", 0
    text, words, after_value = "", 0, False
    for number, part in enumerate(node.values):
        if isinstance(part, ast.Constant):
            text, words, after_value = text + str(part.value), words + len(str(part.value)), False
        else:
            text += "" if after_value else f"'v{number}'"
            after_value = True
    return text, words


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


@cache
def list_errors() -> frozenset[str]:
    """The package's own errors and those of click that it raises."""
    own = (
        node.name
        for nodes in list_nodes().values()
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and {ast.unparse(base) for base in node.bases} & {"RagstoneError", "DataError"}
    )
    return frozenset({*own, "RagstoneError", "UsageError", "BadParameter", "fail"})


def iter_sentences(path: Path, nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The texts of a file that are raised, complained of, or have the form of an error."""
    is_room = path.parts[0] in ROOMS
    no_texts: set[int] = set()  # docstrings, and parts of texts; their nodes are walked after these
    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            if name_of(node) in list_errors():
                first = node.args[0]
                yield from first.elts if isinstance(first, ast.List) else [first]
            elif is_room and name_of(node) in LAST_ARGUMENT:
                yield node.args[-1]
        elif isinstance(node, ast.Expr):
            no_texts.add(id(node.value))
        elif isinstance(node, ast.JoinedStr | ast.Constant):
            no_texts.update(map(id, getattr(node, "values", ())))
            if is_room and id(node) not in no_texts and "; " in fill(node)[0]:
                yield node


@cache
def list_sentences() -> dict[str, tuple[int, str]]:
    """Every sentence of an error, filled → the length of its own words, and where it stands."""
    sentences = {}
    for path, nodes in list_nodes().items():
        if (
            path.as_posix() in NO_ERRORS
            or path.parts[0] == "testing"
            or path.parts[:2] == ("judges", "offline")
        ):
            continue
        for node in iter_sentences(path, nodes):
            text, words = fill(node)
            if re.search(r"[a-z]{2} ", text):
                sentences[text] = (words, f"{path.as_posix()}:{node.lineno}")
    return sentences


def test_every_sentence_of_an_error_has_its_spanish() -> None:
    english = {
        f"{place}: {text}"
        for text, (words, place) in list_sentences().items()
        if recognise(text, "es")[0] < words and not NO_SENTENCE.match(text)
    }
    assert len(list_sentences()) > 400
    assert not english, "add to locale/es/errors.toml: " + "\n".join(sorted(english))


def test_no_translation_is_left_over() -> None:
    """A sentence that changed in English leaves its old key behind."""
    texts = [
        node.value
        for nodes in list_nodes().values()
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    source = "\n".join([*texts, *map(os.strerror, range(1, 100))])
    assert not [
        key
        for key in SPANISH
        if not all(literal.strip() in source for literal, *_ in Formatter().parse(key))
    ]


def test_a_translation_has_the_same_values() -> None:
    def list_names(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert [key for key, text in SPANISH.items() if list_names(key) != list_names(text)] == []


def test_every_sentence_is_a_pattern() -> None:
    """Those of the reports too, which others write: one that is none would end every error in another one."""
    assert len([re.compile(sentence.pattern) for sentence in load_sentences("es")]) > len(SPANISH)


def test_nobody_is_addressed_as_usted() -> None:
    polite = re.compile(r"\b(usted|indique|escriba|añada|ponga|quite|elija|mire|pruebe|haga|dé)\b")
    assert [text for text in SPANISH.values() if polite.search(text)] == []


def test_the_page_on_errors_quotes_what_the_terminal_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "es" / "troubleshooting.md"
    quoted = re.findall(r"^\| `([^`]+)` \(", page.read_text("utf-8"), re.MULTILINE)
    said = "\n".join([*SPANISH.values(), *load_phrases("es", "messages").values()])
    assert len(quoted) >= 8
    pieces = (piece.strip("' ") for text in quoted for piece in text.split("…"))
    assert [piece for piece in pieces if piece not in said] == []


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        ("no metric 'recal'; did you mean 'recall'?", "no existe la métrica 'recal'; ¿querías decir 'recall'?"),
        # the parts of a sentence by their own sentences; what stands in quotes is never translated
        (
            'a.jsonl:2: "contexts" is a string; give a list of texts or of {"id", "text"}',
            'a.jsonl:2: "contexts" es un texto; da una lista de textos o de {"id", "text"}',
        ),
        ("cannot write 'the metric': Is a directory", "no se puede escribir 'the metric': es una carpeta"),
        ("  indented: no file 'x'; check the path", "  indented: no existe el fichero 'x'; comprueba la ruta"),
        (
            "c.yaml:1: 'name' is {'a': 'b: c is d; give a list'}; give a text",
            "c.yaml:1: 'name' es {'a': 'b: c is d; give a list'}; da un texto",
        ),
        ("x: " * 2000, "x: " * 2000),
        ("words of another program", "words of another program"),
        ("braces {stay} as they are", "braces {stay} as they are"),
    ],
)  # fmt: skip
def test_sentences(english: str, spanish: str) -> None:
    assert translate_error(english, "es") == spanish
    assert translate_error(english, "en") == english


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["eval", "nada.jsonl"], "error: no existe el fichero 'nada.jsonl'; comprueba la ruta\n"),
        (["evla"], "error: no existe la orden 'evla'; ¿querías decir 'eval'? (mira ragstone --help)\n"),
        (["eval", "-c", "nada.yaml"], "error: no existe el fichero de configuración 'nada.yaml'\n"),
        (["judge", "get", "nada"], "error: no hay ningún modelo recomendado 'nada'; se conocen: "),
    ],
)  # fmt: skip
def test_the_terminal_shows_it_in_spanish(
    arguments: list[str], shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert run(["--lang", "es", *arguments]) == 2
    assert capsys.readouterr().err.startswith(shown)
    monkeypatch.setenv("LANG", "es_ES.UTF-8")
    run(["--lang", "en", *arguments])
    assert shown not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        ("the judge gave 1 reply to 3 questions", "el juez dio 1 respuesta a 3 preguntas"),
        ("the judge gave 2 replies to 1 question", "el juez dio 2 respuestas a 1 pregunta"),
    ],
)
def test_a_count_keeps_the_words_that_go_with_it(english: str, spanish: str) -> None:
    assert translate_error(english, "es") == spanish
