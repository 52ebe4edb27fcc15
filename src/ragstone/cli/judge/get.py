"""`ragstone judge get`"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ragstone.cli.messages import note, translate
from ragstone.judges.local.catalogue import (
    MODELS,
    PUBLISHED_MODELS,
    find_fetched,
    find_folder,
    find_model,
)
from ragstone.judges.local.hub import DownloadProgress, fetch_model


@click.command("get")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List open models that we measured as judges, or fetch the one that you name.

    It goes into your cache; its size and hash are checked, and a download that breaks off is resumed. Then `judge: local`
    uses it. No other command fetches anything. HF_ENDPOINT names a mirror of the hub.

    \b
      ragstone judge get
      ragstone judge get qwen2.5-coder-1.5b
      ragstone eval answers.jsonl -m faithfulness --judge local
    """

    if name is None:
        list_models()
    else:
        get_model(name)


def list_models() -> None:
    """Print each recommended model: licence, size, languages, what we measured, whether it is here."""
    for model in MODELS:
        fetched = find_fetched(model.name)
        click.echo(
            translate(
                "{name}  ({repository}, {licence}, {gigabytes:.1f} GB)\n  languages  {languages}\n  measured   {measured}",
                name=model.name,
                repository=model.repository,
                licence=model.licence,
                gigabytes=model.gigabytes,
                languages=translate(model.languages),
                measured=translate(model.measured),
            )
        )
        if fetched:
            click.echo(translate("  here: {path}", path=fetched.path))
        else:
            click.echo(translate("  fetch it: ragstone judge get {name}", name=model.name))
    click.echo(translate("\nPublished grounding models, measured by their authors and not by us; the extra hf loads them from the hub or a folder, none of their own code is executed:"))  # fmt: skip
    for published in PUBLISHED_MODELS:
        click.echo(
            translate(
                "{judge}  ({licence}, {size})\n  languages  {languages}\n  published  {figure} ({source})",
                judge=published.judge,
                licence=published.licence,
                size=published.size,
                languages=translate(published.languages),
                figure=translate(published.published),
                source=translate(published.source),
            )
        )


def get_model(name: str) -> None:
    """Fetch a model and say how to use it."""
    model = find_model(name)
    if find_fetched(name) is None:
        note("fetching {model} into {folder}", model=model.repository, folder=find_folder(name))
    with _show_progress(model.file) as on_progress:
        fetched = fetch_model(model, on_progress)
    if fetched.sha256 != model.sha256:
        note("it is whole, but not the file that we measured: the hub has another one")
    click.echo(fetched.path)
    click.echo(translate("Use it with --judge local, or in a config: judge: local"))


@contextmanager
def _show_progress(title: str) -> Iterator[DownloadProgress]:
    """A bar with bytes, rate and time left, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
