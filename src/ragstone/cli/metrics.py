"""Options of `ragstone metrics`: what each metric means, needs and takes."""

from __future__ import annotations

import click


@click.command("metrics")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the metrics, or explain one.

    NAME is a metric as you would type it after -m: recall, recall@5, or your own module:function."""
    from ragstone.cli.actions.metrics import show_metrics

    show_metrics(name, as_json=as_json)
