"""Help of the command line in the user's language: English texts are the keys of `locale/<language>/cli.toml`.

click's own words ("Usage", "Missing option") come from a gettext catalogue beside it, because click asks gettext."""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from inspect import cleandoc

import click

from ragstone.locale.catalogue import LANGUAGES, LOCALE_FOLDER, load_phrases

LANGUAGE_VARIABLES = ("RAGSTONE_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables that name the user's language; the first that is set decides."""


def choose_language(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The language of help and usage errors: `--lang` if it names one of ours, else that of the environment."""
    for at, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if option == "--lang":
            value = value if equals else next(iter(arguments[at + 1 : at + 2]), "")
            if value in LANGUAGES:
                return value
    return read_language(environment)


def read_language(environment: Mapping[str, str]) -> str:
    """The language that the environment names, if it is one of ours; else English."""
    variable = next((environment[name] for name in LANGUAGE_VARIABLES if environment.get(name)), "")
    language = re.split(r"[_.@-]", variable)[0]
    return language if language in LANGUAGES else LANGUAGES[0]


def translate_text(text: str, language: str) -> str:
    """A help text, paragraph by paragraph; one that the table lacks stays English, and a block of examples stays as it is."""
    if language == LANGUAGES[0]:
        return text
    phrases = load_phrases(language, "cli")
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith("\b") else _translate_paragraph(paragraph, phrases)
        for paragraph in paragraphs
    )


def translate_command(command: click.Command, language: str) -> click.Command:
    """A command with its texts, those of its options and of the commands below it in a language."""
    if language == LANGUAGES[0]:
        return command
    command = copy(command)  # the same process may be asked for English next
    vars(command)["_help_option"] = None  # click caches `--help` in the language it was shown in
    command.help = command.help and translate_text(command.help, language)
    command.epilog = command.epilog and translate_text(command.epilog, language)
    command.params = [_translate_parameter(parameter, language) for parameter in command.params]
    if isinstance(command, click.Group):
        command.commands = {
            name: translate_command(below, language) for name, below in command.commands.items()
        }
    return command


def _translate_parameter(parameter: click.Parameter, language: str) -> click.Parameter:
    if isinstance(parameter, click.Option) and parameter.help:
        parameter = copy(parameter)
        parameter.help = translate_text(parameter.help or "", language)
    return parameter


@contextmanager
def translate_click(language: str) -> Iterator[None]:
    """Let click say its own words in a language: it asks gettext, which reads `locale/<language>/LC_MESSAGES/click.mo`."""
    if language == read_language(os.environ) == LANGUAGES[0]:
        yield
        return
    variables = ("LANGUAGE", LANGUAGE_VARIABLES[0])  # what gettext asks, and what our messages ask
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(dict.fromkeys(variables, language))
    gettext.bindtextdomain("click", str(LOCALE_FOLDER))
    gettext.textdomain("click")
    try:
        yield
    finally:
        gettext.textdomain("messages")
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _translate_paragraph(paragraph: str, phrases: Mapping[str, str]) -> str:
    words = " ".join(paragraph.split())
    if words in phrases:
        return phrases[words]
    return " ".join(phrases.get(part, part) for part in _split_sentences(words))


def _split_sentences(words: str) -> list[str]:
    """The sentences of a paragraph; a list of file endings, which grows with the formats, is a part of its own."""
    parts: list[str] = []
    for sentence in re.split(r"(?<=[.?…]) (?=[A-Z])", words):
        listed = re.fullmatch(r"(.+:) (\.\w+(?: \.\w+)*\.)", sentence)
        parts += listed.groups() if listed else [sentence]
    return parts
