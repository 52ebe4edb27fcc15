"""`ragstone generate --dry-run`: what would be asked and what it would cost."""

from __future__ import annotations

import click

from ragstone.cli.actions.messages import format_count
from ragstone.cli.actions.progress import format_duration
from ragstone.testset.estimate import estimate_generation
from ragstone.testset.plan import TestsetPlan


def show_estimate(plan: TestsetPlan) -> None:
    """Print the estimate of a plan."""
    estimate = estimate_generation(plan)
    click.echo(
        f"{format_count(estimate.documents, 'document')}, about {estimate.asked_about:,} of them asked about; "
        f"{format_count(sum(estimate.kinds.values()), 'item')} wanted:"
    )
    wide = max(map(len, estimate.kinds))
    for kind, count in estimate.kinds.items():
        click.echo(f"  {kind:<{wide}}  {count:,}")
    if estimate.judge is None:
        click.echo("written by rules: no judge is asked and nothing is paid")
        return
    money = "USD unknown" if estimate.usd is None else f"{estimate.usd:,.2f} USD"
    click.echo(
        f"{estimate.judge}: about {format_count(estimate.calls, 'call')}, {estimate.input_tokens:,.0f} tokens in, "
        f"{estimate.output_tokens:,.0f} out, {money}, {format_duration(estimate.seconds)}"
    )
    click.echo("Nothing was asked, written or paid.")
