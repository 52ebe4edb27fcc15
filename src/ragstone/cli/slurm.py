"""`ragstone slurm`: the launcher of a run, sent, looked at and cancelled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import counted, note

if TYPE_CHECKING:
    from ragstone.config import Plan
    from ragstone.scale.slurm import Ticket

FOLDER = "slurm"
"""Where launchers are kept, beside the config, unless it says otherwise."""


class _ConfigFirst(click.Group):
    """`slurm config.yaml` is `slurm write config.yaml`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["write", *args]
        return super().resolve_command(ctx, args)


@click.group(
    "slurm", cls=_ConfigFirst, subcommand_metavar="CONFIG | COMMAND …", no_args_is_help=True
)
def command() -> None:
    """Write the Slurm launcher of a run, send it, look at it, cancel it.

    \b
      ragstone slurm config.yaml            write the launcher and say where
      ragstone slurm config.yaml --submit   and send it with sbatch
      ragstone slurm status RUN
      ragstone slurm cancel RUN

    What the job asks for stands in the config's `slurm:` section."""


@command.command("write")
@click.argument("config", metavar="CONFIG")
@click.option("--submit", is_flag=True, help="Send it with sbatch.")
@click.option("--run", "run_id", metavar="ID", help="Name the run, or the one to go on with.")
def write_(config: str, submit: bool, run_id: str | None) -> None:
    """Write the launcher of a config's run."""
    from ragstone.config import load

    plan = load(config)
    words = ["-c", str(Path(config).resolve())]
    prepared(plan, words, run_id, submit=submit, folder=_folder_of(config, plan))


@command.command("status")
@click.argument("run")
@click.option("--folder", default=FOLDER, help="Where the launcher is [default: slurm].")
def status_(run: str, folder: str) -> None:
    """Say how far a run is."""
    from ragstone.scale.slurm import state, ticket_of

    ticket = ticket_of(run, Path(folder))
    job = f"job {ticket.job} is {state(ticket)}" if ticket.job else "not sent yet"
    click.echo(f"{ticket.run}: {job}; {_far(ticket)}")


@command.command("cancel")
@click.argument("run")
@click.option("--folder", default=FOLDER, help="Where the launcher is [default: slurm].")
def cancel_(run: str, folder: str) -> None:
    """Stop a run's job; what it finished is kept."""
    from ragstone.scale.slurm import cancel, ticket_of

    ticket = ticket_of(run, Path(folder))
    cancel(ticket)
    click.echo(
        f"job {ticket.job} is cancelled; {_far(ticket)}; go on with: sbatch {ticket.launcher}"
    )


@command.command("certificates", hidden=True)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def certificates_(folder: str) -> None:
    """Make the certificates of one attempt; launchers call this."""
    from ragstone.scale.slurm import certificates

    certificates(Path(folder))


def prepared(
    plan: Plan, words: Sequence[str], run_id: str | None, *, submit: bool, folder: Path
) -> Ticket:
    """The launcher written, and sent if wanted."""
    from ragstone.config import Slurm
    from ragstone.experiments.run import new_id
    from ragstone.scale import slurm

    if plan.data.path in (None, "-"):
        raise click.UsageError("a job under Slurm needs a data file that all nodes see; name one")
    if any("***@" in word for word in words):
        raise click.UsageError(
            "a launcher holds no password; put the store's URL into the config (store: ${NAME}) "
            "or into RAGSTONE_STORE"
        )
    run = run_id or new_id()
    name = plan.name or Path(plan.data.path or "run").stem
    ticket = slurm.Ticket(run, str(folder / f"{run}.sbatch"))
    text = slurm.launcher(run, name, words, plan.slurm or Slurm(), folder)
    path = slurm.write(ticket, text)
    click.echo(f"wrote {path}")
    if submit:
        ticket = slurm.submit(ticket)
        click.echo(
            f"sent as job {ticket.job}; look with: ragstone slurm status {run} --folder {folder}"
        )
    return ticket


def evaluated(plan: Plan, words: Sequence[str], run_id: str | None, *, quiet: bool) -> Any:
    """`eval --on slurm`: the job sent and followed to its end; the Run."""
    from ragstone.cli.progress import Bar
    from ragstone.config import revealed
    from ragstone.engine import Progress
    from ragstone.errors import Interrupted
    from ragstone.experiments.run import Run
    from ragstone.scale import slurm
    from ragstone.scale.progress import told_progress
    from ragstone.types import NO_USAGE

    plan = replace(plan, on=None)
    folder = Path(plan.slurm.folder) if plan.slurm and plan.slurm.folder else Path(FOLDER)
    ticket = prepared(plan, words, run_id, submit=True, folder=folder.resolve())
    try:
        with Bar(quiet=quiet) as bar:
            bar.what = ticket.run
            while (now := slurm.state(ticket)) not in slurm.ENDED:
                bar(Progress(*told_progress(ticket.progress), 0, NO_USAGE))
                time.sleep(1)
    except KeyboardInterrupt:
        raise Interrupted(
            f"job {ticket.job} goes on without us; stop it with: ragstone slurm cancel {ticket.run} "
            f"--folder {folder}"
        ) from None
    log = Path(ticket.launcher).with_suffix(".log")
    run = _opened(ticket, revealed(plan.store))
    if run is None or run.info.status != "done":
        raise slurm.SlurmError(
            f"job {ticket.job} ended as {now} before the run was done; see {log}"
        )
    note(f"job {ticket.job} ended as {now}", quiet=quiet)
    assert isinstance(run, Run)
    return run


def _folder_of(config: str, plan: Plan) -> Path:
    if plan.slurm is not None and plan.slurm.folder is not None:
        return Path(plan.slurm.folder).resolve()
    return Path(config).resolve().parent / FOLDER


def _opened(ticket: Ticket, store: Any) -> Any:
    """The run, once its job has ended: a store that another host is writing must not be opened here."""
    from ragstone.errors import RagstoneError
    from ragstone.experiments.run import Run

    try:
        return Run.open(ticket.run, store=store)
    except RagstoneError:  # not begun: there is no store, or no such run in it
        return None


def _far(ticket: Ticket) -> str:
    from ragstone.scale.progress import told_progress

    done, total = told_progress(ticket.progress)
    return f"{counted(done, 'sample')} done" + (f" of {total:,}" if total is not None else "")
