"""Options of `ragstone slurm` and its subcommands: write, submit, inspect and cancel the job of a run."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from ragstone.cli.messages import format_count, note
from ragstone.cli.progress import Bar
from ragstone.config import Plan, Slurm, load, reveal
from ragstone.config.paths import anchor_plan
from ragstone.engine import Progress
from ragstone.errors import Interrupted, RagstoneError
from ragstone.experiments.inputs import new_run_id
from ragstone.experiments.run import Run
from ragstone.scale import slurm
from ragstone.scale.progress import read_progress
from ragstone.scale.slurm import SlurmJob
from ragstone.types import NO_USAGE


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
    plan = replace(load(config), run_id=run_id)
    folder = Path(config).resolve().parent / FOLDER
    if plan.slurm is not None and plan.slurm.folder is not None:
        folder = Path(plan.slurm.folder).resolve()
    write_job(plan, folder, submit=submit)


@command.command("status")
@click.argument("run")
@click.option("--folder", default="slurm", help="Where the launcher is [default: slurm].")
def status_command(run: str, folder: str) -> None:
    """Say how far a run is."""
    job = slurm.load_job(run, Path(folder))
    state = f"job {job.job} is {slurm.read_state(job)}" if job.job else "not sent yet"
    click.echo(f"{job.run}: {state}; {_format_progress(job)}")


@command.command("cancel")
@click.argument("run")
@click.option("--folder", default="slurm", help="Where the launcher is [default: slurm].")
def cancel_command(run: str, folder: str) -> None:
    """Stop a run's job; what it finished is kept."""
    job = slurm.load_job(run, Path(folder))
    slurm.cancel(job)
    click.echo(
        f"job {job.job} is cancelled; {_format_progress(job)}; resume with: sbatch {job.launcher}"
    )


@command.command("certificates")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def certificates_command(folder: str) -> None:
    """Make certificates for a cluster, and a Dask config that names them."""
    from ragstone.scale.slurm import write_certificates

    write_certificates(folder)


FOLDER = "slurm"
"""Where launchers are kept, beside the config, unless it says otherwise."""


def write_job(plan: Plan, folder: Path, *, submit: bool) -> SlurmJob:
    """Write the launcher of a plan, with the plan beside it, and submit the job if wanted."""
    if plan.data.path in (None, "-"):
        raise click.UsageError("a job under Slurm needs a data file that all nodes see; name one")
    run = plan.run_id or new_run_id()
    # Absolute paths and no `on`: the job starts in another folder on another host, and must not
    # send a job itself. The run has its id now, so that a job which Slurm starts again resumes it.
    job_plan = anchor_plan(replace(plan, run_id=run, on=None), Path.cwd())
    lost: list[str] = []
    stored = job_plan.to_json(lost)
    if lost:
        raise click.UsageError(
            f"a launcher holds no password ({', '.join(dict.fromkeys(lost))}); put the store's URL into the "
            "config (store: ${NAME}) or into RAGSTONE_STORE, and keys into the environment"
        )
    job = SlurmJob(run, str(folder / f"{run}.sbatch"))
    text = slurm.format_launcher(job, job_plan, plan.slurm or Slurm())
    path = slurm.write_job(job, text, stored)
    click.echo(f"wrote {path}")
    if submit:
        job = slurm.submit(job)
        click.echo(
            f"sent as job {job.job}; look with: ragstone slurm status {run} --folder {folder}"
        )
    return job


def run_job(plan: Plan, *, quiet: bool) -> Run:
    """`eval --on slurm`: submit the job and wait for its end; returns the Run. The caller writes the outputs."""
    folder = Path(plan.slurm.folder) if plan.slurm and plan.slurm.folder else Path(FOLDER)
    # `finish_run` writes the outputs, once the run is in the store.
    job = write_job(replace(plan, output=()), folder.resolve(), submit=True)
    try:
        with Bar(quiet=quiet) as bar:
            bar.title = job.run
            while (state := slurm.read_state(job)) not in slurm.ENDED:
                bar(Progress(*read_progress(job.progress), 0, NO_USAGE))
                time.sleep(1)
    except KeyboardInterrupt:
        raise Interrupted(
            f"job {job.job} continues without us; stop it with: ragstone slurm cancel {job.run} "
            f"--folder {folder}"
        ) from None
    run = _open_run(job, plan)
    if run is None or run.info.status != "done":
        log = Path(job.launcher).with_suffix(".log")
        raise slurm.SlurmError(f"job {job.job} ended as {state} before the run was done; see {log}")
    note("job {job} ended as {state}", job=job.job, state=state, quiet=quiet)
    return run


def _open_run(job: SlurmJob, plan: Plan) -> Run | None:
    """The run, once its job has ended: a store that another host is writing must not be opened here."""
    try:
        return Run.open(job.run, store=reveal(plan.store))
    except RagstoneError:  # not begun: there is no store, or no such run in it
        return None


def _format_progress(job: SlurmJob) -> str:
    done, total = read_progress(job.progress)
    return f"{format_count(done, 'sample')} done" + (f" of {total:,}" if total is not None else "")
