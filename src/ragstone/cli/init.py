"""Options of `ragstone init`: write the first config of a project."""

from __future__ import annotations

import click

from ragstone.cli.options import reading_options


@click.command("init")
@click.argument("data", required=False)
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "none"]),
    help="Which CI job to write [default: gitlab beside a .gitlab-ci.yml, else github].",
)
@click.option(
    "--judge", metavar="JUDGE", help="Who answers judged metrics: offline, openai:MODEL, …"
)
@click.option(
    "--lang",
    "language",
    metavar="LANG",
    help="Language of the comments, of samples that name none and of reports: en, es.",
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@reading_options
def command(
    data: str | None,
    ci: str | None,
    judge: str | None,
    language: str | None,
    force: bool,
    **data_flags: object,
) -> None:
    """Write a config, a CI job and a .gitignore line for the data at hand.

    DATA is a data file as `ragstone eval` takes it; without it, the only one in this folder. The config names the metrics
    that the data allow and leaves the gates open. Files that are there already stay, and are named, unless --force is given.

    \b
      ragstone init answers.jsonl
      ragstone eval -c ragstone.yaml"""
    from ragstone.cli.actions.init import start_project

    start_project(data, ci=ci, judge=judge, language=language, force=force, data_flags=data_flags)
