"""Help and usage errors in Spanish: complete, chosen by `--lang` or the environment, and gone with the call."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
import pytest

from ragstone.cli import COMMANDS, ragstone, run
from ragstone.cli.translation import (
    _split_sentences,
    choose_language,
    translate_text,
)
from ragstone.locale.catalogue import LOCALE_FOLDER, load_phrases


def list_texts(command: click.Command, context: click.Context) -> Iterator[str]:
    """Every help text of a command and of those below it, as the table has to hold them."""
    for text in (command.help, command.epilog):
        if text:
            yield text
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            yield parameter.help
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from list_texts(below, click.Context(below, parent=context, info_name=name))


def find_untranslated(text: str, language: str) -> list[str]:
    """The sentences of a help text that the table lacks."""
    phrases = load_phrases(language, "cli")
    missing = []
    for paragraph in cleandoc(text).split("\n\n"):
        words = " ".join(paragraph.split())
        if not paragraph.startswith("\b") and words not in phrases:
            missing += [
                part
                for part in _split_sentences(words)
                if part not in phrases and not part.startswith(".")
            ]
    return missing


def list_all_texts() -> set[str]:
    return {*list_texts(ragstone, click.Context(ragstone)), *COMMANDS.values(), "Commands"}


def test_every_help_text_has_its_spanish() -> None:
    missing = {part for text in list_all_texts() for part in find_untranslated(text, "es")}
    assert not missing, "add to locale/es/cli.toml: " + "\n".join(sorted(missing))


def test_no_translation_is_left_over() -> None:
    """A text that changed in English leaves its old key behind: the table must not grow by what is never shown."""
    used = {" ".join(text.split()) for text in load_phrases("es", "cli")}
    shown = "\n".join(" ".join(text.split()) for text in list_all_texts())
    assert not [key for key in used if key not in shown and key != "Show this message and exit."]


@pytest.mark.parametrize(
    ("arguments", "environment", "language"),
    [
        ([], {}, "en"),
        ([], {"LANG": "es_ES.UTF-8"}, "es"),
        ([], {"LANG": "es"}, "es"),
        ([], {"LANG": "de_DE.UTF-8"}, "en"),
        ([], {"LANG": "es_ES.UTF-8", "LC_ALL": "C"}, "en"),
        ([], {"LANG": "es_ES", "RAGSTONE_LANG": "en"}, "en"),
        (["eval", "--lang", "es"], {}, "es"),
        (["eval", "--lang=es"], {}, "es"),
        (["eval", "--lang", "en"], {"LANG": "es_ES"}, "en"),
        (["generate", "--lang", "en,es"], {}, "en"),
        (["eval", "--lang"], {}, "en"),
    ],
)
def test_language(arguments: list[str], environment: dict[str, str], language: str) -> None:
    assert choose_language(arguments, environment) == language


def test_help_in_spanish_and_english_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAGSTONE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert run(["eval", "--lang", "es", "--help"]) == 0
    spanish = capsys.readouterr().out
    assert "Uso:" in spanish
    assert "¿cómo de bueno es el sistema?" in spanish
    assert "Usage" not in spanish
    assert run(["eval", "--help"]) == 0
    assert "Usage:" in (english := capsys.readouterr().out)
    assert "how good is the system?" in english
    monkeypatch.setenv("LANG", "es_MX.UTF-8")
    assert run([]) == 0
    assert "Órdenes:" in (listing := capsys.readouterr().out)
    assert "Compara ejecuciones" in listing
    assert run(["eval", "--floor"]) == 2
    assert "necesita un valor" in capsys.readouterr().err


def test_the_language_before_the_command_is_that_of_all_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["--lang", "es", "export", "--help"]) == 0
    assert "Uso:" in capsys.readouterr().out
    assert run(["--lang", "es", "plan", "--effect", "0.05"]) == 0
    assert "preguntas" in capsys.readouterr().out
    assert run(["plan", "--effect", "0.05"]) == 0
    assert "questions" in capsys.readouterr().out
    assert run(["--lang", "fr", "plan"]) == 2


def test_examples_stay_as_they_are() -> None:
    text = "Print JSON.\n\n\b\n  ragstone eval answers.jsonl"
    assert translate_text(text, "es") == "Imprime JSON.\n\n\b\n  ragstone eval answers.jsonl"


def test_the_compiled_catalogue_is_that_of_the_source(tmp_path: Path) -> None:
    pofile = pytest.importorskip("babel.messages.pofile")
    mofile = pytest.importorskip("babel.messages.mofile")
    folder = LOCALE_FOLDER / "es" / "LC_MESSAGES"
    with (folder / "click.po").open("rb") as source:
        catalogue = pofile.read_po(source, locale="es")
    with (tmp_path / "click.mo").open("wb") as target:
        mofile.write_mo(target, catalogue)
    with (folder / "click.mo").open("rb") as committed, (tmp_path / "click.mo").open("rb") as fresh:
        old, new = mofile.read_mo(committed), mofile.read_mo(fresh)
    assert {str(message.id): message.string for message in old if message.id} == {
        str(message.id): message.string for message in new if message.id
    }
