"""`ragstone generate --dry-run`: what would be asked and what it would cost."""

from __future__ import annotations

import click

from ragstone.cli.actions.messages import format_count
from ragstone.cli.actions.progress import format_duration
from ragstone.testset.estimate import estimate_generation
from ragstone.testset.plan import TestsetPlan


def show(plan: TestsetPlan) -> None:
    """Print the estimate of a plan."""
    found = estimate_generation(plan)
    click.echo(
        f"{format_count(found.documents, 'document')}, about {found.asked_about:,} of them asked about; "
        f"{format_count(sum(found.kinds.values()), 'item')} wanted:"
    )
    wide = max(map(len, found.kinds))
    for kind, count in found.kinds.items():
        click.echo(f"  {kind:<{wide}}  {count:,}")
    if found.judge is None:
        click.echo("written by rules: no judge is asked and nothing is paid")
        return
    money = "USD unknown" if found.usd is None else f"{found.usd:,.2f} USD"
    click.echo(
        f"{found.judge}: about {format_count(found.calls, 'call')}, {found.input_tokens:,.0f} tokens in, "
        f"{found.output_tokens:,.0f} out, {money}, {format_duration(found.seconds)}"
    )
    click.echo("Nothing was asked, written or paid.")
