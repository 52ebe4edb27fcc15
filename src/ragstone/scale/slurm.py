"""Runs under Slurm: a batch script (the launcher) is written and submitted; the job's state is read and the job cancelled by the run's id."""

from __future__ import annotations

import glob
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.errors import MissingExtra, RagstoneError
from ragstone.scale.cluster import QUIET_DASK_SETTINGS, format_exports

if TYPE_CHECKING:
    from ragstone.config import Plan, Slurm


class SlurmError(RagstoneError):
    """Slurm is not there, or refuses."""


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """A run that was written for Slurm, kept as JSON beside its launcher."""

    run: str
    """The run's id."""
    launcher: str
    """Path of the launcher; the job's other files lie beside it, with other suffixes."""
    job: str | None = None
    """Slurm's number of the job; None before it is submitted."""

    @property
    def progress(self) -> Path:
        """The file in which the run tells how far it is."""
        return Path(self.launcher).with_suffix(".progress")

    @property
    def plan(self) -> Path:
        """The file with the run's plan, which the launcher gives to `ragstone eval`."""
        return Path(self.launcher).with_suffix(".plan")


_SECURITY = (
    "# Certificates of this attempt: only who can read the folder can talk to its parts.",
    '"$python" -m ragstone slurm certificates "$attempt"',
    'export DASK_CONFIG="$attempt/dask.yaml"',
)


def format_launcher(job: SlurmJob, plan: Plan, slurm: Slurm) -> str:
    """The batch script: scheduler, workers and the run in one job, safe to be requeued at any moment."""
    run, folder = job.run, Path(job.launcher).parent
    name = plan.name or Path(plan.data.path or "run").stem
    python = "python" if slurm.environment or slurm.modules else shlex.quote(sys.executable)
    # expanded by the shell of the job, not here
    attempt = f"{shlex.quote(str(folder / run))}.$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}"
    interface = f" --interface {shlex.quote(slurm.interface)}" if slurm.interface else ""
    protocol = " --protocol tls" if slurm.tls else ""
    evaluate = shlex.join(["eval", "--plan", str(job.plan)])
    return "\n".join(
        [
            "#!/bin/bash",
            f"# Run {run}, written by ragstone {__version__}. Edit it if you like; send it with: sbatch {run}.sbatch",
            *_format_requests(run, name, slurm, folder),
            "",
            "set -e",
            f"cd {shlex.quote(str(Path.cwd()))}",
            *_format_environment(slurm),
            f"export OMP_NUM_THREADS={slurm.cpus} OPENBLAS_NUM_THREADS={slurm.cpus}",
            *format_exports(QUIET_DASK_SETTINGS),
            f"export RAGSTONE_WORKERS={slurm.nodes * slurm.workers}",
            f"export RAGSTONE_PROGRESS={shlex.quote(str(folder / run))}.progress",
            f"python={python}",
            "set -u  # not before: modules and environments are less careful",
            "",
            "# A folder for each attempt: a requeued job must not meet the scheduler of the one before.",
            f"attempt={attempt}",
            'mkdir -p -m 700 "$attempt"',
            *(_SECURITY if slurm.tls else ()),
            "",
            "# Scheduler here, workers on every node; they end with the job or a minute after the scheduler.",
            '"$python" -m ragstone.scale.dask_part scheduler --scheduler-file "$attempt/scheduler.json" --port 0 \\',
            f'  --no-dashboard{protocol}{interface} > "$attempt/scheduler.log" 2>&1 &',
            "scheduler=$!",
            f"srun --overlap --ntasks={slurm.nodes * slurm.workers} --cpus-per-task={slurm.cpus} \\",
            '  "$python" -m ragstone.scale.dask_part worker --scheduler-file "$attempt/scheduler.json" --nthreads 1 \\',
            f'  --no-dashboard --memory-limit 0 --death-timeout 60{interface} > "$attempt/workers.log" 2>&1 &',
            "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
            'until [ -s "$attempt/scheduler.json" ]; do',
            '  kill -0 $scheduler 2> /dev/null || { cat "$attempt/scheduler.log" >&2; exit 1; }',
            "  sleep 0.2",
            "done",
            "",
            "# The run itself. What an earlier attempt finished is in the store and is not done again.",
            f'"$python" -m ragstone {evaluate} --on "$attempt/scheduler.json"',
            "",
        ]
    )  # fmt: skip


def _format_requests(run: str, name: str, slurm: Slurm, folder: Path) -> list[str]:
    wanted = {
        "job-name": f"ragstone-{_to_word(name)}",
        "nodes": slurm.nodes,
        "ntasks-per-node": slurm.workers,
        "cpus-per-task": slurm.cpus,
        "gpus-per-node": slurm.gpus,
        "mem": slurm.memory,
        "time": slurm.time,
        "partition": slurm.partition,
        "account": slurm.account,
        "qos": slurm.qos,
        "mail-user": slurm.mail,
        "mail-type": "END,FAIL,REQUEUE" if slurm.mail else None,
        "open-mode": "append",
        "output": f'"{folder / run}.log"',
    }
    lines = [f"#SBATCH --{key}={value}" for key, value in wanted.items() if value is not None]
    return [*lines, "#SBATCH --requeue", *(f"#SBATCH {option}" for option in slurm.options)]


