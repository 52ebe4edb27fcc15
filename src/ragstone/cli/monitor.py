"""Options of `ragstone monitor` and its subcommands; the work is done in cli/actions/monitor_*.py."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

import click

from ragstone.cli.options import (
    F,
    check_outputs,
    correction_option,
    details_option,
    output_option,
    primary_option,
    reading_options,
    store_option,
)

config_option = click.option(
    "-c", "--config", metavar="FILE", help="Config file with a `monitor` section."
)
redact_option = click.option(
    "--redact", metavar="MODULE:FUNCTION", help="Hook that sees every text before it is stored."
)


def zone_option(what: str) -> Callable[[F], F]:
    """`--zone`: the time zone of days, weeks and months."""
    return click.option("--zone", default="UTC", show_default=True, help=f"{what}: Europe/Madrid.")


def language_option(what: str) -> Callable[[F], F]:
    """`--lang`."""
    return click.option("--lang", "language", metavar="LANG", help=f"{what}: en, es.")


class OrderedGroup(click.Group):
    """A group that lists its commands as declared, with their full first lines, and suggests the nearest name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from ragstone.errors import suggest_nearest

        if args and args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}{suggest_nearest(args[0], list(self.commands))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            first_lines = [(name, (sub.help or "").split("\n")[0]) for name, sub in self.commands.items()]  # fmt: skip
            formatter.write_dl(first_lines)


@click.group("monitor", cls=OrderedGroup)
def command() -> None:
    """Monitor a live system: log interactions, measure quality by window, alert on drops."""


@command.command("serve")
@config_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; any but loopback needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--prefix", default="", metavar="PATH", help="Path under which a reverse proxy shows the server: /ragstone.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="HOST", help="Further host name under which the server is known. May be repeated.")  # fmt: skip
@click.option("--zone", metavar="ZONE", help="Time zone that the page shows times in: Europe/Madrid. Default: that of the config's reports, else UTC.")  # fmt: skip
@redact_option
@click.option("--retention", metavar="AGE", help="Delete interactions older than this: 90d.")
@click.option("--no-score", is_flag=True, help="Score nothing here; leave it to `ragstone monitor score`.")  # fmt: skip
@click.option("--watch/--no-watch", "evaluate", default=True, help="Evaluate alert rules here, or leave it to `ragstone monitor check`.")  # fmt: skip
@store_option
def serve(config: str | None, store: str | None, **options: Any) -> None:
    """Receive interactions over HTTP and monitor their quality.

    Listens on loopback unless --host says otherwise. A token is read from RAGSTONE_MONITOR_TOKEN; requests then show it as
    `Authorization: Bearer …`. Stop it with Ctrl-C or SIGTERM: accepted interactions are written first."""
    from ragstone.cli.actions.monitor_serve import run_server

    # From the environment only: an option would show the token to everyone who lists processes.
    token = os.environ.get("RAGSTONE_MONITOR_TOKEN") or None
    run_server(config, store, token=token, **options)


@command.command("import")
@click.argument("log")
@reading_options
@redact_option
@store_option
def import_(log: str, redact: str | None, store: str | None, **options: Any) -> None:
    """Import interactions from a log file in any known format.

    LOG is a jsonl, json, csv or parquet file, or - for standard input. Beside the question, answer and contexts, the usual
    names for the time (at, timestamp …), feedback, latency, cost and tokens are understood; other short values become
    slices. Importing a file again stores nothing twice."""
    from ragstone.cli.actions.monitor_data import import_file

    import_file(log, redact, store, **options)


