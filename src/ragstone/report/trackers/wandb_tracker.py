"""Weights & Biases: a run with config, figures as its summary, a table of samples, and an artifact with the evidence.

A run that is sent again goes on under the same id."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ragstone.report.trackers.contents import RunContents


def send(run: RunContents, project: str) -> str:
    """Log a run to a project; server and key as wandb finds them, WANDB_MODE=offline writes files alone."""
    # ragstone connects only to what its user names; the client reports its errors to its makers unless told otherwise
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    import wandb

    with tempfile.TemporaryDirectory() as folder:
        target = wandb.init(
            project=project,
            id=run.stored.id,
            name=run.name,
            resume="allow",
            job_type="evaluation",
            config=run.collect_facts(),
            settings=wandb.Settings(silent=True, console="off", x_disable_stats=True),
        )
        with target:
            target.summary.update(run.collect_figures())
            head, rows = run.build_table()
            target.log({"samples": wandb.Table(columns=head, data=rows)})
            run.write_files(Path(folder))
            artifact = wandb.Artifact(f"ragstone-{run.stored.id}", type="evaluation")
            artifact.add_dir(folder)
            target.log_artifact(artifact)
        return f"wandb run {target.url or target.dir}"
