"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def store_option(function: F) -> F:
    """`--store`: where runs are kept."""
    option = click.option(
        "--store",
        metavar="PLACE",
        help="File or URL where runs are kept [default: $RAGSTONE_STORE, or the user's data folder].",
    )
    return option(function)


def reading_options(function: F) -> F:
    """How the rows of a data file are read."""
    for option in (
        click.option("--skip-bad-rows", is_flag=True, help="Leave out rows that cannot be read, and count them."),
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples."),
        click.option("--field", "fields", multiple=True, metavar="FIELD=WHERE",
                     help="Where a field stands in a row: answer=output.text. May be repeated."),
        click.option("--format", "format", metavar="FORMAT", help="The shape of the rows, when it is not detected."),
    ):  # fmt: skip
        function = option(function)
    return function