@command.command("score")
@config_option
@click.option("--since", metavar="AGE", help="Also consider interactions of this age that were not sampled before: 7d.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 1), help="The share to judge, in the place of the config's.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Continue until standard input ends.")
@store_option
def score(
    config: str | None, since: str | None, rate: float | None, follow: bool, store: str | None
) -> None:
    """Score the queued interactions within the daily budget and exit: for cron.

    `ragstone monitor serve` does this by itself; several may work on one store."""
    from ragstone.cli.actions.monitor_score import score_queue

    score_queue(config, store, since=since, rate=rate, follow=follow)


@command.command("summary")
@click.option("--window", default="24h", show_default=True, metavar="LENGTH", help="How far back: 5m, 1h, 24h, 7d.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Where the window ends: 2026-05-01, 2026-05-01T12:00:00Z. Default: now.")  # fmt: skip
@click.option("--by", metavar="FIELD", help="Also by value of a meta field: model, tenant, language.")  # fmt: skip
@click.option("--where", metavar="FIELD=VALUE", help="Only the interactions of one slice.")
@click.option("--period", type=click.Choice(["day", "week", "month"]), help="One row for each day, week or month that the window touches.")  # fmt: skip
@zone_option("Time zone of days, weeks and months")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every statistic.")
@store_option
def summary(
    by: str | None,
    where: str | None,
    period: Literal["day", "week", "month"] | None,
    **options: Any,
) -> None:
    """Show the quality of the last hours or days, whole and by slice."""
    from ragstone.cli.actions.monitor_summary import show_summary

    if period is not None and by is not None:
        raise click.UsageError("give either --period or --by")
    field, sign, value = (where or "").partition("=")
    if where is not None and not (sign and field):
        raise click.UsageError(f"--where is {where!r}; write FIELD=VALUE")
    chosen_slice = None if where is None else (field, value)
    show_summary(by=by, where=chosen_slice, period=period, **options)


@command.command("compare")
@click.option("--window", default="7d", show_default=True, metavar="LENGTH", help="How long each side is: 24h, 7d.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Where the window ends: 2026-05-01, 2026-05-01T12:00:00Z. Default: now.")  # fmt: skip
@click.option("--slice", "slices", multiple=True, metavar="FIELD=VALUE", help="One: this slice against the window before. Two: the second slice against the first, in the same window.")  # fmt: skip
@click.option("--group", metavar="FIELD", help="Meta field whose interactions are not independent: session, user.")  # fmt: skip
@click.option("--margin", type=click.FloatRange(min=0, min_open=True), default=0.02, show_default=True, help="Differences up to this share of a metric's range do not matter.")  # fmt: skip
@primary_option
@correction_option
@click.option("--plain-intervals", is_flag=True, help="Show the 95% interval of each difference alone; verdicts stay corrected.")  # fmt: skip
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when the window or slice is worse, with 3 when a verdict is withheld.")  # fmt: skip
@zone_option("Time zone of dates")
@output_option("comparison")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@details_option
@language_option("Language of the report")
@click.option("--quiet", "-q", is_flag=True, help="Print no tables.")
@store_option
def compare(slices: tuple[str, ...], group: str | None, **flags: Any) -> int:
    """Compare a window with the one before it, or one slice with another.

    The two are independent sets of interactions: those drawn at random and judged. Verdicts and words are those of
    `ragstone compare`."""
    from ragstone.cli.actions.monitor_compare import compare_windows, parse_slices

    check_outputs("comparison", flags["output"])
    return compare_windows(parse_slices(slices), group, flags)


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@language_option("Language")
@store_option
def status(as_json: bool, language: str | None, store: str | None) -> None:
    """Show each metric's state and the open alerts.

    It is what the server or `ragstone monitor check` found last; no rule is evaluated."""
    from ragstone.cli.actions.monitor_check import show_last_status

    show_last_status(store, language, as_json=as_json)


@command.command("report")
@click.option("--period", type=click.Choice(["daily", "weekly", "monthly"]), default="weekly", show_default=True, help="What the report is about.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Of the last period that was over then: 2026-05-01. Default: now.")  # fmt: skip
@zone_option("Time zone of days, weeks and months")
@output_option("period", "Markdown here")
@language_option("Language of the report")
@store_option
def report(output: tuple[str, ...], **options: Any) -> None:
    """Report on the last day, week or month against the one before.

    Metrics with intervals and verdicts, trends, alerts, failure classes, worst interactions, cost and advice."""
    from ragstone.cli.actions.monitor_report import write_period_report

    check_outputs("period", output)
    write_period_report(output=output, **options)


@command.command("check")
@config_option
@click.option("--new-reference", is_flag=True, help="Learn the reference period again, from now on.")  # fmt: skip
@language_option("Language of the report")
@store_option
def check(config: str | None, new_reference: bool, language: str | None, store: str | None) -> int:
    """Evaluate the alert rules once and send notifications: for cron.

    Exit code 1 while an alert is firing, 3 while quality is unknown because no data comes in or the judge fails, else 0."""
    from ragstone.cli.actions.monitor_check import check_once

    return check_once(config, store, language, new_reference=new_reference)


@command.group("alert")
def alert() -> None:
    """List alerts; acknowledge, mute or annotate one; test the notification channels."""


@alert.command("list")
@click.option("--window", metavar="LENGTH", default="30d", help="How far back alerts that are over are listed.", show_default=True)  # fmt: skip
@language_option("Language of the list")
@store_option
def list_alerts(window: str, language: str | None, store: str | None) -> None:
    """List open alerts and those of the last days, with who has taken them on and what was noted."""
    from ragstone.cli.actions.monitor_alerts import show_alerts

    show_alerts(window, store, language)


@alert.command("ack")
@click.argument("id")
@click.option("--by", metavar="NAME", help="Who takes it on; the name of the account by default.")
@click.option("-m", "--message", metavar="TEXT", default="", help="What is being done.")
@store_option
def acknowledge(id: str, by: str | None, message: str, store: str | None) -> None:
    """Say that you have taken an alert on; ID may be its first characters."""
    from ragstone.cli.actions.monitor_alerts import acknowledge

    acknowledge(id, by, message, store)


@alert.command("mute")
@click.argument("id")
@click.option("--for", "length", metavar="LENGTH", default="24h", help="How long, such as 2h or 7d; 0 ends it.", show_default=True)  # fmt: skip
@store_option
def mute(id: str, length: str, store: str | None) -> None:
    """Send no notification about an alert for a time; it stays on pages and in reports."""
    from ragstone.cli.actions.monitor_alerts import mute

    mute(id, length, store)


@alert.command("note")
@click.argument("id")
@click.argument("text")
@click.option("--by", metavar="NAME", help="Who writes; the name of the account by default.")
@store_option
def write_note(id: str, text: str, by: str | None, store: str | None) -> None:
    """Write a note on an alert, such as its cause."""
    from ragstone.cli.actions.monitor_alerts import write_note

    write_note(id, text, by, store)


@alert.command("test")
@config_option
@language_option("Language of the message")
# Scripts that give every subcommand the same --store must not fail on this one.
@click.option("--store", hidden=True, expose_value=False)  # taken as elsewhere, not needed
def test(config: str | None, language: str | None) -> int:
    """Send a test message to every configured channel; exit code 1 if one does not arrive."""
    from ragstone.cli.actions.monitor_check import send_test_messages

    return send_test_messages(config, language)


@command.command("purge")
@click.option("--before", metavar="AGE|TIME", help="Older than this: 90d, 2026-01-31, 2026-01-31T12:00:00Z.")  # fmt: skip
@click.option("--id", "ids", multiple=True, metavar="ID", help="The interaction with this id. May be repeated.")  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@store_option
def purge(before: str | None, ids: tuple[str, ...], yes: bool, store: str | None) -> None:
    """Delete interactions by age or by id.

    Their feedback, scores and spans are deleted with them; with --id also every reply of a judge that the monitor has
    cached, because replies quote the texts they are about. Roll-ups are computed again from what remains."""
    from ragstone.cli.actions.monitor_data import purge_before, purge_ids

    if (before is None) == (not ids):  # both or neither
        raise click.UsageError("give either --before or --id")
    if before is None:
        purge_ids(ids, store, ask=not yes)
    else:
        purge_before(before, store, ask=not yes)
