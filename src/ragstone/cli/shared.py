"""What several commands do: open a run, sum it up, write its files, choose a language."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ragstone import report
from ragstone.cli.messages import note
from ragstone.cli.plans import parse_fields
from ragstone.cli.progress import show_waiting
from ragstone.data import Dataset, read
from ragstone.errors import ConfigError
from ragstone.experiments.run import Run
from ragstone.text.language import LANGUAGES

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary


def open_run(name: str, store: str | None) -> Run:
    """A stored run by id, start of its id, name or `last`."""
    return Run.open(name, store=store)


def write_files(
    run: Run,
    paths: Sequence[str],
    language: str,
    *,
    explain: bool = False,
    raw: bool = False,
    quiet: bool = False,
) -> None:
    """Write each file in the format of its extension, and say so."""
    for path in paths:
        with show_waiting(f"writing {path}", quiet=quiet):
            report.write(run, path, language=language, explain=explain, raw=raw)
        note("wrote {path}", path=path, quiet=quiet)


def summarise_run(run: Run, *, quiet: bool = False) -> Summary:
    """The run's summary, with a sign of life while a large one is read."""
    with show_waiting(f"summing up {run.info.name}", quiet=quiet):
        return run.summary()


def check_language(wanted: str | None) -> str | None:
    """The language asked for (None if none was); a usage error if there are no reports in it."""
    # Typed languages are checked; those of data (`choose_language`) fall back to English, since
    # samples may be in any.
    if wanted is None or wanted.split("-")[0].lower() in LANGUAGES:
        return wanted and choose_language(wanted)  # `es-MX` becomes `es`
    raise click.UsageError(f"no reports in {wanted!r}; give --lang {' or '.join(LANGUAGES)}")


LANGUAGE_VARIABLES = ("RAGSTONE_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables that name the user's language; the first that is set decides."""


def read_language(environment: Mapping[str, str]) -> str:
    """The language that the environment names, if reports are written in it; else English."""
    variable = next((environment[name] for name in LANGUAGE_VARIABLES if environment.get(name)), "")
    language = re.split(r"[_.@-]", variable)[0]
    return language if language in LANGUAGES else LANGUAGES[0]


def choose_language(*wanted: str | None) -> str:
    """The first of these that reports are written in, else that of the user's environment, else English."""
    short = (text.split("-")[0].lower() for text in wanted if text)
    return next((text for text in short if text in LANGUAGES), read_language(os.environ))


def open_data(
    path: str, *, format: str | None, fields: Sequence[str], limit: int | None, skip_bad_rows: bool
) -> Dataset:
    """The samples of a file, read as the flags of `reading_options` say."""
    errors: list[str] = []
    columns = parse_fields(fields, errors)
    if errors:
        raise ConfigError(errors)
    return read(
        path, format=format, fields=columns or None, skip_bad_rows=skip_bad_rows, limit=limit
    )
