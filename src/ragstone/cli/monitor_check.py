"""`ragstone monitor check`: one round of watching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragstone.cli.options import counted, note, store_option

if TYPE_CHECKING:
    from ragstone.config.alerts import Alerts
    from ragstone.monitor import Archive
    from ragstone.monitor.alerts.evaluation import Status


@click.command("check")
@click.option("-c", "--config", metavar="FILE", help="Config file with a `monitor` section.")
@click.option("--new-reference", is_flag=True, help="Learn anew what quality is compared with, from now on.")  # fmt: skip
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
@click.pass_context
def command(
    context: click.Context,
    config: str | None,
    new_reference: bool,
    language: str | None,
    store: str | None,
) -> int:
    """Look for degradation once and send what follows: for cron.

    Exit code 1 while an alert is firing, 3 while quality is unknown because no data comes in or the judge fails, else 0."""
    from ragstone.cli.options import report_language
    from ragstone.monitor.alerts.drop_rules import forget_reference
    from ragstone.monitor.alerts.evaluation import watch
    from ragstone.monitor.alerts.outbox import deliver
    from ragstone.monitor.interactions import micros

    archive, settings = opened(config, store)
    now = micros()
    if new_reference:
        forget_reference(archive, now)
        note("the reference is learned anew from now on")
    status = watch(archive, settings, now)
    done = deliver(archive, settings.channels)
    show(status, report_language(language))
    if done.sent:
        note(f"sent {counted(done.sent, 'message')}")
    if done.failed:
        note(f"{counted(done.failed, 'message')} did not arrive; they are tried again")
    if not status.streams and not status.open:
        note("nothing was judged yet, so that there is nothing to compare")
    states = {one.state for one in status.open}
    return 1 if "firing" in states else 3 if states & {"no_data", "judge_failing"} else 0


def alerts_of(config: str | None) -> Alerts:
    """The alerts of a config, or what holds without one."""
    from ragstone.config import Plan, load
    from ragstone.config.monitor import MonitorPlan

    plan = load(config) if config is not None else Plan()
    return (plan.monitor or MonitorPlan()).alerts


def opened(config: str | None, store: str | None) -> tuple[Archive, Alerts]:
    """The archive and the alerts of a config and a store."""
    from ragstone.config import Plan, load, revealed
    from ragstone.config.monitor import MonitorPlan
    from ragstone.monitor import Archive
    from ragstone.store import Store

    plan = load(config) if config is not None else Plan()
    archive = Archive(Store.open(store or revealed(plan.store), must_exist=True))
    return archive, (plan.monitor or MonitorPlan()).alerts


def show(status: Status, language: str) -> None:
    """Each metric's state and the open alerts."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from ragstone.monitor.wording import STATES, one_line, sentence

    words = STATES[language]
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=bool(status.streams))
    heads = ("metric", "state", "24 h", "reference", "evidence")
    for head in heads:
        table.add_column(head, justify="left" if head in ("metric", "state") else "right")
    for one in status.streams:
        if one.field and one.state in ("ok", "learning"):
            continue
        name = one.metric + (f"  {one.field}={one.value}" if one.field else "")
        table.add_row(
            escape(one_line(name, 60)), words[one.state], _number(one.mean), _number(one.reference),
            f"{one.evidence:.0%}",
        )  # fmt: skip
    console.print(table)
    for alert in status.open:
        if alert.state == "pending":
            continue
        said = sentence(alert.facts, language) if "phrase" in alert.facts else one_line(alert.title)
        console.print(f"[bold]{words[alert.state]}[/bold]  {escape(said)}", highlight=False)
        for example in alert.facts.get("examples", ()):
            console.print(f"  • {escape(one_line(example['id']))}: {escape(one_line(example.get('question', '')))}", highlight=False)  # fmt: skip
        for item in alert.facts.get("advice", ())[:1]:
            for cause in item["causes"][:3]:
                advice = cause["advice"].get(language) or cause["advice"].get("en", "")
                console.print(f"  → {escape(advice)}", highlight=False)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