def _to_word(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)


def _format_environment(slurm: Slurm) -> list[str]:
    lines = [f"module load {shlex.quote(module)}" for module in slurm.modules]
    if slurm.environment:
        conda, _, name = slurm.environment.partition(":")
        if conda == "conda" and name:
            lines += ['eval "$(conda shell.bash hook)"', f"conda activate {shlex.quote(name)}"]
        else:
            lines.append(f". {shlex.quote(str(Path(slurm.environment) / 'bin' / 'activate'))}")
    return [*lines, *slurm.setup]


def write_certificates(folder_name: str) -> None:
    """Write a key and certificate for scheduler, workers and client of one attempt, and the Dask config that makes them use it."""
    folder = Path(folder_name)
    try:
        from distributed.security import Security

        made = Security.temporary()
    except ImportError:
        raise MissingExtra("encrypted lines between the parts of a cluster", "dask") from None
    files = {
        "key.pem": made.tls_client_key,
        "cert.pem": made.tls_client_cert,
        "ca.pem": made.tls_ca_file,
    }
    for name, text in files.items():
        path = folder / name
        # before the key is written: nobody may read it in between
        path.touch(mode=0o600)
        path.write_text(text, encoding="ascii")
    part = {"cert": str(folder / "cert.pem"), "key": str(folder / "key.pem")}
    tls = {"ca-file": str(folder / "ca.pem"), "scheduler": part, "worker": part, "client": part}
    config = {"distributed": {"comm": {"require-encryption": True, "tls": tls}}}
    (folder / "dask.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML


def write_job(job: SlurmJob, text: str, plan: Mapping[str, Any]) -> Path:
    """Put the launcher, the plan and what is known of the job into its folder."""
    path = Path(job.launcher)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        # before the plan is written, as it may hold an API key; `touch` leaves the mode of an
        # existing file
        job.plan.touch(mode=0o600)
        job.plan.chmod(0o600)
        job.plan.write_text(json.dumps(plan, indent=1), encoding="utf-8")
    except OSError as broken:
        raise SlurmError(
            f"cannot write the launcher {str(path)!r}: {broken.strerror}; set slurm: folder: to a place "
            "that all nodes can write to"
        ) from None
    _save_job(job)
    return path


def submit(job: SlurmJob) -> SlurmJob:
    """Send the launcher; the job with its number."""
    output = _run_slurm("sbatch", "--parsable", job.launcher)
    # --parsable prints `number;cluster` on a federation
    sent = replace(job, job=output.strip().split(";")[0])
    _save_job(sent)
    return sent


def load_job(run: str, folder: Path) -> SlurmJob:
    """What is known of a run that was written into this folder, by its id or the start of it."""
    exact = folder / f"{run}.json"
    files = [exact] if exact.is_file() else sorted(folder.glob(f"{glob.escape(run)}*.json"))
    if len(files) != 1:
        how = "no run" if not files else f"{len(files)} runs"
        raise SlurmError(
            f"{how} {run!r} in {str(folder)!r}; name the folder of its config with --folder"
        )
    return SlurmJob(**json.loads(files[0].read_text(encoding="utf-8")))


def read_state(job: SlurmJob) -> str:
    """The job's state as Slurm names it, in capitals; UNKNOWN when Slurm has forgotten it."""
    if job.job is None:
        return "NOT SENT"
    try:
        output = _run_slurm("scontrol", "show", "job", "--oneliner", job.job)
    except SlurmError as refused:
        # Slurm writes Invalid or invalid, depending on its version
        if "nvalid job id" in str(refused):
            return "UNKNOWN"
        raise
    words = dict(word.partition("=")[::2] for word in output.split())
    return words.get("JobState", "UNKNOWN")


def cancel(job: SlurmJob) -> None:
    """Stop the job; what it finished is kept."""
    if job.job is None:
        raise SlurmError(f"run {job.run!r} was not sent; there is no job to cancel")
    _run_slurm("scancel", job.job)


ENDED = frozenset(
    {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL",
     "DEADLINE", "PREEMPTED", "UNKNOWN"}
)  # fmt: skip
"""States of a job that has ended for good."""


def _save_job(job: SlurmJob) -> None:
    path = Path(job.launcher).with_suffix(".json")
    path.write_text(json.dumps(asdict(job), indent=1), encoding="utf-8")


def _run_slurm(*words: str) -> str:
    if shutil.which(words[0]) is None:
        raise SlurmError(
            f"there is no {words[0]!r} here; run this on a login node of the cluster "
            "(the launcher can also be copied there)"
        )
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        output = " ".join((done.stderr or done.stdout).split())
        raise SlurmError(f"{words[0]} refused: {output}")
    return done.stdout
