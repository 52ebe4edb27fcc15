"""Options of `ragstone slurm` and its subcommands: write, submit, inspect and cancel the job of a run."""

from __future__ import annotations

import click


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
    """Write, submit, inspect or cancel the Slurm job of a run.

    \b
      ragstone slurm config.yaml            write the launcher and say where
      ragstone slurm config.yaml --submit   and send it with sbatch
      ragstone slurm status RUN
      ragstone slurm cancel RUN

    What the job asks for stands in the config's `slurm:` section."""


@command.command("write")
@click.argument("config", metavar="CONFIG")
@click.option("--submit", is_flag=True, help="Send it with sbatch.")
@click.option("--run", "run_id", metavar="ID", help="Name the run, or the one to resume.")
def write_command(config: str, submit: bool, run_id: str | None) -> None:
    """Write the launcher of a config's run."""
    from ragstone.cli.actions.slurm import write_config

    write_config(config, run_id, submit=submit)


@command.command("status")
@click.argument("run")
@click.option("--folder", default="slurm", help="Where the launcher is [default: slurm].")
def status_command(run: str, folder: str) -> None:
    """Say how far a run is."""
    from ragstone.cli.actions.slurm import show_status

    show_status(run, folder)


@command.command("cancel")
@click.argument("run")
@click.option("--folder", default="slurm", help="Where the launcher is [default: slurm].")
def cancel_command(run: str, folder: str) -> None:
    """Stop a run's job; what it finished is kept."""
    from ragstone.cli.actions.slurm import cancel_run

    cancel_run(run, folder)


@command.command("certificates")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def certificates_command(folder: str) -> None:
    """Make certificates for a cluster, and a Dask config that names them."""
    from ragstone.scale.slurm import write_certificates

    write_certificates(folder)
